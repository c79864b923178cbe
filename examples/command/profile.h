/* profile.h - a whole profile as the text of CHROPROF_JSON, and where its parts are: from a file, a
 * pipe, or a block. A block becomes the text that the program itself would have written. */

typedef struct profile_text {
    const char *source;        /* as it was named */
    block_file block;          /* if it was one */
    byte_buffer bytes;
    json_reader reader;
    uint64_t schema;
    json_text name;            /* in its quotes */
    json_text sites, stalls, windows, futures;
    json_text totals, paths;   /* may be missing */
    json_text sampler, modules, stacks, samples;    /* length 0: written without a sampler */
} profile_text;

static json_text *profile_part(profile_text *p, json_text key)
{
    const struct { const char *key; json_text *part; } parts[] = {
        { "name", &p->name }, { "sites", &p->sites }, { "stalls", &p->stalls },
        { "windows", &p->windows }, { "futures", &p->futures },
        { "totals", &p->totals }, { "paths", &p->paths }, { "sampler", &p->sampler },
        { "modules", &p->modules }, { "stacks", &p->stacks }, { "samples", &p->samples }
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (json_is(key, parts[i].key)) {
            return parts[i].part;
        }
    }
    return NULL;
}

static bool profile_member(profile_text *p, json_reader *r)
{
    json_text key;
    json_text ignored;
    json_text *part;
    if (!json_key(r, &key)) {
        return false;
    }
    if (json_is(key, "chroprof")) {
        return json_u64(r, &p->schema) &&
               (p->schema == 1 || json_fail(r, "version 1 of the schema"));
    }
    part = profile_part(p, key);
    return json_value(r, part != NULL ? part : &ignored);
}

/* Checks the whole text, so that what reads its parts later meets no surprise but of type. */
static bool profile_check(profile_text *p)
{
    json_reader r = json_read(p->source, p->bytes.bytes, p->bytes.used);
    bool first = true;
    p->reader = r;
    if (!json_open(&r, '{')) {
        return false;
    }
    while (json_next(&r, '}', &first)) {
        if (!profile_member(p, &r)) {
            return false;
        }
    }
    json_blanks(&r);
    if (r.failed || r.at != r.end) {
        return json_fail(&r, "nothing after the profile");
    }
    r.at = r.begin;
    if (p->schema == 0 || p->sites.length == 0 || p->stalls.length == 0 ||
        p->windows.length == 0 || p->futures.length == 0 || p->name.length == 0) {
        return json_fail(&r, "a profile written as CHROPROF_JSON");
    }
    return true;
}

/* >>profiles from blocks */

static int buffer_add(void *user, const void *bytes, size_t count)
{
    byte_buffer *b = (byte_buffer *)user;
    while (b->bytes == NULL || b->capacity - b->used < count) {
        if (!buffer_grow(b)) {
            return 1;
        }
    }
    memcpy(b->bytes + b->used, bytes, count);
    b->used += count;
    return 0;
}

static bool profile_of_block(profile_text *p)
{
    p->source = p->block.name;
    p->bytes.used = 0;
    dump_origin(&p->block);
    if (chroprof_write(&p->block.view, CHROPROF_JSON, buffer_add, &p->bytes) != 0) {
        tool_message("%s: could not be turned into JSON", p->source);
        return false;
    }
    return profile_check(p);
}

/* Whether these are the first bytes of a block, of either byte order: chroprof_open says more. */
static bool block_marked(const char *bytes, size_t count)
{
    for (size_t at = 0; at + 8 <= count && at < 64; at++) {
        if (memcmp(bytes + at, "CHRPROF1", 8) == 0 || memcmp(bytes + at, "1FORPRHC", 8) == 0) {
            return true;
        }
    }
    return false;
}

/* Where the program may still be writing: such a file is mapped and copied, not read. What is read
 * from a pipe is gone, so pipes are left alone. */
static bool block_expected(const char *source)
{
    char begin[64 + 8];
    struct stat facts;
    ssize_t count;
    int fd;
    if (source[strspn(source, "0123456789")] == '\0' && access(source, F_OK) != 0) {
        return true;
    }
    if (stat(source, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return false;
    }
    fd = open(source, O_RDONLY | O_CLOEXEC);
    count = fd >= 0 ? read(fd, begin, sizeof begin) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return count > 0 && block_marked(begin, (size_t)count);
}

/* A block that came through a pipe, or packed. */
static bool profile_of_bytes(profile_text *p)
{
    chroprof_result result;
    p->block.name = p->block.place = p->source;
    p->block.size = p->bytes.used;
    p->block.copy = calloc(1, p->bytes.used);
    if (p->block.copy == NULL) {
        tool_message("%s: not enough memory for a copy of it", p->source);
        return false;
    }
    result = chroprof_snapshot(p->bytes.bytes, p->bytes.used, p->block.copy, p->block.size);
    result = result == CHROPROF_OK
             ? chroprof_open(&p->block.view, p->block.copy, p->block.size) : result;
    if (result != CHROPROF_OK) {
        tool_message("%s: %s", p->source, chroprof_result_text(result));
    }
    return result == CHROPROF_OK && profile_of_block(p);
}

/* IN is JSON, a block in a file, or the number of a process that has one mapped. */
static bool profile_load(profile_text *p, const char *source)
{
    input in;
    bool ok;
    memset(p, 0, sizeof *p);
    if (strcmp(source, "-") != 0 && block_expected(source)) {
        return block_open(&p->block, source) && profile_of_block(p);
    }
    if (!input_open(&in, source)) {
        return false;
    }
    p->source = in.name;
    ok = buffer_grow(&p->bytes) && load_input(&in, &p->bytes);
    ok = input_close(&in, ok) && ok;
    if (ok && block_marked(p->bytes.bytes, p->bytes.used)) {
        return profile_of_bytes(p);
    }
    return ok && profile_check(p);
}

static void profile_free(profile_text *p)
{
    block_close(&p->block);
    free(p->bytes.bytes);
    p->bytes.bytes = NULL;
}
