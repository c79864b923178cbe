#!/bin/sh
# tests/dist.sh - make dist: what the archives hold, that one is enough for a program and the other
# for the command, their checksums, and that a second run elsewhere gives the same bytes. Prints "ok", "FAIL" or "skip" a case, then
# the counts.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
MAKE=${MAKE:-make}

check() {
    name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then passed=$((passed + 1)); echo "ok $name"
    else failed=$((failed + 1)); echo "FAIL $name: $(tail -n 1 "$scratch/log")"; fi
}
same() { [ "$1" = "$2" ] || { echo "\"$1\", not \"$2\""; return 1; }; }

if ! tar --version 2>/dev/null | grep -q GNU || ! command -v sha256sum >/dev/null 2>&1; then
    echo "skip dist: no GNU tar and sha256sum"
    echo "0 passed, 0 failed, 1 skipped"
    exit
fi
version=$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)
date=$(sed -n 's/^#define CHROPROF_VERSION_DATE "\([0-9-]*\)".*/\1/p' chroprof.h)
release=chroprof-$version source=chroprof-$version-source copy=$scratch/copy/chroprof-$version
first=$scratch/first

# with other times, rights, time zone and language, from what the second archive holds
elsewhere() {
    mkdir -p "$scratch/copy" && tar -xzf "$first/$source.tar.gz" -C "$scratch/copy" &&
        chmod 600 "$copy/LICENSE" && touch -d '2001-02-03 04:05' "$copy"/* &&
        (umask 077; TZ=Pacific/Auckland LC_ALL=C.UTF-8 $MAKE -s -C "$copy" B=made dist) &&
        cmp "$first/$release.tar.gz" "$copy/made/$release.tar.gz" &&
        cmp "$first/$source.tar.gz" "$copy/made/$source.tar.gz"
}
# all that is in src, and nothing else that lies there
holds_all() {
    same "$(cd "$copy" && find src -type f | LC_ALL=C sort | paste -s -d' ')" \
        "$(find src -type f | LC_ALL=C sort | paste -s -d' ')"
}
# what README says first
installs() {
    $MAKE -s -C "$copy" B=made CFLAGS=-O0 PREFIX=/usr DESTDIR="$scratch/installed" install &&
        "$scratch/installed/usr/bin/chroprof" --version | grep "$version" &&
        (cd "$copy" && sh src/join.sh --check)
}
verifies() { (cd "$first" && sha256sum -c "$release.tar.gz.sha256"); }
spoilt() {
    cp "$first/$release".* "$scratch/copy/" && printf x >>"$scratch/copy/$release.tar.gz" &&
        (cd "$scratch/copy" && ! sha256sum -c "$release.tar.gz.sha256")
}
unpacks() { tar -xzf "$first/$release.tar.gz" -C "$scratch"; }
program() {
    mkdir -p "$scratch/$release/examples" && cp examples/hello.c "$scratch/$release/examples" &&
        $CC "$scratch/$release/examples/hello.c" -o "$scratch/hello" &&
        printf 'a line\n' | "$scratch/hello" 2>&1 | grep "chroprof $version"
}
# a release has a date, and the changelog the same
dated() {
    said=$(sed -n "s/^## \[$version\] - //p" CHANGELOG.md)
    [ "$said" = "not yet released" ] || same "$said" "$date"
}

check dist $MAKE -s B="$first" dist
check contents same "$(tar -tzf "$first/$release.tar.gz" | sort | paste -s -d' ')" \
    "$release/CHANGELOG.md $release/LICENSE $release/chroprof.h"
check checksum verifies
check same_bytes_elsewhere elsewhere
check source_holds_all holds_all
check source_installs installs
check spoilt_archive spoilt
check unpacks unpacks
check header cmp chroprof.h "$scratch/$release/chroprof.h"
check date_of_files same "$(TZ=UTC date -r "$scratch/$release/chroprof.h" +%F 2>&1)" "$date"
check date_of_the_version dated
check program program
finish
