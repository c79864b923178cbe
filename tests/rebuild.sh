#!/bin/sh
# A build folder survives: make builds again what other flags, and libraries that came or went, ask
# for, and nothing else.
#   sh tests/rebuild.sh       B=build: a folder in which chroprof is built with this CC
# Prints "ok NAME" or "FAIL NAME: why", then the counts; exit 1 if one failed.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
MAKE=${MAKE:-make}
B=${B:-build}

# built NAME OBJECTS [VARIABLE=VALUE...]: make compiles these objects, and links if there are any
built() {
    name=$1 wanted=$2
    shift 2
    if ! "$MAKE" -j2 B="$scratch/b" CC="$CC" "$@" chroprof >"$scratch/log" 2>&1; then
        failed=$((failed + 1))
        echo "FAIL $name: $(grep -m 1 -E 'error|undefined' "$scratch/log")"
        return
    fi
    found=$(sed -n "s|.* -c -o $scratch/b/command/\([a-z_0-9]*\)\.o .*|\1|p" "$scratch/log" | sort | paste -s -d' ')
    ! grep -q -e " -o $scratch/b/chroprof " "$scratch/log" || found="${found:+$found }and links"
    if [ "$found" = "$wanted" ] && "$scratch/b/chroprof" --version >/dev/null; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: it builds \"$found\", not \"$wanted\""
    fi
}

mkdir "$scratch/b"
cp -Rp "$B/command" "$B/flags" "$B"/chroprof* "$B"/report* "$B"/serve* "$scratch/b"
built as_it_was ""
# what this machine has of the libraries
users_of() {
    ! grep -q . "$scratch/b/flags/LIBDW" || echo attach_unwind code_addr2line code_libdw symbolize
    ! grep -q . "$scratch/b/flags/DEMANGLE" || echo demangle
    ! grep -q . "$scratch/b/flags/LIBEVENT" || echo serve
}
users=$(echo $(users_of | tr ' ' '\n' | sort) and links)
[ "$users" != "and links" ] || users=
all="LIBDW= DEMANGLE= LIBEVENT="
built they_go "$users" $all
built they_are_gone "" $all
built one_comes "demangle and links" LIBDW= LIBEVENT= "DEMANGLE=-DCHROPROF_DEMANGLE -lstdc++"
built one_goes "demangle and links" $all
built they_come "$users"
built they_are_there ""
"$MAKE" B="$scratch/b" CC="$CC" CFLAGS=-O1 "$scratch/b/report_bytes" >"$scratch/log" 2>&1
if grep -q -e '-O1 ' "$scratch/log"; then passed=$((passed + 1)) && echo "ok other_flags"
else failed=$((failed + 1)) && echo "FAIL other_flags: $(tail -n 1 "$scratch/log")"; fi
finish
