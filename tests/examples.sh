#!/bin/sh
# Builds and runs examples/hello.c and every examples/loop_*.{c,cc}, and asks each profile its test.
# Usage: tests/examples.sh [NAME...]      (NAME as in examples/NAME.c; none: all)
#
# The second line of an example says how it is built and what that needs (Debian packages or none):
#   /* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs libuv) ; needs: libuv1-dev */
# A missing package is installed if there is apt-get and this is root, or sudo asks for no password;
# else the example is skipped.
# CC and CXX replace a leading cc or c++. QUICK=1: those whose implementation is the ordinary one are
# linked with one copy of it, and no plain programs are made, which saves most of the time.
#
# The lines that end in a chroprof mark are those a reader copies, all of them: without them (and
# without --json) each example must build and run as a plain program. A line that the plain program
# has instead stands there as a comment that begins with "plain: ".
#
# Results lie in OUT (build/examples): NAME, NAME.json, NAME.out, NAME.err; plain/ has the plain
# programs.
cd "$(dirname "$0")/.." || exit 1
out=${OUT:-build/examples}
. tests/counts.sh
optimize=-O2
export PYTHONDONTWRITEBYTECODE=1
unset UV_THREADPOOL_SIZE # the work of the libuv examples is made for four threads
mark='/\* chroprof \*/ *$\|// chroprof *$'
warnings="-Wall -Wextra -Werror"

# The build line's part before or after "; needs:", of either comment style.
header() {
    sed -n "1,3s,^[/ *]*build: \\(.*\\) ; needs: \\([^*]*[^* ]\\)[ */]*\$,\\$1,p" "$2" | head -n 1
}

# The build command of example $1, with the extra flags $2 before everything else, for the source $3
# and the program $4.
compile() {
    command=$(header 1 "$1" | sed "s,FILE,$3,g; s,OUT,$4,g; s,-O2,$optimize,")
    case $command in
    "cc "*) command="${CC:-cc} $2 ${command#cc }" ;;
    "c++ "*) command="${CXX:-c++} $2 ${command#c++ }" ;;
    *) echo "the build line must begin with cc or c++: $command" >&2; return 1 ;;
    esac
    sh -c "$command"
}

# Whether the packages are there: a program that only includes what they bring, built as the example
# is. What is wrong with chroprof.h or the example must not look like a missing package.
present() {
    probe=$out/probe_$name.${1##*.}
    { grep '^#include <' "$1"; echo 'int main(void) { return 0; }'; } > "$probe"
    case $(header 1 "$1") in
    *pkg-config*) command -v pkg-config > /dev/null || return 1 ;;
    esac
    compile "$1" "" "$probe" "$out/probe_$name" > "$out/$name.log" 2>&1
}

# Whether the compiler of example $1 is there and does not even build an empty program.
broken_compiler() {
    compiler=${CC:-cc}
    case $(header 1 "$1") in "c++ "*) compiler=${CXX:-c++} ;; esac
    command -v "${compiler%% *}" > /dev/null || return 1
    echo 'int main(void) { return 0; }' > "$out/empty.${1##*.}"
    ! $compiler -o "$out/empty" "$out/empty.${1##*.}" > /dev/null 2>&1
}

# shared SOURCE: the example is built from a copy that leaves the implementation to one object
shared() {
    [ "${QUICK:-}" = 1 ] && ! grep -q 'define CHROPROF_NO_' "$1" || return 1
    [ -f "$implementation" ] || return 1
    mkdir -p "$out/shared"
    sed 's,^#define CHROPROF_IMPLEMENTATION.*,,' "$1" > "$out/shared/$name.${1##*.}"
}

# The program itself.
build() {
    optimize=-O2
    if shared "$1"; then
        compile "$1" "$warnings -Iexamples $implementation" "$out/shared/$name.${1##*.}" \
            "$out/$name"
    else
        [ "${QUICK:-}" != 1 ] || optimize=-O0       # builds three times as fast
        compile "$1" "$warnings" "$1" "$out/$name"
    fi
}

install_packages() {
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    command -v apt-get > /dev/null && $root true 2> /dev/null || return 1
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" \
        > "$out/$name.log" 2>&1 < /dev/null
}

# What is wrong with the text of the example; nothing if it is in order.
why_text() {
    limit=100
    [ "$name" = hello ] && limit=40
    [ "$(wc -l < "$1")" -le $limit ] || { echo "more than $limit lines"; return; }
    copied=$(grep -c '[^a-z]chroprof \*/ *$\|// chroprof *$' "$1")
    [ "$copied" -ge 1 ] || { echo "no line is marked as chroprof"; return; }
    [ "$copied" -le 15 ] || { echo "$copied lines to copy, at most 15 are allowed"; return; }
    grep -q "$(basename "$1")\`.* | $copied[ :,;|]" examples/README.md ||
        { echo "examples/README.md does not say that $copied lines are to be copied"; return; }
    grep -q '.\{101\}' "$1" && { echo "a line is longer than 100 columns"; return; }
    grep -q 'Not seen:' "$1" || [ "$name" = hello ] || echo "it does not say what is not seen"
}

# What is wrong with the plain program, that is, with the marks.
why_plain() {
    plain=$out/plain/$name.${1##*.}
    mkdir -p "$out/plain"
    sed "\\%$mark%d; /freopen(argv/,/perror(argv/d; /--json \\*\\/\$/d; s,// plain: ,," "$1" \
        > "$plain"
    # a mark must not take away the body of what stands before it
    awk -v mark='(/[*] chroprof [*]/|// chroprof) *$' '
        $0 ~ mark { if (before ~ /^ *(if|for|while|else|} else)[ (]/ && before !~ /[;{}]$/) exit 1 }
        $0 !~ mark { before = $0 }' "$1" ||
        { echo "a marked line is the body of one that is not marked"; return; }
    left=$(sed 's,//.*,,; s,^/\*.*,,; s,^ \* .*,,' "$plain" | grep -n -i 'chroprof')
    [ -z "$left" ] || { echo "lacks its mark: $left"; return; }
    compile "$1" "$warnings -Wno-unused-parameter -Wno-unused-variable" "$plain" "${plain%.*}" \
        > "$out/$name.log" 2>&1 ||
        { echo "without its marked lines it does not build: $(grep -m 1 error "$out/$name.log")"
          return; }
    timeout 120 "${plain%.*}" > "$out/$name.log" 2>&1
    result=$?
    [ $result = 0 ] || echo "without its marked lines it ends with $result"
}

# ends WITH STATUS ARGUMENTS...: how the program ends, with a message, is as it should be
ends() {
    how=$1 status=$2
    shift 2
    timeout 120 "$out/$name" "$@" > /dev/null 2> "$out/$name.wrong"
    result=$?
    [ $result = "$status" ] || { echo "$how ends with $result, not with $status"; return; }
    [ -s "$out/$name.wrong" ] || echo "$how gives no message"
}

# What is wrong with a run of the program.
why_run() {
    rm -f "$out/$name.json"
    python3 tests/examples/timed.py "$out/$name.times" "$out/$name" --json "$out/$name.json" \
        > "$out/$name.out" 2> "$out/$name.err"
    result=$?
    [ $result = 124 ] && { echo "still running after 120 s"; return; }
    [ $result = 0 ] || { echo "ends with $result: $(tail -n 1 "$out/$name.err")"; return; }
    grep -q 'chroprof [0-9]' "$out/$name.out" || { echo "no text report on stdout"; return; }
    python3 -m json.tool "$out/$name.json" > /dev/null 2>&1 || { echo "no valid JSON"; return; }
    ends "wrong use" 2 --wrong
    [ ! -c /dev/full ] || ends "a full disk" 1 --json /dev/full
}

# What is wrong with its profile, if its test says so, by a message or only by its exit status.
why_profile() {
    [ -f "tests/examples/$name.py" ] || { echo "there is no tests/examples/$name.py"; return; }
    python3 "tests/examples/$name.py" "$out/$name.json" "$out/$name.err" > "$out/$name.log" 2>&1
    result=$?
    [ $result = 0 ] ||
        echo "its test ends with $result: $(tail -n 2 "$out/$name.log" | tr -s ' \n' ' ')"
}

# Prints why the example fails; nothing if it is in order.
why() {
    reason=$(why_text "$1")
    [ -n "$reason" ] || [ "${QUICK:-}" = 1 ] || reason=$(why_plain "$1")
    if [ -z "$reason" ] &&
        ! build "$1" > "$out/$name.log" 2>&1; then
        reason="does not build: $(grep -m 1 -i 'error\|undefined' "$out/$name.log")"
    fi
    # Who takes most of the time is so by a factor, but a machine that holds the program up for a third
    # of a second in another callback changes that: a run in four has to be undisturbed.
    for try in 1 2 3 4; do
        [ -z "$reason" ] || [ "$try" != 1 ] || break        # it was not built
        reason=$(why_run)
        [ -n "$reason" ] || reason=$(why_profile)
        [ -n "$reason" ] || break
        echo "try $try: $reason" >>"$out/$name.tries"
    done
    echo "$reason" | head -n 1
}

one() {
    name=$(basename "$1" | sed 's/\.[a-z]*$//')
    rm -f "$out/$name" "$out/$name.tries"
    needs=$(header 2 "$1")
    if [ -z "$needs" ]; then
        fail "$name" "no build line, see tests/examples.sh"
    elif broken_compiler "$1"; then
        fail "$name" "the compiler does not work"
    elif [ "$needs" = none ] && ! present "$1"; then
        fail "$name" "what it includes does not build: $(grep -m 1 -i error "$out/$name.log")"
    # shellcheck disable=SC2086 # several packages are several words
    elif ! present "$1" && ! { install_packages $needs pkg-config && present "$1"; }; then
        skip "$name" "$needs is missing"
    else
        reason=$(why "$1")
        if [ -n "$reason" ]; then fail "$name" "$reason"; else ok "$name"; fi
    fi
}

mkdir -p "$out"
rm -rf "$out/shared"
for file in examples/hello.c examples/loop_*.c examples/loop_*.cc; do
    [ -f "$file" ] || continue
    base=$(basename "$file" | sed 's/\.[a-z]*$//')
    case " $* " in "  " | *" $base "*) one "$file" ;; esac
done
[ $((passed + failed + skipped)) -gt 0 ] || fail examples "none is called $*"
finish
