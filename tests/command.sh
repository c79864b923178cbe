#!/bin/sh
# The chroprof command, the quick start of the README and the demonstration, as a user runs them.
#   sh tests/command.sh [COMMAND]      default build/chroprof, built into a scratch directory if absent
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if anything failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

command=${1:-build/chroprof}
if [ ! -x "$command" ]; then
    command=$scratch/chroprof
    if ! $CC -O1 -o "$command" src/command/*.c 2>"$scratch/log"; then
        fail build "$(head -n 1 "$scratch/log")"
        echo "$passed passed, $failed failed, $skipped skipped"
        exit 1
    fi
fi
case $command in /*) ;; *) command=$PWD/$command ;; esac

# run ARGUMENTS...: standard output and error into files, the exit code into $code
run() { "$command" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; code=$?; }

# expect NAME CODE [TEXT]: the last run's exit code, and a text that its output or messages hold
expect() {
    if [ "$code" != "$2" ]; then
        fail "$1" "exit code $code, expected $2: $(head -n 1 "$scratch/err")"
    elif [ -n "${3-}" ] && ! grep -qF -e "$3" "$scratch/out" "$scratch/err"; then
        fail "$1" "'$3' not found in: $(head -n 3 "$scratch/err" "$scratch/out" | tr '\n' '|')"
    else
        ok "$1"
    fi
}

. tests/running.sh

sleeps() { grep -qs '^State:.S' "/proc/$waiting/status"; }

# meanwhile FILE COMMAND...: dumps what happens next in a file; the command is done while it waits
# for that. It is stopped as soon as it sleeps, so however long the command takes is not too long.
meanwhile() {
    "$command" dump "$1" --for 3 >"$scratch/out" 2>"$scratch/err" </dev/null &
    waiting=$!
    shift
    for _ in $(seq 300); do
        if sleeps; then sleep 0.1; if sleeps; then break; fi; fi
        sleep 0.1
    done
    kill -STOP "$waiting"
    "$@"
    kill -CONT "$waiting"
    wait "$waiting"; code=$?
}

# same NAME FILE FILE
same() {
    if cmp -s "$2" "$3"; then ok "$1"; else
        fail "$1" "$(diff "$2" "$3" 2>&1 | head -n 4 | tr '\n' '|')"
    fi
}

# --- help, version, usage
version=$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)
run --version; expect version 0 "chroprof $version"
run --help; expect help 0 "replay"
run help replay; expect help_of_a_command 0 "usage: chroprof replay FILE"
run replay --help; expect command_help 0 "exit codes"
if awk 'length > 80 { exit 1 }' "$scratch/out"; then ok help_fits_80_columns; else
    fail help_fits_80_columns "$(awk 'length > 80' "$scratch/out" | head -n 1)"
fi
missing=
for option in format out by top columns ascii color strict memory set window stall name repeat stats
do
    grep -q -e "--$option" "$scratch/out" || missing="$missing --$option"
done
if [ -z "$missing" ]; then ok help_names_all_options; else
    fail help_names_all_options "missing:$missing"
fi
run; expect no_arguments 2 "usage: chroprof"
run repaly; expect unknown_command 2 "did you mean replay?"
run zzzzzzz; expect unknown_command_far 2 "unknown command zzzzzzz (see"
run foo; expect unknown_command_short 2 "unknown command foo (see"
run --repaly; expect unknown_option_of_none 2 "unknown option --repaly (see"
run dump ''; expect empty_operand 2 "an argument is empty"
run replay x --fromat json; expect unknown_option 2 "did you mean --format?"
run replay x --win 1s; expect option_beginning 2 "did you mean --window"
run replay x -q; expect unknown_letter 2 "unknown option -q"
run replay; expect missing_operand 2 "FILE"
run replay a b; expect operand_too_many 2 "unexpected argument b"
run replay x --top; expect missing_value 2 "a value is missing after --top"
run run --report -- true; expect missing_value_before_program 2 "a value is missing after --report"
run run -o -- true; expect missing_value_of_letter 2 "a value is missing after -o"
if [ -e ./-- ]; then fail no_file_of_two_dashes "there is one"; else ok no_file_of_two_dashes; fi
run replay x --strict=1; expect value_not_taken 2 "no value is allowed after --strict"
for bad in --format=xml --by=size --top=0 --top=x --columns=59 --columns=201 --memory=12Q \
    --memory=99999999999999999999 --repeat=0 --set=max_path=3 --set=max_paths --set=max_paths=0 \
    --color=maybe --window=5 --window=5parsecs --stall=x
do
    run replay x "$bad"; expect "bad_value$bad" 2 "expected"
done

# --- a small stream whose figures are known: a runs 5 ms, its child b 3 ms, 4 ms loop, 2 ms idle
cat >"$scratch/small.events" <<'END'
# a comment
1000000 pending 1 a a.c 1
1000000 running 1 a a.c 1
4000000 pending 2 b b.c 2
4000000 running 2 b b.c 2
7000000 completed 2 b b.c 2
9000000 paused 1 a a.c 1
13000000 idle_enter 0
15000000 idle_leave 0
15000000 completed 1 a a.c 1
END
small=$scratch/small.events
run replay "$small" --format folded; expect folded 0 "a;b 3000"
for line in "a 5000" "a;b 3000"; do
    if grep -q "$line\$" "$scratch/out"; then ok "folded_$line"; else
        fail "folded_$line" "$(tr '\n' '|' <"$scratch/out")"
    fi
done
cp "$scratch/out" "$scratch/small.folded"
if grep -q '^small;a 5000$' "$scratch/out"; then ok default_name; else
    fail default_name "$(head -n 1 "$scratch/out")"
fi
run replay "$small"; expect text 0 "a.c:1"
cp "$scratch/out" "$scratch/small.text"
run replay "$small" --format=json; expect json 0 '"sites"'
cp "$scratch/out" "$scratch/small.json"

cat >"$scratch/sums.py" <<'END'
import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
t = d["totals"]
assert t["elapsed_ns"] == t["busy_ns"] + t["idle_ns"] + t["uninstrumented_ns"], "elapsed"
sites = sum(s["exec_ns"] for s in d["sites"])
assert t["busy_ns"] == sites + t["untracked_ns"], "busy"
assert t["delay_ns"] == t["blame_ns"], "blame"
if len(sys.argv) > 2:  # nine lines, and the tick of the dump
    assert t["elapsed_ns"] == 14000000 and t["idle_ns"] == 2000000 and t["uninstrumented_ns"] == 4000000, t
    assert t["events"] == 9 and t["anomalies"] == 0, t
    exec_ns = {s["name"]: s["exec_ns"] for s in d["sites"]}
    assert exec_ns == {"a": 5000000, "b": 3000000}, exec_ns
END
if command -v python3 >/dev/null 2>&1; then
    if python3 "$scratch/sums.py" "$scratch/small.json" exact 2>"$scratch/err"; then
        ok json_figures
    else
        fail json_figures "$(tail -n 1 "$scratch/err")"
    fi
else
    skip json_figures "no python3"
fi

# --- where the stream comes from
"$command" replay - <"$small" >"$scratch/out" 2>"$scratch/err"; code=$?
expect standard_input 0 "stdin"
cat "$small" | "$command" replay - --format folded --name small >"$scratch/out" 2>"$scratch/err"
same from_a_pipe "$scratch/out" "$scratch/small.folded"
printf '%s' "$(cat "$small")" >"$scratch/cut.events"
run replay "$scratch/cut.events" --format folded --name small
same last_line_without_newline "$scratch/out" "$scratch/small.folded"
sed 's/$/\r/' "$small" >"$scratch/crlf.events"
run replay "$scratch/crlf.events" --format folded --name small
same carriage_returns "$scratch/out" "$scratch/small.folded"
: >"$scratch/empty.events"
run replay "$scratch/empty.events"; expect empty_stream 1 "the stream has no events"
run replay "$scratch/absent.events"; expect absent_file 1 "absent.events: "
run replay "$scratch"; expect directory 1 "$scratch: "
for packer in xz gzip; do
    case $packer in xz) ending=xz ;; *) ending=gz ;; esac
    if ! command -v $packer >/dev/null 2>&1; then
        skip "packed_$ending" "no $packer"
        continue
    fi
    packed=$scratch/-odd' 'name\'.$ending
    $packer -c <"$small" >"$packed"
    run replay -f folded --name small "$packed"
    same "packed_$ending" "$scratch/out" "$scratch/small.folded"
    PATH=/nonexistent "$command" replay "$packed" >"$scratch/out" 2>"$scratch/err"; code=$?
    expect "packed_${ending}_without_its_tool" 1 "needs the program $packer"
    head -c 60 "$packed" >"$scratch/torn.$ending"
    run replay "$scratch/torn.$ending"; expect "packed_${ending}_torn" 1 "could not unpack"
    cp "$packed" "$scratch/plain.events"
    run replay "$scratch/plain.events"; expect "packed_${ending}_misnamed" 1 "ends in .$ending"
done

# --- malformed lines: each with its place and what was expected
cat >"$scratch/bad.events" <<'END'
1 pending 1 a a.c 1
x running 1 a a.c 1
2 sprinting 1 a a.c 1
3 running -1 a a.c 1
4 running 18446744073709551616 a a.c 1
5 pending 2 b
6 pending 2 b b.c 4294967296
7 pending 2 b b.c 2 more
8 pending 2 b\x b.c 2
9
10 pending 3
11 pending 3  c.c 3
12running 1
13 running 1 a a.c 1
23 completed 1 a a.c 1
END
run replay "$scratch/bad.events"; expect malformed_goes_on 0 "12 malformed lines skipped, 3 events"
sed "s|^$scratch/||" "$scratch/err" >"$scratch/got"
while read -r place; do
    if grep -q "^bad.events:$place: .*expected" "$scratch/got"; then ok "malformed_at_$place"; else
        fail "malformed_at_$place" "$(grep "^bad.events:${place%:*}:" "$scratch/got")"
    fi
done <<'END'
2:1
3:3
4:11
5:11
6:14
7:19
8:21
9:14
10:2
11:13
12:14
13:1
END
run replay --strict "$scratch/bad.events"; expect strict_stops 1 "bad.events:2:1: "
if [ -s "$scratch/out" ] || grep -q "events:3:" "$scratch/err"; then
    fail strict_stops_at_once "went on"
else
    ok strict_stops_at_once
fi
run replay --strict "$small"; expect strict_accepts 0 "a.c:1"
awk 'BEGIN { for (i = 0; i < 100; i++) print "bad" }' >"$scratch/many.events"
run replay "$scratch/many.events"; expect many_malformed 1 "100 malformed lines"
if [ "$(wc -l <"$scratch/err")" -le 25 ]; then ok many_malformed_short; else
    fail many_malformed_short "$(wc -l <"$scratch/err") lines of messages"
fi
printf '1 pending 1 a\000b f.c 1\n' >"$scratch/zero.events"
run replay "$scratch/zero.events"; expect zero_byte 1 "text without zero bytes"
printf '\033[31mred\n' >"$scratch/escape.events"
run replay "$scratch/escape.events"
if grep -q "$(printf '\033')" "$scratch/err"; then fail message_is_harmless "escape byte passed on"
else ok message_is_harmless; fi

# --- names
printf '%s\n' '0 pending 1 two\swords\\x \e 1' '0 running 1' '7000 completed 1' \
    >"$scratch/names.events"
run replay "$scratch/names.events" --format folded; expect escapes 0 'two words\x 7'
awk 'BEGIN { n = "n"; while (length(n) < 300000) n = n n; print "0 pending 1 " n " f.c 1";
             print "0 running 1"; print "5000 completed 1" }' >"$scratch/long.events"
run replay --strict "$scratch/long.events"; expect long_name 0 "nnnn"
awk 'BEGIN { n = "n"; while (length(n) < 17000000) n = n n; print n }' >"$scratch/huge.events"
run replay "$scratch/huge.events"; expect line_too_long 1 "longer than 16 MiB"
awk 'BEGIN { for (i = 1; i <= 70000; i++) print i, "pending", i, "s" i, "f.c", i
             for (i = 1; i <= 70000; i++) print 70000 + i, "completed", i, "s" i, "f.c", i }' \
    >"$scratch/sites.events"
run replay --strict "$scratch/sites.events"; expect more_sites_than_the_cache 0 "max_sites"

# --- where the report goes, and how it looks
run replay "$small" -f folded -o "$scratch/written"; expect out 0
same out_is_the_report "$scratch/written" "$scratch/small.folded"
run replay "$small" -o "$scratch/no/such/place"; expect out_unwritable 1 "no/such/place: "
cp "$small" "$scratch/both.events"
run replay "$scratch/both.events" -o "$scratch/both.events"; expect out_is_the_input 2 "both"
same out_is_the_input_unharmed "$scratch/both.events" "$small"
said=$( (ulimit -f 0; "$command" replay "$small" -o "$scratch/limited" 2>&1; echo "code $?") | tail -n 2)
case $said in
*"/limited: "*"code 1") ok out_beyond_the_limit_of_files ;;
*) fail out_beyond_the_limit_of_files "$said" ;;
esac
if [ -w /dev/full ]; then
    run replay "$small" -o /dev/full; expect out_full 1 "/dev/full: "
    "$command" replay "$small" >/dev/full 2>"$scratch/err"; code=$?
    expect standard_output_full 1 "(standard output): "
else
    skip out_full "no /dev/full"
fi
for width in 60 80 120 200; do
    run replay "$small" --ascii --columns "$width"
    if [ "$code" = 0 ] && LC_ALL=C awk -v w="$width" 'length > w { exit 1 }' "$scratch/out" &&
        ! LC_ALL=C grep -q '[^ -~]' "$scratch/out"; then ok "ascii_columns_$width"; else
        fail "ascii_columns_$width" "$(LC_ALL=C awk -v w="$width" 'length > w' "$scratch/out" |
            head -n 1)"
    fi
done
# the locale C asks for it by itself, another one does not
LC_ALL=C "$command" replay "$small" >"$scratch/out"
if ! LC_ALL=C grep -q '[^ -~]' "$scratch/out"; then ok ascii_in_the_locale_c; else
    fail ascii_in_the_locale_c "$(LC_ALL=C grep -m 1 '[^ -~]' "$scratch/out")"; fi
LC_ALL=C.UTF-8 "$command" replay "$small" >"$scratch/out"
if LC_ALL=C grep -q '[^ -~]' "$scratch/out"; then ok no_ascii_in_utf_8; else
    fail no_ascii_in_utf_8 "nothing but ASCII"; fi
run replay "$small" --color always; expect color_always 0 "$(printf '\033[')"
run replay "$small" --color auto
if grep -q "$(printf '\033')" "$scratch/out"; then fail color_auto "colored into a file"; else
    ok color_auto
fi
run replay "$small" --by calls --top 1; expect by_and_top 0 "a.c:1"
run replay "$small" --by blame; expect blame_without_ready 0 "delay and blame are 0"
printf '%s\n' '0 enter 0 a a.c 1' '0 pending 7 b b.c 2' '2000 ready 7' '5000 leave 0' \
    '9000 running 7' '9000 completed 7' >"$scratch/ready.events"
run replay "$scratch/ready.events" --by blame
if [ "$code" = 0 ] && [ ! -s "$scratch/err" ] && grep -q 'a .*3.00' "$scratch/out"; then
    ok blame_with_ready
else
    fail blame_with_ready "$(cat "$scratch/err"; grep 'a\.c' "$scratch/out" | head -n 1)"
fi
run replay "$small" --memory 100; expect memory_too_small 2 "too small"
run replay "$small" --memory 10K --set max_sites=1; expect set_capacity 0 "max_sites"
run replay "$small" --repeat 3 --stats; expect repeat 0 "27 events in "
run replay "$small" --repeat 3 --format folded; expect repeat_figures 0 "a 15000"

# --- recorded streams
traces=
for trace in tests/traces/*.events.xz; do
    [ -e "$trace" ] && traces="$traces $trace"
done
if [ -z "$traces" ] || ! command -v xz >/dev/null 2>&1 || ! command -v python3 >/dev/null 2>&1; then
    skip traces "needs tests/traces, xz and python3"
    traces=
fi
for trace in $traces; do
    name=$(basename "$trace" .events.xz)
    run replay --strict "$trace" --format json
    if [ "$code" != 0 ]; then fail "trace_$name" "exit code $code: $(head -n 1 "$scratch/err")"
    elif python3 "$scratch/sums.py" "$scratch/out" 2>"$scratch/err"; then ok "trace_$name"
    else fail "trace_$name" "$(tail -n 1 "$scratch/err")"; fi
done

# --- profiles in files
cat >"$scratch/mapped.c" <<'END'
#define _DEFAULT_SOURCE
#include <unistd.h>
#include "chroprof.h"
CHROPROF_SITE(site_wait, "never_returns\033[2J");
int main(int argc, char **argv)
{
    static chroprof p;
    static chroprof second;
    if (chroprof_map(&p, argv[1], 1 << 17, NULL) != CHROPROF_OK)
        return 1;
    if (argc > 3 && chroprof_map(&second, argv[3], 1 << 17, NULL) != CHROPROF_OK)
        return 1;
    chroprof_enter(&p, &site_wait);
    if (argc > 2)
        pause();
    chroprof_leave(&p);
    chroprof_unmap(&p);
    return 0;
}
END
if $CC -I. -o "$scratch/mapped" "$scratch/mapped.c" "$implementation" 2>"$scratch/log"; then
    "$scratch/mapped" "$scratch/ended.block"
    run dump "$scratch/ended.block"; expect dump_text 0 never_returns
    run dump "$scratch/ended.block"; expect dump_says_how_it_ended 0 "ended normally"
    run dump "$scratch/ended.block" --format json
    expect dump_json 0 '"name":"never_returns\u001b[2J"'
    for what in "dump -f json" dump report symbolize trace; do  # before it says anything of the profile
        # shellcheck disable=SC2086 # a command and its options are several words
        run $what "$scratch/ended.block" -o "$scratch/none/x"
        expect "${what}_into_no_folder" 1 "make the folder first"
        if [ "$(wc -l <"$scratch/err")" = 1 ]; then ok "${what}_into_no_folder_says_only_that"; else
            fail "${what}_into_no_folder_says_only_that" "$(head -n 1 "$scratch/err")"; fi
    done
    run check "$scratch/ended.block"; expect check_sound 0
    "$scratch/mapped" "$scratch/hung.block" hang &
    hung=$!
    until_running "$hung"
    run dump "$hung"; expect dump_of_a_process 0 'running never_returns\x1b[2J for '
    for _ in $(seq 600); do                 # until it has hung for a second
        run dump "$hung"
        ! grep -qE 'running never_returns.* for [1-9]' "$scratch/err" || break
        sleep 0.1
    done
    if grep -qE 'running never_returns.* for [1-9][0-9]*\.[0-9]{3} s$' "$scratch/err"
    then ok dump_says_how_long; else fail dump_says_how_long "$(grep running "$scratch/err")"; fi
    run dump "$hung"; expect dump_of_a_path 0 'path never_returns\x1b[2J'
    run dump "$scratch/hung.block"; expect dump_of_its_file 0 "process $hung runs"
    kill -9 "$hung"; wait "$hung" 2>/dev/null
    run dump "$scratch/hung.block"; expect dump_of_a_killed_one 0 "process $hung ended without closing its profile"
    run dump "$scratch/hung.block"; expect dump_says_what_it_ran 0 'for at least 0.'
    run dump "$scratch/hung.block" -f json
    first=$(sed -n '/^"findings":\[$/{n;p;}' "$scratch/out")
    case $first in *'"hangs","text":"never_returns'*'was running when the profile broke off'*)
        ok dump_finds_what_a_killed_one_ran ;;
    *) fail dump_finds_what_a_killed_one_ran "$first" ;; esac
    run check "$scratch/hung.block"; expect check_a_killed_one 0
    # killed, and its parent, a sleep, does not ask for its end: /proc still lists it
    sh -c '"$1" "$2" hang & echo $! >"$3"; exec sleep 600' sh "$scratch/mapped" \
        "$scratch/zombie.block" "$scratch/zombie" &
    careless=$!
    until_running "$scratch/zombie.block"
    zombie=$(cat "$scratch/zombie")
    run dump "$scratch/zombie.block"; expect dump_before_the_kill 0 "process $zombie runs"
    kill -9 "$zombie"
    until grep -qs '^State:.*Z' "/proc/$zombie/status" || [ ! -e "/proc/$zombie" ]; do
        sleep 0.1
    done
    run dump "$scratch/zombie.block"
    expect dump_of_a_zombie 0 "process $zombie ended without closing its profile"
    kill "$careless"; wait "$careless" 2>/dev/null
    "$scratch/mapped" "$scratch/one.block" hang "$scratch/two.block" &
    both=$!
    until_running "$scratch/one.block"
    run dump "$both"; expect dump_of_several 1 "give one of these files"
    for file in one two; do
        run dump "$both"; expect "dump_of_several_$file" 1 "  $scratch/$file.block"
    done
    mv "$scratch/one.block" "$scratch/renamed.block"
    rm "$scratch/two.block"
    # a file without a name is read through the mapping, which asks for a capability of its own
    if head -c 1 "/proc/$both/map_files/"* >/dev/null 2>&1; then
        run dump "$both"; expect dump_of_several_gone 1 "$scratch/two.block (deleted)"
    else
        run dump "$both"; expect dump_of_a_renamed_one 0 "process $both runs"
    fi
    kill -9 "$both"; wait "$both" 2>/dev/null
    head -c 5000 "$scratch/ended.block" >"$scratch/short.block"
    run dump "$scratch/short.block"; expect dump_cut_file 1 "only the beginning of a profile"
    # changed AT COUNT BYTES: a block with other bytes there
    changed() {
        { head -c "$1" "$scratch/ended.block"; printf "$3"; tail -c +"$(($1 + $2 + 1))" \
            "$scratch/ended.block"; } >"$scratch/changed.block"
        run dump "$scratch/changed.block"
    }
    mark=$(grep -abo -m 1 CHRPROF1 "$scratch/ended.block" | head -n 1 | cut -d: -f1)
    changed $((mark + 8)) 1 '\143'; expect dump_another_version 1 "by another version of chroprof; use"
    changed "$mark" 8 1FORPRHC; expect dump_other_byte_order 1 "the other byte order; write JSON"
    changed $((mark + 12)) 1 '\001'; expect dump_damaged 1 "this profile is damaged"
    run check "$scratch/mapped.c"; expect check_no_block 1 "this is not a profile"
    "$scratch/mapped" "$scratch/later.block" hang &
    later=$!
    until_running "$later"
    run dump "$later" --for 0.3 --format json; expect dump_for 0 '"never_returns\u001b[2J"'
    meanwhile "$scratch/later.block" rm "$scratch/later.block"
    expect dump_for_gone 1 "after the wait: No such"
    kill -9 "$later"; wait "$later" 2>/dev/null
    meanwhile "$scratch/ended.block" cp "$scratch/hung.block" "$scratch/ended.block"
    expect dump_for_another 1 "after the wait: "
    for bad in 0 -1 x 86401; do
        run dump "$scratch/hung.block" "--for=$bad"; expect "dump_for_$bad" 2 "expected a number of seconds"
    done
    run dump "$scratch/missing"; expect dump_missing 1 "No such file"
    run dump 999999999; expect dump_no_process 1 "no file with this name"
    run dump; expect dump_without_file 2 "missing argument"
else
    fail mapped_builds "$(head -n 1 "$scratch/log")"
fi

# --- a pipe and a folder are no profiles, and are not waited for
mkfifo "$scratch/pipe"
for what in dump check "merge -o $scratch/merged" "top -n 1" record; do
    for operand in pipe:"this is a pipe" .:"this is a directory"; do
        # shellcheck disable=SC2086 # a command and its options are several words
        run $what "$scratch/${operand%%:*}"
        expect "${what%% *}_of_${operand%%:*}" 1 "${operand#*:}"
    done
    case $what in merge* | top* | record)       # they take no standard input
        # shellcheck disable=SC2086 # a command and its options are several words
        run $what "$scratch/pipe"; expect "${what%% *}_of_pipe_says_how" 1 "write it to a file and give that" ;;
    esac
done

for what in replay report symbolize trace "dump -f json"; do
    # shellcheck disable=SC2086 # a command and its options are several words
    timeout 120 "$command" $what "$scratch/pipe" >"$scratch/out" 2>"$scratch/err"; code=$?
    expect "${what}_of_a_pipe" 1 "this is a pipe; give - and redirect"
done

# --- each subcommand says what it got
printf '# a comment\n1 pending 1 a f 1\n2 running 1\n5 completed 1\n' >"$scratch/got.events"
: >"$scratch/got.empty"
echo 'nothing that we know' >"$scratch/got.text"
run replay "$scratch/got.events" -f json -o "$scratch/got.json"; expect got_json 0
for what in dump check "merge -o $scratch/merged" top symbolize; do
    # shellcheck disable=SC2086 # a command and its options are several words
    run $what "$scratch/got.events"
    expect "${what%% *}_got_events" 1 "a stream of events; use chroprof replay"
done
for what in dump check "merge -o $scratch/merged" top report trace symbolize "diff $scratch/got.json"; do
    # shellcheck disable=SC2086 # a command and its options are several words
    for got in empty:"the input is empty" text:"this is not a profile"; do
        run $what "$scratch/got.${got%%:*}"
        case $what in diff*) code=$((code - 1)) ;; esac
        expect "${what%% *}_got_${got%%:*}" 1 "${got#*:}"
    done
done
for what in dump check "merge -o $scratch/merged" top; do
    # shellcheck disable=SC2086 # a command and its options are several words
    run $what "$scratch/got.json"; expect "${what%% *}_got_json" 1 "this is JSON; use chroprof report"
done
head -c 900 "$scratch/got.json" >"$scratch/torn.json"
for what in dump check top record; do
    run $what "$scratch/torn.json"; expect "${what}_torn_json" 1 "cut short"
done
# what is no profile, to each that reads one; $$ is a shell, which has none
for what in dump check "merge -o $scratch/merged" top report trace symbolize record \
    "diff $scratch/got.json" replay; do
    for got in "$scratch:this is a directory; give a file" \
        "$scratch/got.missing:No such file or directory; check its path" \
        "999999999:no file with this name and no process with this number (see: ps -e)"; do
        # shellcheck disable=SC2086 # a command and its options are several words
        run $what "${got%%:*}"
        case $what in diff*) code=$((code - 1)) ;; esac
        expect "${what%% *}_given_${got#*:}" 1 "${got#*:}"
    done
done
if [ -d /proc/$$ ]; then
    for what in dump check top report trace symbolize record; do
        run "$what" $$; expect "${what}_of_a_shell" 1 "has no profile; watch it as it is with chroprof attach"
    done
    run replay $$; expect replay_of_a_process 1 "chroprof record $$ -o FILE to keep its events"
fi
run replay "$scratch/got.text"; expect replay_got_text 1 "no line of it is an event"
if [ ! -s "$scratch/out" ]; then ok replay_got_text_no_report; else
    fail replay_got_text_no_report "$(head -n 1 "$scratch/out")"; fi
run replay "$scratch/got.empty"; expect replay_got_empty 1 "the stream has no events"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\n\0\n' >"$scratch/got.png"
run replay "$scratch/got.png"; expect replay_got_binary 1 "this is not a stream of events"
if [ "$(wc -l <"$scratch/err")" = 1 ]; then ok replay_got_binary_says_one_line; else
    fail replay_got_binary_says_one_line "$(wc -l <"$scratch/err") lines"; fi
run replay "$scratch/got.events" -m 1
least=$(sed -n 's/.*--memory 1 is too small; give at least \([0-9]*\) bytes$/\1/p' "$scratch/err")
run replay "$scratch/got.events" -m "${least:-0}"; expect replay_names_the_least_memory 0
run replay "$scratch/got.events" -m 1 --set max_sites=200000000; expect replay_without_enough_memory 2 \
    "no memory is enough"
run replay "$scratch/got.events" -m 1 --set max_sites=1000000; expect replay_of_much_memory 2 \
    "give at least 1"
# weights whose sum is too large: the path's time is still divided, not multiplied
printf '%s' '{"chroprof":2,"name":"x","sites":[],"stalls":[],"windows":[],"futures":[],"samples":[],
    "totals":{"elapsed_ns":9000000,"uninstrumented_ns":0,"untracked_ns":0,"idle_ns":0},
    "paths":[{"id":3,"parent":0,"name":"p","file":"x","line":1,"exec_ns":9000000}],
    "modules":[{"id":1,"path":"m","build_id":""}],
    "sampler":{"period_ns":1000,"cost_ns":1,"mode":"cpu"},
    "stacks":[{"id":1,"parent":0,"kind":"task","path":3,"name":"p","weight":0,"cpu_ns":0}' \
    >"$scratch/large.json"
for id in 10 11 12; do
    printf ',{"id":%s,"parent":1,"kind":"native","module":1,"address":%s,"return":false,"name":"f%s",
        "weight":9223372036854775808,"cpu_ns":1}' $id $id $id
done >>"$scratch/large.json"
printf ']}' >>"$scratch/large.json"
run dump "$scratch/large.json" -f folded; expect large_weights 0
total=$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$scratch/out")
if [ "$total" = 9000 ]; then ok large_weights_sum; else fail large_weights_sum "$total"; fi
run replay "$scratch/got.events" -m "$((${least:-0} - 1))"; expect replay_with_less 2 "at least $least"
run "$scratch/got.json"; expect file_for_a_command 2 "is a file, not a command; chroprof dump"
for what in report trace symbolize "diff $scratch/got.json" "replay --repeat 2"; do
    # shellcheck disable=SC2086 # a command and its options are several words
    run $what /dev/zero
    case $what in diff*) code=$((code - 1)) ;; esac
    expect "${what%% *}_got_a_device" 1 "this is a device; give a file"
done
# what no person can read does not go to a terminal
if command -v script >/dev/null; then
    for what in "report $scratch/got.events" "replay $scratch/got.events -f pprof"; do
        script -qec "'$command' $what" /dev/null >"$scratch/out" 2>"$scratch/err" </dev/null; code=$?
        expect "${what%% *}_to_a_terminal" 2 "is not for a terminal; write it to a file with -o"
    done
else
    skip report_to_a_terminal "no program script"
    skip replay_to_a_terminal "no program script"
fi
printf '{\n"cut": "' >"$scratch/got.cut"
run report "$scratch/got.cut"; expect report_got_cut_json 1 "the file ends here, cut short"
expect report_of_cut_json_says_what_to_do 1 "chroprof: $scratch/got.cut:2:9: the file ends here, cut"
expect report_of_cut_json_says_how 1 "; copy or write all of it again"
echo '{"other": 1}' >"$scratch/got.other"
run report "$scratch/got.other"; expect report_got_other_json 1 "as chroprof dump -f json"
"$command" merge - <"$scratch/got.json" >"$scratch/out" 2>"$scratch/err"; code=$?
expect merge_got_json_as_a_list 1 "this is a profile, not a list"
run run "$scratch/got.json"; expect run_given_a_file 127 "this is not a program"
run run "$scratch"; expect run_given_a_folder 127 "this is a directory, not a program"
run run 999999999; expect run_given_a_process 127 "chroprof top 999999999"
(cd "$scratch" && "$command" run got.json >out 2>err)
code=$?; expect run_given_a_profile 127 "but this file is a profile"
cp /bin/ls "$scratch/no_such_name"
(cd "$scratch" && "$command" run no_such_name >out 2>err)
code=$?; expect run_given_a_name_of_this_folder 127 "for the one in this folder give ./no_such_name"
run dump "$scratch/got.json" -f json; expect dump_json_of_json 0 '"chroprof":'
run replay "$scratch/got.json"; expect replay_got_json 1 "this is JSON, not a stream of events; use chroprof report"

# --- a block by standard input, by what a shell opens for <(command), or packed
block=$scratch/by.block
if printf '%s\n' "$scratch/ended.block" "$scratch/hung.block" | "$command" merge - -o "$block" \
    2>/dev/null; then
    for what in dump "dump -f json" "dump -f trace" check report trace; do
        # shellcheck disable=SC2086 # a command and its options are several words
        if "$command" $what - <"$block" >"$scratch/by.stdin" 2>/dev/null &&
            "$command" $what "$block" >"$scratch/by.name" 2>/dev/null &&
            sed "s/data-source=\"[^\"]*\"//" "$scratch/by.name" >"$scratch/by.name2" &&
            sed "s/data-source=\"[^\"]*\"//" "$scratch/by.stdin" |
            cmp -s - "$scratch/by.name2"; then ok "${what}_by_stdin"
        else fail "${what}_by_stdin" "it differs"; fi
    done
    run replay "$block"; expect replay_got_block 1 "this is a profile, not a stream of events"
    for place in /dev/stdin /dev/fd/0; do
        if [ -e $place ]; then
            cat "$block" | "$command" check $place >"$scratch/out" 2>"$scratch/err"; code=$?
            expect "check_of_a_pipe_by_${place##*/}" 0
        else skip "check_of_a_pipe_by_${place##*/}" "no $place"; fi
    done
    gzip -c "$block" >"$block.gz"
    run check "$block.gz"; expect check_packed 0
    run top "$block.gz"; expect top_packed 1 "needs a file or a process"
    run dump "$block.gz" --for 1; expect dump_for_packed 1 "needs a file or a process"
else
    fail block_by_stdin "no block could be merged"
fi

# --- profiles of 40,000 rows
if command -v python3 >/dev/null 2>&1; then
    python3 tests/linear.py "$command" "$scratch" >"$scratch/linear" 2>"$scratch/err" ||
        fail linear "$(tail -n 1 "$scratch/err")"
    cat "$scratch/linear"
    passed=$((passed + $(grep -c '^ok' "$scratch/linear")))
    failed=$((failed + $(grep -c '^FAIL' "$scratch/linear")))
else
    skip linear "no python3"
fi

# --- names that would steer a terminal, and forge a second line of message
# each in UTF-8: U+009B (a command begins), U+202E (right to left), U+2028 (a line ends); ESC, 0x9B
odd=$(printf 'x\302\2332J\342\200\256y\342\200\250z\033]0;t\007\2332J\nchroprof: all is well')
shown='x\u009b2J\u202ey\u2028z\x1b]0;t\x07\x9b2J\x0achroprof: all is well'
# harmless NAME [WORDS...]: the message shows the odd text and is plain
harmless() {
    name=harmless_$1
    shift
    run "$@"
    if LC_ALL=C grep -q '[^ -~]' "$scratch/err"; then fail "$name" "$(cat -v "$scratch/err")"
    elif ! grep -qF -e "$shown" "$scratch/err"; then fail "$name" "$(head -n 1 "$scratch/err")"
    elif grep -q '^chroprof: all' "$scratch/err"; then fail "$name" "a second line was forged"
    else ok "$name"; fi
}
for what in dump check top merge report symbolize trace replay record run completion help; do
    harmless $what $what "$scratch/$odd"
done
harmless diff diff "$scratch/$odd" "$scratch/$odd"
harmless command "$odd"
harmless option dump "--$odd"
harmless value replay x "--top=$odd"
harmless value_apart replay x --top "$odd"
harmless operand_too_many replay a "$odd"
harmless list merge "@$scratch/$odd"
harmless output replay "$small" -o "$scratch/no/$odd"
cp "$scratch/bad.events" "$scratch/$odd"
for what in replay report symbolize trace; do
    harmless "${what}_malformed" $what "$scratch/$odd"
done
harmless diff_malformed diff "$scratch/$odd" "$scratch/$odd"
printf '1 %s 1\n' "$(printf '\302\2332J\342\200\256\2332J\033')" >"$scratch/odd.events"
run replay "$scratch/odd.events"; expect harmless_field 1 "'\u009b2J\u202e\x9b2J\x1b'"
plain=$(printf 'gr\303\266\303\237e \346\227\245\346\234\254')
run dump "$scratch/$plain"; expect readable_stays 1 "$plain: No such file"

# --- the quick start of the README compiles and runs as it stands
awk '/^```c$/ { getline; on = /quick[.]c/ } /^```$/ { on = 0 } on' README.md >"$scratch/quick.c"
if [ ! -s "$scratch/quick.c" ]; then fail quick_start "not found in README.md"
elif ! $CC -Wall -Wextra -Werror -I. -o "$scratch/quick" "$scratch/quick.c" 2>"$scratch/err"; then
    fail quick_start_builds "$(head -n 1 "$scratch/err")"
else
    ok quick_start_builds
    (cd "$scratch" && ./quick) >"$scratch/out" 2>"$scratch/err"; code=$?
    expect quick_start_runs 0 "on_request"
    run dump -f text "$scratch/quick.chroprof"; expect quick_start_leaves_a_file 0 "on_request"
    told=$(sed -n 's/.*size 0: 0\.\([0-9]\) MiB.*/\1/p' README.md)
    size=$(wc -c <"$scratch/quick.chroprof")
    if [ "$(((size * 10 + 524288) / 1048576))" = "$told" ]; then ok quick_start_size; else
        fail quick_start_size "$size bytes, README: 0.$told MiB"; fi
fi

# --- the demonstration: it compiles as its head says; and a short run of it
if $CC -O2 -fsyntax-only examples/demo.c 2>"$scratch/err"; then ok demo_compiles
else fail demo_compiles "$(head -n 1 "$scratch/err")"; fi
if cp "${B:-build}/demo" "$scratch/demo" 2>/dev/null ||
    $CC -O2 -o "$scratch/demo" examples/demo.c 2>"$scratch/err"; then
    for seconds in 3 10 30; do          # a busy machine gives it few samples a second
        (cd "$scratch" && ./demo $seconds) >"$scratch/out" 2>"$scratch/err"; code=$?
        ! grep -q "task_handler;find_task" "$scratch/demo.folded" || break
    done
    expect demo_runs 0 "task_handler"
    if [ -s "$scratch/demo.json" ] && grep -q "task_handler;find_task" "$scratch/demo.folded"
    then ok demo_writes_files; else fail demo_writes_files "demo.json or demo.folded"; fi
    (cd "$scratch" && ./demo 1 fixed) >"$scratch/out" 2>"$scratch/err"; code=$?
    expect demo_fixed_runs 0 "task_handler"
    # killed in its work: its trace goes up to its last event, and each path has its exec, but for what
    # the times of its clock lack of a nanosecond
    (cd "$scratch" && exec ./demo 60 killed.chroprof) >"$scratch/log" 2>&1 &
    demo=$! tries=0
    until "$command" dump "$scratch/killed.chroprof" -f folded 2>/dev/null | grep -q find_task ||
        [ "$((tries += 1))" -gt 300 ]; do sleep 0.2; done
    kill -9 $demo; wait $demo 2>/dev/null
    run dump "$scratch/killed.chroprof" -f json -o "$scratch/killed.json"
    expect demo_is_killed 0 "ended without closing its profile"
    run trace "$scratch/killed.chroprof" -o "$scratch/killed.trace"
    if PYTHONPATH=tests python3 - "$scratch/killed.json" "$scratch/killed.trace" <<'END' >"$scratch/log" 2>&1
import decimal, json, sys
from check_trace import loop_intervals
profile = json.load(open(sys.argv[1]))
events = json.load(open(sys.argv[2]), parse_float=decimal.Decimal)["traceEvents"]
spans = loop_intervals([event for event in events if event["ph"] in "BE"])
totals, took, count = profile["totals"], {}, {}
for begin, end, _, _, path in spans:
    took[path] = took.get(path, 0) + end - begin
    count[path] = count.get(path, 0) + 1
exec_ns = {row["id"]: row["exec_ns"] for row in profile["paths"]}
exec_ns.update({0: totals["uninstrumented_ns"], 1: totals["idle_ns"], 2: totals["untracked_ns"]})
whole = profile["timeline"]["steps"] == totals["events"]
assert spans and totals["events"] > 100, totals["events"]
assert spans[-1][1] == totals["elapsed_ns"], (spans[-1], totals["elapsed_ns"])
for path, ns in exec_ns.items():
    is_ns, slack = took.get(path, 0), count.get(path, 0)
    assert ns - slack <= is_ns if whole else True, (path, is_ns, ns)
    assert is_ns <= ns + slack, (path, is_ns, ns)
END
    then ok trace_of_the_killed_demo; else fail trace_of_the_killed_demo "$(tail -n 1 "$scratch/log")"; fi
else
    fail demo_builds "$(head -n 1 "$scratch/err")"
fi

# a trace that is a multiple of its profile is refused, unless somebody wants it
if command -v python3 >/dev/null 2>&1; then
    python3 - >"$scratch/wide.json" <<'END'
import json, sys
rows = [dict(start_ns=i * 1000, end_ns=i * 1000 + 1000, busy_ns=900, idle_ns=0, uninstrumented_ns=0,
             untracked_ns=0) for i in range(3000)]
sites = [dict(id=i + 4, name=f"{i}" + 900 * "n", file="f", line=1, exec_ns=3000, windows=[1] * 3000)
         for i in range(60)]
json.dump({"chroprof": 3, "name": "x", "sites": sites, "stalls": [], "windows": rows,
           "futures": []}, sys.stdout)
END
    run trace "$scratch/wide.json" -o /dev/null
    expect trace_too_large 1 "larger than 200 MiB"
    run trace "$scratch/wide.json" --any-size -o /dev/null
    expect trace_of_any_size 0
fi

finish
