#!/bin/sh
# chroprof merge: a fleet of profiles in files, and all that can be wrong with them.
#   sh tests/merge.sh [COMMAND]        default build/chroprof; FILES=2000
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if any failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
command=${1:-build/chroprof}
FILES=${FILES:-2000}
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

# is NAME GOT WANT
is() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "$2, expected $3"; fi; }

# FOLDER N BYTES [STAY]: N profiles of so many bytes, 0.block and so on; after a word more the last
# one stays mapped.
cat >"$scratch/fleet.c" <<'END'
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "chroprof.h"
CHROPROF_SITE(accept_site, "accept");
CHROPROF_SITE(reply_site, "reply");

static void live(chroprof *p, int number)
{
    char name[32];
    for (int i = 0; i < 100; i++) {
        chroprof_pending(p, 7, &accept_site);
        chroprof_ready(p, 7);
        chroprof_running(p, 7);
        chroprof_enter(p, &reply_site);
        chroprof_leave(p);
        snprintf(name, sizeof name, "job%d", number % 7);
        chroprof_enter(p, chroprof_site_make(p, name, "jobs.c", 3));
        chroprof_leave(p);
        chroprof_completed(p, 7);
        chroprof_idle_enter(p);
        chroprof_idle_leave(p);
    }
}

int main(int argc, char **argv)
{
    char path[4096];
    chroprof p;
    for (int k = 0; k < atoi(argv[2]); k++) {
        snprintf(path, sizeof path, "%s/%d.block", argv[1], k);
        if (chroprof_map(&p, path, (size_t)atol(argv[3]), NULL) != CHROPROF_OK)
            return 1;
        live(&p, k);
        if (argc > 4 && k + 1 == atoi(argv[2])) {
            puts("ready");
            fflush(stdout);
            pause();
        }
        chroprof_unmap(&p);
    }
    return 0;
}
END
if ! $CC -O1 -I. -o "$scratch/fleet" "$scratch/fleet.c" "$implementation" 2>"$scratch/log"; then
    fail build "$(head -n 1 "$scratch/log")"
    finish
fi
fleet=$scratch/loops
mkdir "$fleet" "$scratch/alive"
"$scratch/fleet" "$fleet" 12 65536

# total FIELD FILE: of one profile in JSON
total() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$2" | head -n 1; }
# sum FIELD: over the fleet
sum() {
    all=0
    for block in "$fleet"/*.block; do
        "$command" dump "$block" -f json -o "$scratch/one.json" 2>/dev/null
        all=$((all + $(total "$1" "$scratch/one.json")))
    done
    echo "$all"
}

# --- what comes out
run merge "$fleet"/*.block; expect text 0 "accept"
run merge "$fleet"/*.block --by calls --top 1; expect text_options 0 "more"
run merge "$fleet"/*.block -f json -o "$scratch/all.json"; expect json 0
for field in elapsed_ns busy_ns idle_ns uninstrumented_ns events callbacks iterations; do
    is "sum_of_$field" "$(total $field "$scratch/all.json")" "$(sum $field)"
done
run merge "$fleet"/*.block -o "$scratch/all.block"; expect block 0
run check "$scratch/all.block"; expect block_is_sound 0
run dump "$scratch/all.block" -f folded; cp "$scratch/out" "$scratch/folded"
run merge "$fleet"/*.block --format folded
if [ -s "$scratch/folded" ] && cmp -s "$scratch/out" "$scratch/folded"; then ok block_says_the_same
else fail block_says_the_same "$(diff "$scratch/out" "$scratch/folded" | head -n 3 | tr '\n' '|')"
fi
run merge "$scratch/all.block" "$fleet/0.block" -o "$scratch/all.block"; expect into_an_input 0
run dump "$scratch/all.block" -f json -o "$scratch/more.json"
"$command" dump "$fleet/0.block" -f json -o "$scratch/one.json" 2>/dev/null
is added_to_an_input "$(total elapsed_ns "$scratch/more.json")" \
    $(($(total elapsed_ns "$scratch/all.json") + $(total elapsed_ns "$scratch/one.json")))
run merge "$fleet"/*.block --name fleet; expect name 0 "fleet"
run merge "$fleet"/*.block --set max_paths=2 --set max_sites=3; expect full_tables 0 "max_paths"
run merge "$fleet"/*.block --set max_paths=2 --set max_sites=3 -f json -o "$scratch/full.json"
is full_tables_lose_no_time "$(total elapsed_ns "$scratch/full.json")" \
    "$(total elapsed_ns "$scratch/all.json")"

# --- where the names come from
ls "$fleet"/*.block >"$scratch/list"
run merge "@$scratch/list" -f json -o "$scratch/listed.json"
is list "$(total elapsed_ns "$scratch/listed.json")" "$(total elapsed_ns "$scratch/all.json")"
printf '%s\r\n\n' "$fleet/0.block" "$fleet/1.block" |
    "$command" merge - "$fleet/2.block" -f json -o "$scratch/three.json" 2>"$scratch/err"
is standard_input "$?.$(total events "$scratch/three.json")" \
    "0.$((3 * $(total events "$scratch/one.json")))"
run merge "@$scratch/none"; expect no_list 1 "No such file"
run merge "$scratch/none"; expect no_file 1 "No such file"

# --- what is wrong
run merge "$fleet/0.block" "$scratch/all.json" "$fleet/1.block" -o "$scratch/two.block"
expect json_is_refused 1 "this is JSON; use chroprof report"
expect the_rest_is_merged 1 "2 profiles merged, 1 left out"
run check "$scratch/two.block"; expect the_rest_is_sound 0
rm "$scratch/two.block"
run merge --strict "$fleet/0.block" "$scratch/all.json" "$fleet/1.block" -o "$scratch/two.block"
expect strict 1
if [ -e "$scratch/two.block" ]; then fail strict_writes_nothing "there is a file"
else ok strict_writes_nothing; fi
head -c 20000 "$fleet/0.block" >"$scratch/short.block"
run merge "$scratch/short.block" "$fleet/1.block"; expect cut_file 1 "only the beginning of a profile"
cp "$fleet/0.block" "$scratch/wrong.block"
printf '\377' | dd of="$scratch/wrong.block" bs=1 seek=115 conv=notrunc 2>/dev/null
run merge "$scratch/wrong.block" "$fleet/1.block"; expect broken_law 1 "1 left out"
run merge "$scratch"; expect folder 1
run merge; expect no_operand 2 "missing argument"
run merge "$fleet/0.block" --formt json; expect wrong_option 2 "did you mean --format"
run merge "$fleet/0.block" --set max_windows=70000; expect wrong_capacity 2 "limit"
run merge "$fleet/0.block" -o "$scratch/none/out.block"; expect no_folder 1 "No such file"
if [ -w /dev/full ]; then
    run merge "$fleet/0.block" -f json -o /dev/full; expect full_disk 1 "No space"
else
    skip full_disk "needs /dev/full"
fi
mkdir "$scratch/tiny" "$scratch/closed"
if mount -t tmpfs -o size=64k tmpfs "$scratch/tiny" 2>/dev/null; then
    run merge "$fleet"/*.block -o "$scratch/tiny/all.block"; expect block_on_a_full_disk 1 "No space"
    is nothing_is_left "$(ls "$scratch/tiny")" ""
    umount "$scratch/tiny"
else
    skip block_on_a_full_disk "mount needs to be root"
fi
chmod 711 "$scratch"
chmod 555 "$scratch/closed"
cp "$command" "$scratch/chroprof"
user=                              # root may write anywhere
[ "$(id -u)" = 0 ] && user="setpriv --reuid 65534 --regid 65534 --clear-groups"
if ! $user test -x "$scratch/chroprof"; then
    skip closed_folder "needs setpriv (util-linux)"
else
    $user "$scratch/chroprof" merge "$fleet/0.block" -o "$scratch/closed/out.block" \
        2>"$scratch/err"
    code=$?
    expect closed_folder 1 "ermission"
    $user "$scratch/fleet" "$scratch/closed" 1 65536; is no_profile_in_a_closed_folder $? 1
fi

# --- pipes: read from none, written to as they are
mkfifo "$scratch/pipe"
timeout 120 "$command" merge "$scratch/pipe" "$fleet/0.block" >"$scratch/out" 2>"$scratch/err"
code=$?
expect pipe_is_no_input 1 "1 left out"
timeout 120 cat "$scratch/pipe" >"$scratch/piped" &
timeout 120 "$command" merge "$fleet/0.block" -o "$scratch/pipe" 2>"$scratch/err"; code=$?
wait $!
expect into_a_pipe 0
if [ -p "$scratch/pipe" ]; then ok pipe_is_still_one; else fail pipe_is_still_one "replaced"; fi
: >"$scratch/linked"
ln -s linked "$scratch/link"
run merge "$fleet/0.block" -o "$scratch/link"; expect through_a_link 0
if [ -h "$scratch/link" ]; then ok link_is_still_one; else fail link_is_still_one "replaced"; fi
run check "$scratch/linked"; expect linked_block_is_sound 0
chmod 600 "$scratch/linked"
cp "$scratch/linked" "$scratch/before"
mkdir "$scratch/far"
ln -s ../link "$scratch/far/link"
(
    ulimit -f 8
    exec "$command" merge "$scratch/far/link" "$fleet/1.block" -o "$scratch/far/link"
) >"$scratch/out" 2>"$scratch/err" </dev/null
code=$?
expect failing_through_a_link 1 "too large"
if cmp -s "$scratch/before" "$scratch/linked"; then ok failing_leaves_the_old_block
else fail failing_leaves_the_old_block "it was overwritten"; fi
is failing_leaves_nothing_else "$(find "$scratch" -name '*.part.*')" ""
run merge "$scratch/far/link" "$fleet/1.block" -o "$scratch/far/link"; expect through_links 0
is links_are_still_some "$(readlink "$scratch/far/link") $(readlink "$scratch/link")" "../link linked"
is linked_block_is_as_private "$(ls -l "$scratch/linked" | cut -c 1-10)" "-rw-------"
if cmp -s "$scratch/before" "$scratch/linked"; then fail through_links_is_written "the old one"
else ok through_links_is_written; fi
if [ -h /dev/stdout ]; then
    : >"$scratch/opened"
    ln "$scratch/opened" "$scratch/same"
    "$command" merge "$fleet/0.block" -o /dev/stdout >"$scratch/opened" 2>"$scratch/err"
    run check "$scratch/same"; expect what_is_open_stays_that_file 0
else
    skip what_is_open_stays_that_file "no /dev/stdout"
fi
if [ -w /dev/full ]; then
    "$command" top -n 1 "$fleet/0.block" >/dev/full 2>"$scratch/err"; code=$?
    : >"$scratch/out"
    expect top_into_a_full_disk 1 "(standard output): "
else
    skip top_into_a_full_disk "no /dev/full"
fi
run check "$scratch/piped"; expect piped_block_is_sound 0
# shellcheck disable=SC2002 # it has to be a pipe
cat "$scratch/piped" | timeout 120 "$command" diff - "$scratch/piped" >"$scratch/out" 2>"$scratch/err"
code=$?
expect block_through_a_pipe 0 "No site got worse"

# --- programs that run
"$scratch/fleet" "$scratch/alive" 1 65536 stay >"$scratch/said" &
alive=$!
while ! grep -q ready "$scratch/said"; do sleep 0.1; done
run merge "$alive" "$fleet/0.block"; expect process 0 "accept"
run merge "$fleet/0.block" -o "$scratch/alive/0.block"; expect owned 1 "keeps its profile there"
run merge "$fleet/0.block" -f json -o "$scratch/alive/0.block"
expect owned_is_not_cut_by_merge 1 "keeps its profile there"
run dump "$fleet/0.block" -o "$scratch/alive/0.block"
expect owned_is_not_cut_by_dump 1 "keeps its profile there"
run check "$scratch/alive/0.block"; expect owned_is_whole 0
kill -9 "$alive"
wait "$alive" 2>/dev/null
run merge "$scratch/alive/0.block" "$fleet/0.block"; expect killed_process 0 "accept"

# --- a file that is cut short while it is read: an error or a report, and never a signal
"$scratch/fleet" "$scratch/alive" 2 50000000
truncated=0 died=
for word in dump check merge dump check merge dump check merge dump check merge; do
    rm -f "$scratch/shrinks"
    cp "$scratch/alive/1.block" "$scratch/shrinks"
    "$command" $word "$scratch/shrinks" >/dev/null 2>"$scratch/err" &
    reader=$!
    sleep 0.0$((truncated % 7 + 1))
    truncate -s 8192 "$scratch/shrinks"
    wait "$reader"
    code=$?
    [ "$code" -gt 1 ] && died="$died $word:$code"
    grep -q "only the beginning of a profile" "$scratch/err" && truncated=$((truncated + 1))
done
is cut_while_read "$died" ""
if [ "$truncated" -gt 0 ]; then ok cut_while_read_was_seen
else skip cut_while_read_was_seen "every copy was faster than the truncation"; fi

# --- many: in less memory than they have
"$scratch/fleet" "$fleet" "$FILES" 65536
find "$fleet" -name '*.block' >"$scratch/list"
(
    ulimit -v 100000 2>/dev/null
    exec "$command" merge "@$scratch/list" -o "$scratch/all.block"
) 2>"$scratch/err" </dev/null
code=$?
expect "many_in_constant_memory" 0
run dump "$scratch/all.block" -f json -o "$scratch/all.json"
is many_events "$(total events "$scratch/all.json")" \
    $((FILES * $(total events "$scratch/one.json")))
run check "$scratch/all.block"; expect many_are_sound 0
finish
