#!/bin/sh
# The programs of bench/ build without a warning and do what they say, in small: nothing here looks
# at a time. The soak counts every event, so a lost one is found.    sh tests/bench.sh
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
out=$scratch
trap 'exit 1' HUP INT TERM
strict="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror \
    -DCHROPROF_STRICT"

# built NAME SOURCES...
built() {
    name=$1
    shift
    # shellcheck disable=SC2086
    if $CC -std=c99 -O1 $strict -o "$out/$name" "$@" >"$out/log" 2>&1; then
        ok "build $name"
    else
        fail "build $name" "$(grep -E 'error|warning' "$out/log" | head -n 1)"
        return 1
    fi
}

# says WORDS COMMAND...: it ends well and says that
says() {
    words=$1
    shift
    if "$@" >"$out/log" 2>&1 && grep -q "$words" "$out/log"; then
        ok "$(basename "$1")"
    else
        fail "$(basename "$1")" "no \"$words\": $(tail -n 1 "$out/log")"
    fi
}

built bench_quiet tests/bench_quiet.c && says ' 0 failed' "$out/bench_quiet"
sed '/^#define CHROPROF_IMPLEMENTATION/d' bench/soak.c >"$out/soak.c"
built soak -Ibench "$out/soak.c" "$implementation" && says "every count exact" "$out/soak" 3000000 &&
    says "every count exact" "$out/soak" one 100000
if [ "$(uname)" = Linux ]; then
    built loop bench/loop.c "$implementation" && says "laws: hold" "$out/loop" 3 100
    built waits bench/waits.c && says '^[0-9]* [0-9.]*$' "$out/waits" 2000
else
    skip loop "needs epoll"
    skip waits "needs epoll"
fi
if built scale bench/scale.c "$implementation"; then
    for kind in FUTURES SITES PATHS; do
        if "$out/scale" --count $kind 1000 2000; then
            ok "scale $kind"
        else
            fail "scale $kind" "exit status $?"
        fi
    done
fi
built big bench/big.c "$implementation" &&
    says '^[0-9]* paths, [0-9]* events, laws: hold$' "$out/big" "$out/big.chroprof" 300 2 20
built peers -D_GNU_SOURCE bench/peers.c "$implementation" &&
    for mode in nothing reads chroprof recorder function; do
        says '^[0-9.]* [0-9.]*$' "$out/peers" $mode 1000
    done
if command -v python3 >/dev/null 2>&1; then
    printf 'FUTURES: slice\n 10 0.1 21.0 19.0 1.1\n 100 0.1 22 19 1.2\n' |
        python3 bench/curves.py >"$out/curves.svg" && grep -q 'class="own"' "$out/curves.svg" &&
        ok curves || fail curves "nothing drawn"
else
    skip curves "needs python3"
fi

# what a part says is kept with where it was run; a part that fails leaves what was there
B=$out sh bench/keep.sh loop printf 'one kind\na  median 1, quartiles 0 to 2\n' >"$out/log" &&
    ! B=$out sh bench/keep.sh loop false && [ ! -e "$out/bench_kept/loop.status" ] &&
    sed 1d "$out/bench_kept/loop.txt" | cmp -s - "$out/log" &&
    head -n 1 "$out/bench_kept/loop.txt" | grep -q '^20..-..-.. | .* | .* | ' &&
    ok keep || fail keep "$(cat "$out/bench_kept/loop.txt")"
if command -v python3 >/dev/null 2>&1; then
    # of the only part that was run there is a table; all others are named and stay as they are
    python3 bench/tables.py "$out/bench_kept" --print >"$out/tables" 2>"$out/log"
    if grep -q '^| one kind | 1 (0 to 2) |' "$out/tables" && grep -q '^1 tables written' "$out/log" &&
        [ "$(grep -c '^as it was' "$out/log")" = 10 ]; then
        ok tables
    else
        fail tables "$(cat "$out/log")"
    fi
else
    skip tables "needs python3"
fi
finish
