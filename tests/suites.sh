# tests/suites.sh - what there is to run: read by run.sh, which says how.
#
# A line is  name|tier|flag|seconds|goals|command :
#   tier     short: make test. rest: make test-rest, which runs only what make test leaves out.
#   flag     timer: it waits for timers or for other programs half of its time, so it runs beside
#            those that compute
#   seconds  on two quiet cores; the longest begin first. Only the order depends on it.
#   goals    what make has to build for it; tools: chroprof and what it loads
# Scripts get the command as their argument. Each suite has a folder of its own in SCRATCH.

# The compilations that differ most from each other, by their names or (without =) parts of them.
compilations="=gcc_c99 =clang_c11 =g++_c++11 =clang++_c++11 =everything_c99 =everything_c++11
    everything_newest strict_c99 user_c_header user_c++11 =wait_calls_gcc =main_c
    =api_0_3_0_c++ =api_0_3_0_clang++
    api_whole guard_whole version licence =flags_no_format_no_stdio flags_ITIMER
    flags_no_posix =flags_posix_1995 flags_no_clock_strict_c99 flags_static_clang
    flags_disable_clang =scope_c++11 survives_macros_c99 disabled_ symbols_gcc writable_globals
    =copies_static_g++ =warnings_gcc
    data_and_bss allocation locale =foreign_macros =foreign_names =foreign_macros_c++
    =foreign_names_c++ =foreign_macros_DISABLE =foreign_names_DISABLE every_macro own_macros"

scripts() { cat <<END
run_command|short|timer|75|tools|env QUICK=1 sh tests/run_command.sh $B/chroprof
run_names|short|timer|20|tools|sh tests/run_names.sh $B/chroprof
run_node|short|timer|10|tools|sh tests/run_node.sh $B/chroprof
run_python|short|timer|15|tools|sh tests/run_python.sh $B/chroprof
run_waits|short|timer|15|tools|sh tests/run_waits.sh $B/chroprof
examples|short|timer|60|tools|env QUICK=1 sh tests/examples.sh
top|short|timer|35|tools|sh tests/top.sh $B/chroprof
symbolize|short|-|12|tools|env QUICK=1 sh tests/symbolize.sh
tour|short|-|5|tools|sh tests/tour.sh $B/chroprof
attach|short|timer|60|tools|sh tests/attach.sh $B/chroprof
serve|short|timer|30|tools|env REQUESTS=1000 sh tests/serve.sh $B/chroprof
record_command|short|timer|12|tools|sh tests/record_command.sh $B/chroprof
diff|short|-|15|tools $B/demo|env PAIRS=1 SAME=0 sh tests/diff.sh $B/chroprof $B/demo
command|short|-|25|tools|sh tests/command.sh $B/chroprof
report|short|-|25|tools|env QUICK=1 sh tests/report.sh $B/chroprof
bindings|short|-|7|tools|sh tests/bindings.sh
chronos|short|-|15|tools|env QUICK=1 sh tests/chronos.sh $B/chroprof
compile|short|-|40|none|env WARNED=-O0 sh tests/compile/run.sh $(echo $compilations)
bench|short|-|5|tools|sh tests/bench.sh
install|short|-|10|tools|sh tests/install.sh
merge|short|-|7|tools|sh tests/merge.sh $B/chroprof
whatif|short|-|5|tools|env STREAMS=12 sh tests/whatif.sh $B/chroprof
reads|short|-|3|none|sh tests/reads.sh
hide_ids|short|-|5|tools|sh tests/hide_ids.sh $B/chroprof
dashboards|short|-|2|tools|sh tests/dashboards.sh
rebuild|short|-|3|tools|sh tests/rebuild.sh
dist|short|-|15|none|sh tests/dist.sh
style|short|-|5|none|sh tests/style.sh
parts|short|-|10|none|env QUICK=1 sh tests/parts.sh
parts-all|rest|-|40|none|sh tests/parts.sh
run_python-all|rest|timer|30|tools|env SAMPLES=1000 sh tests/run_python.sh $B/chroprof
chronos-all|rest|-|60|tools|sh tests/chronos.sh $B/chroprof
json_values|short|-|5|none|python3 tests/json_values.py
report-all|rest|-|25|tools|sh tests/report.sh $B/chroprof
run_command-all|rest|timer|90|tools|sh tests/run_command.sh $B/chroprof
compile-all|rest|-|400|none|sh tests/compile/run.sh
symbolize-all|rest|timer|100|tools|sh tests/symbolize.sh
examples-all|rest|timer|100|tools|sh tests/examples.sh
examples_self|rest|timer|60|tools|sh tests/examples_self.sh
attach-kills|rest|timer|240|tools|env KILLS=1000 sh tests/attach.sh $B/chroprof
serve-san|rest|timer|100|none|env SANITIZED=1 sh tests/serve.sh
debian|rest|-|60|tools|sh tests/debian.sh
whatif-all|rest|-|300|tools|env STREAMS=1000 sh tests/whatif.sh $B/chroprof
diff-all|rest|timer|100|tools $B/demo|sh tests/diff.sh $B/chroprof $B/demo
formats|rest|-|100|tools $(formatted)|sh tests/formats.sh
fuzz_rows|short|-|8|$B/test/san/replay_rows|sh tests/corpus.sh $B/test/san/replay_rows fuzz/corpus_rows --random 150
fuzz_rows-all|rest|-|100|$B/test/san/replay_rows|sh tests/corpus.sh $B/test/san/replay_rows fuzz/corpus_rows --random 4000
fuzz_events|rest|-|30|$B/test/san/replay_events|sh tests/corpus.sh $B/test/san/replay_events fuzz/corpus_events
fuzz_open|rest|-|30|$B/test/san/replay_open|sh tests/corpus.sh $B/test/san/replay_open fuzz/corpus_open
END
}

# the programs that formats.sh runs
formatted() {
    for name in words events chronos sampler merge map output random capacity snapshot traces formats
    do
        ! has_parts "$name" || printf ' %s' "$B/test/plain/test_$name"
    done
}

# has_parts NAME: the programs that compare with the reference model need stb_ds
has_parts() {
    [ "$has_stb" = 1 ] || ! grep -q 'model\.[ch]' "tests/test_$1.c"
}

# slow_of NAME: the cases of a program that take seconds each
slow_of() {
    case $1 in
    formats) echo a_hundred_thousand_paths first_sites_only ;;
    trace) echo random_streams accept_forever echo50 mixed_stillborn prodcons recursion tasklist web ;;
    capacity) echo one_table_at_1_or_2 ;;
    output) echo a_locale_with_a_decimal_comma ;;
    stopped) echo a_merge_stopped_anywhere ;;
    sampler) echo work_in_step_with_the_period_has_its_shares ;;
    snapshot) echo killed_at_random_moments copies_of_a_block_in_a_hurry copies_of_a_busy_block ;;
    esac
}

# What takes long to build or to run with sanitizers, and has little more to show there.
slow_with_sanitizers=" random trace guard merge snapshot sampler capacity formats bare suspend output \
traces words stopped processor clock "

# flag_of NAME: those with timers, or with other processes that have to keep up
flag_of() {
    case $1 in sampler | suspend | clock) echo timer ;; *) echo - ;; esac
}

# seconds_of NAME: those that take more than some
seconds_of() {
    case $1 in
    sampler) echo 60 ;;
    snapshot) echo 20 ;;
    random | trace | stopped | formats | output) echo 10 ;;
    *) echo 5 ;;
    esac
}

# share_of NAME CONFIGURATION: random and long loops go round one part in so many. What a program that
# is killed anywhere leaves behind is the same in most places; what is read of a damaged block with
# sanitizers is a part of what is read without.
share_of() {
    case $1-$2 in
    snapshot-*) echo 12 ;;
    guard-*) echo 9 ;;
    open-plain) echo 1 ;;
    open-san) echo 7 ;;
    *) echo 3 ;;
    esac
}

# tools_of NAME: those that run the command
tools_of() {
    case $1 in trace | snapshot) echo " tools" ;; esac
}

# words SIGN WORD...: each with the sign before it
words() {
    sign=$1
    shift
    for word in "$@"; do printf ' %s%s' "$sign" "$word"; done
}

# program NAME TIER CONFIGURATION SUFFIX SHARE [ARGUMENTS]: a line. SHARE: random loops go round
# one part in so many
program() {
    path=$B/test/$3/test_$1
    echo "test_$1$4|$2|$(flag_of "$1")|$(seconds_of "$1")|$path$(tools_of "$1")|env SHARE=$5 $path${6:-}"
}

# each test program; what is slow of it, and those that are slow with sanitizers, are for the rest
programs() {
    for source in tests/test_*.c; do
        name=$(basename "$source" .c)
        name=${name#test_}
        slow=$(slow_of "$name")
        program "$name" short plain "" "$(share_of "$name" plain)" "$(words - $slow)"
        [ -z "$slow" ] || program "$name" rest plain -slow 1 "$(words = $slow)"
        case $slow_with_sanitizers in
        *" $name "*) program "$name" rest san -san 1 ;;
        *) program "$name" short san -san "$(share_of "$name" san)" "$(words - $slow)" ;;
        esac
    done
    for name in threads sampler; do program "$name" rest tsan -tsan 1; done
    [ "$(uname)" != Linux ] || program sampler rest itimer -itimer 1
}

suites() { scripts; programs; }
