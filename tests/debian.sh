#!/bin/sh
# tests/debian.sh - the Debian packages: built by dpkg-buildpackage, looked at by lintian, unpacked
# and used. Prints "ok", "FAIL" or "skip" a case, then the counts.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

check() {
    name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then passed=$((passed + 1)); echo "ok $name"
    else failed=$((failed + 1)); echo "FAIL $name: $(tail -n 1 "$scratch/log")"; fi
}
has() { command -v "$1" >/dev/null 2>&1; }

# Only here: debhelper and lintian bring a hundred packages.
if ! has dh || ! has lintian; then
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    if has apt-get && $root true 2>/dev/null; then
        $root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
            debhelper lintian libdw-dev libevent-dev libiberty-dev pkg-config >"$scratch/log" 2>&1 </dev/null
    fi
fi
if ! has dh || ! has dpkg-buildpackage; then
    skip debian "no dpkg-buildpackage and debhelper (package debhelper)"
    finish
fi

version=$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)
built=$scratch/built
root=$scratch/root
# no error, no warning; what is left are remarks
accepted() {
    lintian --allow-root --fail-on error,warning "$built"/chroprof_*.changes
}
unpacks() {
    for package in "$built"/chroprof_*.deb "$built"/libchroprof-dev_*.deb; do
        dpkg-deb --extract "$package" "$root" || return 1
    done
}
holds() { for file; do [ -e "$root/usr/$file" ] || { echo "no $file"; return 1; }; done; }
version_of() { [ "$("$root/usr/bin/chroprof" --version)" = "chroprof $version" ]; }
runs() { "$root/usr/bin/chroprof" run true; }
program() {
    printf '#include <chroprof.h>\nint main(void) { return 0; }\n' >"$scratch/user.c"
    $CC "-I$root/usr/include" "$scratch/user.c" -o "$scratch/user" && "$scratch/user"
}
# the source package alone is enough: unpacked, it has the same files
source_package() {
    dpkg-source --no-check -x "$built"/chroprof_*.dsc "$scratch/source" &&
        cmp chroprof.h "$scratch/source/chroprof.h" && [ -x "$scratch/source/debian/rules" ]
}

check debian_builds sh package/debian.sh "$built"
if has lintian; then check debian_lintian accepted; else skip debian_lintian "no lintian"; fi
check debian_source source_package
check debian_unpacks unpacks
check debian_files holds bin/chroprof lib/chroprof/chroprof_run.so \
    lib/chroprof/chroprof_run_libuv.so include/chroprof.h \
    include/chroprof_glib.h share/pkgconfig/chroprof.pc share/man/man1/chroprof-top.1.gz \
    share/cmake/chroprof/chroprof-config.cmake share/bash-completion/completions/chroprof \
    share/doc/chroprof/copyright share/doc/libchroprof-dev/changelog.gz
check debian_version version_of
check debian_run runs
check debian_program program
finish
