/* The implementation in a translation unit of its own, so that the bench makes real calls. */
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"
