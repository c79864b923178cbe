#!/bin/sh
# How often chroprof diff finds a change in a real server, on whatever else this machine does: the
# demonstration without its fault, as it is and with render_page doing 1.2 times the work. A round is
# three runs: as it is, the same again, and slower. Nothing may be named in the first two, and
# render_page must be named in the first and the last. Both programs have the same code: only the
# amount of work is read from a variable. Exit codes are those of diff --fail-above 10.
#   make bench-diff, or bench/diff_rates.sh COMMAND [ROUNDS [SECONDS [FOLDER]]]
# FOLDER keeps the profiles. JUDGE=1 compares those that are there once more.
command=$(realpath "$1") rounds=${2:-20} seconds=${3:-12}
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
folder=${4:-$scratch}

# build NAME ROUNDS BYTES: render_page makes so many rounds over so many bytes, of 4 and 4095
build() {
    ${CC:-cc} -O2 -g -fno-omit-frame-pointer -I. -DROUNDS="$2" -DBYTES="$3" -o "$scratch/$1" \
        "$scratch/demo.c" || exit 1
}
sed -e 's/^static void render_page/static volatile int rounds = ROUNDS;\
static volatile size_t bytes = BYTES;\
&/' -e 's/round < 4;/round < rounds;/' -e 's|"../chroprof.h"|"chroprof.h"|' \
    -e 's/size_t i = 0; i < PAGE_SIZE - 1;/size_t i = 0, end = bytes; i < end;/' \
    examples/demo.c >"$scratch/demo.c"
if [ -z "$JUDGE" ]; then
    build same 4 4095
    build slower 5 3931
fi
mkdir -p "$folder" && cd "$folder" || exit 1

# profile FILE PROGRAM
profile() {
    [ -z "$JUDGE" ] || return 0
    "$scratch/$2" "$seconds" fixed >"$scratch/log" 2>&1 && mv demo.json "$1" || exit 1
}

# compare A B: what is named, with diff's word for it, and how diff ends
compare() {
    "$command" diff "$1" "$2" --columns 200 --fail-above 10 >"$scratch/out" 2>&1
    code=$?
    names=$(awk '/^(WORSE|BETTER|NEW|GONE) / { word = $1; next } /^$/ { word = "" }
        word { sub(/  .*/, ""); gsub(/ /, ""); print word ":" $0 }' "$scratch/out" | tr '\n' ' ')
    detects=$(sed -n 's/.*can detect: \(.*\)\./\1/p' "$scratch/out")
    said="${names:-nothing }exit $code, detects $detects"
}

found=0 blind=0 unnamed=0
for i in $(seq "$rounds"); do
    profile "$i.first.json" same
    profile "$i.again.json" same
    profile "$i.slower.json" slower
    echo "$(cut -d ' ' -f 1 /proc/loadavg)" >>"$scratch/loads"
    compare "$i.first.json" "$i.again.json"
    [ -n "$names" ] || unnamed=$((unnamed + 1))
    line="$i unchanged: $said"
    compare "$i.first.json" "$i.slower.json"
    case "$code $names" in
    1*WORSE:render_page*) found=$((found + 1)) ;;
    3*) blind=$((blind + 1)) ;;
    esac
    echo "$line; slower: $said"
done
echo "x1.2: found in $found of $rounds, cannot tell in $blind. Unchanged: nothing named in" \
    "$unnamed of $rounds. Load $(sort -n "$scratch/loads" | sed -n '1p;$p' | tr '\n' ' ')"
