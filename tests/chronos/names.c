/* tests/chronos/names.c - names of Nim's compiler and what the command makes of them; then the same
 * names cut off and with bytes changed, for the sanitizers. */
#include "../../src/command/demangle_nim.c"

#include <stdio.h>

static const char *const names[][2] = {
    { "slow__server_12", "server.slow" },
    { "slow__server_u12", "server.slow" },
    { "slow__server_u12.constprop.0", "server.slow" },
    { "add_to_it__scenarios_673", "scenarios.add_to_it" },
    { "futureContinue__OOZchronos45v52ZchronosZinternalZasyncfutures_u549",
      "asyncfutures.futureContinue" },
    { "addPiece__OOZOOZexamplesZadaptersZchroprof95chronos_239", "chroprof_chronos.addPiece" },
    { "run__OOZlibZm121ain_u3", "myain.run" },
    { "colonanonymous___system_u5878", "system.:anonymous" },
    { "eqdestroy___server_u3", "server.=destroy" },
    { "eqeq___server_3", "server.==" },
    { "X5BX5Deq___tables_u9", "tables.[]=" },
    { "_ZN6server4slowE3int", "server.slow" },
    { "_ZN6server4slowE3int.part.0", "server.slow" },
    { "_ZN4slow4slowE3refIN7futures26FutureBasecolonObjectType_EE", "slow" },
    { "_ZN4slow10eqdestroy_E3refIN4slow22Env_serverdotnim_slow_EE", "slow.=destroy" },
    { "_ZN11asyncengine64rttiDestroy__OOZchronos45v52ZchronosZinternalZasyncengine_u17518E7pointer",
      "asyncengine.rttiDestroy" },
    { "main", NULL },
    { "NimMainModule", NULL },
    { "foo_bar_12", NULL },
    { "foo__bar", NULL },
    { "foo__bar_", NULL },
    { "foo__bar_u", NULL },
    { "foo__bar_x12", NULL },
    { "foo___12", NULL },
    { "__popcountdi2", NULL },
    { "__bar_12", NULL },
    { "run__m9_1", NULL },
    { "_ZN", NULL },
    { "_ZN6server", NULL },
    { "_ZN6server5slow", NULL },
    { "_ZN99999server4slowE", NULL },
    { "_ZNSt6vectorIiSaIiEE9push_backEOi", NULL },
    { "", NULL }
};

static int check(const char *name, const char *expected)
{
    char *readable = demangled_nim(name);
    int same = expected == NULL ? readable == NULL
                                : readable != NULL && strcmp(readable, expected) == 0;
    if (!same) {
        printf("FAIL names: %s is %s\n", name, readable != NULL ? readable : "(nothing)");
    }
    free(readable);
    return same;
}

static void damage(const char *name)
{
    static const char bytes[] = "Z_0u9EX.5N";
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            char *copy = (char *)malloc(length + 1);
            if (copy == NULL) {
                return;
            }
            memcpy(copy, name, length + 1);
            copy[i] = bytes[k];         /* the last one cuts it off */
            free(demangled_nim(copy));
            free(copy);
        }
    }
}

int main(void)
{
    int passed = 0;
    int count = (int)(sizeof names / sizeof *names);
    for (int i = 0; i < count; i++) {
        passed += check(names[i][0], names[i][1]);
        damage(names[i][0]);
    }
    passed += nim_file("/a/server.nim") && nim_file("@mserver.nim.c") && nim_file("a.nim.cpp");
    passed += !nim_file("server.c") && !nim_file(".nim") && !nim_file("nim") && !nim_file("");
    printf("%d of %d\n", passed, count + 2);
    return passed != count + 2;
}
