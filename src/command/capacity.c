/* capacity.c - see capacity.h */

#include "capacity.h"

#include <stdint.h>
#include <string.h>

#include "../../chroprof.h"
#include "values.h"

/* The capacities, by the names that the report and the header use. */
static uint32_t *capacity_named(chroprof_options *options, const char *name, size_t length)
{
    const struct { const char *name; uint32_t *value; } capacities[] = {
        { "max_futures", &options->max_futures }, { "max_sites", &options->max_sites },
        { "max_paths", &options->max_paths }, { "max_edges", &options->max_edges },
        { "max_depth", &options->max_depth }, { "max_histograms", &options->max_histograms },
        { "max_windows", &options->max_windows }, { "max_stalls", &options->max_stalls },
        { "string_bytes", &options->string_bytes }, { "max_samples", &options->max_samples },
        { "max_stack_frames", &options->max_stack_frames },
        { "max_slow", &options->max_slow }, { "max_incidents", &options->max_incidents },
        { "max_events", &options->max_events }
    };
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        if (strlen(capacities[i].name) == length &&
            memcmp(capacities[i].name, name, length) == 0) {
            return capacities[i].value;
        }
    }
    return NULL;
}

const char *set_capacity(void *field, const char *value)
{
    const char *equals = strchr(value, '=');
    uint64_t count;
    uint32_t *capacity;
    if (equals == NULL || !read_count(equals + 1, 1, UINT32_MAX, &count)) {
        return "expected OPTION=NUMBER";
    }
    capacity = capacity_named((chroprof_options *)field, value, (size_t)(equals - value));
    if (capacity == NULL) {
        return "expected max_futures, max_sites, max_paths, max_edges, max_depth, max_histograms, "
               "max_samples, max_stack_frames, max_windows, max_stalls, max_slow, max_incidents, "
               "max_events or string_bytes before the =";
    }
    *capacity = (uint32_t)count;
    return NULL;
}
