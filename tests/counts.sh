# Read by the scripts here that count cases, once they are at the top of the repository.
# Each case prints "ok NAME" (not with QUIET=1), "FAIL NAME: why" or "skip NAME: why"; finish prints
# the counts and ends with status 1 if one failed. $scratch is a folder that goes when the script ends.
CC=${CC:-cc}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0

# What a program that is built here is linked with: the command's copy of the implementation, or else
# a copy of its own, which takes three seconds to compile.
implementation=${B:-build}/command/impl.o
[ -f "$implementation" ] || implementation=-DCHROPROF_IMPLEMENTATION

ok() { passed=$((passed + 1)); [ -n "${QUIET-}" ] || echo "ok $1"; }
fail() { failed=$((failed + 1)); echo "FAIL $1: $2"; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }

# counts_of FILE: "passed failed skipped" of the last line that has them; nothing if none has
counts_of() {
    tr -d '\r' <"$1" | tail -n 1 |
        sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p'
}

# add NAME FILE: the counts of a program that counts as well, in a file of what it said
add() {
    set -- "$1" "$2" $(counts_of "$2")
    if [ $# != 5 ]; then fail "$1" "ended without its counts: $(tail -n 1 "$2")"; return 1; fi
    passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}
