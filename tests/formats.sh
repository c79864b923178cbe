#!/bin/sh
# What each case of the test programs ends with, and what it keeps on the way, each recorded stream, each example and the demonstration, in every format: read back by the
# checkers of the formats and compared with the JSON, sum by sum.
#   sh tests/formats.sh [WORD...]     B=build: the folder of the programs; WORD: test, trace, demo
#                                     or a part of the name of a program; none: all
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.

cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
. tests/counts.sh
folder=$scratch
wanted=$*

# is_wanted NAME: no arguments, or one of them is part of the name
is_wanted() {
    [ -z "$wanted" ] && return 0
    for part in $wanted; do case $1 in *"$part"*) return 0 ;; esac; done
    return 1
}

if ! command -v python3 >/dev/null 2>&1; then
    skip formats "needs python3"
    finish
fi
export PYTHONDONTWRITEBYTECODE=1

# --- the test programs, a tenth of their loops, and without the cases that take seconds and show no
# other profile; a case that fails is shown where they are run for themselves
slow=decimal_comma,ten_million
for name in words events chronos sampler merge map output random capacity snapshot traces formats; do
    program=test_$name
    is_wanted "$program" || continue
    if ! [ -x "$B/test/plain/$program" ]; then
        skip "$program" "was not built"
        continue
    fi
    PROFILES=$folder SHARE=10 EXCEPT=$slow "$B/test/plain/$program" >"$folder/log" 2>&1
    tail -n 1 "$folder/log" | grep -q ' passed, ' || fail "$program" "ended without its counts"
    ls "$folder/$program".*.json >/dev/null 2>&1 || fail "$program" "left no profile"
done

# --- the recorded streams
if is_wanted trace && ! command -v xz >/dev/null 2>&1; then
    skip traces "needs xz"
elif is_wanted trace; then
    for stream in tests/traces/*.events.xz; do
        name=$(basename "$stream" .events.xz)
        for format in json pprof prometheus folded; do
            "$B/chroprof" replay "$stream" --stall 50us -f $format -o "$folder/$name.$format" ||
                fail "$name" "replay -f $format ends with $?"
        done
    done
fi

# built NAME BUILD-LINE: with every_format.h in front; "skip" if what it includes is not there
built() {
    of="-DEVERY_FORMAT_OF='\"$1\"' -D_GNU_SOURCE -include tests/every_format.h -w"
    line=$(echo "$2" | sed "s,^cc ,${CC:-cc} ,; s,^c++ ,${CXX:-c++} ,; s,OUT,$folder/$1,")
    eval "$(echo "$line" | sed "s,FILE,$of &,; s,FILE,\$source -O0,")" >"$folder/log" 2>&1
}

mkdir "$folder/run"

# --- the examples; those whose libraries are missing are shown as skipped by examples.sh too
for source in examples/hello.c examples/loop_*.c examples/loop_*.cc examples/demo.c; do
    name=$(basename "$source" | sed 's/\.[a-z]*$//')
    is_wanted "$name" || continue
    line=$(sed -n '1,3s,^[/ *]*build: \(.*\) ; needs: .*,\1,p' "$source")
    [ "$name" != demo ] || line="cc -O2 -fno-omit-frame-pointer FILE -o OUT"
    case $name in
    loop_libev) line="cc -include ev.h ${line#cc }" ;;    # <elf.h> takes its EV_NONE
    esac
    if ! built "$name" "$line"; then
        if grep 'No such file\|cannot find -l\|not found' "$folder/log" |
            grep -qv "chroprof\|every_format\|$name"; then
            skip "$name" "needs $(sed -n '1,3s,.* needs: \([^*]*[^* ]\).*,\1,p' "$source")"
        else
            fail "$name" "does not build: $(grep -m 1 'error\|undefined' "$folder/log")"
        fi
        continue
    fi
    arguments="--json $folder/log"
    [ "$name" != demo ] || arguments=4
    (cd "$folder/run" && PROFILES=$folder timeout 60 "../$name" $arguments >/dev/null 2>err) ||
        fail "$name" "ends with $?: $(tail -n 1 "$folder/run/err")"
    [ -s "$folder/$name.json" ] || fail "$name" "left no profile"
done

# --- the command writes what is no format of the header, of the same profile with its code named
for report in "$folder"/*.json; do
    [ -e "$report" ] || continue
    name=$(basename "$report" .json)
    if ! "$B/chroprof" symbolize "$report" -o "$folder/symbolized" 2>"$folder/log"; then
        fail "$name" "symbolize: $(head -n 1 "$folder/log")"
        continue
    fi
    mv "$folder/symbolized" "$report"
    for made in firefox:firefox pprof:code.pprof folded:code.folded; do
        "$B/chroprof" dump "$report" -f "${made%:*}" -o "$folder/$name.${made#*:}" \
            2>"$folder/log" || fail "$name" "dump -f ${made%:*}: $(head -n 1 "$folder/log")"
    done
done

python3 tests/check_formats.py "$folder" >"$folder/checked"
sed '$d' "$folder/checked"
add formats "$folder/checked"
finish
