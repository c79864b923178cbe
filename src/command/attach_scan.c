/* attach_scan.c - who called a function for which the file has no rules to unwind by, as the C
 * library of musl has none: the first word of the stack that lies behind a call which leads to it;
 * see attach.h. Words that earlier calls left lie behind other calls, as a rule. */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <stdio.h>
#include <string.h>

enum { FAR = 4096, BEFORE = 256, AFTER = 256, BODY = 1024, CALL_NEAR = 0xE8, JUMP_NEAR = 0xE9,
       JUMP_SHORT = 0xEB };

static uint64_t moved_by(const unsigned char *bytes, uint64_t from)
{
    int32_t distance;
    memcpy(&distance, bytes, sizeof distance);
    return from + (uint64_t)(int64_t)distance;
}

static bool is_in_function(uint64_t begin, uint64_t code)
{
    const char *name = attach_symbol(begin);
    const char *other = attach_symbol(code);
    return name != NULL || other != NULL ? name != NULL && other != NULL && strcmp(name, other) == 0
                                         : begin <= code && code - begin < BODY;
}

/* By itself, by a jump near its begin, or by the table of functions of other files. */
static bool leads_to(pid_t pid, uint64_t begin, uint64_t code)
{
    unsigned char bytes[AFTER];
    if (is_in_function(begin, code)) {
        return true;
    }
    if (attach_read(pid, begin, bytes, sizeof bytes) < sizeof bytes) {
        return false;
    }
    if ((bytes[0] == 0xFF && bytes[1] == 0x25) || memcmp(bytes, "\xF3\x0F\x1E\xFA\xF2\xFF\x25", 7) == 0) {
        return true;
    }
    for (size_t i = 0; i < 48; i++) {
        uint64_t to = bytes[i] == JUMP_NEAR ? moved_by(bytes + i + 1, begin + i + 5)
                      : bytes[i] == JUMP_SHORT
                      ? begin + i + 2 + (uint64_t)(int64_t)(signed char)bytes[i + 1] : 0;
        if (to != 0 && is_in_function(to, code)) {
            return true;
        }
    }
    return false;
}

static bool is_behind_call(pid_t pid, uint64_t address, uint64_t code)
{
    unsigned char bytes[BEFORE];
    attach_module m;
    const unsigned char *end = bytes + sizeof bytes;
    if (address < BEFORE || !attach_find(address - 1, &m) ||
        attach_read(pid, address - BEFORE, bytes, sizeof bytes) < sizeof bytes) {
        return false;
    }
    if (end[-5] == CALL_NEAR) {
        return leads_to(pid, moved_by(end - 4, address), code);
    }
    return end[-6] == 0xFF && end[-5] == 0x15;      /* by a pointer of the file's own table */
}

bool attach_caller(pid_t pid, const attach_image *image, uint64_t stack, uint64_t code,
                   uint64_t *place, uint64_t *back)
{
    size_t from = stack >= image->stack ? (size_t)(stack - image->stack) : 0;
    for (size_t at = from; at + 8 <= image->copied && at < from + FAR; at += 8) {
        memcpy(back, image->copy + at, 8);
        if (is_behind_call(pid, *back, code)) {
            *place = image->stack + at;
            return true;
        }
    }
    return false;
}

/* >>calls of which the target is known for sure */

static bool is_same_function(uint64_t begin, uint64_t code)
{
    attach_module a;
    attach_module b;
    const char *name = attach_symbol(begin);
    const char *other = attach_symbol(code);
    return name != NULL && other != NULL && strcmp(name, other) == 0 && attach_find(begin, &a) &&
           attach_find(code, &b) && a.base == b.base;
}

/* The function that a pointer in a file's own table leads to, which is filled in by the first call. */
static bool leads_surely(pid_t pid, uint64_t pointer, uint64_t code)
{
    unsigned char bytes[256];
    uint64_t begin;
    if (attach_read(pid, pointer, bytes, sizeof bytes) < sizeof begin) {
        return false;
    }
    memcpy(&begin, bytes, sizeof begin);
    return is_same_function(begin, code);
}

static bool calls_surely(pid_t pid, uint64_t begin, uint64_t code)
{
    static const unsigned char mark[] = { 0xF3, 0x0F, 0x1E, 0xFA };
    unsigned char bytes[AFTER];
    size_t at;
    if (is_same_function(begin, code)) {
        return true;
    }
    if (attach_read(pid, begin, bytes, sizeof bytes) < sizeof bytes) {
        return false;
    }
    at = memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
    at += bytes[at] == 0xF2;
    return bytes[at] == 0xFF && bytes[at + 1] == 0x25 &&
           leads_surely(pid, moved_by(bytes + at + 2, begin + at + 6), code);
}

bool attach_called_from(pid_t pid, const attach_image *image, uint64_t stack, uint64_t code,
                        uint64_t *place, uint64_t *back)
{
    size_t from = stack >= image->stack ? (size_t)(stack - image->stack) : image->copied;
    for (size_t at = from; at + 8 <= image->copied && at < from + FAR; at += 8) {
        unsigned char bytes[BEFORE];
        const unsigned char *end = bytes + sizeof bytes;
        attach_module m;
        memcpy(back, image->copy + at, 8);
        *place = image->stack + at;
        if (*back < BEFORE || !attach_find(*back - 1, &m) ||
            attach_read(pid, *back - BEFORE, bytes, sizeof bytes) < sizeof bytes) {
            continue;
        }
        if (end[-5] == CALL_NEAR ? calls_surely(pid, moved_by(end - 4, *back), code)
            : end[-6] == 0xFF && end[-5] == 0x15 && leads_surely(pid, moved_by(end - 4, *back), code)) {
            return true;
        }
    }
    return false;
}

bool attach_is_behind_call(pid_t pid, uint64_t back)
{
    unsigned char bytes[BEFORE];
    const unsigned char *end = bytes + sizeof bytes;
    if (back < BEFORE || attach_read(pid, back - BEFORE, bytes, sizeof bytes) < sizeof bytes) {
        return false;
    }
    for (size_t length = 2; length <= 7; length++) {
        if (end[-(ptrdiff_t)length] == 0xFF && (end[1 - (ptrdiff_t)length] & 0x38) == 0x10) {
            return true;
        }
    }
    return end[-5] == CALL_NEAR;
}

/* A word between them that is the frame pointer of whoever goes on at the second one. */
uint64_t attach_frame_pointer(const attach_image *image, uint64_t from, uint64_t to)
{
    uint64_t value = image->frame;
    for (uint64_t at = from; (value <= to || value - image->stack > image->copied) && at < to;
         at += 8) {
        memcpy(&value, image->copy + (at - image->stack), 8);
    }
    return value > to && value - image->stack <= image->copied ? value : image->frame;
}

#endif
