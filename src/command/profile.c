/* profile.c - see profile.h */

#include "profile.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "content.h"
#include "hide.h"
#include "input.h"
#include "mend.h"
#include "message.h"
#include "origin.h"
#include "replayed.h"

enum { PROFILE_SCHEMAS = 3 };  /* from 1 on, whose keys json_today knows */

static bool profile_version(json_reader r)
{
    uint64_t version;
    if (!json_u64(&r, &version)) {
        return false;
    }
    if (version < 1 || version > PROFILE_SCHEMAS) {
        tool_message("%s: this was written by another version of chroprof; use the command of that "
                     "version", r.name);
    }
    return version >= 1 && version <= PROFILE_SCHEMAS;
}

bool profile_check(profile_text *p)
{
    json_reader r = json_read(p->source, p->bytes.bytes, p->bytes.used);
    json_text version = { "", 0 };
    const json_field fields[] = {
        JSON_VALUE("chroprof", &version), JSON_VALUE("name", &p->name),
        JSON_VALUE("sites", &p->sites), JSON_VALUE("stalls", &p->stalls),
        JSON_VALUE("windows", &p->windows), JSON_VALUE("futures", &p->futures),
        JSON_VALUE("totals", &p->totals), JSON_VALUE("paths", &p->paths),
        JSON_VALUE("program", &p->program), JSON_VALUE("sampler", &p->sampler),
        JSON_VALUE("modules", &p->modules), JSON_VALUE("stacks", &p->stacks),
        JSON_VALUE("samples", &p->samples), JSON_VALUE("wall", &p->wall),
        JSON_VALUE("timeline", &p->timeline), JSON_VALUE("clients", &p->clients),
        JSON_VALUE("findings", &p->findings), JSON_VALUE("task_waits", &p->waits)
    };
    p->reader = r;
    if (!JSON_FIELDS(&r, fields)) {
        return false;
    }
    json_blanks(&r);
    if (r.at != r.end) {
        return json_fail(&r, "nothing after the profile");
    }
    r.at = r.begin;
    if (version.length > 0 && !profile_version(json_part(&r, version))) {
        return false;
    }
    if (version.length == 0 || p->sites.length == 0 || p->stalls.length == 0 ||
        p->windows.length == 0 || p->futures.length == 0 || p->name.length == 0) {
        return json_fail(&r, "a profile");
    }
    return true;
}

/* >>profiles from blocks */

static bool profile_write(profile_text *p, chroprof *view)
{
    chroprof_origin origin;
    chroprof_read_origin(view, &origin);
    p->pid = origin.pid;
    p->view = view;
    if (chroprof_write(view, CHROPROF_JSON, buffer_add, &p->bytes) != 0) {
        tool_message("%s: could not be turned into JSON", p->source);
        return false;
    }
    return profile_check(p);
}

bool profile_of_view(profile_text *p, chroprof *view, const char *source)
{
    memset(p, 0, sizeof *p);
    p->source = source;
    return profile_write(p, view);
}

bool profile_of_block(profile_text *p)
{
    p->source = p->block.name;
    p->bytes.used = 0;
    dump_origin(&p->block);
    return profile_write(p, &p->block.view);
}

/* A block in a file is mapped and copied, not read, because its program may still be writing. */
static bool profile_read(profile_text *p, const char *source, bool events)
{
    input in;
    content got;
    bool ok;
    memset(p, 0, sizeof *p);
    if (block_is_process(source) ||
        (!input_is_stream(source) && content_of_file(source) == CONTENT_BLOCK)) {
        return block_open(&p->block, source) && profile_of_block(p);
    }
    if (!input_open(&in, source)) {
        return false;
    }
    p->source = in.name;
    ok = buffer_grow(&p->bytes) && load_input(&in, &p->bytes);
    ok = input_close(&in, ok) && ok;
    got = ok ? content_of(p->bytes.bytes, p->bytes.used) : CONTENT_OTHER;
    if (got == CONTENT_BLOCK) {
        return block_of_bytes(&p->block, p->source, p->bytes.bytes, p->bytes.used) &&
               profile_of_block(p);
    }
    if (got == CONTENT_EVENTS && events) {
        ok = replayed_block(&p->block, p->source, p->bytes.bytes, p->bytes.used);
        p->bytes.used = 0;
        p->replayed = true;
        return ok && profile_write(p, &p->block.view);
    }
    if (ok && got != CONTENT_JSON) {
        content_refuse(p->source, got, CONTENT_JSON);
        return false;
    }
    if (ok && ids_are_hidden()) {
        tool_message("%s: this is JSON, in which ids are written already: give --hide-ids to the "
                     "dump that makes it", p->source);
        return false;
    }
    return ok && mend_json(&p->bytes, p->source) && profile_check(p);
}

bool profile_load(profile_text *p, const char *source)
{
    return profile_read(p, source, false);
}

bool profile_load_or_replay(profile_text *p, const char *source)
{
    return profile_read(p, source, true);
}

void profile_free(profile_text *p)
{
    block_close(&p->block);
    free(p->bytes.bytes);
    p->bytes.bytes = NULL;
}
