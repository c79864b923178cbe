/* interface/version.h */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* >>version */
#define CHROPROF_VERSION_MAJOR 0
#define CHROPROF_VERSION_MINOR 2
#define CHROPROF_VERSION_PATCH 0
#define CHROPROF_VERSION "0.2.0"
#define CHROPROF_VERSION_DATE "2026-11-23"   /* of the release, or of what leads to it */
