#!/bin/sh
# tests/matrix.sh - builds and runs the test programs with other compilers, standards, optimizers,
# processors, systems and checkers. Each cell is one line of the tables below.
#
#     sh tests/matrix.sh                 every cell of the matrix
#     sh tests/matrix.sh ci              those marked "ci"
#     sh tests/matrix.sh sanitizers      those whose group or name has this word in it
#     sh tests/matrix.sh list            what there is
#     sh tests/matrix.sh install WORD... fetches their packages with apt-get
#     JOBS=2 sh tests/matrix.sh ...      two at a time; LIMIT: seconds that one program has;
#                                        MINUTES: no cell begins later, it counts as skipped
#
# In the cells called -O2 all is run. In the others random and heavy loops run one part in SHARE of
# their rounds (10), and python3 reads no 100,000 paths; the logs say so. Cells of one standard are
# compiled at -O0: a standard is for the front end, and the optimizers have cells of their own.
# A cell passes if the implementation and the programs build without a warning, and every case of
# every program passes. Prints one line a cell; build/matrix.tsv has them for matrix_table.py.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
JOBS=${JOBS:-1}
LIMIT=${LIMIT:-900}
M=$B/matrix
here=$(pwd)

posix=-D_POSIX_C_SOURCE=200809L
c99="-std=c99 $posix"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-align \
    -DCHROPROF_STRICT"
static="-static $c99 -O2"
lto="-Wno-unused-command-line-argument -O2 -flto -fuse-ld=lld"
windows="x86_64-w64-mingw32-gcc -static"
bare="-mthumb -std=c99"
m3="arm-none-eabi-gcc -mcpu=cortex-m3 $bare"
m0="arm-none-eabi-gcc -mcpu=cortex-m0 $bare -DCHROPROF_NO_TEXT -DCHROPROF_NO_FINDINGS"
no_libc="-Os -DCHROPROF_NO_STDIO -DCHROPROF_NO_CLOCK"
newlib="-O2 $posix -D_POSIX_TIMERS=1 -D_POSIX_MONOTONIC_CLOCK=1"
walked="aarch64-linux-gnu-gcc $c99 -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
-fno-optimize-sibling-calls -rdynamic -DTEST_FRAMES"
arm64_linux="qemu-aarch64 -L /usr/aarch64-linux-gnu"
all_but_sampler=$(ls tests/test_*.c | sed 's,tests/test_,,; s,\.c$,,' | grep -v '^sampler$' | tr '\n' ' ')
# programs that are left out where there is no fork and no file can be mapped; where there is no
# operating system
no_fork="faults map merge sampler snapshot"
no_system="capacity faults guard incidents map merge sampler snapshot threads traces"

# group | cell | compiler and flags | how to run | programs left out | ci
# How to run: nothing, a command before the program, or one of: i386 (plainly, or by qemu where the
# kernel runs no 32-bit programs), wine, cortex-m3, firmware-m0, firmware-m3 (the last two build
# tests/bare instead of the programs).
cells() { cat <<END
gcc 12|-O0|gcc-12 $c99 -O0|||
gcc 12|-O1|gcc-12 $c99 -O1|||
gcc 12|-O2|gcc-12 $c99 -O2|||
gcc 12|-O3|gcc-12 $c99 -O3|||
gcc 12|-Os|gcc-12 $c99 -Os|||
gcc 12|LTO|gcc-12 $c99 -O2 -flto=auto|||
gcc 12|C11|gcc-12 -std=c11 $posix -O0|||
gcc 12|C17|gcc-12 -std=c17 $posix -O0|||
gcc 12|C2x|gcc-12 -std=c2x $posix -O0|||
gcc 12|C++11|g++-12 -x c++ -std=c++11 -O0|||
gcc 12|C++14|g++-12 -x c++ -std=c++14 -O0|||
gcc 12|C++17|g++-12 -x c++ -std=c++17 -O0|||
gcc 12|C++20|g++-12 -x c++ -std=c++20 -O0|||
gcc 12|gnu99|gcc-12 -std=gnu99 -O0|||
gcc 12|gnu11|gcc-12 -std=gnu11 -O0|||
gcc 12|gnu17|gcc-12 -std=gnu17 -O0|||
gcc 12|gnu2x|gcc-12 -std=gnu2x -O0|||
gcc 12|gnu++11|g++-12 -x c++ -std=gnu++11 -O0|||
gcc 12|gnu++14|g++-12 -x c++ -std=gnu++14 -O0|||
gcc 12|gnu++17|g++-12 -x c++ -std=gnu++17 -O0|||
gcc 12|gnu++20|g++-12 -x c++ -std=gnu++20 -O0|||
clang 14|-O0|clang-14 $c99 -O0|||
clang 14|-O1|clang-14 $c99 -O1|||
clang 14|-O2|clang-14 $c99 -O2|||ci
clang 14|-O3|clang-14 $c99 -O3|||
clang 14|-Os|clang-14 $c99 -Os|||
clang 14|LTO|clang-14 $c99 $lto-14|||
clang 14|C11|clang-14 -std=c11 $posix -O0|||
clang 14|C17|clang-14 -std=c17 $posix -O0|||
clang 14|C2x|clang-14 -std=c2x $posix -O0|||
clang 14|C++11|clang++-14 -x c++ -std=c++11 -O0|||
clang 14|C++14|clang++-14 -x c++ -std=c++14 -O0|||
clang 14|C++17|clang++-14 -x c++ -std=c++17 -O0|||
clang 14|C++20|clang++-14 -x c++ -std=c++20 -O0|||
clang 14|gnu99|clang-14 -std=gnu99 -O0|||
clang 14|gnu17|clang-14 -std=gnu17 -O0|||
clang 14|gnu++20|clang++-14 -x c++ -std=gnu++20 -O0|||
clang 22|-O0|clang-22 $c99 -O0|||
clang 22|-O1|clang-22 $c99 -O1|||
clang 22|-O2|clang-22 $c99 -O2|||
clang 22|-O3|clang-22 $c99 -O3|||
clang 22|-Os|clang-22 $c99 -Os|||
clang 22|LTO|clang-22 $c99 $lto-22|||
clang 22|C11|clang-22 -std=c11 $posix -O0|||
clang 22|C17|clang-22 -std=c17 $posix -O0|||
clang 22|C2x|clang-22 -std=c2x $posix -O0|||
clang 22|C++11|clang++-22 -x c++ -std=c++11 -O0|||
clang 22|C++14|clang++-22 -x c++ -std=c++14 -O0|||
clang 22|C++17|clang++-22 -x c++ -std=c++17 -O0|||
clang 22|C++20|clang++-22 -x c++ -std=c++20 -O0|||
clang 22|gnu99|clang-22 -std=gnu99 -O0|||
clang 22|gnu17|clang-22 -std=gnu17 -O0|||
clang 22|gnu++20|clang++-22 -x c++ -std=gnu++20 -O0|||
others|tcc|tcc $posix|||
others|musl|musl-gcc $c99 -O2|||
little-endian|32-bit x86|i686-linux-gnu-gcc $static|i386||ci
little-endian|64-bit x86 without AVX and an invariant counter|gcc $static|qemu-x86_64 -cpu qemu64||
little-endian|arm|arm-linux-gnueabihf-gcc $static|qemu-arm||
little-endian|arm64|aarch64-linux-gnu-gcc $static|qemu-aarch64||
little-endian|aarch64, stacks walked|$walked|$arm64_linux|$all_but_sampler|
little-endian|riscv64|riscv64-linux-gnu-gcc $static|qemu-riscv64||
big-endian|s390x|s390x-linux-gnu-gcc $static|qemu-s390x||
big-endian|32-bit powerpc|powerpc-linux-gnu-gcc $static|qemu-ppc||
Windows (wine)|mingw-w64 C99|$windows $c99 -O2|wine|$no_fork|ci
Windows (wine)|mingw-w64 gnu17|$windows -std=gnu17 -O2|wine|$no_fork|
bare metal (qemu)|Cortex-M3 with newlib|$m3 $newlib|cortex-m3|$no_system|
bare metal (qemu)|Cortex-M3, no libc, unaligned access traps|$m3 -mno-unaligned-access $no_libc|firmware-m3||
bare metal (qemu)|Cortex-M0 in 16 KiB, no libc|$m0 $no_libc|firmware-m0||
END
}

# Without: unsigned-integer-overflow. Sums over futures are kept as differences modulo 2^64 (wall,
# delay, blame), hashes multiply, and figures of a damaged view may be any number.
integer="-fsanitize=undefined,integer,implicit-conversion,nullability,float-divide-by-zero \
-fno-sanitize=unsigned-integer-overflow -fno-sanitize-recover=all"
address="-fsanitize=address,undefined -fno-sanitize-recover=all"
memory="-fsanitize=memory -fsanitize-memory-track-origins"
valgrind="valgrind -q --error-exitcode=9 --leak-check=no"
# minutes under these two: what is mostly python3, fork or a million events
slow="capacity formats map output snapshot guard faults sampler"
sanitizer_cells() { cat <<END
sanitizers|UBSan with integer and implicit-conversion -O1|clang-14 $c99 -O1 -g $integer|||
sanitizers|ASan and UBSan -O0|clang-14 $c99 -O0 -g $address|||
sanitizers|ASan and UBSan -O3|clang-14 $c99 -O3 -g $address|||
sanitizers|MSan -O0|clang-14 $c99 -O0 -g $memory|||
sanitizers|MSan -O2|clang-14 $c99 -O2 -g $memory|||
sanitizers|TSan -O1|clang-14 $c99 -O1 -g -fsanitize=thread||$slow|
sanitizers|valgrind -O0|gcc-12 $c99 -O0 -g|$valgrind|$slow|
sanitizers|valgrind -O2|gcc-12 $c99 -O2 -g|$valgrind|$slow|
END
}

# the packages of a compiler or an emulator
package_of() {
    case $1 in
    musl-gcc) echo musl-tools ;;
    x86_64-w64-mingw32-gcc) echo gcc-mingw-w64-x86-64 ;;
    arm-none-eabi-gcc) echo gcc-arm-none-eabi libnewlib-arm-none-eabi ;;
    *-linux-gnu*-gcc) echo "gcc-${1%-gcc} libc6-dev-$(echo "${1%%-*}" |
        sed 's/aarch64/arm64/; s/i686/i386/; s/^arm$/armhf/')-cross" ;;
    clang++-*) echo "clang-${1#clang++-}" ;;
    clang-*) echo "$1 lld-${1#clang-} libclang-rt-${1#clang-}-dev" ;;
    qemu-system-arm) echo qemu-system-arm ;;
    qemu-*) echo qemu-user ;;
    */wine64 | wine64) echo wine64 ;;
    '') ;;
    *) echo "$1" ;;
    esac
}

has() { command -v "$1" >/dev/null 2>&1; }

# ---- one cell

# what the firmware says of its stack, on one line
note() {
    sed -n 's/^# stack  *\([0-9]* bytes: .*\)/\1/p' "$1" | tr '\n' ';' | sed 's/;$//; s/;/, /g'
}

# runner HOW PROGRAM: runs it
runner() {
    case $1 in
    i386)
        "$2"
        set -- $? "$2"
        [ "$1" != 126 ] || exec qemu-i386 "$2"
        return "$1"
        ;;
    wine) WINEPREFIX=$here/$M/wine WINEDEBUG=-all $wine "$2.exe" ;;
    cortex-m3 | firmware-m3) board mps2-an385 "$2" ;;
    firmware-m0) board microbit "$2" ;;
    *) $1 "$2" ;;
    esac
}

board() { qemu-system-arm -M "$1" -nographic -monitor none -semihosting -kernel "$2"; }

wine=wine64
has wine64 || wine=/usr/lib/wine/wine64

# what HOW needs to be there
tool_of() {
    case $1 in
    wine) echo $wine ;;
    cortex-m3 | firmware-*) echo qemu-system-arm ;;
    i386) echo qemu-i386 ;;
    *) echo "${1%% *}" ;;
    esac
}

# compile OUTPUT ARGUMENTS...: with the cell's compiler; warnings are failures
compile() {
    output=$1
    shift
    echo "\$ $compiler $* -o $output"
    $compiler $checks "$@" -o "$output" && [ -s "$output" ]
}

# what is linked to a program beside the implementation
extras() {
    case $how in
    cortex-m3) echo "-nostartfiles --specs=rdimon.specs -Ttests/bare/mps2.ld $cell/startup.o" ;;
    *) echo "$threads" ;;
    esac
}

# the object and not the source: C and C++ flags must not reach it as a language
build_parts() {
    mkdir -p "$cell/include" "$cell/scratch"
    ln -sfn /usr/include/stb "$cell/include/stb"
    compile "$cell/impl.o" -c tests/compile/impl.c || return 1
    [ "$how" != cortex-m3 ] || compile "$cell/startup.o" -DBARE_NEWLIB -c tests/bare/startup.c
}

# programs with a copy of their own are linked without ours
build_program() {
    object=$cell/impl.o
    ! grep -q '^#define CHROPROF_IMPLEMENTATION' "tests/test_$1.c" || object=
    compile "$cell/$1.o" -isystem "$cell/include" $threads $lenient -c "tests/test_$1.c" || return 1
    echo "\$ link $1"
    $linker -o "$cell/$1" "$cell/$1.o" $object $(extras) >"$cell/link.log" 2>&1
    linked=$?
    cat "$cell/link.log"
    [ $linked = 0 ] && ! grep 'warning: ' "$cell/link.log"
}

build_firmware() {
    board=mps2
    [ "$how" = firmware-m3 ] || board=microbit
    compile "$cell/firmware" -ffreestanding -fno-tree-loop-distribute-patterns -nostdlib \
        -nostartfiles -Ttests/bare/$board.ld tests/bare/*.c tests/compile/impl.c -lgcc
}

# run_program NAME: its cases are added to the cell's
run_program() {
    timeout "$LIMIT" sh tests/matrix.sh run "$how" "$cell/$1" </dev/null >"$cell/$1.log" 2>&1
    status=$?
    counts=$(counts_of "$cell/$1.log")
    tr -d '\r' <"$cell/$1.log" | grep -a -E '^(FAIL|skip) ' | sed "s/^/$1: /" >>"$cell/odd"
    if [ -z "$counts" ]; then
        echo "$1: FAIL ended without its counts, exit status $status" >>"$cell/odd"
        counts="0 1 0"
    elif [ $status != 0 ] && [ "${counts#* 0 }" != "$counts" ]; then
        echo "$1: FAIL exit status $status: $(tail -n 1 "$cell/$1.log")" >>"$cell/odd"
        counts="0 1 0"
    fi
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

programs_without() {
    for source in tests/test_*.c; do
        program=$(basename "$source" .c)
        case " $1 trace " in *" ${program#test_} "*) ;; *) echo "${program#test_}" ;; esac
    done
}

build_and_run() {
    if [ "${how#firmware}" != "$how" ]; then
        build_firmware >>"$cell/build.log" 2>&1 && run_program firmware && return
        build_failed firmware
        return
    fi
    build_parts >>"$cell/build.log" 2>&1 || { build_failed implementation; return; }
    for program in $1; do
        began=$(date +%s)
        if build_program "$program" >>"$cell/build.log" 2>&1; then
            built=$(date +%s)
            run_program "$program"
            echo "$program: $((built - began)) s to build, $(($(date +%s) - built)) s to run" \
                >>"$cell/times"
        else build_failed "$program"; fi
        rm -f "$cell/$program" "$cell/$program.exe" "$cell/$program.o"
    done
}

build_failed() {
    failed=$((failed + 1))
    why=$(grep -E 'error:|warning:|undefined' "$cell/build.log" | grep -v 'all warnings' |
        tail -n 1)
    echo "$1: FAIL does not build: $why" >>"$cell/odd"
}

# one GROUP NAME COMPILER HOW LEFT-OUT: runs a cell, its row goes to CELL/row
one() {
    cell=$M/$(echo "$1 $2" | named)
    compiler=$3 how=$4 passed=0 failed=0 skipped=0 lenient= checks="$warnings -Werror"
    rm -rf "$cell"
    mkdir -p "$cell"
    : >"$cell/odd"
    missing=
    for tool in "${compiler%% *}" "$(tool_of "$how")"; do
        [ -z "$tool" ] || has "$tool" || missing="$missing $(package_of "$tool")"
    done
    [ -n "$missing" ] || usable || missing=" $(package_of "${compiler%% *}")"
    [ -n "$missing" ] || [ "$(date +%s)" -lt "${UNTIL:-9999999999}" ] || missing=" more minutes"
    if [ -n "$missing" ]; then
        printf '%s\t%s\t0\t0\t0\t0\t-\tskipped:%s\n' "$1" "$2" "$missing" >"$cell/row"
        return
    fi
    threads=-pthread
    # on a bare machine there are none, and uint32_t is a long, which the tests print as %u
    [ "$how" != cortex-m3 ] || threads= lenient=-Wno-format
    linker=$(echo "$compiler" | sed 's/ -x c++ / /')
    case $compiler in
    tcc*) checks="-Wall -Werror" ;;
    # tests write { 0 } as C does
    *-x\ c++*) lenient=-Wno-missing-field-initializers ;;
    *) checks="$checks -Wstrict-prototypes" ;;
    esac
    # tests cut long names on purpose
    case $compiler in gcc* | g++* | *-gcc*) lenient="$lenient -Wno-format-truncation" ;; esac
    # a program under the emulator of Windows finds neither python3 nor xz
    if [ "$how" = wine ]; then unpack_traces; export UNPACKED="$here/$M/traces"; fi
    SCRATCH=$cell/scratch
    export SCRATCH
    except=
    case $2 in
    # reads of forbidden pages, on purpose
    valgrind*) except=,snapshot_while,snapshot_of_a_writer,snapshot_gives_up ;;
    # a handler that makes them readable is told other addresses by this emulator
    *without\ AVX*) except=,events_between_the_rows ;;
    esac
    noted=${5:+without ${5% }}
    case $2 in
    -O2) ;;
    *)
        export EXCEPT=a_hundred_thousand_paths$except SHARE="${SHARE:-10}"
        noted="${noted:+$noted; }1 in $SHARE rounds"
        ;;
    esac
    started=$(date +%s)
    build_and_run "$(programs_without "$5")"
    [ ! -f "$cell/firmware.log" ] || noted=$(note "$cell/firmware.log")
    noted=$(echo "$noted" | tr '\t' ' ')
    printf '%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n' "$1" "$2" $passed $failed $skipped \
        $(($(date +%s) - started)) "$(cksum <chroprof.h | cut -d' ' -f1)" "${noted:--}" \
        "$(commit | tr -d '\n')" >"$cell/row"
    rm -rf "$cell/scratch" "$cell"/*.o
}

# the state of the sources, with a + where files differ from it
commit() {
    git rev-parse --short HEAD 2>/dev/null || { echo -; return; }
    git diff --quiet HEAD 2>/dev/null || echo +
} 2>/dev/null

# usable: the compiler builds programs here (its libraries are there)
usable() {
    [ "${how#firmware}" = "$how" ] && [ "$how" != cortex-m3 ] || return 0
    echo 'int main(void) { return 0; }' >"$cell/empty.c"
    $compiler "$cell/empty.c" -o "$cell/empty" >"$cell/empty.log" 2>&1
}

unpack_traces() {
    mkdir -p "$M/traces"
    for file in tests/traces/*.events.xz; do
        name=$M/traces/$(basename "$file" .xz)
        [ -s "$name" ] || { xz -dc "$file" >"$name.$$" && mv "$name.$$" "$name"; }
    done
}

# ---- all of them

# chosen WORD...: the cells that the words ask for
chosen() {
    case " $* " in
    *' ci '*) cells | grep '|ci$' ;;
    *' all '*) cells; sanitizer_cells ;;
    '  ') cells ;;
    *) { cells; sanitizer_cells; } | while IFS= read -r line; do
        for word in "$@"; do
            case "$(echo "$line" | cut -d'|' -f1,2)" in *"$word"*) echo "$line"; break ;; esac
        done
    done ;;
    esac
}

show() {
    printf '%s\n' "$1" | {
        IFS='	' read -r group name passed failed skipped seconds header noted commit
        case $noted in skipped:*)
            echo "skip $group, $name: needs ${noted#skipped: }"
            return ;;
        esac
        printf '%s, %s: %d passed, %d failed, %d skipped (%d s)\n' "$group" "$name" "$passed" \
            "$failed" "$skipped" "$seconds"
    }
}

install_packages() {
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    export DEBIAN_FRONTEND=noninteractive
    $root apt-get -q update >/dev/null
    chosen "$@" | while IFS='|' read -r group name compiler how rest; do
        package_of "${compiler%% *}"
        package_of "$(tool_of "$how")"
    done | tr ' ' '\n' | sort -u | while read -r package; do
        $root apt-get -q -y install --no-install-recommends "$package" >/dev/null 2>&1 </dev/null ||
            echo "could not install $package"
    done
}

run_all() {
    mkdir -p "$M"
    [ -z "${MINUTES:-}" ] || export UNTIL=$(($(date +%s) + MINUTES * 60))
    case " $* " in *' ci '* | '  ' | *Windows* | *' all '*) ! has $wine || start_wine ;; esac
    chosen "$@" >"$M/chosen"
    if [ ! -s "$M/chosen" ]; then
        echo "no cell has a name with: $*"
        echo "0 passed, 1 failed, 0 skipped"
        return 1
    fi
    cell_names | while read -r cell; do rm -f "$M/$cell/row"; done
    # xargs keeps JOBS cells going; each writes its row, whatever happens to others
    tr '\n' '\0' <"$M/chosen" | xargs -0 -n 1 -P "$JOBS" sh -c 'sh tests/matrix.sh cell "$1" ||
        echo "${1%%|*}: FAIL the cell ended with $?"; exit 0' cell
    cut -d'|' -f1,2 <"$M/chosen" | while IFS='|' read -r group name; do
        row=$M/$(echo "$group $name" | named)/row
        if [ -s "$row" ]; then cat "$row"
        else printf '%s\t%s\t0\t1\t0\t0\t-\tended without a result\t-\n' "$group" "$name"; fi
    done >"$B/matrix-new.tsv"
    merge
    awk -F'\t' '{ p += $3; f += $4; s += $5 } $8 ~ /^skipped/ { s++ }
        END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0 }' \
        "$B/matrix-new.tsv"
}

named() { tr -c 'A-Za-z0-9+.\n-' '_'; }
cell_names() { cut -d'|' -f1,2 <"$M/chosen" | tr '|' ' ' | named; }

# rows of this run replace older ones of the same name, in the order of the tables
merge() {
    touch "$B/matrix.tsv"
    { cells; sanitizer_cells; } | cut -d'|' -f1,2 | tr '|' '\t' >"$M/order"
    awk -F'\t' 'NR == FNR { row[$1 FS $2] = $0; next }
        FILENAME ~ /matrix-new/ { row[$1 FS $2] = $0; next }
        ($1 FS $2) in row { print row[$1 FS $2] }' \
        "$B/matrix.tsv" "$B/matrix-new.tsv" "$M/order" >"$B/matrix.part"
    mv "$B/matrix.part" "$B/matrix.tsv"
}

# the first start makes a folder of settings, which takes a while
start_wine() {
    WINEPREFIX=$here/$M/wine WINEDEBUG=-all timeout 300 $wine wineboot >/dev/null 2>&1 </dev/null
}

case ${1:-} in
run) runner "$2" "$3" ;;
cell)
    . tests/counts.sh
    IFS='|' read -r group name compiler how left_out ci <<END
$2
END
    one "$group" "$name" "$compiler" "$how" "$left_out"
    { show "$(cat "$cell/row")"; grep ': FAIL' "$cell/odd"; true; } ;;
list) shift; chosen "$@" | cut -d"|" -f1,2 ;;
install) shift; install_packages "$@" ;;
*) run_all "$@" ;;
esac
