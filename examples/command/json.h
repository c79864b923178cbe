/* json.h - reads JSON text in memory, value by value; what is wrong is named by line and column.
 *
 * Texts stay as they are written, escapes included: they only ever go into other JSON. */

#define JSON_DEEPEST 64

typedef struct json_reader {
    const char *name;          /* of the source, for messages */
    const char *begin, *at, *end;
    unsigned depth;
    bool failed;
} json_reader;

/* A piece of the source: a value, or what is between the quotes of a text. */
typedef struct json_text {
    const char *bytes;
    size_t length;
} json_text;

static json_reader json_read(const char *name, const char *bytes, size_t length)
{
    json_reader r = { name, bytes, bytes, bytes + length, 0, false };
    return r;
}

static bool json_is(json_text text, const char *word)
{
    return strlen(word) == text.length && memcmp(text.bytes, word, text.length) == 0;
}

static bool same_text(json_text a, json_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* Names the first thing that is wrong; always false, so that callers can return it. */
static bool json_fail(json_reader *r, const char *expected)
{
    unsigned long long line = 1;
    const char *start = r->begin;
    for (const char *p = r->begin; !r->failed && p < r->at; p++) {
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    }
    if (!r->failed) {
        (void)fprintf(stderr, "%s:%llu:%llu: %sexpected %s\n", r->name, line,
                      (unsigned long long)(r->at - start) + 1,
                      r->at == r->end ? "the text ends, " : "", expected);
    }
    r->failed = true;
    return false;
}

static void json_blanks(json_reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) {
        r->at++;
    }
}

static bool json_byte(json_reader *r, char byte, const char *expected)
{
    json_blanks(r);
    if (r->failed || r->at == r->end || *r->at != byte) {
        return json_fail(r, expected);
    }
    r->at++;
    return true;
}

/* >>lists and objects: open, then next before each item until it says that there is none */

static bool json_open(json_reader *r, char bracket)
{
    if (r->depth == JSON_DEEPEST) {
        return json_fail(r, "no more than 64 brackets in one another");
    }
    r->depth++;
    return json_byte(r, bracket, bracket == '{' ? "an object, {" : "a list, [");
}

/* first: true before the first item; bracket: the closing one. */
static bool json_next(json_reader *r, char bracket, bool *first)
{
    bool was_first = *first;
    *first = false;
    json_blanks(r);
    if (!r->failed && r->at < r->end && *r->at == bracket) {
        r->at++;
        r->depth--;
        return false;
    }
    if (was_first) {
        return !r->failed;
    }
    return json_byte(r, ',', bracket == '}' ? "a comma or }" : "a comma or ]");
}

/* >>values */

static bool json_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

static bool json_escape(json_reader *r)
{
    r->at++;
    if (r->at < r->end && *r->at != '\0' && strchr("\"\\/bfnrt", *r->at) != NULL) {
        r->at++;
        return true;
    }
    if (r->end - r->at >= 5 && *r->at == 'u' && json_hex(r->at[1]) && json_hex(r->at[2]) &&
        json_hex(r->at[3]) && json_hex(r->at[4])) {
        r->at += 5;
        return true;
    }
    return json_fail(r, "an escape of JSON after the backslash");
}

static bool json_string(json_reader *r, json_text *text)
{
    if (!json_byte(r, '"', "a text in quotes")) {
        return false;
    }
    text->bytes = r->at;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20) {
            return json_fail(r, "an escape for this control character");
        }
        if (*r->at != '\\') {
            r->at++;
        } else if (!json_escape(r)) {
            return false;
        }
    }
    text->length = (size_t)(r->at - text->bytes);
    return json_byte(r, '"', "a quote at the end of the text");
}

static bool json_key(json_reader *r, json_text *key)
{
    return json_string(r, key) && json_byte(r, ':', "a colon");
}

static bool json_u64(json_reader *r, uint64_t *value)
{
    const char *start;
    uint64_t sum = 0;
    json_blanks(r);
    for (start = r->at; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        uint64_t digit = (uint64_t)(*r->at - '0');
        if (sum > (UINT64_MAX - digit) / 10) {
            return json_fail(r, "a number below 2^64");
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return (r->at > start && !r->failed) || json_fail(r, "a whole number");
}

static bool json_bool(json_reader *r, bool *value)
{
    json_blanks(r);
    *value = r->end - r->at >= 4 && memcmp(r->at, "true", 4) == 0;
    if (!*value && !(r->end - r->at >= 5 && memcmp(r->at, "false", 5) == 0)) {
        return json_fail(r, "true or false");
    }
    r->at += *value ? 4 : 5;
    return !r->failed;
}

static size_t json_digits(json_reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return (size_t)(r->at - start);
}

static bool json_skip_number(json_reader *r)
{
    size_t digits;
    r->at += *r->at == '-';
    digits = json_digits(r);
    if (r->at < r->end && *r->at == '.' && digits > 0) {
        r->at++;
        digits = json_digits(r);
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E') && digits > 0) {
        r->at++;
        r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
        digits = json_digits(r);
    }
    return digits > 0 || json_fail(r, "a value");
}

static bool json_skip_word(json_reader *r)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(r->end - r->at) >= length && memcmp(r->at, words[i], length) == 0) {
            r->at += length;
            return true;
        }
    }
    return json_skip_number(r);
}

static bool json_skip(json_reader *r);

static bool json_skip_items(json_reader *r, char open, char close)
{
    bool first = true;
    json_text key;
    if (!json_open(r, open)) {
        return false;
    }
    while (json_next(r, close, &first)) {
        if ((open == '{' && !json_key(r, &key)) || !json_skip(r)) {
            return false;
        }
    }
    return !r->failed;
}

/* One value of any kind, checked. */
static bool json_skip(json_reader *r)
{
    json_text text;
    json_blanks(r);
    if (r->failed || r->at == r->end) {
        return json_fail(r, "a value");
    }
    switch (*r->at) {
    case '{': return json_skip_items(r, '{', '}');
    case '[': return json_skip_items(r, '[', ']');
    case '"': return json_string(r, &text);
    default: return json_skip_word(r);
    }
}

/* A value as it is written. */
static bool json_value(json_reader *r, json_text *value)
{
    json_blanks(r);
    value->bytes = r->at;
    if (!json_skip(r)) {
        return false;
    }
    value->length = (size_t)(r->at - value->bytes);
    return true;
}

/* A reader of a part, for messages that count lines from the beginning of the whole. A part that is
 * missing reads as an end of the text. */
static json_reader json_part(const json_reader *whole, json_text part)
{
    json_reader r = *whole;
    r.at = part.bytes != NULL ? part.bytes : whole->end;
    r.end = r.at + part.length;
    r.depth = 0;
    return r;
}

/* SIZE_MAX: no list. */
static size_t count_items(const json_reader *whole, json_text list)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    size_t count = 0;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first) && json_skip(&r)) {
        count++;
    }
    return r.failed ? SIZE_MAX : count;
}

/* >>texts without their escapes */

static bool json_hex_value(const char *digits, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        char digit = digits[i];
        *value = *value * 16 + (uint32_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return *value != 0;
}

static size_t utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    out[0] = (char)(code < 0x10000 ? 0xE0 | code >> 12 : 0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code < 0x10000 ? code >> 6 & 0x3F : code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code < 0x10000 ? code & 0x3F : code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return code < 0x10000 ? 3 : 4;
}

/* The character of an escape at p, which json_escape found right; returns what is behind it. */
static const char *json_escaped(const char *p, const char *end, uint32_t *code)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    uint32_t low;
    if (p[1] != 'u') {
        *code = (unsigned char)meant[strchr(letters, p[1]) - letters];
        return p + 2;
    }
    (void)json_hex_value(p + 2, code);
    p += 6;
    if (*code >= 0xD800 && *code < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        json_hex_value(p + 2, &low) && low >= 0xDC00 && low < 0xE000) {
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    return p;
}

/* As a C string; false if it does not fit, or holds a zero byte. */
static bool json_unescape(json_text text, char *out, size_t size)
{
    const char *p = text.bytes;
    const char *end = text.bytes + text.length;
    size_t used = 0;
    while (p < end && used + 4 < size) {
        uint32_t code = 1;
        if (*p == '\\') {
            p = json_escaped(p, end, &code);
            used += utf8_put(out + used, code);
        } else {
            out[used++] = *p++;
        }
        if (code == 0) {
            return false;
        }
    }
    out[used] = '\0';
    return p == end;
}
