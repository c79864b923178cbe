/* The implementation in a translation unit of its own, so that the bench makes real calls. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"
