/* interface/version.h */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* >>version */
#define CHROPROF_VERSION_MAJOR 0
#define CHROPROF_VERSION_MINOR 3
#define CHROPROF_VERSION_PATCH 0
#define CHROPROF_VERSION "0.3.0"
#define CHROPROF_VERSION_DATE "2026-11-28"   /* of the release, or of what leads to it */
