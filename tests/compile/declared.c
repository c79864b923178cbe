/* Only the declarations, or (-DSTANDARD) only what they include: what macros and what names does a
 * user get? */
#ifdef STANDARD
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#ifndef CHROPROF_NO_STDIO
#include <stdio.h>
#endif
#else
#include "../../chroprof.h"
#endif
