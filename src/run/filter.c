/* filter.c - see filter.h. A filter is a short program without loops, which the system runs for
 * each call with a struct seccomp_data. Here it is run for calls that nobody has made. */

#include "filter.h"

#include <string.h>

/* What AUDIT_ARCH says of a call. Of other processors no filter allows any. */
#if defined(__x86_64__)
#define PROCESSOR 0xc000003eU
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define PROCESSOR 0xc00000b7U
#elif defined(__i386__)
#define PROCESSOR 0x40000003U
#elif defined(__riscv) && __riscv_xlen == 64
#define PROCESSOR 0xc00000f3U
#else
#define PROCESSOR 0
#endif

#define ALLOWED 0x7fff0000U    /* the upper half of a verdict */
#define ALLOWED_AND_LOGGED 0x7ffc0000U

/* A step's code: what kind it is, how it loads, computes or jumps, and with which number. */
enum { LOAD_A, LOAD_X, STORE_A, STORE_X, COMPUTE, JUMP, RETURN };
enum { MODE_DATA = 0x20, MODE_MEMORY = 0x60, MODE_LENGTH = 0x80 };
enum { ADD = 0x00, SUB = 0x10, MUL = 0x20, DIV = 0x30, OR = 0x40, AND = 0x50, LEFT = 0x60,
       RIGHT = 0x70, XOR = 0xa0 };
enum { IF_EQUAL = 0x10, IF_GREATER = 0x20, IF_NOT_LESS = 0x30, IF_ANY_BIT = 0x40 };
enum { WITH_X = 0x08, RETURN_A = 0x10, X_TO_A = 0x80 };

#define KIND(code) ((code) & 0x07)
#define MODE(code) ((code) & 0xe0)
#define OPERATION(code) ((code) & 0xf0)

#define MEMORY_WORDS 16

typedef struct call_data {             /* struct seccomp_data */
    int32_t number;
    uint32_t processor;
    uint64_t instruction;
    uint64_t arguments[6];
} call_data;

typedef struct machine {
    uint32_t words[sizeof(call_data) / sizeof(uint32_t)];
    uint32_t memory[MEMORY_WORDS];
    uint32_t a, x;
} machine;

static uint32_t loaded(const machine *m, const filter_step *step)
{
    switch (MODE(step->code)) {
    case MODE_DATA:
        return step->k % 4 == 0 && step->k / 4 < sizeof m->words / sizeof m->words[0]
               ? m->words[step->k / 4] : 0;
    case MODE_LENGTH:
        return (uint32_t)sizeof(call_data);
    case MODE_MEMORY:
        return m->memory[step->k % MEMORY_WORDS];
    default:
        return step->k;                     /* a number */
    }
}

static uint32_t computed(uint16_t code, uint32_t a, uint32_t b)
{
    switch (OPERATION(code)) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
        return b != 0 ? a / b : 0;
    case OR:
        return a | b;
    case AND:
        return a & b;
    case LEFT:
        return a << (b & 31);
    case RIGHT:
        return a >> (b & 31);
    case XOR:
        return a ^ b;
    default:
        return 0 - a;                       /* negative */
    }
}

/* How many steps a jump leaves out. */
static uint32_t skipped(const machine *m, const filter_step *step)
{
    uint32_t b = (step->code & WITH_X) != 0 ? m->x : step->k;
    bool holds;
    switch (OPERATION(step->code)) {
    case IF_EQUAL:
        holds = m->a == b;
        break;
    case IF_GREATER:
        holds = m->a > b;
        break;
    case IF_NOT_LESS:
        holds = m->a >= b;
        break;
    case IF_ANY_BIT:
        holds = (m->a & b) != 0;
        break;
    default:
        return step->k;                     /* always */
    }
    return holds ? step->if_so : step->if_not;
}

/* A step that neither jumps nor returns. */
static void do_step(machine *m, const filter_step *step)
{
    switch (KIND(step->code)) {
    case LOAD_A:
        m->a = loaded(m, step);
        break;
    case LOAD_X:
        m->x = loaded(m, step);
        break;
    case STORE_A:
        m->memory[step->k % MEMORY_WORDS] = m->a;
        break;
    case STORE_X:
        m->memory[step->k % MEMORY_WORDS] = m->x;
        break;
    case COMPUTE:
        m->a = computed(step->code, m->a, (step->code & WITH_X) != 0 ? m->x : step->k);
        break;
    default:                                /* between a and x */
        if ((step->code & X_TO_A) != 0) {
            m->a = m->x;
        } else {
            m->x = m->a;
        }
    }
}

static uint32_t verdict(const filter_program *filter, machine *m)
{
    for (size_t at = 0; at < filter->count; at++) {
        const filter_step *step = &filter->steps[at];
        if (KIND(step->code) == RETURN) {
            return (step->code & RETURN_A) != 0 ? m->a : step->k;
        }
        if (KIND(step->code) == JUMP) {
            at += skipped(m, step);
        } else {
            do_step(m, step);
        }
    }
    return 0;                               /* no filter ends like that */
}

static bool allows(const filter_program *filter, const filter_call *call)
{
    call_data data;
    machine m;
    uint32_t action;
    memset(&data, 0, sizeof data);
    memset(&m, 0, sizeof m);
    data.number = (int32_t)call->number;
    data.processor = PROCESSOR;
    for (size_t i = 0; i < FILTER_ARGUMENTS; i++) {
        data.arguments[i] = call->arguments[i];
    }
    memcpy(m.words, &data, sizeof data);
    action = verdict(filter, &m) & 0xffff0000U;
    return action == ALLOWED || action == ALLOWED_AND_LOGGED;
}

bool filter_allows(const filter_program *filter, const filter_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!allows(filter, &calls[i])) {
            return false;
        }
    }
    return true;
}
