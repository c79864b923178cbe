#!/bin/sh
# Bindings: the header as a shared library, Python's asyncio by it, and libraries that a binding
# must refuse (tests/bindings.py has those cases). The Lua example is one of tests/examples.sh.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

export PYTHONDONTWRITEBYTECODE=1
if ! python3 -c 'import asyncio, ctypes, sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    skipped=1
    echo "skip bindings: needs python3 (3.8) with ctypes"
    finish
fi
# library HEADER FILE: as make libchroprof builds it
library() {
    echo "#include \"$1\"" | $CC -O0 -shared -fPIC -DCHROPROF_IMPLEMENTATION -x c - -o "$2" \
        >"$scratch/log" 2>&1
}

if ! "${MAKE:-make}" B="$scratch/made" CC="$CC" CFLAGS=-O0 libchroprof >"$scratch/log" 2>&1; then
    fail library "$(grep -m 1 -i error "$scratch/log")"
    finish
fi
ok library
CHROPROF_LIBRARY=$scratch/made/libchroprof.so
export CHROPROF_LIBRARY

# --- every struct of the interface is in the list of chroprof_sizeof
sed -n '1,/^\/\* >>macros/s/^typedef struct \(chroprof[a-z_]*\) {.*/\1/p' chroprof.h |
    sort >"$scratch/structs"
sed -n '/^#define CHROPROF_STRUCTS/,/[^\\]$/p' chroprof.h | grep -o 'X(chroprof[a-z_]*)' |
    tr -d 'X()' | sort >"$scratch/listed"
if cmp -s "$scratch/structs" "$scratch/listed" && [ -s "$scratch/listed" ]; then ok structs; else
    fail structs "$(diff "$scratch/structs" "$scratch/listed" | sed 1d | tr '\n' ' ')"; fi

# --- the example
json=$scratch/asyncio.json
if python3 tests/examples/timed.py "$scratch/err.times" python3 examples/loop_asyncio.py \
    --json "$json" >"$scratch/out" 2>"$scratch/err" &&
    grep -q 'chroprof [0-9]' "$scratch/out"; then ok asyncio; else
    fail asyncio "$(tail -n 1 "$scratch/err")"; fi
if python3 tests/examples/loop_asyncio.py "$json" "$scratch/err" >"$scratch/log" 2>&1; then
    ok asyncio_profile; else
    fail asyncio_profile "$(tail -n 2 "$scratch/log" | tr -s ' \n' ' ')"; fi
if timeout 60 python3 tests/asyncio_late.py examples/adapters >"$scratch/log" 2>&1; then
    ok asyncio_late; else fail asyncio_late "$(tail -n 1 "$scratch/log")"; fi
if timeout 60 python3 tests/asyncio_nested.py examples/adapters >"$scratch/log" 2>&1; then
    ok asyncio_nested; else fail asyncio_nested "$(tail -n 1 "$scratch/log")"; fi
timeout 60 python3 examples/loop_asyncio.py --wrong >/dev/null 2>"$scratch/err"
if [ $? = 2 ] && grep -q usage "$scratch/err"; then ok asyncio_usage; else
    fail asyncio_usage "$(head -n 1 "$scratch/err")"; fi
if [ -c /dev/full ]; then
    timeout 60 python3 examples/loop_asyncio.py --json /dev/full >/dev/null 2>"$scratch/err"
    if [ $? = 1 ] && grep -q /dev/full "$scratch/err"; then ok asyncio_full_disk; else
        fail asyncio_full_disk "$(tail -n 1 "$scratch/err")"; fi
fi

# --- libraries of another layout, of another version, without the two calls, and none
sed 's/^    bool has_percentiles; .*/&\n    uint64_t one_more;/' chroprof.h >"$scratch/larger.h"
sed 's/^#define CHROPROF_VERSION "\(.*\)"/#define CHROPROF_VERSION "99.\1"/' chroprof.h \
    >"$scratch/newer.h"
sed 's/chroprof_sizeof/chroprof_size_of/' chroprof.h >"$scratch/older.h"
for kind in larger newer older; do
    library "$scratch/$kind.h" "$scratch/$kind.so" ||
        fail "library_$kind" "$(head -n 1 "$scratch/log")"
done
counts=$(python3 tests/bindings.py "$scratch" 2>"$scratch/err")
echo "$counts" | grep '^ok\|^FAIL'
passed=$((passed + $(echo "$counts" | grep -c '^ok')))
failed=$((failed + $(echo "$counts" | grep -c '^FAIL')))
[ "$(echo "$counts" | tail -n 1)" = done ] || fail bindings "$(tail -n 1 "$scratch/err")"
finish
