#!/bin/sh
# tests/install.sh - make install into a folder of its own; what it installed, used from an empty
# folder: pkg-config, manual pages, the shells' completions; make uninstall. Prints "ok", "FAIL" or
# "skip" a case, then the counts.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
B=${B:-build}
MAKE=${MAKE:-make}
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

skip() {
    echo "skip $1: no $2 (package ${3:-$2})"
    skipped=$((skipped + 1))
}
has() { command -v "$1" >/dev/null 2>&1; }

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
commands=$("$lies/bin/chroprof" --help | sed -n '/^commands:/,/^$/s/^  *\([a-z]*\) .*/\1/p')
preload=
[ "$(uname)" != Linux ] || preload=$(cd src/run && echo chroprof_run*.c |
    sed 's/\([a-z_]*\)\.c/lib\/chroprof\/\1.so/g')
expected() {
    echo bin/chroprof include/chroprof.h $adapters $preload share/pkgconfig/chroprof.pc
    for file in CHANGELOG.md LICENSE README.md; do echo "share/doc/chroprof/$file"; done
    for command in $commands; do echo "share/man/man1/chroprof-$command.1"; done
    for file in config config-version; do echo "share/cmake/chroprof/chroprof-$file.cmake"; done
    echo share/man/man1/chroprof.1 share/bash-completion/completions/chroprof \
        share/zsh/site-functions/_chroprof share/fish/vendor_completions.d/chroprof.fish
}
check files same "$(installed)" "$(expected | tr ' ' '\n' | sort | paste -s -d' ')"
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

# --- CMake and Meson: each from a folder with the program and the few lines that its users write
cmake_builds() {
    mkdir -p "$scratch/cmake"
    cp "$scratch/user.c" "$scratch/cmake"
    cat >"$scratch/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.10)
project(user C)
find_package(chroprof REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE chroprof::chroprof)
END
    cmake -S "$scratch/cmake" -B "$scratch/cmake/build" -DCMAKE_PREFIX_PATH="$lies" \
        -DCMAKE_C_COMPILER="$CC" && cmake --build "$scratch/cmake/build" &&
        same "$("$scratch/cmake/build/user")" "$version"
}
# takes VERSION, refuses VERSION: what find_package is asked for
takes() {
    mkdir -p "$scratch/find"
    printf 'cmake_minimum_required(VERSION 3.10)\nproject(user NONE)\n%s\n' \
        "find_package(chroprof $1 REQUIRED)" >"$scratch/find/CMakeLists.txt"
    cmake -S "$scratch/find" -B "$scratch/find/build" -DCMAKE_PREFIX_PATH="$lies"
}
refuses() {
    ! takes "$1" >"$scratch/log" 2>&1 && grep -q "version: $version" "$scratch/log"
}
meson_builds() {
    mkdir -p "$scratch/meson"
    cp "$scratch/user.c" "$scratch/meson"
    cat >"$scratch/meson/meson.build" <<END
project('user', 'c')
executable('user', 'user.c', dependencies: dependency('chroprof', version: '>=$version'))
END
    PKG_CONFIG_PATH=$lies/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root CC=$CC \
        meson setup "$scratch/meson/build" "$scratch/meson" &&
        meson compile -C "$scratch/meson/build" &&
        same "$("$scratch/meson/build/user")" "$version"
}
version=$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)
if has cmake; then
    check cmake_package cmake_builds
    check cmake_same_version takes "$version EXACT"
    check cmake_earlier_version takes "${version%%.*}.1"
    check cmake_range takes "${version%%.*}...$version"
    check cmake_later_version refuses 99.0
    check cmake_range_before refuses "${version%%.*}...<$version"
else for name in cmake_package cmake_same_version cmake_earlier_version cmake_range \
    cmake_later_version cmake_range_before; do skip $name cmake; done; fi
if has meson && has ninja && has pkg-config; then check meson_dependency meson_builds; else
    skip meson_dependency meson "meson, ninja-build, pkg-config"; fi

# --- manual pages: each is well-formed, has the parts of one, and shows what the help says
pages=$lies/share/man/man1

# says PAGE TEXT...: in a row, whatever the lines
says() {
    page=$1
    shift
    mandoc -T ascii "$pages/$page" | col -bx | tr -s ' \n' '  ' >"$scratch/page"
    for text; do
        grep -qF -e "$text" "$scratch/page" || { echo "$page does not say: $text"; return 1; }
    done
}

# a word of each option and each sentence of a command's help
whole_help() {
    for each in $commands; do
        "$lies/bin/chroprof" help "$each" | tr -s ' \n' '\n\n' |
            grep -v -x -e 'usage:' -e 'options:' -e 'examples:' -e 'codes:' -e 'exit' |
            sort -u >"$scratch/help"
        mandoc -T ascii -O width=1000 "$pages/chroprof-$each.1" | col -bx | tr -s ' \n' '\n\n' |
            sort -u >"$scratch/page"
        lost=$(comm -23 "$scratch/help" "$scratch/page" | sed 1q)
        [ -z "$lost" ] || { echo "chroprof-$each.1 has lost \"$lost\""; return 1; }
    done
}

if has mandoc; then
    check man_pages_are_well_formed mandoc -T lint -W warning "$pages"/*.1
    check man_page says chroprof.1 'NAME chroprof - finds what blocks' 'SYNOPSIS chroprof COMMAND' \
        'chroprof-top(1)' "$(sed -n 's/^#define CHROPROF_VERSION_DATE "\(.*\)".*/\1/p' chroprof.h)"
    check man_page_of_a_command says chroprof-dump.1 'NAME chroprof-dump - reports the profile' \
        'SYNOPSIS chroprof dump FILE|PID' '-f, --format FORMAT' 'EXAMPLES chroprof dump server'
    check man_pages_have_the_whole_help whole_help
else for name in man_pages_are_well_formed man_page man_page_of_a_command \
    man_pages_have_the_whole_help; do skip $name mandoc; done; fi

# --- completions: what each shell offers for words of which the last is not done yet

bash_offers() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _chroprof
        echo "${COMPREPLY[@]}"' bash "$lies/share/bash-completion/completions/chroprof" "$@"
}
fish_offers() {
    fish --no-config -c "source $lies/share/fish/vendor_completions.d/chroprof.fish
        complete -C '$*'" | cut -f 1 | paste -s -d' '
}
# zsh_offers TEXT WORDS: its line editor shows TEXT once Tab is pressed
cat >"$scratch/ask.zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= TERM=dumb; unsetopt zle_bracketed_paste; fpath=($1 \$fpath)"
zpty -w shell "autoload -Uz compinit; compinit -u -D; setopt no_list_ambiguous; echo rea''dy"
zpty -r shell line '*ready*'
zpty -w -n shell $3$'\t'
zpty -r shell line "*$2*"
END
zsh_offers() {
    timeout 30 zsh -f "$scratch/ask.zsh" "$lies/share/zsh/site-functions" "$1" "$2" </dev/null
}
every_option() {
    for each in $commands; do
        said=$("$lies/bin/chroprof" help "$each" | grep -o '^  [- ].*--[a-z-]*' |
            grep -o -e '--[a-z-]*' | sort -u | paste -s -d' ')
        same "$(bash_offers chroprof "$each" -- | tr ' ' '\n' | grep -e -- | sort |
            paste -s -d' ')" "$said" || return 1
    done
}

if has bash; then
    check bash_commands same "$(bash_offers chroprof '' | tr ' ' '\n')" \
        "$(echo $commands help --help --version | tr ' ' '\n')"
    check bash_command same "$(bash_offers chroprof sym)" symbolize
    check bash_every_option every_option
    check bash_value same "$(bash_offers chroprof dump --format p)" \
        "prometheus prometheus-all pprof"
    check bash_value_behind_equals same "$(bash_offers chroprof dump --format = p)" \
        "prometheus prometheus-all pprof"
    check bash_process sh -c "echo '$(bash_offers chroprof top $$)' | grep -qw $$"
    check bash_program same \
        "$(bash_offers chroprof run --stall 5ms addr2lin | tr ' ' '\n' | sort -u)" \
        "$(command -v addr2line >/dev/null && echo addr2line)"
    check bash_words_of_the_program same "$(bash_offers chroprof run ls --)" ""
else skip bash_commands bash; fi
if has fish; then
    check fish_command same "$(fish_offers chroprof sym)" symbolize
    check fish_option same "$(fish_offers chroprof dump --form)" --format
    check fish_value same "$(fish_offers chroprof dump -f p)" \
        "pprof prometheus prometheus-all"
else for name in fish_command fish_option fish_value; do skip $name fish; done; fi
if has zsh && has timeout; then
    check zsh_command zsh_offers olize 'chroprof symb'
    check zsh_option zsh_offers format= 'chroprof dump --form'
    check zsh_value zsh_offers latency-max 'chroprof top --by lat'
else for name in zsh_command zsh_option zsh_value; do skip $name zsh; done; fi

$MAKE -s uninstall PREFIX=$prefix DESTDIR="$root" >"$scratch/uninstall" 2>&1
check uninstall same "$?" 0
check nothing_left same "$(installed)" ""
finish
