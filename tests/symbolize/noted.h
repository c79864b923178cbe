/* noted.h - places in code that the program below knows by itself: which functions and lines its
 * return address should turn into, the innermost first. */
#ifndef NOTED_H
#define NOTED_H

#ifdef __cplusplus
extern "C" {
#endif

#define NOINLINE __attribute__((noinline))
#define INLINED inline __attribute__((always_inline))

/* Notes the place that called it. Up to three functions; NULL ends them. Returns 0, which the
 * caller should add to something, or the call would become a jump. */
int note(const char *function, int line, const char *outer, int outer_line, const char *outermost,
         int outermost_line);

int library_entry(int n);
int library_exported(int n);
int cpp_places(int n);

#ifdef __cplusplus
}
#endif

#endif
