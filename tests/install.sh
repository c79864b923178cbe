#!/bin/sh
# tests/install.sh - make install into a folder of its own; a program built from there through
# pkg-config; make uninstall. Prints "ok", "FAIL" or "skip" a case, then the counts.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
CC=${CC:-cc}
MAKE=${MAKE:-make}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0
root=$scratch/root
prefix=/opt/profiler
lies=$root$prefix

check() {
    name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then passed=$((passed + 1)); echo "ok $name"
    else failed=$((failed + 1)); echo "FAIL $name: $(tail -n 1 "$scratch/log")"; fi
}

same() { [ "$1" = "$2" ] || { echo "\"$1\", not \"$2\""; return 1; }; }

package() {
    PKG_CONFIG_PATH=$lies/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" chroprof
}

cat >"$scratch/user.c" <<'END'
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION
#include <chroprof.h>
CHROPROF_SITE(site, "installed");
static uint64_t memory[1 << 15];
int main(void)
{
    chroprof p;
    if (chroprof_init(&p, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    chroprof_enter(&p, &site);
    chroprof_leave(&p);
    return puts(CHROPROF_VERSION) < 0 || chroprof_check(&p) != NULL;
}
END

# An adapter is found beside the header, and brings it along.
cat >"$scratch/unwinder.c" <<'END'
#include <chroprof_libunwind.h>
int main(void)
{
    static chroprof_sampler_options options;
    options.unwind = chroprof_libunwind;
    return options.unwind == 0;
}
END

# builds COMPILER FLAGS: the program includes the installed header, from elsewhere
builds() {
    "$@" $(package --cflags) "$scratch/user.c" -o "$scratch/user" &&
        same "$("$scratch/user")" "$(package --modversion)"
}

command_works() { "$lies/bin/chroprof" --help | grep -q replay; }
installed() { find "$root" -type f | sed "s|^$lies/||" | sort | paste -s -d' '; }

$MAKE -s install B="$B" CC="$CC" PREFIX=$prefix DESTDIR="$root" >"$scratch/install" 2>&1
check install same "$?" 0
adapters=$(cd examples/adapters && echo *.h | sed 's/chroprof_/include\/chroprof_/g')
preload=
[ "$(uname)" != Linux ] || preload=lib/chroprof/chroprof_run.so
check files same "$(installed)" "bin/chroprof include/chroprof.h $adapters ${preload:+$preload }share/doc/chroprof/CHANGELOG.md \
share/doc/chroprof/LICENSE share/doc/chroprof/README.md share/pkgconfig/chroprof.pc"
check header cmp chroprof.h "$lies/include/chroprof.h"
for adapter in examples/adapters/*.h; do
    check "adapter_$(basename "$adapter" .h)" cmp "$adapter" "$lies/include/$(basename "$adapter")"
done
check command command_works
[ -z "$preload" ] || check command_finds_its_library "$lies/bin/chroprof" run true
check no_folder_of_the_build sh -c "! grep -q '$root' '$lies/share/pkgconfig/chroprof.pc'"
if command -v pkg-config >/dev/null 2>&1; then
    check version same "$(package --modversion)" \
        "$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)"
    check flags same "$(package --cflags | tr -d ' ')" "-I$lies/include"
    check program_c builds $CC -std=c99
    if echo '#include <libunwind.h>' | $CC -E -x c - >/dev/null 2>&1; then
        check program_adapter $CC -std=gnu99 $(package --cflags) -fsyntax-only "$scratch/unwinder.c"
    else skipped=$((skipped + 1)); echo "skip program_adapter: no libunwind-dev"; fi
    if command -v g++ >/dev/null 2>&1; then check program_c++ builds g++ -x c++ -std=c++11; else
        skipped=$((skipped + 1)); echo "skip program_c++: no g++"; fi
else
    skipped=$((skipped + 5))
    echo "skip version, flags, program_c, program_adapter, program_c++: no pkg-config (package pkg-config)"
fi
$MAKE -s uninstall PREFIX=$prefix DESTDIR="$root" >"$scratch/uninstall" 2>&1
check uninstall same "$?" 0
check nothing_left same "$(installed)" ""
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
