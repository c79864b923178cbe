#!/bin/sh
# chroprof symbolize against a program that knows which functions and lines its addresses are:
# position-independent or not, inlined calls, a shared library, C++, separate debug information,
# none; with addr2line and, where its headers are there, with libdw.
#   sh tests/symbolize.sh     QUICK=1: fewer ways to build the programs, nothing under sanitizers
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why", then the counts; exit 1 if one failed.

cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh
CXX=${CXX:-c++}

for tool in python3 addr2line objcopy; do
    if ! command -v $tool >/dev/null 2>&1; then
        skip symbolize "needs $tool (packages python3 and binutils)"
        finish
    fi
done
export PYTHONDONTWRITEBYTECODE=1

# --- the command: once with each way to ask, and once more to find what it should not do
page=$scratch/report_page.h
$CC -o "$scratch/bytes" src/page/report_bytes.c &&
    sh src/page/join.sh report | "$scratch/bytes" report_page >"$page"
# command NAME COMPILER FLAGS...: builds $scratch/chroprof-NAME
command_of() {
    name=$1 compiler=$2
    shift 2
    $compiler -O0 -g -DCHROPROF_REPORT_PAGE="\"$page\"" -o "$scratch/chroprof-$name" \
        src/command/*.c "$@" >"$scratch/log" 2>&1
}
# QUICK: of what the build made, all that looks the same with libdw and without
quickly() {
    objects=
    for object in "${B:-build}"/command/*.o; do
        source=src/command/$(basename "$object" .o).c
        grep -q -e CHROPROF_LIBDW -e CHROPROF_DEMANGLE -e CHROPROF_LIBIBERTY "$source" && object=$source
        objects="$objects $object"
    done
    # shellcheck disable=SC2086 # several files and flags
    $CC -O0 -g -o "$scratch/chroprof-addr2line" $objects -pthread \
        $(pkg-config --libs libevent 2>/dev/null) >"$scratch/log" 2>&1
}
backends=
if [ "${QUICK:-}" = 1 ] && quickly || command_of addr2line "$CC"; then backends=addr2line; else
    fail builds_alone "$(head -n 1 "$scratch/log")"
fi
if pkg-config --exists libdw 2>/dev/null; then
    if [ "${QUICK:-}" = 1 ] && cp "${B:-build}/chroprof" "$scratch/chroprof-libdw"; then
        backends=libdw                      # as it is installed; addr2line is asked where it must be
    elif command_of libdw "$CC" -DCHROPROF_LIBDW -DCHROPROF_DEMANGLE -ldw -lstdc++; then
        backends="$backends libdw"
    else
        fail builds_with_libdw "$(head -n 1 "$scratch/log")"
    fi
else
    skip libdw "needs pkg-config and libdw-dev"
fi
rare=1 readers= sanitized=              # readers: of the names of C++, of Rust
if [ "${QUICK:-}" = 1 ]; then rare=; else
    command_of cxa "$CC" -DCHROPROF_DEMANGLE -lstdc++ && readers=cxa
    command_of iberty "$CC" -DCHROPROF_LIBIBERTY -liberty && readers="$readers iberty"
    command_of sanitized clang -fsanitize=address,undefined -fno-sanitize-recover=undefined &&
        sanitized=sanitized
fi

# --- the programs
if [ "${QUICK:-}" = 1 ] && cp "${B:-build}/command/impl.o" "$scratch/impl.o"; then :
elif ! $CC -O0 -fPIC -c -o "$scratch/impl.o" tests/compile/impl.c 2>"$scratch/log"; then
    fail builds_the_header "$(head -n 1 "$scratch/log")"
    finish
fi
# program NAME FLAGS...: $scratch/NAME/program with its library, and its profile
program() {
    folder=$scratch/$1
    position="-fPIE -pie"
    [ "$1" = fixed ] && position="-fno-pie -no-pie"
    shift
    mkdir -p "$folder"
    $CC -O2 -shared -fPIC "$@" -o "$folder/libplaces.so" tests/symbolize/library.c \
        >"$scratch/log" 2>&1 || return 1
    objects=
    case " $* " in *" -DWITH_CPP "*)
        objects=$folder/places.o
        $CXX -O2 $position "$@" -c -o "$objects" tests/symbolize/places.cc \
            >>"$scratch/log" 2>&1 || return 1
    esac
    $CC -O2 -I. $position "$@" -o "$folder/program" tests/symbolize/program.c $objects \
        "$scratch/impl.o" -L"$folder" -lplaces -Wl,-rpath,"$folder" \
        >>"$scratch/log" 2>&1 || return 1
    "$folder/program" >"$folder/before.json" 2>>"$scratch/log"
}
# symbolize NAME BACKEND ARGUMENTS...: NAME/before.json becomes NAME/BACKEND.json
symbolize() {
    folder=$scratch/$1 backend=$2
    shift 2
    "$scratch/chroprof-$backend" symbolize "$folder/before.json" -o "$folder/$backend.json" "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    code=$?
}
# found CASE NAME BACKEND KIND: the answers are right
found() {
    if [ "$code" != 0 ]; then
        fail "$1" "exit code $code: $(head -n 1 "$scratch/err")"
    elif python3 tests/symbolize/check.py "$scratch/$2/before.json" "$scratch/$2/$3.json" "$4" \
        >"$scratch/log" 2>&1; then ok "$1"; else fail "$1" "$(tail -n 1 "$scratch/log")"; fi
}
says() {
    if grep -qF -e "$2" "$scratch/err"; then ok "$1"; else
        fail "$1" "'$2' not found in: $(head -n 2 "$scratch/err")"
    fi
}
# NAME, and the flags that make it
while read -r name flags; do
    [ -n "$name" ] || continue
    # shellcheck disable=SC2086 # flags are several words
    if ! program "$name" $flags; then
        fail "${name}_builds" "$(head -n 1 "$scratch/log")"
        continue
    fi
    for backend in $backends; do
        symbolize "$name" "$backend" --debug "$scratch/none"
        found "${backend}_$name" "$name" "$backend" lines
    done
done <<END
cpp -g -DWITH_CPP -lstdc++
pie -g
${rare:+fixed -g
dwarf4 -g -gdwarf-4
sections -g -ffunction-sections -Wl,--gc-sections
no_id -g -Wl,--build-id=none}
END
if [ -z "$rare" ]; then :
elif command -v clang >/dev/null 2>&1 && (CC=clang; program clang -g); then
    for backend in $backends; do
        symbolize clang "$backend"
        found "${backend}_clang" clang "$backend" lines
    done
else
    skip clang "needs clang"
fi

# --- debug information in files of their own, by build id; then the same without it
# strip_apart NAME: moves the debug information of NAME's files into NAME/debug
strip_apart() {
    for one in program libplaces.so; do
        file=$scratch/$1/$one
        id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
        mkdir -p "$scratch/$1/debug/.build-id/$(echo "$id" | cut -c 1-2)"
        objcopy --only-keep-debug "$file" \
            "$scratch/$1/debug/.build-id/$(echo "$id" | sed 's/^../&\//').debug"
        strip "$file"
    done
}
program apart -g && strip_apart apart
for backend in $backends; do
    symbolize apart "$backend" --debug "$scratch/apart/debug"
    found "${backend}_separate_debug_files" apart "$backend" lines
    symbolize apart "$backend" --debug "$scratch/none"
    found "${backend}_stripped" apart "$backend" functions
done
mv "$scratch/apart/program" "$scratch/apart/moved"
for backend in $backends; do
    symbolize apart "$backend" --debug "$scratch/apart/debug"
    found "${backend}_program_gone" apart "$backend" lines
done
program links -g
for one in program libplaces.so; do
    (cd "$scratch/links" && mkdir -p .debug && objcopy --only-keep-debug $one .debug/$one.debug &&
        strip $one && objcopy --add-gnu-debuglink=.debug/$one.debug $one)
done
for backend in $backends; do
    symbolize links "$backend" --debug "$scratch/none"
    found "${backend}_debug_link" links "$backend" lines
done

# --- not the file that ran: names stay as they are
program other -g
for backend in $backends; do
    for what in build_id path; do
        mkdir -p "$scratch/wrong"
        case $what in
        build_id) change='s/"build_id":"../"build_id":"00/' ;;
        path) change='s/"path":"/"path":"\/missing/' ;;
        esac
        sed "$change" "$scratch/other/before.json" >"$scratch/wrong/before.json"
        symbolize wrong "$backend" --debug "$scratch/none"
        found "${backend}_other_$what" wrong "$backend" none
        case $what in
        build_id) says "${backend}_tells_of_another_id" "other/program: this is not the file" ;;
        path) says "${backend}_tells_of_no_file" "other/program: No such file" ;;
        esac
    done
done
# changed NAME SED TEXT: the profile with a change; the command ends well and says TEXT
changed() {
    mkdir -p "$scratch/changed"
    sed "$2" "$scratch/other/before.json" >"$scratch/changed/before.json"
    for backend in $backends; do
        symbolize changed "$backend"
        if [ "$code" = 0 ]; then says "${backend}_$1" "$3"; else
            fail "${backend}_$1" "exit code $code"; fi
    done
}
mkfifo "$scratch/fifo"
touch "$scratch/empty"
changed module_is_a_pipe "s|\"path\":\"[^\"]*program|\"path\":\"$scratch/fifo|" "not a plain file"
changed module_is_a_folder "s|\"path\":\"[^\"]*program|\"path\":\"$scratch|" "not a plain file"
changed module_is_empty "s|\"path\":\"[^\"]*program|\"path\":\"$scratch/empty|" "not an ELF file"
changed build_id_is_none "s|\"build_id\":\"|&../../|" "build id is malformed"
odd=$(printf '\302\2332J\342\200\256\342\200\250\23331m')
changed module_would_steer "s|\"path\":\"[^\"]*program|\"path\":\"$scratch/\\\\u001b$odd|" \
    "/\\x1b\\u009b2J\\u202e\\u2028?31m: No such file"
odd="$scratch/-e \$(touch pwned);touch pwned"
mkdir -p "$odd"
cp "$scratch/other/program" "$odd/program"
sed "s|\"path\":\"[^\"]*other/program|\"path\":\"$odd/program|" "$scratch/other/before.json" \
    >"$scratch/changed/before.json"
for backend in $backends; do
    (cd "$scratch" && ./chroprof-$backend symbolize changed/before.json \
        -o changed/$backend.json 2>err)
    code=$?
    found "${backend}_odd_path" changed "$backend" lines
done
if [ -e "$scratch/pwned" ] || [ -e pwned ]; then
    fail no_shell "a path was run"; else ok no_shell; fi
PATH=/nonexistent "$scratch/chroprof-addr2line" symbolize "$scratch/other/before.json" \
    >"$scratch/other/alone.json" 2>"$scratch/err"
code=$?
found without_addr2line other alone functions
says without_addr2line_is_told "addr2line could not be started"

# --- what goes through, what is refused, and who does it by himself
for backend in $backends; do
    "$scratch/chroprof-$backend" symbolize - <"$scratch/other/before.json" 2>/dev/null |
        "$scratch/chroprof-$backend" symbolize - >"$scratch/twice.json" 2>"$scratch/err"
    symbolize other "$backend"
    if cmp -s "$scratch/twice.json" "$scratch/other/$backend.json"; then ok "${backend}_twice"; else
        fail "${backend}_twice" "the second time changes the first"; fi
    "$scratch/chroprof-$backend" report "$scratch/other/before.json" >"$scratch/page.html" 2>"$scratch/err"
    if python3 tests/check_page.py "$scratch/page.html" "$scratch/twice.json" 2>"$scratch/err"; then
        ok "${backend}_report_by_itself"; else
        fail "${backend}_report_by_itself" "$(tail -n 1 "$scratch/err")"; fi
done
# refused NAME KEY VALUE: the key with another value is an error that names the place
refused() {
    sed "s|\"$2\":[^,]*|\"$2\":$3|" "$scratch/other/before.json" >"$scratch/bad.json"
    "$scratch/chroprof-addr2line" symbolize "$scratch/bad.json" >"$scratch/out" 2>"$scratch/err"
    code=$?
    if [ $code = 1 ] && grep -q '^chroprof: [^ ]*bad.json:[0-9]*:[0-9]*: expected' "$scratch/err"; then
        ok "refused_$1"; else fail "refused_$1" "exit code $code, $(head -n 1 "$scratch/err")"; fi
}
refused address address '"12"'
refused module module true
refused kind kind 7
refused path path '[]'
refused build_id build_id 7
sed 's/"stacks":\[/"stacks":[7,/' "$scratch/other/before.json" >"$scratch/bad.json"
"$scratch/chroprof-addr2line" symbolize "$scratch/bad.json" >/dev/null 2>"$scratch/err"
says refused_rows "expected an object"

# --- names of C++ and Rust: those of the file's symbols, and those that only the profile has
names=$scratch/names
mkdir -p "$names"
cat >"$names/names.c" <<'END'
int a(void) __asm__("_ZN3app4workEi");
int b(void) __asm__("_ZN3app4test17h0123456789abcdefE");
int c(void) __asm__("_RNvC7mycrate3foo");
int d(void) __asm__("_Znothing");
int a(void) { return 1; }
int b(void) { return 2; }
int c(void) { return 3; }
int d(void) { return 4; }
END
cat >"$names/check.py" <<'END'
import json, subprocess, sys
command, library, rust = sys.argv[1], sys.argv[2], sys.argv[3] == "iberty"
WANT = {"_ZN3app4workEi": "app::work(int)", "_ZN3app4test17h0123456789abcdefE": "app::test",
        "_RNvC7mycrate3foo": "mycrate::foo" if rust else None, "_Znothing": None}
lines = subprocess.check_output(["nm", "-D", library], text=True).splitlines()
places = {line.split()[2]: int(line.split()[0], 16) for line in lines if " T " in line}
for module, path in enumerate([library, "/missing"]):
    for name, readable in WANT.items():
        row = {"id": 1, "parent": 0, "kind": "native", "path": 0, "module": module,
               "address": places[name], "return": False, "name": "" if module == 0 else name,
               "weight": 1, "cpu_ns": 0}
        profile = json.load(open(sys.argv[4], encoding="utf-8"))
        profile["modules"] = [{"id": i, "path": p, "build_id": "", "base": 0}
                              for i, p in enumerate([library, "/missing"])]
        profile["stacks"] = [row]
        out = subprocess.run([command, "symbolize", "-"], input=json.dumps(profile), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                             env={"PATH": "/nonexistent"}).stdout    # without addr2line
        found = json.loads(out)["stacks"][0].get("function")
        wanted = readable or (name if module == 0 else None)
        assert found == wanted, (path, found, wanted)
END
if $CC -shared -fPIC -Wl,--build-id=none -o "$names/libnames.so" "$names/names.c" 2>"$scratch/log"; then
    for reader in $readers; do
        if python3 "$names/check.py" "$scratch/chroprof-$reader" "$names/libnames.so" "$reader" \
            "$scratch/other/before.json" 2>"$scratch/log"; then ok "names_by_$reader"
        else fail "names_by_$reader" "$(tail -n 1 "$scratch/log")"; fi
    done
    case $readers${rare:-iberty} in *iberty*) ;; *) skip names_by_iberty "needs libiberty-dev" ;; esac
else
    fail names_build "$(head -n 1 "$scratch/log")"
fi

# --- programs with the sampler on: what they were planted to do, down to function and line
# line_of FILE TEXT: where in the source that stands
line_of() { grep -n -F "$2" "$1" | head -n 1 | cut -d : -f 1; }
# caught NAME JSON TASK FUNCTIONS FILE FROM TO: of the samples under the task nearly all lie in the
# functions, or are called by them, at such lines of the file; taking them cost less than 1 %
caught() {
    if python3 - "$@" >"$scratch/log" 2>&1 <<'END'
import json, os, sys
name, path, task, functions, file, low, high = sys.argv[1:]
profile = json.load(open(path, encoding="utf-8"))
stacks = {row["id"]: row for row in profile["stacks"]}
all_of_it = caught = 0
for row in stacks.values():
    native, up = [], row
    while up and up["kind"] != "task":
        native += [up] + up.get("inlined", [])
        up = stacks.get(up["parent"])
    if row["weight"] == 0 or not up or up["name"] != task:
        continue
    all_of_it += row["weight"]
    known = [call for call in native if "function" in call]
    there = [call for call in known if os.path.basename(call["file"]) == file
             and int(low) <= call["line"] <= int(high)]
    if there and any(call["function"] in functions.split() for call in known):
        caught += row["weight"]
assert all_of_it >= 10, "%d samples under %s" % (all_of_it, task)
assert caught >= 0.8 * all_of_it, "%d of %d samples are there" % (caught, all_of_it)
sampler, elapsed = profile["sampler"], profile["totals"]["elapsed_ns"]
print("   %s: the sampler cost %.3f %%" % (name, 100 * sampler["cost_ns"] / elapsed))
# by the clock, so a handler that lost the processor counts as dear: what a tick takes is the bench's
assert 0 < sampler["cost_ns"] < elapsed, (sampler["cost_ns"], elapsed)
END
    then cat "$scratch/log"; ok "$1"; else fail "$1" "$(tail -n 1 "$scratch/log")"; fi
}
mkdir -p "$scratch/demo"
if $CC -O1 -g -fno-omit-frame-pointer -DDEMO_LINKED -o "$scratch/demo/demo" examples/demo.c \
    "$scratch/impl.o" 2>"$scratch/log"; then
    for seconds in 3 5 10 20 60; do     # a busy machine gives it few samples a second
        (cd "$scratch/demo" && ./demo $seconds demo.chroprof >text 2>&1)
        if python3 -c 'import json, sys
sites = json.load(open(sys.argv[1]))["sites"]
count = sum(row["samples"] for row in sites if row["name"] == "task_handler")
sys.exit(count < 30)' "$scratch/demo/demo.json"; then
            break
        fi
    done
    first=$(line_of examples/demo.c 'static void expire_tasks')
    last=$(line_of examples/demo.c 'static uint64_t add_task')
    for backend in $backends; do
        "$scratch/chroprof-$backend" symbolize "$scratch/demo/demo.json" \
            -o "$scratch/demo/$backend.json" 2>"$scratch/err"
        caught "${backend}_demo" "$scratch/demo/$backend.json" task_handler \
            "expire_tasks end_of_tasks" demo.c "$first" "$last"
    done
    "$scratch/chroprof-addr2line" symbolize -f text "$scratch/demo/demo.json" >"$scratch/out" 2>&1
    if grep -qE '^ +[0-9.]+%    expire_tasks  demo.c:[0-9]+$' "$scratch/out"; then ok demo_as_text
    else fail demo_as_text "$(sed -n 3,5p "$scratch/out")"; fi
    "$scratch/chroprof-addr2line" dump "$scratch/demo/demo.chroprof" >"$scratch/out" 2>&1
    if grep -qE '^ +[0-9.]+%    expire_tasks  demo.c:[0-9]+$' "$scratch/out"; then ok dump_as_text
    else fail dump_as_text "no line of expire_tasks"; fi
    "$scratch/chroprof-addr2line" dump -f json "$scratch/demo/demo.chroprof" 2>/dev/null |
        python3 -c 'import json, sys; rows = json.load(sys.stdin)["stacks"]
sys.exit(not any(row.get("function") == "expire_tasks" for row in rows))'
    if [ $? = 0 ]; then ok dump_as_json; else fail dump_as_json "no function expire_tasks"; fi
else
    fail demo_builds "$(head -n 1 "$scratch/log")"
fi
stall=examples/loop_libuv_stall.c
sed 's,^#define CHROPROF_IMPLEMENTATION.*,,' $stall >"$scratch/loop_libuv_stall.c"
if $CC -O1 -g -I. -Iexamples -o "$scratch/stall" "$scratch/loop_libuv_stall.c" "$scratch/impl.o" -luv -lz \
    -lunwind 2>"$scratch/log"; then
    "$scratch/stall" --json "$scratch/stall.json" >/dev/null 2>&1
    line=$(line_of $stall 'compress2(')
    for backend in $backends; do
        "$scratch/chroprof-$backend" symbolize "$scratch/stall.json" \
            -o "$scratch/stall.$backend.json" 2>"$scratch/err"
        caught "${backend}_stall_in_a_library" "$scratch/stall.$backend.json" on_rotate compress2 \
            loop_libuv_stall.c "$line" "$line"
    done
else
    skip stall_in_a_library "needs libuv1-dev, zlib1g-dev and libunwind-dev"
fi

# --- a program that hangs has had no event since: the ticks that wait in its file tell where
if $CC -O1 -g -fno-omit-frame-pointer -I. -o "$scratch/hung" tests/symbolize/hung.c \
    "$scratch/impl.o" 2>"$scratch/log"; then
    file=$scratch/hung.chroprof line='^ +[0-9.]+%    endless_search  hung.c:[0-9]+'
    "$scratch/hung" "$file" &
    hung=$!
    for try in $(seq 60); do                # a busy machine may be slow to give it time
        sleep 1
        "$scratch/chroprof-addr2line" dump $hung >"$scratch/out" 2>&1
        grep -qE "$line" "$scratch/out" && break
    done
    if grep -qE "$line" "$scratch/out"; then ok hung_by_number
    else fail hung_by_number "$(tail -n 4 "$scratch/out" | tr '\n' '|')"; fi
    if "$scratch/chroprof-addr2line" check "$file" >"$scratch/out" 2>&1; then ok hung_check
    else fail hung_check "$(head -n 1 "$scratch/out")"; fi
    kill -9 $hung
    wait $hung 2>/dev/null
    "$scratch/chroprof-addr2line" dump "$file" >"$scratch/out" 2>&1
    if grep -qE "$line" "$scratch/out"; then ok hung_and_killed
    else fail hung_and_killed "$(tail -n 4 "$scratch/out" | tr '\n' '|')"; fi
else
    fail hung_builds "$(head -n 1 "$scratch/log")"
fi

# --- files that ask for endless work
if [ -n "$rare" ]; then
    mkdir -p "$scratch/crafted"
    crafted=
    for backend in $backends $sanitized; do crafted="$crafted $scratch/chroprof-$backend"; done
    # shellcheck disable=SC2086 # several words
    if python3 tests/symbolize/crafted.py "$scratch/crafted" $crafted >"$scratch/log" 2>&1
    then ok crafted_files; else fail crafted_files "$(tail -n 1 "$scratch/log")"; fi
fi

# --- files that were tampered with: any answer, but an orderly end
if [ -n "$sanitized" ]; then
    cp "$scratch/other/program" "$scratch/other/whole"
    sed "s|\"build_id\":\"[^\"]*\"|\"build_id\":\"\"|" "$scratch/other/before.json" \
        >"$scratch/changed/before.json"
    python3 - "$scratch" >"$scratch/log" 2>&1 <<'END'
import json, os, random, subprocess, sys
scratch = sys.argv[1]
whole = open(scratch + "/other/whole", "rb").read()
random.seed(int(os.environ.get("SEED", "1")))
table = int.from_bytes(whole[40:48], "little")
for round in range(60):
    damaged = bytearray(whole)
    if round % 3 == 0:
        del damaged[random.randrange(len(damaged)):]
    for _ in range(random.choice((1, 4, 40))):
        where = random.choice((64, len(damaged) - table if len(damaged) > table else 64))
        at = random.randrange(where) if where == 64 else table + random.randrange(where)
        if at < len(damaged):
            damaged[at] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    open(scratch + "/other/program", "wb").write(damaged)
    done = subprocess.run([scratch + "/chroprof-sanitized", "symbolize",
                           scratch + "/changed/before.json"], capture_output=True, timeout=120,
                          env=dict(os.environ, PATH=os.environ["PATH"] if round % 10 == 0
                                   else "/nonexistent"))
    assert done.returncode == 0, done.stderr[-2000:]
    json.loads(done.stdout)
END
    if [ $? = 0 ]; then ok damaged_files; else fail damaged_files "$(tail -n 1 "$scratch/log")"; fi
    cp "$scratch/other/whole" "$scratch/other/program"
    python3 - "$scratch" >"$scratch/log" 2>&1 <<'END'
import os, random, subprocess, sys
scratch = sys.argv[1]
whole = open(scratch + "/other/before.json", "rb").read()
random.seed(int(os.environ.get("SEED", "1")))
pieces = (b'"', b"\\", b"[", b"]", b"{", b"}", b",", b"-1", b"18446744073709551615", b'"id":',
          b'"parent":', b"null", b"\\u0000", b"\\ud800", b'"inlined":[{}]', b'""', b"0")
good = 0
for round in range(60):
    damaged = bytearray(whole)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(whole.find(b'"sampler"'), len(damaged) - 30)
        damaged[at:at + random.randrange(4)] = random.choice(pieces)
    open(scratch + "/damaged.json", "wb").write(damaged)
    for words in (["symbolize", "-f", "text"], ["trace"], ["report"]):
        done = subprocess.run([scratch + "/chroprof-sanitized"] + words +
                              [scratch + "/damaged.json"], capture_output=True, timeout=120,
                              env=dict(os.environ, PATH="/nonexistent"))
        assert done.returncode in (0, 1), done.stderr[-2000:]
        assert b"runtime error" not in done.stderr and b"Sanitizer" not in done.stderr, done.stderr
        good += done.returncode == 0
assert 0 < good < 180, good
END
    if [ $? = 0 ]; then ok damaged_profiles; else
        fail damaged_profiles "$(tail -n 1 "$scratch/log")"; fi
    symbolize other sanitized
    found sanitized_lines other sanitized lines
elif [ -n "$rare" ]; then
    skip damaged_files "needs clang with its sanitizers"
fi
finish
