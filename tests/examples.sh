#!/bin/sh
# Builds and runs examples/hello.c and every examples/loop_*.{c,cc}, and asks each profile its test.
# Usage: tests/examples.sh [NAME...]      (NAME as in examples/NAME.c; none: all)
#
# The second line of an example says how it is built and what that needs (a Debian package or none):
#   /* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs libuv) ; needs: libuv1-dev */
# A missing package is installed if we are root and there is apt-get, else the example is skipped.
# CC and CXX replace a leading cc or c++. Results lie in OUT (build/examples): NAME, NAME.json,
# NAME.out, NAME.err.
cd "$(dirname "$0")/.." || exit 1
out=${OUT:-build/examples}
passed=0 failed=0 skipped=0
export PYTHONDONTWRITEBYTECODE=1

# The build line's part before or after "; needs:", of either comment style.
header() {
    sed -n "1,3s,^[/ *]*build: \\(.*\\) ; needs: \\([^*]*[^* ]\\)[ */]*\$,\\$1,p" "$2" | head -n 1
}

# The build command of file $1 with the extra flags $2 before everything else.
compile() {
    command=$(header 1 "$1" | sed "s,FILE,$1,g; s,OUT,$out/$name,g")
    case $command in
    "cc "*) command="${CC:-cc} $2 ${command#cc }" ;;
    "c++ "*) command="${CXX:-c++} $2 ${command#c++ }" ;;
    "g++ "*) command="${CXX:-g++} $2 ${command#g++ }" ;;
    *) echo "the build line must begin with cc, c++ or g++: $command" >&2; return 1 ;;
    esac
    sh -c "$command"
}

# Whether the packages are there: preprocessing needs their headers and nothing else of them.
present() {
    compile "$1" "-E" > "$out/$name.i" 2> "$out/$name.log"
    result=$?
    rm -f "$out/$name.i"
    return $result
}

install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" > "$out/$name.log" 2>&1
}

# Prints why the example fails; nothing if it is in order.
why() {
    lines=$(wc -l < "$1")
    limit=100
    [ "$name" = hello ] && limit=40
    [ "$lines" -le $limit ] || { echo "$lines lines, at most $limit are allowed"; return; }
    mark='/\* chroprof \*/ *\\*$\|// chroprof *$'
    lines=$(grep -c "$mark" "$1")
    [ "$lines" -ge 1 ] || { echo "no line is marked as chroprof"; return; }
    most=15                                 # a promise's base and await_transform are 25 by themselves
    case $file in *.cc) most=40 ;; esac
    [ "$lines" -le $most ] || { echo "$lines chroprof lines, at most $most are allowed"; return; }
    grep 'chroprof_[a-z_]*(\|CHROPROF_SITE' "$1" | grep -v CHROPROF_JSON | grep -qv "$mark" &&
        { echo "a chroprof line lacks its mark"; return; }
    grep -q '.\{101\}' "$1" && { echo "a line is longer than 100 columns"; return; }
    compile "$1" "-Wall -Wextra -Werror" > "$out/$name.log" 2>&1 ||
        { echo "does not build, see $out/$name.log"; sed -n 1,5p "$out/$name.log" >&2; return; }
    rm -f "$out/$name.json"
    timeout 30 "$out/$name" --json "$out/$name.json" > "$out/$name.out" 2> "$out/$name.err"
    result=$?
    [ $result = 124 ] && { echo "still running after 30 s"; return; }
    [ $result = 0 ] || { echo "ends with $result: $(tail -n 1 "$out/$name.err")"; return; }
    grep -q 'chroprof [0-9]' "$out/$name.out" || { echo "no text report on stdout"; return; }
    python3 -m json.tool "$out/$name.json" > /dev/null 2>&1 || { echo "no valid JSON"; return; }
    timeout 30 "$out/$name" --wrong > /dev/null 2> "$out/$name.wrong"
    result=$?
    [ $result = 2 ] || { echo "wrong use ends with $result, not with 2"; return; }
    [ -s "$out/$name.wrong" ] || { echo "wrong use gives no message"; return; }
    [ -f "tests/examples/$name.py" ] || { echo "there is no tests/examples/$name.py"; return; }
    python3 "tests/examples/$name.py" "$out/$name.json" "$out/$name.err" > "$out/$name.log" 2>&1 ||
        tail -n 2 "$out/$name.log" | tr -s ' \n' ' '
}

one() {
    name=$(basename "$1" | sed 's/\.[a-z]*$//')
    needs=$(header 2 "$1")
    if [ -z "$needs" ]; then
        echo "FAIL $name: no build line, see tests/examples.sh"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086 # several packages are several words
    if [ "$needs" != none ] && ! present "$1" && ! install_packages $needs; then
        echo "skip $name: $needs is missing"
        skipped=$((skipped + 1))
        return
    fi
    reason=$(why "$1")
    if [ -n "$reason" ]; then
        echo "FAIL $name: $reason"
        failed=$((failed + 1))
    else
        echo "ok $name"
        passed=$((passed + 1))
    fi
}

mkdir -p "$out"
for file in examples/hello.c examples/loop_*.c examples/loop_*.cc; do
    [ -f "$file" ] || continue
    base=$(basename "$file" | sed 's/\.[a-z]*$//')
    case " $* " in "  " | *" $base "*) one "$file" ;; esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
