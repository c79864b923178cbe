/* Only the declarations, or (-DSTANDARD) only what they include: what macros does a user get? */
#ifdef STANDARD
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#else
#include "../../chroprof.h"
#endif
