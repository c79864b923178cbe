#!/bin/sh
# debian.sh - the Debian source package and the packages made of it.
#   sh package/debian.sh FOLDER [ARGUMENTS OF dpkg-buildpackage]
# FOLDER gets the source, chroprof-VERSION with its debian/, and everything that is built. Version,
# date and license are those of the header, CHANGELOG.md and LICENSE; DEBFULLNAME and DEBEMAIL name
# the maintainer.
set -e
for program in dpkg-buildpackage dh; do
    command -v "$program" >/dev/null || {
        echo "make deb needs $program: apt-get install dpkg-dev debhelper libdw-dev libevent-dev" \
            "libiberty-dev pkg-config" >&2
        exit 1
    }
done
folder=${1:?a folder to build in}
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)
date=$(sed -n 's/^#define CHROPROF_VERSION_DATE "\([0-9-]*\)".*/\1/p' chroprof.h)
maintainer="${DEBFULLNAME:-The chroprof authors} <${DEBEMAIL:-chroprof@example.org}>"
source=$folder/chroprof-$version
SOURCE_DATE_EPOCH=$(date -u -d "$date" +%s)
export SOURCE_DATE_EPOCH LC_ALL=C

files() { git ls-files 2>/dev/null | grep . || find . -type f | sed 's|^\./||' | grep -v '^build/'; }

rm -rf "$source"
files | sort | tar --create --format=ustar --transform="s,^,chroprof-$version/," \
    --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX --owner=root:0 --group=root:0 --files-from=- |
    gzip -9 -n >"$folder/chroprof_$version.orig.tar.gz"
tar -xzf "$folder/chroprof_$version.orig.tar.gz" -C "$folder"
cp -R package/debian "$source/debian"
rm "$source/debian/copyright.head"
sed "s/@MAINTAINER@/$maintainer/" package/debian/control >"$source/debian/control"

# a paragraph for each of the two licenses
license_text() {
    sed -n "/$1/,/^---/p" LICENSE | sed '1,2d; /^---/d; s/^$/./; s/^/ /' | sed '${/^ \.$/d;}'
}
{
    sed "s/@COPYRIGHT@/$(sed -n 's/^Copyright (c) //p' LICENSE)/" package/debian/copyright.head
    printf '\nLicense: MIT-0\n'
    license_text '^Alternative A'
    printf '\nLicense: Unlicense\n'
    license_text '^Alternative B'
} >"$source/debian/copyright"

# a revision that gives way to one of Debian's own
{
    printf 'chroprof (%s-0local1) unstable; urgency=medium\n\n' "$version"
    printf '  * Version %s: see the changelog of chroprof.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "$date")"
} >"$source/debian/changelog"

cd "$source"
dpkg-buildpackage -us -uc "$@"
