/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading a rank's answer; see hang_text.h. */
#include "diagnose/hang_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIELDS_MAX = 8,
    ROWS_MAX = 4096,
    OTHERS_MAX = 1 << 24
};

/* ---- numbers ---- */

/* A decimal number in [low, high]. */
static bool number(const char *text, int64_t low, int64_t high, int64_t *value)
{
    bool negative = *text == '-';
    const char *at = text + negative;
    int64_t sum = 0;
    if (!isdigit((unsigned char)*at))
        return false;
    for (; isdigit((unsigned char)*at); at++)
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *at - '0', &sum))
            return false;
    *value = negative ? -sum : sum;
    return !*at && *value >= low && *value <= high;
}

static bool whole(const char *text, int *value)
{
    int64_t wide;
    if (!number(text, -1, INT32_MAX - 1, &wide))
        return false;
    *value = (int)wide;
    return true;
}

/* Tags may be the largest number, too. */
static bool any_tag(const char *text, int *value)
{
    int64_t wide;
    if (!number(text, -1, INT32_MAX, &wide))
        return false;
    *value = (int)wide;
    return true;
}

static bool word(const char *text, uint32_t *value)
{
    int64_t wide;
    if (!number(text, 0, UINT32_MAX, &wide))
        return false;
    *value = (uint32_t)wide;
    return true;
}

static bool amount(const char *text, uint64_t *value)
{
    int64_t wide;
    if (!number(text, 0, INT64_MAX, &wide))
        return false;
    *value = (uint64_t)wide;
    return true;
}

static bool hexadecimal(const char *text, uint64_t *value)
{
    uint64_t sum = 0;
    size_t len = strlen(text);
    if (!len || len > 16)
        return false;
    for (; *text; text++) {
        if (!isxdigit((unsigned char)*text))
            return false;
        int digit =
            isdigit((unsigned char)*text) ? *text - '0' : tolower((unsigned char)*text) - 'a' + 10;
        sum = sum << 4 | (uint64_t)digit;
    }
    *value = sum;
    return true;
}

/* The index of a name in a list that ends with NULL, or -1. */
static int one_of(const char *name, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

const char *hang_text_range(const char *list, int *first, int *last)
{
    long ends[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        if (!isdigit((unsigned char)*list))
            return NULL;
        for (; isdigit((unsigned char)*list); list++) {
            ends[i] = ends[i] * 10 + (*list - '0');
            if (ends[i] >= INT32_MAX)
                return NULL;
        }
        if (i == 0 && *list != '-') {
            ends[1] = ends[0];
            break;
        }
        list += i == 0;
    }
    if ((*list && *list != ',') || ends[1] < ends[0])
        return NULL;
    *first = (int)ends[0];
    *last = (int)ends[1];
    return list + (*list == ',');
}

/* ---- rows ---- */

/* Room for one row more, zeroed; NULL: too many, or no memory. Grows at powers of two. */
static void *add(void **rows, int count, size_t size)
{
    if (count >= ROWS_MAX)
        return NULL;
    if (!(count & (count - 1))) {
        void *grown = realloc(*rows, size * (size_t)(count ? count * 2 : 1));
        if (!grown)
            return NULL;
        *rows = grown;
    }
    return memset((char *)*rows + (size_t)count * size, 0, size);
}

static bool take_thread(struct hang_answer *answer, char **f, int n)
{
    static const char *const modes[] = {"wait", "some", "poll", NULL};
    struct hang_thread t = {.first = answer->item_count};
    int mode = n == 7 ? one_of(f[2], modes) : -1;
    if (mode < 0 || !number(f[3], -1, INT64_MAX, &t.ms) || !hexadecimal(f[4], &t.offset))
        return false;
    struct hang_thread *row = add((void **)&answer->threads, answer->thread_count, sizeof(t));
    if (!row)
        return false;
    t.mode = (enum hang_mode)mode;
    t.function = f[1];
    t.module = f[5];
    t.symbol = f[6];
    *row = t;
    answer->thread_count++;
    return true;
}

static bool take_item(struct hang_answer *answer, char **f, int n)
{
    static const char *const whats[] = {"send", "recv", "probe", "close", "ready", NULL};
    struct hang_item item;
    int what = n == 8 && answer->thread_count ? one_of(f[1], whats) : -1;
    if (what < 0 || !word(f[2], &item.context) || !whole(f[3], &item.peer) ||
        !whole(f[4], &item.rank) || !any_tag(f[5], &item.tag) || !amount(f[6], &item.bytes))
        return false;
    struct hang_item *row = add((void **)&answer->items, answer->item_count, sizeof(item));
    if (!row)
        return false;
    item.what = (enum hang_what)what;
    item.state = f[7];
    item.thread = answer->thread_count - 1;
    *row = item;
    answer->item_count++;
    answer->threads[answer->thread_count - 1].count++;
    return true;
}

static bool take_comm(struct hang_answer *answer, char **f, int n)
{
    struct hang_comm comm;
    if (n != 8 || !word(f[1], &comm.context) || !whole(f[2], &comm.size) ||
        !whole(f[3], &comm.rank) || !word(f[4], &comm.begun))
        return false;
    struct hang_comm *row = add((void **)&answer->comms, answer->comm_count, sizeof(comm));
    if (!row)
        return false;
    comm.name = f[5];
    comm.members = f[6];
    comm.remote = f[7];
    *row = comm;
    answer->comm_count++;
    return true;
}

static bool take_queue(struct hang_answer *answer, char **f, int n)
{
    struct hang_queue queue = {.kind = f[0][0], .state = ""};
    bool has_state = queue.kind == 'S' || queue.kind == 'I';
    if (n != (has_state ? 8 : 7) || !word(f[1], &queue.context) || !whole(f[2], &queue.peer) ||
        !whole(f[3], &queue.rank) || !any_tag(f[4], &queue.tag) || !amount(f[5], &queue.count) ||
        !amount(f[6], &queue.bytes))
        return false;
    struct hang_queue *row = add((void **)&answer->queues, answer->queue_count, sizeof(queue));
    if (!row)
        return false;
    if (has_state)
        queue.state = f[7];
    *row = queue;
    answer->queue_count++;
    return true;
}

static bool take_others(struct hang_answer *answer, char **f, int n)
{
    uint64_t counts[3];
    for (int i = 0; i < 3; i++)
        if (n != 4 || !amount(f[i + 1], &counts[i]) || counts[i] > OTHERS_MAX)
            return false;
    answer->others = (struct hang_others){(int)counts[0], (int)counts[1], (int)counts[2]};
    return true;
}

/* Take one line, which ends with NUL. */
static bool take_line(struct hang_answer *answer, char *line)
{
    char *fields[FIELDS_MAX + 1] = {line};
    int n = 1;
    for (char *at = line; *at; at++) {
        if (*at == '\t') {
            if (n > FIELDS_MAX)
                return false;
            *at = 0;
            fields[n++] = at + 1;
        } else if (!isprint((unsigned char)*at)) {
            *at = '?';
        }
    }
    if (strlen(line) != 1)
        return false;
    switch (line[0]) {
    case 'T': return take_thread(answer, fields, n);
    case 'A': return take_item(answer, fields, n);
    case 'C': return take_comm(answer, fields, n);
    case 'U':
    case 'P':
    case 'S':
    case 'I': return take_queue(answer, fields, n);
    case 'M': return take_others(answer, fields, n);
    case 'X': answer->cut = true; return n == 1;
    default: return false;
    }
}

int hang_text_read(struct hang_answer *answer, const void *text, size_t len)
{
    static const char head[] = HANG_TEXT_HEAD "\n";
    memset(answer, 0, sizeof(*answer));
    if (len < sizeof(head) - 1 || memcmp(text, head, sizeof(head) - 1))
        return -EPROTO;
    answer->text = malloc(len + 1);
    if (!answer->text)
        return -ENOMEM;
    memcpy(answer->text, text, len);
    answer->text[len] = 0;
    char *at = answer->text + sizeof(head) - 1, *end = answer->text + len;
    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *next = newline ? newline : end;
        *next = 0;
        if (*at && !take_line(answer, at))
            answer->bad_lines++;
        at = next + 1;
    }
    return 0;
}

void hang_text_free(struct hang_answer *answer)
{
    free(answer->text);
    free(answer->threads);
    free(answer->items);
    free(answer->comms);
    free(answer->queues);
    memset(answer, 0, sizeof(*answer));
}

const struct hang_comm *hang_text_comm(const struct hang_answer *answer, uint32_t context)
{
    const struct hang_comm *best = NULL;
    for (int i = 0; i < answer->comm_count; i++) {
        const struct hang_comm *comm = &answer->comms[i];
        if (context >= comm->context && context - comm->context < HANG_USES &&
            (!best || comm->context > best->context))
            best = comm;
    }
    return best;
}
