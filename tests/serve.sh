#!/bin/sh
# chroprof serve, as a browser and as a client with bad manners asks it (tests/serve.py has the
# cases).
#   sh tests/serve.sh [COMMAND]      default build/chroprof
#   SANITIZED=1 sh tests/serve.sh    builds one with sanitizers
# Then tests/fuzz_serve.py makes REQUESTS (10,000) at random.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac

# without WHAT: it cannot be tested here
without() {
    skip serve "$1"
    finish
}

command -v python3 >/dev/null 2>&1 || without "needs python3"
if [ "${SANITIZED:-0}" = 1 ]; then
    if ! ${MAKE:-make} -s B="$scratch/san" CC="$CC" \
        CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
        "$scratch/san/chroprof" >"$scratch/log" 2>&1; then
        without "this compiler has no sanitizers"
    fi
    command=$scratch/san/chroprof
    export ASAN_OPTIONS=detect_leaks=0
fi
if "$command" serve "$scratch/none" 2>&1 | grep -q 'built without libevent'; then
    without "the command was built without libevent (package libevent-dev)"
fi
if ! $CC -O1 -Wall -Wextra -o "$scratch/watched" tests/watched.c "$implementation" 2>"$scratch/log"; then
    fail watched "$(head -n 1 "$scratch/log")"
    finish
fi
# an allocator of a sanitizer has no limit, and nothing may be loaded before one
if [ "${SANITIZED:-0}" != 1 ]; then
    $CC -O1 -Wall -Wextra -fPIC -shared -o "$scratch/hurt.so" tests/hurt.c -ldl 2>"$scratch/log" ||
        rm -f "$scratch/hurt.so"
fi
python3 -B tests/serve.py "$command" "$scratch/watched" "$scratch" >"$scratch/said" || failed=1
grep -v ' passed, ' "$scratch/said"

# requests at random, about the profiles that are left of that
if python3 -B tests/fuzz_serve.py "$command" "$scratch/folder" "${REQUESTS:-10000}" "${SEED:-1}"; then
    fuzzed="1 0"
else
    fuzzed="0 1"
fi
grep ' passed, ' "$scratch/said" >"$scratch/counts" ||
    echo "0 passed, 1 failed, 0 skipped: it did not end" >"$scratch/counts"
awk -v fuzzed="$fuzzed" '{
    split(fuzzed, more)
    printf "%d passed, %d failed, %d skipped\n", $1 + more[1], $3 + more[2], $5
    exit $3 + more[2] > 0
}' "$scratch/counts" || failed=1
exit "${failed:-0}"
