/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists of hosts; see hosts.h. */
#include "bnr/wire/hosts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bnr/core/hash.h"


struct index_entry {
    size_t at;
    UT_hash_handle hh;
    char name[];
};

/* A part of a text. */
struct hosts_span {
    const char *at;
    size_t len;
};

/* The description of a host, or of several by a bracket. */
struct hosts_line {
    struct hosts_span user; /* at NULL: none */
    uint32_t slots;         /* 0: no number */
    uint32_t max_slots;     /* 0: none */
};

__attribute__((format(printf, 2, 3))) static int wrong(struct hosts *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(h->problem, sizeof(h->problem), format, args);
    va_end(args);
    for (char *c = h->problem; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
    return -EPROTO;
}

/* The bytes of a span that a message shows. */
#define SHOWN(span) (int)((span).len < 80 ? (span).len : 80), (span).at

/* ---- spans ---- */

static struct hosts_span trim(struct hosts_span s)
{
    while (s.len && isspace((unsigned char)s.at[0])) {
        s.at++;
        s.len--;
    }
    while (s.len && isspace((unsigned char)s.at[s.len - 1]))
        s.len--;
    return s;
}

/* Cut off the text before the first separator outside brackets. */
static struct hosts_span cut(struct hosts_span *rest, bool (*separates)(char))
{
    struct hosts_span part = *rest;
    int depth = 0;
    size_t i = 0;
    for (; i < rest->len; i++) {
        char c = rest->at[i];
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
        if (depth == 0 && separates(c))
            break;
    }
    part.len = i;
    rest->at += i < rest->len ? i + 1 : i;
    rest->len -= i < rest->len ? i + 1 : i;
    return part;
}

static bool is_comma(char c)
{
    return c == ',';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Returns false if it is no number from 1 to most. */
static bool read_number(struct hosts_span s, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    if (!s.len || s.len > 9)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!isdigit((unsigned char)s.at[i]))
            return false;
        value = 10 * value + (uint64_t)(s.at[i] - '0');
    }
    *number = (uint32_t)value;
    return value >= 1 && value <= most;
}

/* ---- entries ---- */

static bool is_name(struct hosts_span s)
{
    if (!s.len || s.len > HOSTS_NAME_MAX || s.at[0] == '-')
        return false; /* a leading dash would be an option of the launcher */
    for (size_t i = 0; i < s.len; i++)
        if (!isalnum((unsigned char)s.at[i]) && !memchr(".-_:%", s.at[i], 5))
            return false;
    return true;
}

static char *copy(struct hosts_span s)
{
    return s.at ? strndup(s.at, s.len) : NULL;
}

static struct hosts_entry *find(struct hosts *h, struct hosts_span name)
{
    struct index_entry *index = h->index, *found;
    HASH_FIND(hh, index, name.at, name.len, found);
    return found ? &h->items[found->at] : NULL;
}

static int append(struct hosts *h, struct hosts_span name, struct hosts_entry **entry)
{
    struct index_entry *index = h->index, *mine;
    if (h->count == HOSTS_COUNT_MAX)
        return wrong(h, "more than %d hosts", HOSTS_COUNT_MAX);
    if (h->count == h->room) {
        size_t room = h->room ? 2 * h->room : 16;
        struct hosts_entry *items = realloc(h->items, room * sizeof(*items));
        if (!items)
            return -ENOMEM;
        h->items = items;
        h->room = room;
    }
    *entry = &h->items[h->count];
    **entry = (struct hosts_entry){.name = copy(name)};
    mine = malloc(sizeof(*mine) + name.len);
    if (!(*entry)->name || !mine) {
        free((*entry)->name);
        free(mine);
        return -ENOMEM;
    }
    mine->at = h->count++;
    memcpy(mine->name, name.at, name.len);
    HASH_ADD_KEYPTR(hh, index, mine->name, name.len, mine);
    h->index = index;
    return 0;
}

/* One more of a host. */
static int add(struct hosts *h, struct hosts_span name, const struct hosts_line *line)
{
    struct hosts_entry *entry = find(h, name);
    int rc = entry ? 0 : append(h, name, &entry);
    if (rc)
        return rc;
    if (line->user.at && !entry->user && !(entry->user = copy(line->user)))
        return -ENOMEM;
    uint64_t sum = (uint64_t)entry->slots + (line->slots ? line->slots : 1);
    if (sum > HOSTS_SLOTS_MAX)
        return wrong(h, "host %.*s has more than %d slots", SHOWN(name), HOSTS_SLOTS_MAX);
    entry->slots = (uint32_t)sum;
    entry->has_slots |= line->slots > 0;
    if (line->max_slots)
        entry->max_slots = line->max_slots;
    if (entry->max_slots && entry->slots > entry->max_slots)
        return wrong(h, "host %.*s has %u slots, and max_slots=%u", SHOWN(name), entry->slots,
                     entry->max_slots);
    return 0;
}

/* ---- brackets ---- */

/* The names of one range of a bracket, FIRST-LAST or one number, with their zeros. */
static int add_range(struct hosts *h, struct hosts_span before, struct hosts_span range,
                     struct hosts_span after, const struct hosts_line *line)
{
    char name[HOSTS_NAME_MAX + 1];
    const char *dash = memchr(range.at, '-', range.len);
    struct hosts_span first = {range.at, dash ? (size_t)(dash - range.at) : range.len};
    struct hosts_span last =
        dash ? (struct hosts_span){dash + 1, range.len - first.len - 1} : first;
    char *end;
    if (!first.len || !last.len || first.len > 9 || last.len > 9)
        return wrong(h, "'%.*s' is no range of numbers", SHOWN(range));
    for (size_t i = 0; i < range.len; i++)
        if (!isdigit((unsigned char)range.at[i]) && range.at + i != dash)
            return wrong(h, "'%.*s' is no range of numbers", SHOWN(range));
    unsigned long low = strtoul(first.at, &end, 10), high = strtoul(last.at, &end, 10);
    if (high < low || high - low >= HOSTS_COUNT_MAX)
        return wrong(h, "'%.*s' is no range of numbers", SHOWN(range));
    for (unsigned long i = low; i <= high; i++) {
        int len = snprintf(name, sizeof(name), "%.*s%0*lu%.*s", (int)before.len, before.at,
                           (int)first.len, i, (int)after.len, after.at);
        struct hosts_span whole = {name, (size_t)len};
        if (len < 0 || whole.len > HOSTS_NAME_MAX || !is_name(whole))
            return wrong(h, "'%.*s' is no name of a host", SHOWN(whole));
        int rc = add(h, whole, line);
        if (rc)
            return rc;
    }
    return 0;
}

/* A name with at most one bracket of ranges: n[1-3,07]x. */
static int add_pattern(struct hosts *h, struct hosts_span s, const struct hosts_line *line)
{
    const char *open = memchr(s.at, '[', s.len);
    if (!open) {
        if (!is_name(s))
            return wrong(h, "'%.*s' is no name of a host", SHOWN(s));
        return add(h, s, line);
    }
    struct hosts_span before = {s.at, (size_t)(open - s.at)};
    const char *close = memchr(open, ']', s.len - before.len);
    if (!close)
        return wrong(h, "in '%.*s' a bracket is not closed", SHOWN(s));
    struct hosts_span ranges = {open + 1, (size_t)(close - open - 1)};
    struct hosts_span after = {close + 1, s.len - (size_t)(close + 1 - s.at)};
    if (memchr(after.at, '[', after.len))
        return wrong(h, "'%.*s' has more than one bracket", SHOWN(s));
    int rc = ranges.len ? 0 : wrong(h, "in '%.*s' a bracket is empty", SHOWN(s));
    while (!rc && ranges.len)
        rc = add_range(h, before, cut(&ranges, is_comma), after, line);
    return rc;
}

/* ---- lists ---- */

/* Take :N off the end. An address of IPv6 stands in brackets, or has no number. */
static int take_slots(struct hosts *h, struct hosts_span *s, uint32_t *slots)
{
    struct hosts_span whole = *s;
    const char *colon = memrchr(s->at, ':', s->len);
    const char *bracket = memrchr(s->at, ']', s->len);
    *slots = 0;
    bool is_address = colon && !bracket && memchr(s->at, ':', (size_t)(colon - s->at));
    if (colon && !is_address && (!bracket || bracket < colon)) {
        struct hosts_span number = {colon + 1, s->len - (size_t)(colon + 1 - s->at)};
        if (!read_number(number, HOSTS_SLOTS_MAX, slots))
            return wrong(h, "'%.*s': after the colon stands the number of slots, 1 to %d",
                         SHOWN(whole), HOSTS_SLOTS_MAX);
        s->len = (size_t)(colon - s->at);
    }
    if (s->len > 2 && s->at[0] == '[' && s->at[s->len - 1] == ']' && memchr(s->at, ':', s->len))
        *s = (struct hosts_span){s->at + 1, s->len - 2};
    return 0;
}

static int check_user(struct hosts *h, struct hosts_span user)
{
    if (is_name(user) && user.len <= HOSTS_USER_MAX)
        return 0;
    return wrong(h, "'%.*s' is no name of a user", SHOWN(user));
}

/* Take USER@ off the beginning. */
static int take_user(struct hosts *h, struct hosts_span *host, struct hosts_span *user)
{
    const char *at = memchr(host->at, '@', host->len);
    *user = (struct hosts_span){0};
    if (!at)
        return 0;
    *user = (struct hosts_span){host->at, (size_t)(at - host->at)};
    *host = (struct hosts_span){at + 1, host->len - user->len - 1};
    return check_user(h, *user);
}

int hosts_add_list(struct hosts *h, const char *text, size_t len)
{
    struct hosts_span rest = {text, len};
    int rc = trim(rest).len ? 0 : wrong(h, "the list of hosts is empty");
    while (!rc && rest.len) {
        struct hosts_span item = trim(cut(&rest, is_comma));
        struct hosts_line line = {0};
        rc = take_user(h, &item, &line.user);
        if (!rc)
            rc = take_slots(h, &item, &line.slots);
        if (!rc)
            rc = add_pattern(h, item, &line);
    }
    return rc;
}

/* Cut KEY=VALUE off a line, which may have blanks around "=". */
static struct hosts_span cut_word(struct hosts_span *line)
{
    struct hosts_span rest = *line, key = cut(&rest, is_blank);
    const char *equals = memchr(key.at, '=', key.len);
    rest = trim(rest);
    bool is_open = equals && equals == key.at + key.len - 1;
    if (!equals && rest.len && rest.at[0] == '=') {
        rest = trim((struct hosts_span){rest.at + 1, rest.len - 1});
        is_open = true;
    }
    if (is_open && rest.len) {
        struct hosts_span value = cut(&rest, is_blank);
        key.len = (size_t)(value.at + value.len - key.at);
    }
    *line = rest;
    return key;
}

/* A word KEY=VALUE behind a host. */
static int take_word(struct hosts *h, struct hosts_span word, struct hosts_line *line)
{
    static const struct {
        const char *name;
        bool is_most;
    } names[] = {{"slots", false}, {"max_slots", true}, {"max-slots", true}};
    const char *equals = memchr(word.at, '=', word.len);
    struct hosts_span name = {word.at, equals ? (size_t)(equals - word.at) : word.len}, value = {0};
    if (equals)
        value = trim((struct hosts_span){equals + 1, word.len - name.len - 1});
    name = trim(name);
    if (equals && name.len == strlen("user") && !memcmp(name.at, "user", name.len)) {
        line->user = value;
        return check_user(h, value);
    }
    for (size_t i = 0; equals && i < sizeof(names) / sizeof(names[0]); i++) {
        if (name.len != strlen(names[i].name) || memcmp(name.at, names[i].name, name.len))
            continue;
        if (!read_number(value, HOSTS_SLOTS_MAX, names[i].is_most ? &line->max_slots : &line->slots))
            return wrong(h, "'%.*s': from 1 to %d", SHOWN(word), HOSTS_SLOTS_MAX);
        return 0;
    }
    return wrong(h,
                 "'%.*s' is not known here: slots=N, max_slots=N and user=NAME are, and each host "
                 "has a line",
                 SHOWN(word));
}

static int add_line(struct hosts *h, struct hosts_span text)
{
    struct hosts_span host = cut(&text, is_blank);
    struct hosts_line line = {0};
    int rc = take_user(h, &host, &line.user);
    if (!rc)
        rc = take_slots(h, &host, &line.slots);
    for (text = trim(text); !rc && text.len; text = trim(text))
        rc = take_word(h, cut_word(&text), &line);
    return rc ? rc : add_pattern(h, host, &line);
}

int hosts_add_file(struct hosts *h, const char *text, size_t len)
{
    struct hosts_span rest = {text, len};
    bool is_empty = true;
    for (int number = 1; rest.len; number++) {
        char problem[HOSTS_PROBLEM_LEN];
        const char *end = memchr(rest.at, '\n', rest.len);
        struct hosts_span line = {rest.at, end ? (size_t)(end - rest.at) : rest.len};
        rest.at += line.len + (end != NULL);
        rest.len -= line.len + (end != NULL);
        const char *comment = memchr(line.at, '#', line.len);
        if (comment)
            line.len = (size_t)(comment - line.at);
        line = trim(line);
        is_empty &= !line.len;
        int rc = line.len ? add_line(h, line) : 0;
        if (rc == -EPROTO) {
            memcpy(problem, h->problem, sizeof(problem));
            wrong(h, "line %d: %.200s", number, problem);
        }
        if (rc)
            return rc;
    }
    return is_empty ? wrong(h, "no line names a host; add one, or leave the file out") : 0;
}

/* ---- Slurm ---- */

/* Give the hosts from first on their numbers: 4(x3),2. */
static int take_tasks(struct hosts *h, size_t first, struct hosts_span rest)
{
    while (rest.len) {
        struct hosts_span item = cut(&rest, is_comma), whole = item;
        uint32_t tasks, times = 1;
        const char *open = memchr(item.at, '(', item.len);
        if (open) {
            size_t at = (size_t)(open - item.at);
            struct hosts_span inner = {open + 2, item.len > at + 3 ? item.len - at - 3 : 0};
            if (item.at[item.len - 1] != ')' || !inner.len || open[1] != 'x' ||
                !read_number(inner, HOSTS_COUNT_MAX, &times))
                return wrong(h, "'%.*s' is no number of tasks", SHOWN(whole));
            item.len = at;
        }
        if (!read_number(item, HOSTS_SLOTS_MAX, &tasks))
            return wrong(h, "'%.*s' is no number of tasks", SHOWN(whole));
        if (times > h->count - first)
            return wrong(h, "SLURM_TASKS_PER_NODE tells of more hosts than SLURM_JOB_NODELIST");
        for (; times; times--, first++) {
            h->items[first].slots = tasks;
            h->items[first].has_slots = true;
        }
    }
    return first == h->count
               ? 0
               : wrong(h, "SLURM_TASKS_PER_NODE tells of fewer hosts than SLURM_JOB_NODELIST");
}

int hosts_add_slurm(struct hosts *h, const char *nodes, const char *tasks)
{
    size_t first = h->count;
    struct hosts_span rest = {nodes, strlen(nodes)};
    int rc = rest.len ? 0 : wrong(h, "SLURM_JOB_NODELIST is empty");
    while (!rc && rest.len)
        rc = add_pattern(h, cut(&rest, is_comma), &(struct hosts_line){0});
    return rc || !tasks ? rc : take_tasks(h, first, (struct hosts_span){tasks, strlen(tasks)});
}

/* ---- other batch systems ---- */

static bool is_space(char c)
{
    return isspace((unsigned char)c);
}

static bool is_end(char c)
{
    return c == '\n';
}

/* Add a host, with the number that stands behind it where the form has one. */
static int add_batch(struct hosts *h, enum hosts_form form, struct hosts_span name,
                     struct hosts_span *rest)
{
    struct hosts_line line = {.slots = 1};
    if (form != HOSTS_WORDS) {
        *rest = trim(*rest);
        struct hosts_span number = cut(rest, is_space);
        if (!read_number(number, HOSTS_SLOTS_MAX, &line.slots))
            return wrong(h, "'%.*s' behind host %.*s is no number of slots", SHOWN(number), SHOWN(name));
    }
    return is_name(name) ? add(h, name, &line) : wrong(h, "'%.*s' is no name of a host", SHOWN(name));
}

int hosts_add_batch(struct hosts *h, enum hosts_form form, const char *text, size_t len)
{
    struct hosts_span rest = trim((struct hosts_span){text, len});
    int rc = rest.len ? 0 : wrong(h, "it names no host");
    while (!rc && rest.len) {
        struct hosts_span row = form == HOSTS_ROWS ? trim(cut(&rest, is_end)) : (struct hosts_span){0};
        struct hosts_span *from = form == HOSTS_ROWS ? &row : &rest;
        if (from->len)
            rc = add_batch(h, form, cut(from, is_space), from);
        rest = trim(rest);
    }
    return rc;
}

int hosts_add_slots(struct hosts *h, const char *name, uint32_t slots)
{
    struct hosts_span span = {name, strlen(name)};
    return add(h, span, &(struct hosts_line){.slots = slots});
}

static bool is_same(const char *a, const char *b)
{
    size_t a_short = strcspn(a, "."), b_short = strcspn(b, ".");
    bool one_is_short = !a[a_short] || !b[b_short];
    return !strcasecmp(a, b) || (one_is_short && a_short == b_short && !strncasecmp(a, b, a_short));
}

const struct hosts_entry *hosts_find(const struct hosts *h, const char *name)
{
    struct index_entry *index = h->index, *found;
    HASH_FIND(hh, index, name, strlen(name), found);
    if (found)
        return &h->items[found->at];
    for (size_t i = 0; i < h->count; i++)
        if (is_same(h->items[i].name, name))
            return &h->items[i];
    return NULL;
}

void hosts_fini(struct hosts *h)
{
    struct index_entry *index = h->index, *entry, *next;
    HASH_ITER(hh, index, entry, next)
    {
        HASH_DEL(index, entry);
        free(entry);
    }
    for (size_t i = 0; i < h->count; i++) {
        free(h->items[i].name);
        free(h->items[i].user);
    }
    free(h->items);
    *h = (struct hosts){0};
}
