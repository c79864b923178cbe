#!/bin/sh
# CBMC and cadical, the solver, without installing them: unpacks Debian's packages, with the
# libraries they need, beside the build. For systems whose own release does not have it; needs apt-get and dpkg-deb. B: the folder.
cd "$(dirname "$0")/../.." || exit 1
folder=$(mkdir -p "${B:-build}/proof" && cd "${B:-build}/proof" && pwd) || exit 1
root=$folder/root
release=trixie
mirror=$(apt-cache policy | sed -n 's/.* \(http[^ ]*debian\) .*main amd64.*/\1/p' | head -n 1)
[ -n "$mirror" ] || exit 1
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/debs" "$root"
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] $mirror $release main" >"$folder/sources.list"
apt="-o Dir::Etc::SourceList=$folder/sources.list -o Dir::Etc::SourceParts=/nonexistent"
apt="$apt -o Dir::State::Lists=$folder/lists -o Dir::Cache=$folder/cache -o APT::Sandbox::User="
apt-get $apt -q update || exit 1
packages="cbmc cadical minisat libc6 libstdc++6 libgcc-s1 zlib1g"
(cd "$folder/debs" && apt-get $apt -q download $packages) || exit 1
for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$root" || exit 1; done
libraries=$root/usr/lib/x86_64-linux-gnu
for program in cbmc goto-cc goto-instrument cadical; do
    {
        echo '#!/bin/sh'
        echo "exec $libraries/ld-linux-x86-64.so.2 --library-path $libraries:$root/usr/lib \\"
        echo "    $root/usr/bin/$program \"\$@\""
    } >"$folder/$program"
    chmod +x "$folder/$program"
done
