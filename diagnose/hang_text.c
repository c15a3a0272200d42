/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading a rank's answer; see hang_text.h. */
#include "diagnose/hang_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIELDS_MAX = 8,
    ROWS_MAX = 4096
};

/* The values of a field. */
enum field_kind {
    TEXT,
    MODE,
    WHAT,
    HEX,
    RANK, /* the numbers */
    TAG,
    CONTEXT,
    AMOUNT,
    TIME,
    THREADS
};

static const struct {
    int64_t low, high;
    size_t size; /* of the member */
} numbers[] = {
    [RANK] = {-1, INT32_MAX - 1, sizeof(int32_t)}, [TAG] = {-1, INT32_MAX, sizeof(int32_t)},
    [CONTEXT] = {0, UINT32_MAX, sizeof(uint32_t)}, [AMOUNT] = {0, INT64_MAX, sizeof(int64_t)},
    [TIME] = {-1, INT64_MAX, sizeof(int64_t)},     [THREADS] = {0, 1 << 24, sizeof(int32_t)},
};

static const char *const modes[] = {"wait", "some", "poll", NULL};
static const char *const whats[] = {"send", "recv", "probe", "close", "ready", "lock", NULL};

#define IN_THREAD(member) offsetof(struct hang_thread, member)
#define IN_ITEM(member)   offsetof(struct hang_item, member)
#define IN_COMM(member)   offsetof(struct hang_comm, member)
#define IN_CALL(member)   offsetof(struct hang_call, member)
#define IN_QUEUE(member)  offsetof(struct hang_queue, member)
#define IN_OTHERS(member) offsetof(struct hang_others, member)
#define QUEUE_FIELDS                                                              \
    {CONTEXT, IN_QUEUE(context)}, {RANK, IN_QUEUE(peer)}, {RANK, IN_QUEUE(rank)}, \
        {TAG, IN_QUEUE(tag)}, {AMOUNT, IN_QUEUE(count)},                          \
    {                                                                             \
        AMOUNT, IN_QUEUE(bytes)                                                   \
    }

/* The lines, and where their fields go. */
static const struct form {
    char letter;
    int count;
    struct field {
        enum field_kind kind;
        size_t at;
    } fields[FIELDS_MAX - 1];
} forms[] = {
    {'T',
     6,
     {{TEXT, IN_THREAD(function)},
      {MODE, IN_THREAD(mode)},
      {TIME, IN_THREAD(ms)},
      {HEX, IN_THREAD(offset)},
      {TEXT, IN_THREAD(module)},
      {TEXT, IN_THREAD(symbol)}}},
    {'A',
     7,
     {{WHAT, IN_ITEM(what)},
      {CONTEXT, IN_ITEM(context)},
      {RANK, IN_ITEM(peer)},
      {RANK, IN_ITEM(rank)},
      {TAG, IN_ITEM(tag)},
      {AMOUNT, IN_ITEM(bytes)},
      {TEXT, IN_ITEM(state)}}},
    {'C',
     7,
     {{CONTEXT, IN_COMM(context)},
      {RANK, IN_COMM(size)},
      {RANK, IN_COMM(rank)},
      {CONTEXT, IN_COMM(begun)},
      {TEXT, IN_COMM(name)},
      {TEXT, IN_COMM(members)},
      {TEXT, IN_COMM(remote)}}},
    {'L', 3, {{CONTEXT, IN_CALL(number)}, {RANK, IN_CALL(root)}, {TEXT, IN_CALL(function)}}},
    {'U', 6, {QUEUE_FIELDS}},
    {'W', 6, {QUEUE_FIELDS}},
    {'P', 6, {QUEUE_FIELDS}},
    {'S', 7, {QUEUE_FIELDS, {TEXT, IN_QUEUE(state)}}},
    {'I', 7, {QUEUE_FIELDS, {TEXT, IN_QUEUE(state)}}},
    {'M',
     3,
     {{THREADS, IN_OTHERS(computing)}, {THREADS, IN_OTHERS(locked)}, {THREADS, IN_OTHERS(asleep)}}},
    {'X', 0, {{0}}},
    {'J', 1, {{TEXT, 0}}},
};

/* ---- fields ---- */

/* All of text as a number between low and high. */
static bool number(const char *text, int64_t low, int64_t high, int64_t *value)
{
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    errno = 0;
    *value = strtoll(text, NULL, 10);
    return digits && digits + (*text == '-') == strlen(text) && !errno && *value >= low &&
           *value <= high;
}

static bool hexadecimal(const char *text, uint64_t *value)
{
    size_t len = strlen(text);
    *value = strtoull(text, NULL, 16);
    return len && len <= 16 && strspn(text, "0123456789abcdefABCDEF") == len;
}

static bool one_of(const char *const *names, const char *text, void *to)
{
    int i = 0;
    while (names[i] && strcmp(names[i], text))
        i++;
    memcpy(to, &i, sizeof(i));
    return names[i] != NULL;
}

static bool read_field(enum field_kind kind, const char *text, void *to)
{
    int64_t value;
    switch (kind) {
    case TEXT: memcpy(to, &text, sizeof(text)); return true;
    case MODE: return one_of(modes, text, to);
    case WHAT: return one_of(whats, text, to);
    case HEX: return hexadecimal(text, to);
    default: break;
    }
    if (!number(text, numbers[kind].low, numbers[kind].high, &value))
        return false;
    int32_t narrow = (int32_t)value;
    memcpy(to, numbers[kind].size == sizeof(value) ? (void *)&value : &narrow, numbers[kind].size);
    return true;
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

const char *hang_text_any_range(const char *list, char job[9], int *first, int *last)
{
    job[0] = 0;
    if (*list != '@')
        return hang_text_range(list, first, last);
    size_t len = strspn(list + 1, "0123456789abcdef");
    if (len != 8 || list[9] != ':')
        return NULL;
    memcpy(job, list + 1, len);
    job[len] = 0;
    return hang_text_range(list + 10, first, last);
}

/* ---- lines ---- */

union line {
    struct hang_thread thread;
    struct hang_item item;
    struct hang_comm comm;
    struct hang_call call;
    struct hang_queue queue;
    struct hang_others others;
    const char *job;
};

/* Put a row behind count others. Returns false if there are too many. */
static bool add(struct memory *memory, void **rows, int *count, const union line *row, size_t size)
{
    if (*count >= ROWS_MAX)
        return false;
    *rows = memory_grow(memory, *rows, *count, size);
    memcpy((char *)*rows + (size_t)*count * size, row, size);
    ++*count;
    return true;
}

static bool add_line(struct hang_answer *a, struct memory *memory, char letter, union line *row)
{
    switch (letter) {
    case 'T':
        row->thread.first = a->item_count;
        return add(memory, (void **)&a->threads, &a->thread_count, row, sizeof(row->thread));
    case 'A':
        if (!a->thread_count ||
            !add(memory, (void **)&a->items, &a->item_count, row, sizeof(row->item)))
            return false;
        a->threads[a->thread_count - 1].count++;
        return true;
    case 'C':
        row->comm.first = a->call_count;
        return add(memory, (void **)&a->comms, &a->comm_count, row, sizeof(row->comm));
    case 'L':
        if (!a->comm_count ||
            !add(memory, (void **)&a->calls, &a->call_count, row, sizeof(row->call)))
            return false;
        a->comms[a->comm_count - 1].call_count++;
        return true;
    case 'M': a->others = row->others; return true;
    case 'X': a->cut = true; return true;
    case 'J': a->job = row->job; return true;
    default:
        row->queue.kind = letter;
        if (!row->queue.state)
            row->queue.state = "";
        return add(memory, (void **)&a->queues, &a->queue_count, row, sizeof(row->queue));
    }
}

/* Take one line, which ends with NUL. */
static bool take_line(struct hang_answer *answer, struct memory *memory, char *line)
{
    char *fields[FIELDS_MAX + 1] = {line};
    union line row;
    int n = 0;
    for (char *at = line; *at; at++) {
        if (*at == '\t') {
            if (n == FIELDS_MAX)
                return false;
            *at = 0;
            fields[++n] = at + 1;
        } else if (!isprint((unsigned char)*at)) {
            *at = '?';
        }
    }
    const struct form *form = forms, *end = forms + sizeof(forms) / sizeof(forms[0]);
    while (form < end && (form->letter != line[0] || form->count != n || line[1]))
        form++;
    memset(&row, 0, sizeof(row));
    for (int i = 0; i < n && form < end; i++)
        if (!read_field(form->fields[i].kind, fields[i + 1], (char *)&row + form->fields[i].at))
            return false;
    return form < end && add_line(answer, memory, line[0], &row);
}

/* ---- the whole ---- */

/* The communicator that a context belongs to, or NULL, and what the context is for. */
static const struct hang_comm *find_comm(const struct hang_answer *answer, uint32_t context,
                                         enum hang_use *use)
{
    const struct hang_comm *best = NULL;
    for (int i = 0; i < answer->comm_count; i++) {
        const struct hang_comm *comm = &answer->comms[i];
        if (context >= comm->context && context - comm->context < HANG_USES &&
            (!best || comm->context > best->context))
            best = comm;
    }
    *use = best ? (enum hang_use)(context - best->context) : HANG_USE_PROGRAM;
    return best;
}

static void connect(struct hang_answer *answer, int rank)
{
    for (int t = 0; t < answer->thread_count; t++) {
        struct hang_thread *thread = &answer->threads[t];
        thread->items = answer->items + thread->first;
        for (int i = thread->first; i < thread->first + thread->count; i++) {
            struct hang_item *item = &answer->items[i];
            item->owner = rank;
            item->meeting = -1;
            item->thread = thread;
            item->comm = find_comm(answer, item->context, &item->use);
        }
    }
    for (int i = 0; i < answer->comm_count; i++)
        if (answer->comms[i].call_count)
            answer->comms[i].calls = answer->calls + answer->comms[i].first;
    for (int i = 0; i < answer->queue_count; i++) {
        struct hang_queue *queue = &answer->queues[i];
        queue->comm = find_comm(answer, queue->context, &queue->use);
    }
}

void hang_text_read(struct hang_answer *answer, struct memory *memory, int rank, const void *text,
                    size_t len)
{
    static const char head[] = HANG_TEXT_HEAD "\n";
    memset(answer, 0, sizeof(*answer));
    if (len < sizeof(head) - 1 || memcmp(text, head, sizeof(head) - 1))
        return;
    char *at = memory_take(memory, len + 1), *end = at + len;
    memcpy(at, text, len);
    at += sizeof(head) - 1;
    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *next = newline ? newline : end;
        *next = 0;
        if (*at && !take_line(answer, memory, at))
            answer->bad_lines++;
        at = next + 1;
    }
    connect(answer, rank);
}
