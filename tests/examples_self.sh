#!/bin/sh
# Is tests/examples.sh red when it should be? Gives it a small example of its own and spoils that
# example, its test, the header or the compiler, one at a time.
cd "$(dirname "$0")/.." || exit 1
. tests/counts.sh

# A fresh copy of everything, in order.
fresh() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/examples" "$scratch/tree/tests/examples"
    cp tests/examples.sh tests/counts.sh "$scratch/tree/tests"
    cp tests/examples/common.py tests/examples/timed.py "$scratch/tree/tests/examples"
    cp chroprof.h "$scratch/tree"
    cd "$scratch/tree" || exit 1
    cat > examples/loop_self.c <<'END'
/* An example for tests/examples_self.sh. Not seen: nothing. */
/* build: cc -O0 FILE -o OUT ; needs: none */
#include <stdio.h>
#include <string.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

static void work(int rounds)
{
    CHROPROF_SITE(site, "work"); /* chroprof */
    static chroprof prof; /* chroprof */
    static unsigned char memory[1 << 18]; /* chroprof */
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    for (int i = 0; i < rounds; i++) {
        chroprof_enter(&prof, &site); /* chroprof */
        chroprof_leave(&prof); /* chroprof */
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    work(3);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || puts("{}") < 0 || fflush(stdout) != 0))
        return perror(argv[2]), 1;
}
END
    echo 'import common' > tests/examples/loop_self.py
    echo '| self, `loop_self.c` | 9 | nothing |' > examples/README.md
}

# case_is WANTED NAME: what the script says of the spoilt tree, and its exit status
case_is() {
    sh tests/examples.sh > log 2>&1
    status=$?
    said=$(grep -o '^ok\|^FAIL\|^skip' log)
    case $said in FAIL) right=1 ;; *) right=0 ;; esac
    if [ "$said" = "$1" ] && [ $status = $right ]; then
        passed=$((passed + 1))
        echo "ok $2"
    else
        failed=$((failed + 1))
        echo "FAIL $2: '$(head -n 1 log)', exit status $status"
    fi
    cd "$OLDPWD" || exit 1
}
change() { sed "$1" "$2" > changed && mv changed "$2"; }
example=examples/loop_self.c

fresh; case_is ok in_order
fresh; echo '#error broken' > chroprof.h; case_is FAIL broken_header
fresh; CC=false; export CC; case_is FAIL broken_compiler; unset CC
fresh; change 's,^#include <stdio.h>,#include <no_such_header.h>,' $example
case_is FAIL missing_header_of_the_system
fresh; change 's,needs: none,needs: no-such-package,; s,^#include <stdio.h>,&\n#include <none.h>,' \
    $example; case_is skip missing_library
fresh; rm tests/examples/loop_self.py; case_is FAIL no_test
fresh; echo 'import os; os._exit(3)' > tests/examples/loop_self.py; case_is FAIL test_dies_silently
fresh; echo 'assert False' > tests/examples/loop_self.py; case_is FAIL test_says_no
fresh; change '/chroprof_leave/s, /\*.*,,' $example; case_is FAIL line_without_its_mark
fresh; change 's,^static void work.*,& /* chroprof */,' $example; case_is FAIL mark_on_a_plain_line
fresh; change '/chroprof_leave/{h;s,chro.*,if (i > 0),;p;x;}' $example
case_is FAIL mark_takes_a_body_away
fresh; change 's/ 9 / 8 /' examples/README.md; case_is FAIL readme_tells_another_number
fresh; change 's, || fflush.*!= 0),),' $example; case_is FAIL full_disk_goes_unnoticed
fresh; change 's,\, 2;,\, 1;,' $example; case_is FAIL wrong_use_ends_with_another_status
fresh; change 's,puts("{}"),puts("{"),' $example; case_is FAIL no_json
fresh; change 's,Not seen: nothing.,,' $example; case_is FAIL nothing_said_of_what_is_not_seen

finish
