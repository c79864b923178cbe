#!/bin/sh
# The programs of examples/tour: each has one fault, and the first sentence of its report names it,
# in text, top and page, at 80 and 120 columns. What the tour's README shows is what they print.
#   sh tests/tour.sh [COMMAND]        default build/chroprof
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
hanging=
trap '[ -z "$hanging" ] || kill -9 $hanging 2>/dev/null; rm -rf "$scratch"' EXIT
says() {
    case $2 in
    *"$3"*) ok "$1" ;;
    *) fail "$1" "not \"$3\" in: $(echo "$2" | head -n 8)" ;;
    esac
}

# one_line: broken lines as one, so that a sentence is found at any width
one_line() { tr -s '\n ' ' '; }

mkdir "$scratch/tour"
for file in examples/tour/*.[ch]; do
    sed 's/^#define CHROPROF_IMPLEMENTATION//' "$file" >"$scratch/tour/${file##*/}"
done

# build PROGRAM FLAGS...: without a warning
build() {
    program=$1
    shift
    $CC -std=gnu99 -O0 -Wall -Wextra -Werror -Iexamples/tour "$@" -o "$scratch/$program" \
        "$scratch/tour/$program.c" "$implementation" 2>"$scratch/log" || fail "${program}_builds" "$(head -n 1 "$scratch/log")"
}

# everywhere PROGRAM OPERAND SENTENCE: in the dump and in top at two widths, and in the page
everywhere() {
    for width in 80 120; do
        "$command" dump "$2" -w $width >"$scratch/text" 2>/dev/null
        says "$1_text_$width" "$(sed -n 3,6p "$scratch/text" | one_line)" "• $3"
        "$command" top "$2" --all -n 1 -w $width >"$scratch/text" 2>/dev/null
        says "$1_top_$width" "$(sed -n 2,5p "$scratch/text" | one_line)" "$3"
    done
    "$command" report "$2" -o "$scratch/page.html" 2>/dev/null
    says "$1_page" "$(sed -n '/^"findings":/,+1p' "$scratch/page.html" | one_line)" "\"text\":\"$3"
}

# tour PROGRAM SENTENCE: with a clock that only work and waits move
tour() {
    build "$1" -DTOUR_STILL
    (cd "$scratch" && "./$1" "$1.chroprof")
    everywhere "$1" "$scratch/$1.chroprof" "$2"
    "$scratch/$1" >"$scratch/text"
    cp "$scratch/text" "$scratch/text_$1"
    shown=$(awk -v program="$1" '$0 == "## " program { on = 1 } on && /^```$/ { exit }
        on && open { print } on && /^```text$/ { open = 1 }' examples/tour/README.md)
    lines=$(echo "$shown" | wc -l)
    if [ -n "$shown" ] && [ "$(sed -n "3,$((lines + 2))p" "$scratch/text")" = "$shown" ]; then
        ok "$1_shown"
    else fail "$1_shown" "the README shows: $shown"; fi
}

blocked="The loop was blocked for 300 ms at 00:00.539, the longest of 3 stalls:"
tour hog "$blocked export_all (hog.c:5) took 99.9% of it."
tour crumbs "update_progress (crumbs.c:5) occupies the loop most: 68.2% of the run"
tour blind "42.6% of the run (1.20 s) is uninstrumented, 300 ms of it in the stall"
tour wait "No idle time is reported: 92.6% of the run (1.50 s) counts as uninstrumented."
tour leak "1500 of 1500 futures of timeout (leak.c:5) did not finish, and more come all the time."
tour crowd "compress (crowd.c:5) occupies the loop most: 20.1% of the run"

# columns PROGRAM: those that the README names for it are in its report, from the width on that is told
columns() {
    awk -v program="$1" '/^## / { on = $0 == "## " program } on' examples/tour/README.md | tr '\n' ' ' |
        grep -o 'column `[a-z]*` of [A-Z]*\( (from [0-9]* columns on)\)\{0,1\}' |
        while read -r _ name _ section _ width _; do
            name=$(echo "$name" | tr -d '\`')
            "$command" dump "$scratch/$1.chroprof" -w "${width:-80}" 2>/dev/null |
                grep -A1 "^$section" | grep -q "$name" || echo "$name"
        done >"$scratch/missing"
    if [ -s "$scratch/missing" ]; then fail "$1_columns" "none named $(cat "$scratch/missing")"; else
        ok "$1_columns"; fi
}
for program in hog crumbs blind wait leak crowd; do columns $program; done
shouted=$(grep -o 'column `\{0,1\}[A-Z][A-Z]*' examples/tour/README.md | head -n 1)
if [ -z "$shouted" ]; then ok columns_as_they_stand; else fail columns_as_they_stand "$shouted"; fi
if sed -n '/^PATHS/,/^total/p' "$scratch/text_leak" | grep -q '^timeout'; then ok leak_has_its_path; else
    fail leak_has_its_path "$(grep -A9 ^PATHS "$scratch/text_leak" | tr '\n' '|')"; fi

# the hang by the machine's own clock: what a reader says of a program that lives
build hang
"$scratch/hang" "$scratch/hang.chroprof" &
hanging=$!
for _ in $(seq 300); do
    "$command" dump "$scratch/hang.chroprof" >"$scratch/text" 2>/dev/null
    if grep -q 'take_lock' "$scratch/text" && grep -q 'inside' "$scratch/text"; then break; fi
    sleep 0.1
done
everywhere hang "$hanging" "The loop has been inside take_lock (hang.c:7) for"

finish
