#!/bin/sh
# Checks for what the tests need and installs what is missing with apt-get, if this is root or
# sudo asks for no password; otherwise names the packages. Exit status 1 only without a C compiler.
CC=${CC:-cc}

# needs TEST-COMMAND PACKAGE: adds the package to the list if the test fails
needs() {
    if ! eval "$1" >/dev/null 2>&1; then missing="$missing $2"; fi
}

look() {
    missing=
    needs 'command -v "${CC%% *}"' gcc
    needs 'echo "#include <stdio.h>" | $CC -E -x c -' libc6-dev
    needs 'command -v g++' g++
    needs 'command -v clang' clang
    needs 'echo "int main(void){return 0;}" | clang -fsanitize=address -x c - -o /dev/null' \
        libclang-rt-dev
    needs 'echo "#include <stb/stb_ds.h>" | $CC -E -x c -' libstb-dev
    needs 'command -v python3' python3
    needs 'python3 -c "import pyte" || /usr/bin/python3 -c "import pyte"' python3-pyte
    needs 'command -v xz' xz-utils
    needs 'command -v gzip' gzip
    needs 'command -v nm && command -v objdump' binutils
    needs 'command -v pkg-config' pkg-config
    needs 'echo "#include <elfutils/libdwfl.h>" | $CC -E -x c -' libdw-dev
    needs 'echo "#include <libiberty/demangle.h>" | $CC -E -x c -' libiberty-dev
    needs 'pkg-config --exists glib-2.0' libglib2.0-dev
    needs 'echo "#include <systemd/sd-event.h>" | $CC -E -x c -' libsystemd-dev
    needs 'echo "#include <ev.h>" | $CC -E -x c -' libev-dev
    needs 'echo "#include <event2/http.h>" | $CC -E -x c -' libevent-dev
    needs 'echo "#include <uv.h>" | $CC -E -x c -' libuv1-dev
    needs 'echo "#include <libunwind.h>" | $CC -E -x c -' libunwind-dev
    needs 'echo "#include <term.h>" | $CC -E -x c -' libncurses-dev
    needs 'test -f /usr/share/i18n/locales/de_DE' locales
    needs 'command -v nim' nim
    needs 'command -v cmake' cmake
    needs 'command -v meson' meson
    needs 'command -v ninja' ninja-build
    needs 'command -v mandoc' mandoc
    needs 'command -v col' bsdextrautils
    needs 'command -v zsh' zsh
    needs 'command -v fish' fish
}

# The run-time library of clang's sanitizers has the version in its name where no plain name exists.
install_one() {
    $root apt-get -q -y install --no-install-recommends "$1" && return
    [ "$1" = libclang-rt-dev ] || return
    version=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
    $root apt-get -q -y install --no-install-recommends "libclang-rt-$version-dev"
}

look
if [ -n "$missing" ] && command -v apt-get >/dev/null 2>&1; then
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    if $root true 2>/dev/null; then
        echo "installing:$missing"
        export DEBIAN_FRONTEND=noninteractive
        mkdir -p build
        {
            $root apt-get -q update
            for package in $missing; do install_one "$package"; done
        } >build/setup.log 2>&1 </dev/null
        look
    fi
fi
if [ -n "$missing" ]; then
    echo "not there, so some tests are skipped. To have them all: apt-get install$missing"
fi
command -v "${CC%% *}" >/dev/null 2>&1
