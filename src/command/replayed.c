/* replayed.c - see replayed.h */

#include "replayed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "hide.h"
#include "message.h"
#include "values.h"

const char *replayed_name(const char *source)
{
    static char name[64];
    static const char *const endings[] = { ".xz", ".gz", ".events" };
    const char *slash = strrchr(source, '/');
    (void)snprintf(name, sizeof name, "%s", slash != NULL && slash[1] != '\0' ? slash + 1 : source);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(name);
        if (length > strlen(endings[i]) && ends_in(name, endings[i])) {
            name[length - strlen(endings[i])] = '\0';
        }
    }
    return strcmp(source, "-") == 0 ? "stdin" : name;
}

bool replayed_block(block_file *file, const char *source, const char *bytes, size_t count)
{
    chroprof_options options;
    event_reader reader;
    bool ok;
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    options.window_ns = REPLAY_WINDOW_NS;
    options.name = replayed_name(source);
    file->name = file->place = source;
    file->stream = true;
    file->size = REPLAY_MEMORY;
    file->copy = malloc(file->size);
    if (file->copy == NULL ||
        chroprof_init(&file->view, file->copy, file->size, &options) != CHROPROF_OK) {
        tool_message("%s: not enough memory to replay it", source);
        return false;
    }
    ok = reader_init(&reader, &file->view, source, false);
    if (ok) {
        (void)reader_feed(&reader, bytes, count, true);
    }
    reader_free(&reader);
    hide_ids_of(&file->view);
    return ok;
}
