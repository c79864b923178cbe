/* impl.c - the implementation of chroprof.h, compiled once. */

#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
