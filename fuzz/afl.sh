#!/bin/sh
# Fuzzes with AFL++, from the seeds that are committed: a second engine that finds other ways in.
#   B=build TIME=60 sh fuzz/afl.sh events open     the seconds are for each; B has afl_NAME
# Prints "NAME: N runs in S s, C crashes, H hangs"; exit 1 if there was one.
B=${B:-build}
status=0
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1
for name in "$@"; do
    out=$B/afl_out_$name
    rm -rf "$out"
    afl-fuzz -V "${TIME:-60}" -m none -x "fuzz/$name.dict" -i "fuzz/corpus_$name" -o "$out" -- \
        "$B/afl_$name" >"$out.log" 2>&1 </dev/null || { tail -n 20 "$out.log"; status=1; }
    figure() { sed -n "s/^$1 *: //p" "$out/default/fuzzer_stats"; }
    echo "$name: $(figure execs_done) runs in $(figure run_time) s, $(figure saved_crashes) crashes," \
        "$(figure saved_hangs) hangs"
    [ "$(figure saved_crashes) $(figure saved_hangs)" = "0 0" ] || status=1
done
exit $status
