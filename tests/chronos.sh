#!/bin/sh
# examples/adapters/chroprof_chronos.nim against a stand-in for Chronos (tests/chronos/), with both
# pairs of hooks, the collectors of Nim, C and C++; and names of Nim in what the command writes.
#   sh tests/chronos.sh [COMMAND]        default build/chroprof
# QUICK=1: two builds that differ most, and names with debug information only.
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
case $command in /*) ;; *) command=$PWD/$command ;; esac

# --- names of Nim's compiler
sanitize=-fsanitize=address,undefined
echo 'int main(void) { return 0; }' | $CC $sanitize -x c -o "$scratch/empty" - 2>/dev/null &&
    "$scratch/empty" || sanitize=
if $CC -std=c99 -D_POSIX_C_SOURCE=200809L -g $sanitize -o "$scratch/names" tests/chronos/names.c \
    2>"$scratch/err" && "$scratch/names" >"$scratch/out" 2>&1; then ok names; else
    fail names "$(cat "$scratch/err" "$scratch/out" 2>/dev/null | head -n 3 | tr '\n' ' ')"; fi

if ! command -v nim >/dev/null 2>&1; then
    skip chronos "needs nim"
    finish
fi

# build NAME HOW SOURCE...: without a word from the compiler
build() {
    name=$1 how=$2
    shift 2
    nim $how --skipUserCfg --skipParentCfg --hints:off --verbosity:0 --path:tests/chronos \
        --path:examples/adapters --nimcache:"$scratch/cache_$name" -o:"$scratch/$name" "$@" \
        >"$scratch/err" 2>&1 </dev/null && [ ! -s "$scratch/err" ] && return
    fail "builds_$name" "$(head -n 3 "$scratch/err" | tr '\n' ' ')"
    false
}

hooks=-d:chronosProfiling
for how in "c --mm:refc" "c --mm:arc -d:danger --threads:on -d:olderHooks" "cpp --mm:orc" \
    "c --mm:orc -d:olderHooks" "c --mm:refc -d:release"; do
    case $how in *orc* | *release) [ "${QUICK:-}" != 1 ] || continue ;; esac
    name=$(echo "scenarios_$how" | tr -c 'a-zA-Z\n' '_')
    build "$name" "$how ${QUICK:+--opt:none}" $hooks tests/chronos/scenarios.nim || continue
    if timeout 300 "$scratch/$name" >"$scratch/out" 2>&1 &&
        [ "$(tail -n 1 "$scratch/out")" = "$(grep -c '^scenario ' tests/chronos/scenarios.nim
            ) passed, 0 failed, 0 skipped" ]; then ok "$name"; else
        fail "$name" "$(grep -v '^ok' "$scratch/out" | head -n 3 | tr '\n' ' ')"; fi
done

# --- Chronos without hooks: a program keeps its lines, and is told why there is no profile
if build unhooked c tests/chronos/unhooked.nim; then
    if "$scratch/unhooked" >"$scratch/out" 2>&1 &&
        [ "$(grep -c 'no profiling hooks' "$scratch/out")" = 2 ]; then ok unhooked; else
        fail unhooked "$(head -n 2 "$scratch/out" | tr '\n' ' ')"; fi
fi

# says FILE WORD NAME
says() {
    if ! grep -q -a "$2" "$scratch/$1"; then fail "$3" "no $2 in it"
    elif grep -a -q 'tooSlow__' "$scratch/$1"; then fail "$3" "it has the name of the symbol"
    else ok "$3"; fi
}

# --- sampled code by its name and module, with the line if the program has debug information
# sampled NAME HOW
sampled() {
    profile=$scratch/$1.chroprof
    build "$1" "c $2 --mm:orc --passC:-fno-omit-frame-pointer" $hooks tests/chronos/sampled.nim ||
        return
    timeout 600 "$scratch/$1" "$profile" >"$scratch/out" 2>"$scratch/$1.report"
    case $? in
    0) ;;
    3) skip "$1" "$(head -n 1 "$scratch/out")"; return ;;
    *) fail "$1" "$(tail -n 1 "$scratch/out")"; return ;;
    esac
    if sed -n '/^•/{p;q;}' "$scratch/$1.report" | grep -q 'slow'; then ok "$1_first"; else
        fail "$1_first" "$(sed -n '/^•/{p;q;}' "$scratch/$1.report")"; fi
    "$command" symbolize "$profile" -o "$scratch/$1.json" 2>"$scratch/err" ||
        { fail "$1_symbolize" "$(head -n 1 "$scratch/err")"; return; }
    "$command" symbolize "$profile" --format text >"$scratch/$1.text" 2>/dev/null
    "$command" report "$scratch/$1.json" -o "$scratch/$1.html"
    says "$1.json" sampled.tooSlow "$1_json"
    says "$1.text" "sampled.tooSlow$3" "$1_text"
    says "$1.html" sampled.tooSlow "$1_page"
    for format in folded firefox pprof; do
        "$command" dump "$scratch/$1.json" -f $format >"$scratch/$1.$format"
        says "$1.$format" sampled.tooSlow "$1_$format"
    done
}
sampled native --debugger:native '  sampled.nim:2[0-9]$'
[ "${QUICK:-}" = 1 ] || sampled symbols ''
finish
