# chroprof is one header: there is nothing to build but its command, examples, tests and bench.
# Variables: CC, CFLAGS, TIME (seconds of fuzzing), BENCH (arguments of the bench), SEED (tests).

CFLAGS = -O2 -g
LDFLAGS =
TIME = 60
BENCH =
B = build

WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-align \
           -Wstrict-prototypes -DCHROPROF_STRICT
STANDARD = -std=c99 -D_POSIX_C_SOURCE=200809L
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
ITIMER_SANITIZE = $(SANITIZE)
SAN_CC = $(CC)
FUZZ_CC = clang

COMMAND_PARTS = $(wildcard src/command/*.h) src/run/board.h src/run/python.h
COMMAND_OBJECTS = $(patsubst src/command/%.c,$B/command/%.o,$(wildcard src/command/*.c))
TEST_PARTS = $(wildcard tests/*.h tests/model.c) chroprof.h
TESTS ?= $(basename $(notdir $(wildcard tests/test_*.c)))

help:
	@echo 'make demo       runs a server with a fault and prints the report that shows it (20 s)'
	@echo 'make chroprof   builds build/chroprof, the command'
	@echo 'make libchroprof  builds build/libchroprof.so, the header for bindings of other languages'
	@echo 'make test       the tests (5 minutes); installs missing packages with apt-get if it may;'
	@echo '                ONLY="top test_events": some of them'
	@echo 'make header     makes chroprof.h of its parts in src/header'
	@echo 'make parts      is chroprof.h what they give, and does each compile alone?'
	@echo 'make test-rest  the rest: slow cases, more sanitizers, all ways to compile'
	@echo 'make test-one-core  the tests on one core'
	@echo 'make test-all   everything below that tests, too; some hours'
	@echo 'make test-viewers  opens the outputs in Chromium, speedscope, pprof and promtool'
	@echo 'make pictures   draws the pictures of README.md again; needs what test-viewers needs'
	@echo 'make test-programs  redis, node and ninety other programs of Debian under chroprof run'
	@echo 'make test-matrix  the tests with other compilers, standards, processors and systems;'
	@echo '                fewer: MATRIX=ci; cells with these words: MATRIX="arm Windows"'
	@echo 'make test-sanitizers  the tests under MSan, TSan, UBSan with integer checks, valgrind'
	@echo 'make analyze    gcc and clang analyzers, clang-tidy, cppcheck over the header'
	@echo 'make sizes      bytes of code for some sets of options'
	@echo 'make cost       instructions, bytes, functions: counted, against the bounds of tests/cost.txt'
	@echo 'make matrix-tables  writes what the last runs measured into tests/README.md'
	@echo 'make coverage   lines and branches of chroprof.h that the tests run, and those they miss'
	@echo 'make mutation   changes chroprof.h token by token: do the tests notice? ARGS="N=200"'
	@echo 'make proof      bounded proofs by CBMC (tests/proof)'
	@echo 'make soak       2^32 events of two kinds; some minutes'
	@echo 'make fuzz       fuzzes events with libFuzzer; TIME=60 seconds'
	@echo 'make fuzz-open  fuzzes chroprof_open and chroprof_snapshot with any bytes as a block'
	@echo 'make fuzz-rows  the same with blocks of each kind in which fields have plausible values'
	@echo 'make fuzz-afl   both with AFL++ (package afl++), TIME seconds each'
	@echo 'make fuzz-merge  adds the inputs that reach more code to the seeds'
	@echo 'make fuzz-coverage  the parts of chroprof.h that the fuzzers reach'
	@echo 'make bench      measures the cost of each call against bare clock reads; BENCH="--quick"'
	@echo 'make bench-loop, -shape, -peers, -scale, -big, -counts, -compile, -soak: see bench/README.md'
	@echo 'make bench-all  all of the bench (15 minutes); keep the machine quiet'
	@echo 'make bench-tables  writes the results into bench/README.md and the picture'
	@echo 'make install    headers, command, man pages, completions; PREFIX=/usr/local, DESTDIR='
	@echo 'make uninstall  removes them'
	@echo 'make dist       the release: archives of the header and of the sources, checksums; in build/'
	@echo 'make deb        packages for Debian, and their source package, in build/debian/'
	@echo 'make clean      removes build/'

# ---- what a build folder remembers

# $B/flags/NAME holds what the variable NAME was at the last build. It is written only if that has
# changed, so what depends on it is built again when flags do, or when a library comes or goes.
$B/flags/%: export NOW_IS = $($*)
$B/flags/%: again
	@mkdir -p $(@D)
	@echo "$$NOW_IS" | cmp -s - $@ || echo "$$NOW_IS" >$@

# $(call once,NAME,COMMAND): what the command prints; NAME is that from then on
once = $(eval $(1) := $$(shell $$(2)))$($(1))

HOST = $(CC) $(CFLAGS) $(LDFLAGS)
PLAIN = $(CC) $(STANDARD) $(WARNINGS)
SANITIZED = $(SAN_CC) $(STANDARD) $(WARNINGS) $(SANITIZE) $(ITIMER_SANITIZE)
FUZZED = $(FUZZ_CC) $(SANITIZE)
BENCHED = $(CC) $(BENCH_FLAGS)
.PRECIOUS: $B/flags/%

# ---- the command and the demonstration

# What chroprof run loads into programs. It hides all but the functions that it wraps.
# Those for libraries of event loops need nothing of them to be built.
PRELOAD = $(if $(filter Linux,$(shell uname)),$(notdir $(patsubst %.c,%.so,$(wildcard src/run/chroprof_run*.c))))

chroprof: $B/chroprof $(PRELOAD:%=$B/%)

# What chroprof_run.c includes is part of it.
RUN_ALONE = src/run/unwind.c src/run/filter.c src/run/python_walk.c
RUN_PARTS = $(filter-out src/run/chroprof_run%.c $(RUN_ALONE),$(wildcard src/run/*.c))
$B/chroprof_run.so: $(RUN_ALONE) $(RUN_PARTS)
$B/chroprof_run.so: NOW = -Wl,-z,now
$B/%.so: src/run/%.c $(wildcard src/run/*.h) chroprof.h $B/flags/HOST
	@mkdir -p $B
	$(CC) $(CFLAGS) $(LDFLAGS) -std=gnu99 -fPIC -shared -fvisibility=hidden -fexceptions \
	    -Werror=implicit-function-declaration \
	    -fno-omit-frame-pointer $(NOW) -o $@ \
	    $(filter-out $(RUN_PARTS),$(filter %.c,$^)) -pthread -ldl

# Functions and lines of sampled addresses are asked of elfutils' libdw where it is installed, else of
# the program addr2line; LIBDW= builds the command without. Names of C++ and Rust are made readable by
# GNU libiberty where it is installed, else those of C++ by its run-time library; DEMANGLE= neither.
LIBDW = $(call once,LIBDW,pkg-config --exists libdw 2>/dev/null && \
                echo "-DCHROPROF_LIBDW `pkg-config --cflags --libs libdw`")
DEMANGLE = $(call once,DEMANGLE,for what in "-DCHROPROF_LIBIBERTY -liberty" "-DCHROPROF_DEMANGLE -lstdc++"; do \
                       echo 'int main(void) { return 0; }' | \
                           $(CC) -x c - -o /dev/null $$what 2>/dev/null && \
                           echo "$$what" && break; done)
# The server of chroprof serve is libevent's where it is installed; LIBEVENT= builds none.
LIBEVENT = $(call once,LIBEVENT,pkg-config --exists libevent 2>/dev/null && \
                   echo "-DCHROPROF_LIBEVENT `pkg-config --cflags --libs libevent`")

$B/chroprof: $(COMMAND_OBJECTS) $B/flags/HOST $B/flags/LIBDW $B/flags/DEMANGLE $B/flags/LIBEVENT
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(COMMAND_OBJECTS) $(LIBDW) $(DEMANGLE) $(LIBEVENT) -pthread

$B/command/%.o: src/command/%.c $(COMMAND_PARTS) chroprof.h $B/flags/HOST
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(filter-out -l%,$(OWN)) -c -o $@ $<

$B/command/code_libdw.o $B/command/code_addr2line.o $B/command/symbolize.o \
$B/command/attach_unwind.o: OWN = $(LIBDW)
$B/command/demangle.o: OWN = $(DEMANGLE)
$B/command/code_libdw.o $B/command/code_addr2line.o $B/command/symbolize.o \
$B/command/attach_unwind.o: $B/flags/LIBDW
$B/command/demangle.o: $B/flags/DEMANGLE
$B/command/serve.o: $B/flags/LIBEVENT
$B/command/impl.o: OWN = -fno-omit-frame-pointer
$B/command/page.o: OWN = -I$B -DCHROPROF_REPORT_PAGE='"report_page.h"'
$B/command/page.o: $B/report_page.h
$B/command/serve.o: OWN = -I$B -DCHROPROF_SERVE_PAGE='"serve_page.h"' $(LIBEVENT)
$B/command/serve.o: $B/serve_page.h

# the pages as bytes, so that the command is one file
$B/%_page.h: $B/%.html $B/report_bytes
	$B/report_bytes $*_page <$< >$@.part
	mv $@.part $@

$B/%.html: src/page/join.sh $(wildcard src/page/*/*)
	@mkdir -p $B
	sh src/page/join.sh $* >$@.part
	mv $@.part $@

.SECONDARY: $B/report.html $B/serve.html

$B/report_bytes: src/page/report_bytes.c $B/flags/HOST
	@mkdir -p $B
	$(CC) $(CFLAGS) -o $@ $<

# on all processors, as nobody waits gladly for the first report
PROCESSORS = $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

demo:
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(PROCESSORS)) $B/demo $B/chroprof
	$B/demo
	@$B/chroprof symbolize demo.json -o demo.json
	@$B/chroprof symbolize demo.json --format text >demo.code.txt
	@$B/chroprof report demo.json -o demo.html
	@$B/chroprof trace demo.json -o demo.trace.json
	@$B/chroprof dump demo.json -f firefox -o demo.firefox.json
	@echo '  demo.html          a page for your browser'
	@echo '  demo.trace.json    Perfetto, chrome://tracing, speedscope'
	@echo '  demo.firefox.json  the Firefox Profiler: drop it there'
	@echo '  demo.code.txt      the lines of code that ran, below'
	@cat demo.code.txt

# The pictures of README.md, of a run of the demonstration; after make test-viewers, which has what
# it needs. Look at them: a busy machine draws stalls that are not the demonstration's.
pictures: demo
	CHROMIUM=$$(command -v chromium) NODE_PATH=$B/viewers/node_modules \
	    node tests/pictures.js $(CURDIR)/demo.html examples
	! command -v pngquant >/dev/null || pngquant --force --ext .png examples/report.png examples/timeline.png

# with frame pointers, for the sampler's stacks, and with the command's copy of the implementation,
# which takes longest to compile
$B/demo: examples/demo.c chroprof.h $B/command/impl.o $B/flags/HOST
	$(CC) $(CFLAGS) -fno-omit-frame-pointer -DDEMO_LINKED -o $@ examples/demo.c $B/command/impl.o

# The header as a shared library, for bindings of other languages: see BINDINGS in its manual.
libchroprof: $B/libchroprof.so

$B/libchroprof.so: chroprof.h $B/flags/HOST
	@mkdir -p $B
	echo '#include "chroprof.h"' | $(CC) $(CFLAGS) $(LDFLAGS) -shared -fPIC -I. \
	    -DCHROPROF_IMPLEMENTATION -x c - -o $@

# ---- the header: what it is made of lies in src/header; it is committed, and compared in the tests

header:
	sh src/join.sh

parts:
	@CC='$(CC)' QUIET=1 sh tests/parts.sh

# ---- checks whose results are kept for the tables: $(call record,NAME,LINES THAT TELL) COMMAND

record = @exec env B='$B' sh tests/record.sh $(1) '$(2)'
COUNTS = ^[0-9]* passed, [0-9]* failed, [0-9]* skipped$$

# ---- tests: each program plain and with sanitizers, linked with one copy of the implementation.
# What does not build any more must not be run as it was.

# ONLY="top test_events": these suites and no others; the row of the last whole run stays
run_suites = $(if $(ONLY),@exec ,$(call record,$(1),$(COUNTS))) env B='$B' CC='$(CC)' MAKE='$(MAKE)' sh tests/run.sh

test:
	$(call run_suites,test) short

# the rest of the tests, which take longer and tell less a second
test-rest:
	$(call run_suites,test-rest) rest

# the short suites as on a machine that has only one core
test-one-core:
	$(call record,test-one-core,$(COUNTS)) env B='$B' CC='$(CC)' MAKE='$(MAKE)' JOBS=1 taskset -c 0 sh tests/run.sh short

# all that there is, of these and of the goals below; some hours
test-all:
	@env B='$B' MAKE='$(MAKE)' TIME='$(TIME)' sh tests/all.sh

# the same outputs in the programs that people open them with: browser, speedscope, pprof, promtool
test-viewers: $B/chroprof $B/demo
	$(call record,viewers,$(COUNTS)) sh tests/viewers.sh

# programs of Debian's packages under chroprof run; PROGRAMS="node curl": only these
test-programs: chroprof
	$(if $(PROGRAMS),@exec ,$(call record,programs,$(COUNTS))) sh tests/programs.sh $B/chroprof $(PROGRAMS)

# the same programs with other compilers, standards, optimizers, processors, systems and checkers
MATRIX =
test-matrix:
	@B='$B' sh tests/matrix.sh $(MATRIX)

test-sanitizers:
	@B='$B' sh tests/matrix.sh sanitizers

sizes:
	@B='$B' sh tests/sizes.sh

cost:
	$(call record,cost,$(COUNTS)) sh tests/cost.sh

analyze:
	$(call record,analyze,$(COUNTS)) sh tests/analyze.sh

matrix-tables:
	python3 tests/matrix_table.py $B

test-binaries: $(TESTS:%=$B/test/plain/%) $(TESTS:%=$B/test/san/%)

# that of the command: as users build it, and the longest to compile
$B/test/plain/libchroprof.a: $B/command/impl.o
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $<

$B/test/san/libchroprof.a: tests/compile/impl.c chroprof.h $B/flags/SANITIZED
	@mkdir -p $(@D)
	$(SAN_CC) $(STANDARD) $(WARNINGS) $(SANITIZE) -O0 -g -c -o $(@D)/impl.o tests/compile/impl.c
	ar rcs $@ $(@D)/impl.o

$B/test/plain/%: tests/%.c $(TEST_PARTS) $B/test/plain/libchroprof.a $B/flags/PLAIN
	@rm -f $@
	$(CC) $(STANDARD) $(WARNINGS) $(OPTIMIZE) -g -pthread $(EXTRA) -o $@ $< $(@D)/libchroprof.a

# Those with a copy of their own, because they stand in for what it calls, build three times as fast so.
OPTIMIZE = -O1
OWN_COPY = $(shell grep -l '^.define CHROPROF_IMPLEMENTATION' tests/test_*.c)
$(OWN_COPY:tests/%.c=$B/test/plain/%): OPTIMIZE = -O0

$B/test/san/%: tests/%.c $(TEST_PARTS) $B/test/san/libchroprof.a $B/flags/SANITIZED
	@rm -f $@
	$(SAN_CC) $(STANDARD) $(WARNINGS) $(SANITIZE) -O0 -g -pthread $(EXTRA) -o $@ $< \
	    $(@D)/libchroprof.a

# functions that the sampler can walk and name; -O1 would make jumps of the last calls
$B/test/plain/test_sampler $B/test/san/test_sampler $B/test/tsan/test_sampler \
    $B/test/itimer/test_sampler: EXTRA = \
    -fno-omit-frame-pointer -fno-optimize-sibling-calls -rdynamic -DTEST_FRAMES

$B/test/tsan/libchroprof.a: tests/compile/impl.c chroprof.h $B/flags/SANITIZED
	@mkdir -p $(@D)
	$(SAN_CC) $(STANDARD) $(WARNINGS) -fsanitize=thread -O1 -g -c -o $(@D)/impl.o \
	    tests/compile/impl.c
	ar rcs $@ $(@D)/impl.o

$B/test/tsan/%: tests/%.c $(TEST_PARTS) $B/test/tsan/libchroprof.a $B/flags/SANITIZED
	@rm -f $@
	$(SAN_CC) $(STANDARD) $(WARNINGS) -fsanitize=thread -O1 -g -pthread $(EXTRA) -o $@ $< \
	    $(@D)/libchroprof.a

# the sampler with the timers of a process, as systems have them that know no others
$B/test/itimer/%: tests/%.c tests/compile/impl.c $(TEST_PARTS) $B/flags/SANITIZED
	@mkdir -p $(@D)
	@rm -f $@
	$(SAN_CC) $(STANDARD) $(WARNINGS) $(ITIMER_SANITIZE) -O1 -g -pthread $(EXTRA) \
	    -DCHROPROF_ITIMER -o $@ $< tests/compile/impl.c

# ---- lines and branches of the header: fails below these percentages

COVERAGE = 98 90

coverage:
	$(call record,coverage,at least) sh tests/coverage.sh $(COVERAGE)

# ---- does the suite notice a wrong header? ARGS: N=200, SEED=1, FULL=1, FROM=line, TO=line

ARGS =

mutation:
	$(call record,mutation,at least) python3 tests/mutate.py $(ARGS)

# ---- proofs for all values, and counters beyond 32 bits

proof:
	$(if $(PROOFS),@,$(call record,proof,$(COUNTS))) sh tests/proof/run.sh $(PROOFS)

soak: $B/bench_soak
	$(call record,soak,exact) $B/bench_soak one $(EVENTS)

# ---- fuzzing

fuzz: $B/fuzz_events
	@mkdir -p $B/corpus
	$(call record,fuzz_events,^Done) $B/fuzz_events -dict=fuzz/events.dict -max_len=2048 -timeout=100 \
	    -max_total_time=$(TIME) $B/corpus fuzz/corpus_events

$B/fuzz_events: fuzz/fuzz_events.c chroprof.h $B/flags/FUZZED
	@mkdir -p $B
	$(FUZZ_CC) -g -O1 $(SANITIZE) -fsanitize=fuzzer -o $@ fuzz/fuzz_events.c

# any bytes as a block
fuzz-open: $B/fuzz_open
	@mkdir -p $B/corpus_open
	$(call record,fuzz_open,^Done) $B/fuzz_open -dict=fuzz/open.dict -max_len=16384 -timeout=100 \
	    -max_total_time=$(TIME) $B/corpus_open fuzz/corpus_open

$B/fuzz_open: fuzz/fuzz_open.c fuzz/reading.h chroprof.h $B/flags/FUZZED
	@mkdir -p $B
	$(FUZZ_CC) -g -O1 $(SANITIZE) -fsanitize=fuzzer -o $@ fuzz/fuzz_open.c

# blocks of each kind with plausible damage
fuzz-rows: $B/fuzz_rows
	@mkdir -p $B/corpus_rows
	$(call record,fuzz_rows,^Done) $B/fuzz_rows -max_len=64 -timeout=100 -max_total_time=$(TIME) \
	    $B/corpus_rows fuzz/corpus_rows

$B/fuzz_rows: fuzz/fuzz_rows.c fuzz/reading.h chroprof.h $B/flags/FUZZED
	@mkdir -p $B
	$(FUZZ_CC) -g -O1 $(SANITIZE) -fsanitize=fuzzer -o $@ fuzz/fuzz_rows.c

# a second engine: the same targets, the same seeds
fuzz-afl: $B/afl_events $B/afl_open
	$(call record,fuzz_afl, runs in ) env TIME=$(TIME) sh fuzz/afl.sh events open

$B/afl_%: fuzz/fuzz_%.c chroprof.h
	@mkdir -p $B
	AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast -g -O1 -fsanitize=fuzzer -o $@ $<

# what was found, as small as it can be with the same coverage, beside the seeds that are committed
fuzz-merge: $B/fuzz_events $B/fuzz_open
	@mkdir -p $B/corpus $B/corpus_open
	$B/fuzz_events -merge=1 -use_counters=0 -max_len=$(SEED_BYTES) fuzz/corpus_events $B/corpus
	$B/fuzz_open -merge=1 -use_counters=0 -max_len=$(SEED_BYTES) fuzz/corpus_open $B/corpus_open

SEED_BYTES = 128

fuzz-coverage:
	@B='$B' sh fuzz/coverage.sh events
	@B='$B' sh fuzz/coverage.sh open

# the same without libFuzzer: replays files
$B/test/san/replay_%: fuzz/fuzz_%.c $(wildcard fuzz/*.h) chroprof.h $B/flags/SANITIZED
	@mkdir -p $(@D)
	$(SAN_CC) $(STANDARD) -g -O0 $(SANITIZE) -DFUZZ_REPLAY -pthread -o $@ $<

# ---- bench

# What a part says is kept for bench-tables, unless it was asked for less than all of it.
keep = $(if $(BENCH),,B='$B' CC='$(CC)' sh bench/keep.sh $(1))

bench: $B/bench
	@mkdir -p $B/bench_kept
	$(call keep,bench) $B/bench $(or $(BENCH),--json $B/bench_kept/bench.json.part)

# all parts, one after the other: some 15 minutes on a quiet machine, on which nothing else runs
bench-all:
	@$(MAKE) -k -j1 BENCH= bench bench-counts bench-loop bench-record bench-peers bench-compile \
	    bench-curves

# writes what the last runs kept into bench/README.md and bench/ratios.svg
bench-tables:
	python3 bench/tables.py $B/bench_kept

BENCH_FLAGS = -std=c99 -O2

$B/bench: bench/bench.c bench/impl.c bench/disabled.c bench/disabled.h bench/quiet.h chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) $(BENCH_FLAGS) -DBENCH_FLAGS='"$(BENCH_FLAGS)"' -o $@ bench/bench.c bench/impl.c \
	    bench/disabled.c

# one iteration of a server: time, and instructions where valgrind is installed
bench-shape: $B/bench_shape
	$B/bench_shape
	@command -v valgrind >/dev/null && valgrind --tool=callgrind --toggle-collect=one_iteration \
	    --callgrind-out-file=/dev/null $B/bench_shape count 2>&1 | \
	    awk '/Collected/ { printf "%.1f instructions an event\n", $$4 / 280000 }'

# the same with chroprof record running beside it, and without
bench-record: $B/bench_shape chroprof
	$(call keep,record) sh bench/record.sh $B/bench_shape $B/chroprof $(BENCH)

$B/bench_shape: bench/shape.c chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) -O2 -I. -o $@ bench/shape.c

# requests to a server on epoll, with and without
bench-loop: $B/bench_loop
	$(call keep,loop) $B/bench_loop $(BENCH)

$B/bench_loop: bench/loop.c bench/loop_round.h bench/impl.c chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) $(BENCH_FLAGS) -o $@ bench/loop.c bench/impl.c

# the alternatives: LTTng-UST, uftrace, perf, a hash map by hand, a recorder
bench-peers:
	$(call keep,peers) env CC='$(CC)' sh bench/peers.sh $(BENCH)

# ten million futures, 100,000 sites, a million paths (2 GB of memory)
bench-scale: $B/bench_scale
	$B/bench_scale $(BENCH)

# the same, drawn
bench-curves: $B/bench_scale
	$(call keep,curves) $B/bench_scale
	python3 bench/curves.py <$B/bench_kept/curves.txt >bench/curves.svg

$B/bench_scale: bench/scale.c bench/impl.c chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) $(BENCH_FLAGS) -o $@ bench/scale.c bench/impl.c

# what a profile of 100,000 paths and 1,000 merged ones cost the command
bench-big: $B/bench_big chroprof
	python3 bench/big.py $B/chroprof $B/bench_big $(BENCH)

$B/bench_big: bench/big.c bench/impl.c chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) $(BENCH_FLAGS) -o $@ bench/big.c bench/impl.c

# instructions and cache misses, by valgrind: no clock
bench-counts:
	$(call keep,counts) env CC='$(CC)' sh bench/counts.sh $B/bench-counts
	$(call keep,scale) env CC='$(CC)' sh bench/scale.sh $B/bench-scale

bench-compile:
	$(call keep,compile) env CC='$(CC)' sh bench/compile.sh $(BENCH)

# how often chroprof diff finds a change of a fifth in a server, and names none where there is none
bench-diff: chroprof
	CC='$(CC)' sh bench/diff_rates.sh $B/chroprof $(BENCH)

# redis-server under chroprof run
bench-run: chroprof
	python3 bench/run.py $B/chroprof 50
	python3 bench/run.py $B/chroprof 1

# what chroprof whatif predicts, against servers that are really changed; BENCH="1 5 open" for one part;
# BENCH="50 60" where other work runs: 50 times as slow, 60 seconds each
bench-whatif: chroprof $B/demo $B/bench_whatif
	python3 bench/whatif.py $B/chroprof $B/bench_whatif $B/demo $(BENCH)

$B/bench_whatif: bench/whatif.c chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) -O2 -I. -o $@ bench/whatif.c -lm

# EVENTS real events in constant memory, every count known beforehand
bench-soak: $B/bench_soak
	$B/bench_soak $(EVENTS)

$B/bench_soak: bench/soak.c chroprof.h $B/flags/BENCHED
	@mkdir -p $B
	$(CC) $(BENCH_FLAGS) -o $@ bench/soak.c

# ---- installing: DESTDIR is where a package is put together, PREFIX where it will lie. What is
# installed and not a source is made in $(MADE); it is the same tree as below PREFIX.

PREFIX = /usr/local
INSTALL = install
VERSION = $(shell sed -n 's/^.define CHROPROF_VERSION "\(.*\)"/\1/p' chroprof.h)
DATE = $(shell sed -n 's/^.define CHROPROF_VERSION_DATE "\(.*\)".*/\1/p' chroprof.h)
COMMANDS = $(shell sed -n 's/^const tool_command \(.*\)_command = {/\1/p' src/command/*.c)
ADAPTERS = $(wildcard examples/adapters/*.h)

MADE = $B/made
MAN = $(COMMANDS:%=share/man/man1/chroprof-%.1) share/man/man1/chroprof.1
COMPLETIONS = share/bash-completion/completions/chroprof share/zsh/site-functions/_chroprof \
              share/fish/vendor_completions.d/chroprof.fish
PKG_CONFIG = share/pkgconfig/chroprof.pc
CMAKE_PACKAGE = $(addprefix share/cmake/chroprof/,chroprof-config.cmake chroprof-config-version.cmake)
MADE_FILES = $(MAN) $(COMPLETIONS) $(PKG_CONFIG) $(CMAKE_PACKAGE)
DOCS = README.md CHANGELOG.md LICENSE
INSTALLED = include/chroprof.h bin/chroprof $(addprefix include/,$(notdir $(ADAPTERS))) \
            $(addprefix lib/chroprof/,$(PRELOAD)) $(addprefix share/doc/chroprof/,$(DOCS)) \
            $(MADE_FILES)

make_page = awk -v page=$(basename $(@F)) -v version=$(VERSION) -v date=$(DATE) \
            -f package/man.awk >$@

$(MADE)/share/man/man1/chroprof.1: $B/chroprof package/man.awk
	@mkdir -p $(@D)
	$B/chroprof --help | $(make_page)

$(MADE)/share/man/man1/chroprof-%.1: $B/chroprof package/man.awk
	@mkdir -p $(@D)
	$B/chroprof help $* | $(make_page)

$(MADE)/share/bash-completion/completions/chroprof: $B/chroprof
	@mkdir -p $(@D)
	$B/chroprof completion bash >$@

$(MADE)/share/zsh/site-functions/_chroprof: $B/chroprof
	@mkdir -p $(@D)
	$B/chroprof completion zsh >$@

$(MADE)/share/fish/vendor_completions.d/chroprof.fish: $B/chroprof
	@mkdir -p $(@D)
	$B/chroprof completion fish >$@

$(MADE)/share/cmake/chroprof/%.cmake: package/%.cmake
	@mkdir -p $(@D)
	cp package/$*.cmake $@

$(MADE)/share/cmake/chroprof/%.cmake: package/%.cmake.in chroprof.h
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(VERSION)/' package/$*.cmake.in >$@

# always made again: PREFIX may be another one
$(MADE)/$(PKG_CONFIG): again
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' 'Name: chroprof' \
	    'Description: finds what blocks an event loop, and whom it delays; one header' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' >$@

into = $(DESTDIR)$(PREFIX)

install: chroprof $(MADE_FILES:%=$(MADE)/%)
	$(INSTALL) -d $(addprefix $(into)/,$(sort $(dir $(INSTALLED))))
	$(INSTALL) -m 755 $B/chroprof $(into)/bin/chroprof
	$(if $(PRELOAD),$(INSTALL) -m 755 $(PRELOAD:%=$B/%) $(into)/lib/chroprof)
	$(INSTALL) -m 644 chroprof.h $(ADAPTERS) $(into)/include
	$(INSTALL) -m 644 $(DOCS) $(into)/share/doc/chroprof
	$(INSTALL) -m 644 $(MAN:%=$(MADE)/%) $(into)/share/man/man1
	$(foreach file,$(COMPLETIONS) $(PKG_CONFIG) $(CMAKE_PACKAGE), \
	    $(INSTALL) -m 644 $(MADE)/$(file) $(into)/$(file) &&) :

uninstall:
	rm -f $(addprefix $(into)/,$(INSTALLED))
	-rmdir $(into)/share/doc/chroprof $(into)/share/cmake/chroprof
	$(if $(PRELOAD),-rmdir $(into)/lib/chroprof)

# ---- the release: the header alone, which is all that a program needs, and what make chroprof, demo
# and install need. The same sources give the same bytes; the date is that of the version. GNU tar.

TAR = tar
RELEASE = chroprof-$(VERSION)
RELEASED = chroprof.h LICENSE CHANGELOG.md
SOURCES = $(RELEASED) README.md Makefile $(wildcard package/*.awk package/*.cmake package/*.in) \
          $(wildcard $(addprefix src/,*.sh page/*.[cs]* page/*/*.* run/*.[ch] command/*.[ch])) \
          $(wildcard src/header/*.h src/header/*/*.h) examples/demo.c $(ADAPTERS)
pack = LC_ALL=C $(TAR) --create --format=ustar --sort=name --transform='s,^,$(RELEASE)/,' \
           --mtime='$(DATE) 00:00Z' --mode=0644 --owner=root:0 --group=root:0 --file=$(1) $(2) && \
       gzip -9 -n -f $(1)

dist: $B/$(RELEASE).tar.gz.sha256

$B/$(RELEASE).tar.gz: $(RELEASED) Makefile
	@mkdir -p $B
	$(call pack,$B/$(RELEASE).tar,$(RELEASED))

$B/$(RELEASE)-source.tar.gz: $(SOURCES)
	@mkdir -p $B
	$(call pack,$B/$(RELEASE)-source.tar,$(SOURCES))

$B/$(RELEASE).tar.gz.sha256: $B/$(RELEASE).tar.gz $B/$(RELEASE)-source.tar.gz
	cd $B && sha256sum $(notdir $^) >$(RELEASE).tar.gz.sha256
	@cat $@

# the source package of Debian and the packages made of it; needs debhelper
deb:
	sh package/debian.sh $B/debian

clean:
	rm -rf $B

.PHONY: help header parts chroprof libchroprof demo pictures test test-rest test-one-core test-all cost test-viewers test-matrix test-sanitizers sizes analyze matrix-tables \
    test-programs test-binaries coverage mutation proof soak fuzz fuzz-open fuzz-afl fuzz-merge fuzz-coverage bench \
    bench-all bench-tables bench-loop bench-peers bench-scale bench-counts bench-compile bench-run bench-whatif bench-soak bench-shape \
    bench-curves bench-record bench-diff bench-big install uninstall again dist deb clean
