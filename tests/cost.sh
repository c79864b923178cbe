#!/bin/sh
# What the header costs, counted and not timed, against the bounds in cost.txt.
#   sh tests/cost.sh        (make cost)
# - instructions of an event in the shape of a server (bench/shape.c), by callgrind
# - the same of a wait under chroprof run, and of a callback that has a name there (bench/waits.c)
# - bytes of code for some sets of options (sizes.sh), and that there is no data
# - public functions, by nm
# - for a compiler: bytes of the header after the preprocessor, and instructions of cc1
# Compilers differ, so a bound is of one: Debian 12's gcc. Others are told and skipped.
# Prints "ok NAME: FIGURE (at most BOUND)", "FAIL ..." or "skip ...", then the counts.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
B=${B:-build}
M=$B/cost
mkdir -p "$M"

compiler=$(gcc --version 2>/dev/null | head -n 1)
case $compiler in
*"Debian 12.2.0"*) ours=1 ;;
*) ours=0 ;;
esac
echo "counted with ${compiler:-no gcc}"

# bound NAME: of cost.txt
bound() { sed -n "s/^$1  *\([0-9.]*\)\$/\1/p" tests/cost.txt; }

# judge NAME FIGURE: against its bound; FIGURE may be "none"
judge() {
    most=$(bound "$1")
    if [ -z "$2" ] || [ "$2" = none ]; then
        failed=$((failed + 1))
        echo "FAIL $1: nothing was counted: $(tail -n 1 "$M/log")"
    elif [ -z "$most" ]; then
        failed=$((failed + 1))
        echo "FAIL $1: $2, and cost.txt has no bound for it"
    elif [ $ours = 0 ]; then
        skip "$1" "$2; the bound is for Debian 12's gcc"
    elif awk -v figure="$2" -v most="$most" 'BEGIN { exit !(figure + 0 <= most + 0) }'; then
        passed=$((passed + 1))
        echo "ok $1: $2 (at most $most)"
    else
        failed=$((failed + 1))
        echo "FAIL $1: $2 (at most $most)"
    fi
}

# counted PROGRAM...: instructions, by callgrind
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" >"$M/log" 2>&1
    sed -n 's/.* Collected : \([0-9]*\)$/\1/p' "$M/log"
}

# featured WORD...: of the server's shape with these: instructions an event in the calls themselves,
# and how many events took the slow path. Not what these did there: the sampler's clock runs on while
# valgrind counts, so a busy machine has more of them.
featured() {
    valgrind --tool=callgrind --callgrind-out-file="$M/featured.out" --toggle-collect=one_iteration \
        "$M/shape" count "$@" >"$M/log" 2>&1
    awk '
        function named(text, n) {
            n = substr(text, 1, index(text, ")"))
            if (length(text) > length(n)) name[n] = substr(text, length(n) + 2)
            return name[n]
        }
        function sends(f) { return f ~ /^chroprof_[a-z]/ || f == "one_iteration" || f == "work" }
        /^fn=/ { f = named(substr($0, 4)); next }
        /^cfn=/ { g = named(substr($0, 5)); next }
        /^calls=/ {
            split(substr($0, 7), n, " ")
            if (sends(f) && g ~ /slow|otherwise|elsewhere|side_event/) slow += n[1]
            getline
            next
        }
        /^[0-9+*-]/ && NF == 2 && sends(f) { own += $2 }
        END { if (own) printf "%.1f %d\n", own / 280000, slow; else print "none none" }' "$M/featured.out"
}

if [ -z "$compiler" ]; then
    skip cost "needs gcc"
    echo "$passed passed, $failed failed, $skipped skipped"
    exit
fi

# --- instructions, and what cc1 does; gcc alone preprocesses the same
echo 'int x;' >"$M/common.c"
echo '#include "chroprof.h"' >"$M/declarations.c"
printf '#define CHROPROF_IMPLEMENTATION\n#include "chroprof.h"\n' >"$M/implementation.c"
standard="-std=c99 -D_POSIX_C_SOURCE=200809L"
# own_bytes FILE: of the header's lines, after the preprocessor
own_bytes() {
    gcc $standard -I. -E "$1" 2>"$M/log" |
        awk '/^# [0-9]/ { own = $3 ~ /chroprof\.h"$/; next } own { n += length($0) + 1 } END { print n + 0 }'
}
for part in declarations implementation; do
    judge "preprocessed bytes of the $part" "$(own_bytes "$M/$part.c")"
done
if ! command -v valgrind >/dev/null 2>&1; then
    skip "instructions" "needs valgrind"
else
    # the driver says how it calls cc1
    for part in common declarations implementation; do
        cc1=$(gcc '-###' -fsyntax-only $standard -I. "$M/$part.c" 2>&1 | grep -m 1 '/cc1')
        eval "counted $cc1" >"$M/$part.count"
        ! grep -q 'error:' "$M/log" || : >"$M/$part.count"
    done
    for part in declarations implementation; do
        judge "million instructions of cc1 for the $part" "$(paste "$M/$part.count" "$M/common.count" |
            awk 'NF == 2 { printf "%.1f", ($1 - $2) / 1e6; n = 1 } END { if (!n) print "none" }')"
    done
    if ! gcc -O2 -I. -o "$M/shape" bench/shape.c 2>"$M/log"; then
        judge "instructions an event" none
    elif [ "$(valgrind -q "$M/shape" clock 2>"$M/log")" != counter ]; then
        skip "instructions an event" "without an invariant counter an event reads the system's clock"
    else
        featured >"$M/featured"             # without the slow path: a busy machine has more of it
        judge "instructions an event" "$(cut -d ' ' -f 1 "$M/featured")"
        while IFS='|' read -r name words; do
            featured $words >"$M/featured"
            judge "instructions an event $name" "$(cut -d ' ' -f 1 "$M/featured")"
            judge "slow events of 280000 $name" "$(cut -d ' ' -f 2 "$M/featured")"
        done <<ROWS
with the sampler|sampler
with on_stall|on_stall
with a server's options|server
below a scope|scope
with all of these|sampler on_stall server scope
ROWS
    fi
fi

# --- what chroprof run adds to a wait, and to a callback that has a name
# run_counts WORD...: of bench/waits.c with these, under the library: instructions a wait in the wrapped
# function, and those of a callback with its two events; how many of the waits had to be looked at.
run_counts() {
    rm -rf "$M/run" && mkdir "$M/run" && cp "$M/chroprof_run.so" "$M/run"
    head -c 65536 /dev/zero >"$M/run/board"
    CHROPROF_RUN=$M/run CHROPROF_RUN_OPTIONS='0 0 0 1 0' LD_PRELOAD=$M/run/chroprof_run.so \
        valgrind --tool=callgrind --callgrind-out-file="$M/run.out" "$M/waits" 100000 "$@" >"$M/log" 2>&1
    awk '
        function named(text, n) {
            n = substr(text, 1, index(text, ")"))
            if (length(text) > length(n)) name[n] = substr(text, length(n) + 2)
            return name[n]
        }
        function waits(f) { return f ~ /^(epoll_wait|poll|__errno_location|chroprof_[a-z]+_(for|from)_idle)$/ }
        function calls(f) { return f ~ /^(standin_|call_function|call_in_frame|end_frame|chroprof_enter$|chroprof_leave$)/ }
        /^fn=/ { f = named(substr($0, 4)); next }
        /^cfn=/ { g = named(substr($0, 5)); next }
        /^calls=/ {
            split(substr($0, 7), n, " ")
            if (waits(f) && g ~ /other_wait|slow|elsewhere/) slow += n[1]
            getline
            next
        }
        /^[0-9+*-]/ && NF == 2 { if (waits(f)) wait += $2; else if (calls(f)) call += $2 }
        END { if (wait) printf "%.1f %.1f %d\n", wait / 1e5, call / 1e5, slow
              else print "none none none" }' "$M/run.out"
}

if ! command -v valgrind >/dev/null 2>&1; then
    skip "instructions of a wait under chroprof run" "needs valgrind"
elif [ "$(valgrind -q "$M/shape" clock 2>"$M/log")" != counter ]; then
    skip "instructions of a wait under chroprof run" "an event reads the system's clock"
elif ! gcc -O2 -fPIC -shared -fvisibility=hidden -fexceptions -fno-omit-frame-pointer -Wl,-z,now \
        -o "$M/chroprof_run.so" src/run/chroprof_run.c src/run/unwind.c src/run/filter.c \
        src/run/python_walk.c 2>"$M/log" || ! gcc -O2 -o "$M/waits" bench/waits.c 2>"$M/log"; then
    judge "instructions of a wait under chroprof run" none
else
    run_counts >"$M/counts"
    judge "instructions of a wait under chroprof run" "$(cut -d ' ' -f 1 "$M/counts")"
    judge "waits of 100000 that are looked at" "$(cut -d ' ' -f 3 "$M/counts")"
    run_counts poll callbacks >"$M/counts"
    judge "instructions of a wait by poll under chroprof run" "$(cut -d ' ' -f 1 "$M/counts")"
    judge "instructions of a named callback under chroprof run" "$(cut -d ' ' -f 2 "$M/counts")"
    judge "waits of 100000 with callbacks that are looked at" "$(cut -d ' ' -f 3 "$M/counts")"
fi

# --- code
gcc $standard -O2 -c -o "$M/impl.o" tests/compile/impl.c 2>"$M/log"
judge "public functions" "$(nm "$M/impl.o" | grep ' T chroprof_' | grep -vc chroprof__)"
sh tests/sizes.sh >"$M/sizes"
grep -v '^ok \|^skip \|passed' "$M/sizes"
failed=$((failed + $(grep -c '^FAIL ' "$M/sizes")))
sed -n 's/^ok \(.*, x86-64\): \([0-9]*\) bytes$/\1|\2/p' "$M/sizes" >"$M/rows"
while IFS='|' read -r set bytes; do
    judge "bytes of $(echo "${set%, x86-64}" | tr -d ':,')" "$bytes"
done <"$M/rows"

finish
