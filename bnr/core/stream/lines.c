/* SPDX-License-Identifier: BSD-3-Clause */

/* The line assembler; see lines.h for its rules. */
#include "bnr/core/stream/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_SIZE = 4096
}; /* a held buffer above this is released when empty */

struct source {
    struct lines_buffer held; /* bytes of an unfinished line that are not out yet */
    uint64_t since_ns;        /* when held began to hold */
    uint64_t read_ns;         /* when its last bytes were read, by the clock of its host */
    int label;
    bool middle; /* what came out of it last stops within a line */
    bool ended;
    bool is_coming; /* the rest of held is on its way */
};

struct lines {
    uint64_t next_ns;   /* no held line is due before this; UINT64_MAX: none is held */
    uint64_t recent_ns; /* when source recent, the last to do so, brought bytes */
    uint64_t other_ns;  /* when any but recent did last */
    int recent;
    int count;
    int live; /* sources that have not ended, LINES_OWN not counted */
    const struct lines_labels *labels;
    int open; /* source whose line the output stops in, or -1 */
    bool returns;
    struct source source[];
};

int lines_append(struct lines_buffer *out, const char *data, size_t len)
{
    if (len > out->size - out->len) {
        size_t size = out->size ? out->size : 512;
        while (size - out->len < len)
            size *= 2;
        char *grown = realloc(out->data, size);
        if (!grown)
            return -ENOMEM;
        out->data = grown;
        out->size = size;
    }
    if (len)
        memcpy(out->data + out->len, data, len);
    out->len += len;
    return 0;
}

static void write_number(const void *arg, int label, bool is_rest, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, is_rest ? "[%d]+ " : "[%d] ", label);
}

static const struct lines_labels numbers = {write_number, NULL, NULL};

void lines_set_labels(struct lines *l, const struct lines_labels *labels)
{
    l->labels = labels;
}

void lines_set_returns(struct lines *l, bool is_on)
{
    l->returns = is_on;
}

int lines_create(struct lines **l, int sources, const int *label_of)
{
    struct lines *made = calloc(1, sizeof(*made) + (size_t)sources * sizeof(made->source[0]));
    if (!made)
        return -ENOMEM;
    made->count = sources;
    made->open = -1;
    made->labels = &numbers;
    made->next_ns = UINT64_MAX;
    for (int i = 0; i < sources; i++) {
        made->source[i].label = label_of[i];
        made->live += label_of[i] != LINES_OWN;
    }
    *l = made;
    return 0;
}

void lines_destroy(struct lines *l)
{
    for (int i = 0; l && i < l->count; i++)
        free(l->source[i].held.data);
    free(l);
}

static int append_newline(const struct lines *l, struct lines_buffer *out)
{
    return l->returns ? lines_append(out, "\r\n", 2) : lines_append(out, "\n", 1);
}

/* Begin or go on with a line of source i: a newline behind another's open line, a label. */
static int begin(struct lines *l, int i, struct lines_buffer *out)
{
    struct source *s = &l->source[i];
    char label[LINES_LABEL_LEN];
    int rc = 0;
    if (l->open == i)
        return 0;
    if (l->open >= 0 && s->label != LINES_PLAIN && s->label != LINES_RAW)
        rc = append_newline(l, out);
    l->open = -1;
    if (!rc && s->label >= 0) {
        l->labels->write(l->labels->arg, s->label, s->middle, label, sizeof(label));
        rc = lines_append(out, label, strlen(label));
    }
    return rc;
}

/* Let data of source i out as records, one a line. */
static int emit_records(struct lines *l, int i, const char *data, size_t len,
                        struct lines_buffer *out)
{
    int rc = 0;
    while (len && !rc) {
        const char *newline = memchr(data, '\n', len);
        size_t n = newline ? (size_t)(newline - data) : len, used = n + (newline != NULL);
        const struct lines_line line = {l->source[i].label, data, n, newline != NULL,
                                        l->source[i].read_ns};
        rc = l->labels->record(l->labels->arg, &line, out);
        data += used;
        len -= used;
    }
    return rc;
}

/* Let data of source i out, whatever lines it has. */
static int emit(struct lines *l, int i, const char *data, size_t len, struct lines_buffer *out)
{
    struct source *s = &l->source[i];
    if (l->labels->record)
        return emit_records(l, i, data, len, out);
    while (len) {
        bool returns = l->returns && s->label != LINES_RAW;
        const char *newline = s->label >= 0 || returns ? memchr(data, '\n', len) : NULL;
        size_t n = newline ? (size_t)(newline - data) + 1 : len;
        int rc = begin(l, i, out);
        if (!rc)
            rc = lines_append(out, data, newline ? n - 1 : n);
        if (!rc && newline)
            rc = returns ? append_newline(l, out) : lines_append(out, "\n", 1);
        if (rc)
            return rc;
        s->middle = data[n - 1] != '\n';
        l->open = s->middle ? i : -1;
        data += n;
        len -= n;
    }
    return 0;
}

static int emit_held(struct lines *l, int i, struct lines_buffer *out)
{
    struct lines_buffer *held = &l->source[i].held;
    int rc = emit(l, i, held->data, held->len, out);
    held->len = 0;
    if (held->size > KEPT_SIZE) {
        free(held->data);
        *held = (struct lines_buffer){0};
    }
    return rc;
}

static int hold(struct lines *l, int i, const char *data, size_t len, uint64_t now_ns)
{
    struct source *s = &l->source[i];
    if (!len)
        return 0;
    if (!s->held.len) {
        s->since_ns = now_ns;
        if (now_ns + LINES_WAIT_NS < l->next_ns)
            l->next_ns = now_ns + LINES_WAIT_NS;
    }
    return lines_append(&s->held, data, len);
}

/* When the held line of source i is to come out. */
static uint64_t due_ns(const struct lines *l, int i)
{
    uint64_t since_ns = l->source[i].since_ns;
    if (l->source[i].is_coming)
        return UINT64_MAX;
    uint64_t others_ns = i == l->recent ? l->other_ns : l->recent_ns;
    uint64_t quiet_ns = (others_ns > since_ns ? others_ns : since_ns) + LINES_WAIT_NS;
    uint64_t most_ns = since_ns + LINES_BUSY_NS;
    if (l->labels->record)
        return most_ns;
    return quiet_ns < most_ns ? quiet_ns : most_ns;
}

static void note_source(struct lines *l, int i, uint64_t now_ns)
{
    if (i != l->recent) {
        l->other_ns = l->recent_ns;
        l->recent = i;
    }
    l->recent_ns = now_ns;
}

int lines_put(struct lines *l, int source, const char *data, size_t len, uint64_t now_ns,
              struct lines_buffer *out)
{
    struct source *s = &l->source[source];
    const char *newline = memrchr(data, '\n', len);
    size_t whole = newline ? (size_t)(newline - data) + 1 : 0;
    bool alone = (s->label == LINES_PLAIN && l->live == 1) || s->label == LINES_RAW;
    bool follows = !newline && l->open == source;
    if (alone || follows || (len - whole) + (whole ? 0 : s->held.len) >= LINES_HOLD)
        whole = len;
    note_source(l, source, now_ns);
    if (!whole)
        return hold(l, source, data, len, now_ns);
    bool joins = l->labels->record && s->held.len; /* a record has the whole line */
    int rc = joins ? lines_append(&s->held, data, whole) : 0;
    if (!rc)
        rc = emit_held(l, source, out);
    if (!rc && !joins)
        rc = emit(l, source, data, whole, out);
    return rc ? rc : hold(l, source, data + whole, len - whole, now_ns);
}

void lines_stamp(struct lines *l, int source, uint64_t read_ns)
{
    l->source[source].read_ns = read_ns;
}

void lines_expect(struct lines *l, int source, bool is_coming, uint64_t now_ns)
{
    struct source *s = &l->source[source];
    bool begins = s->is_coming && !is_coming && s->held.len;
    s->is_coming = is_coming;
    if (!begins)
        return;
    s->since_ns = now_ns;
    if (now_ns + LINES_WAIT_NS < l->next_ns)
        l->next_ns = now_ns + LINES_WAIT_NS;
}

int lines_tick(struct lines *l, uint64_t now_ns, struct lines_buffer *out)
{
    if (now_ns < l->next_ns)
        return 0;
    l->next_ns = UINT64_MAX;
    int rc = 0;
    for (int i = 0; i < l->count; i++) {
        struct source *s = &l->source[i];
        if (!s->held.len)
            continue;
        uint64_t at_ns = due_ns(l, i);
        int failed = at_ns <= now_ns ? emit_held(l, i, out) : 0;
        if (at_ns > now_ns && at_ns < l->next_ns)
            l->next_ns = at_ns;
        rc = rc ? rc : failed;
    }
    return rc;
}

void lines_restart(struct lines *l, uint64_t now_ns)
{
    for (int i = 0; i < l->count; i++)
        if (l->source[i].held.len)
            l->source[i].since_ns = now_ns;
}

uint64_t lines_deadline(const struct lines *l)
{
    return l->next_ns;
}

int lines_end(struct lines *l, int source, struct lines_buffer *out)
{
    struct source *s = &l->source[source];
    if (s->ended)
        return 0;
    s->ended = true;
    l->live -= s->label != LINES_OWN;
    return emit_held(l, source, out);
}

bool lines_is_open(const struct lines *l)
{
    return l->open >= 0;
}
