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

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}
