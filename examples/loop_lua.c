/* Lua 5.4: a host whose poll(2) loop drives coroutines; each is a future, named by its spawn(). */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs lua5.4) ; needs: liblua5.4-dev */
/* Not seen: a coroutine that Lua code resumes itself (coroutine.resume) counts as its caller. */
#include <lauxlib.h>
#include <lualib.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

enum { TASKS = 32 };
static const char script[] =
    "local function digest(n) local h = 0 for i = 1, n do h = (h * 31 + i) % 65521 end end\n"
    "local function often(n) for i = 1, 40 do wait(nil, 30) digest(n) end end\n"
    "spawn('thumbnail', function() often(600000) end)\n"
    "for i = 1, 5 do spawn('client', function() often(50) end) end\n"
    "spawn('server', function()\n"
    "    local jobs = io.popen('for i in 1 2 3 4 bad 6 7 8; do echo $i; sleep 0.1; done')\n"
    "    for job in function() wait(jobs, 5000) return jobs:read() end do\n"
    "        spawn('job', function() wait(nil, 5) digest(job * 10000) end)\n"
    "    end end)\n";
static chroprof prof; /* chroprof */
static struct task { lua_State *co; int fd, ready; int64_t due; } tasks[TASKS], *current;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int wait_for(lua_State *L) /* wait(a file or nil, milliseconds at most) */
{
    current->fd = lua_isnil(L, 1) ? -1 : fileno(*(FILE **)luaL_checkudata(L, 1, LUA_FILEHANDLE));
    current->due = now_ns() + luaL_checkinteger(L, 2) * 1000000;
    return lua_yield(L, 0);
}

static int spawn(lua_State *L) /* spawn(name, function) */
{
    struct task *task = tasks;
    while (task->co) task++;
    *task = (struct task){ lua_newthread(L), -1, 0, 0 };
    lua_rawsetp(L, LUA_REGISTRYINDEX, task);
    lua_pushvalue(L, 2);
    lua_xmove(L, task->co, 1);
    lua_Debug at; /* chroprof */
    lua_getinfo(L, ">S", &at); /* chroprof */
    chroprof_pending(&prof, (uintptr_t)task->co, chroprof_site_make(&prof, /* chroprof */
                     lua_tostring(L, 1), at.short_src, (uint32_t)at.linedefined)); /* chroprof */
    return 0;
}

static void resume(lua_State *L, lua_State *co)
{
    chroprof_running(&prof, (uintptr_t)co); /* chroprof */
    int results, status = lua_resume(co, L, 0, &results);
    if (status == LUA_YIELD) chroprof_paused(&prof, (uintptr_t)co); /* chroprof */
    else if (status == LUA_OK) chroprof_completed(&prof, (uintptr_t)co); /* chroprof */
    else chroprof_failed(&prof, (uintptr_t)co); /* chroprof */
    if (status > LUA_YIELD) fprintf(stderr, "%s\n", lua_tostring(co, -1));
    if (status != LUA_YIELD) current->co = NULL;
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    lua_State *L = luaL_newstate();
    chroprof_init(&prof, lua_newuserdatauv(L, 1 << 20, 0), 1 << 20, NULL); /* chroprof */
    luaL_openlibs(L);
    lua_register(L, "spawn", spawn);
    lua_register(L, "wait", wait_for);
    if (luaL_loadbuffer(L, script, strlen(script), "@tasks.lua") || lua_pcall(L, 0, 0, 0))
        return fprintf(stderr, "%s\n", lua_tostring(L, -1)), 1;
    int64_t idle = 0;
    for (;;) {
        struct pollfd fds[TASKS];
        int64_t next = INT64_MAX, now = now_ns();
        for (int i = 0; i < TASKS; i++) {
            fds[i] = (struct pollfd){ tasks[i].co ? tasks[i].fd : -1, POLLIN, 0 };
            if (tasks[i].co && tasks[i].due < next) next = tasks[i].due;
        }
        if (next == INT64_MAX) break;
        chroprof_idle_enter(&prof); /* until the first ready */ /* chroprof */
        poll(fds, TASKS, next > now ? (int)((next - now) / 1000000 + 1) : 0);
        idle += now_ns() - now;
        for (int i = 0; i < TASKS; i++) {
            tasks[i].ready = tasks[i].co && (fds[i].revents || tasks[i].due <= now_ns());
            if (tasks[i].ready) chroprof_ready(&prof, (uintptr_t)tasks[i].co); /* chroprof */
        }
        for (current = tasks; current < tasks + TASKS; current++)
            if (current->ready) resume(L, current->co);
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "independent idle: %lld\n", (long long)idle);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
