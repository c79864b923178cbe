#!/bin/sh
# tests/sizes.sh - the size of the code for some sets of options, and that there is no data: a table
# in build/sizes.tsv (for matrix_table.py), "ok" or "FAIL" a set, and the counts.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
M=$B/sizes
mkdir -p "$M"

formats="TEXT JSON FOLDED PROMETHEUS PPROF"
# without FORMAT...: flags that leave out all formats but these
without() {
    for format in $formats; do
        case " $* " in *" $format "*) ;; *) echo "-DCHROPROF_NO_$format" ;; esac
    done
}
own_clock="-DCHROPROF_NO_CLOCK -DCHROPROF_NO_STDIO"

# set | flags
sets() { cat <<END
everything|
all formats, no stdio, own clock|$own_clock
JSON only, no stdio, own clock|$own_clock $(echo $(without JSON))
folded only, no stdio, own clock|$own_clock $(echo $(without FOLDED))
no format: reads, open, snapshot|$own_clock $(echo $(without))
no format, no copies: reads|$own_clock $(echo $(without)) -DCHROPROF_NO_COPIES -DCHROPROF_NO_FINDINGS
linked: init, events, ranks, totals|$own_clock $(echo $(without)) LINKED
with its calls of libgcc and string.h|$own_clock $(echo $(without)) LINKED_WHOLE
END
}

# processor | compiler and flags
processors() { cat <<END
x86-64|gcc -std=c99 -D_POSIX_C_SOURCE=200809L
Cortex-M3|arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -std=c99
Cortex-M0|arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -std=c99
END
}

# what a firmware that looks at its figures with a debugger needs
cat >"$M/user.c" <<'END'
#include "../../chroprof.h"
int main(void);
extern volatile int event;
CHROPROF_SITE(site, "site");
static uint64_t memory[1024];
static uint64_t clock_ns(void *user) { (void)user; return (uint64_t)event; }
int main(void)
{
    static chroprof p;
    chroprof_options o = { 0 };
    chroprof_rank rank;
    chroprof_totals totals;
    o.clock = clock_ns;
    chroprof_init(&p, memory, sizeof memory, &o);
    while (event != 0)
        chroprof_event(&p, (chroprof_state)event, (uint64_t)event, &site, (uint64_t)event);
    chroprof_read_totals(&p, &totals);
    return (int)chroprof_ranks(&p, &rank, 1, CHROPROF_BY_EXEC);
}
END

# sections COMPILER FLAGS: "text data bss" of the implementation
sections() {
    case $2 in
    *LINKED) linked "$1" "${2% LINKED}" ;;
    *LINKED_WHOLE) linked "$1" "${2% LINKED_WHOLE}" "-lc -lgcc" ;;
    *)
        # "everything" means what the system has; a bare machine has neither clock nor files
        $1 -Os $2 -c tests/compile/impl.c -o "$M/impl.o" 2>"$M/log" || return 1
        ${size:-size} "$M/impl.o" | awk 'NR == 2 { print $1, $2, $3 }'
        ;;
    esac
}

# linked COMPILER FLAGS LIBRARIES: only the functions that user.c reaches, and without LIBRARIES none
# of others: no 64-bit division, no memcpy; its own memory is not counted
linked() {
    $1 -Os -ffunction-sections $2 -c tests/compile/impl.c -o "$M/impl.o" 2>"$M/log" &&
        $1 -Os $2 -c "$M/user.c" -o "$M/user.o" 2>>"$M/log" &&
        $1 -nostdlib -Wl,--gc-sections -Wl,-e,main -Wl,--unresolved-symbols=ignore-all -static \
            "$M/user.o" "$M/impl.o" $3 -o "$M/linked" 2>>"$M/log" || return 1
    ${size:-size} "$M/linked" "$M/user.o" |
        awk 'NR == 2 { t = $1; d = $2; b = $3 } NR == 3 { print t - $1, d - $2, b - $3 }'
}

# measure SET FLAGS PROCESSOR COMPILER: a cell of the table, on standard output
measure() {
    size=size
    case $4 in arm-none-eabi*) size=arm-none-eabi-size ;; esac
    if ! command -v "${4%% *}" >/dev/null 2>&1; then echo "skip $1, $3: no ${4%% *}" >&2; echo -
        return
    fi
    # there is no clock on the one, and the other shares its C library with all programs
    case "$1/$3" in everything/Cortex* | with*/x86-64) echo -; return ;; esac
    found=$(sections "$4" "$2")
    set -- "$1" "$3" ${found:-none 0 0}
    if [ "$3" = none ] || [ "$4" != 0 ] || [ "$5" != 0 ]; then
        echo "FAIL $1, $2: text $3, data $4, bss $5 $(head -n 1 "$M/log")" >&2
        echo "$3, data $4, bss $5"
    else
        echo "ok $1, $2: $3 bytes" >&2
        echo "$3"
    fi
}

{
    printf 'bytes of code at -Os; data 0, bss 0'
    processors | while IFS='|' read -r processor compiler; do printf '\t%s' "$processor"; done
    echo
    sets | while IFS='|' read -r set flags; do
        printf '%s' "$set"
        processors | while IFS='|' read -r processor compiler; do
            printf '\t%s' "$(measure "$set" "$flags" "$processor" "$compiler")"
        done
        echo
    done
} >"$B/sizes.tsv" 2>"$M/verdicts"
cat "$M/verdicts"
passed=$(grep -c '^ok ' "$M/verdicts")
failed=$(grep -c '^FAIL ' "$M/verdicts")
skipped=$(grep -c '^skip ' "$M/verdicts")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
