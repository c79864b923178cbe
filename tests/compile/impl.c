/* The implementation alone, as C and as C++. */
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
