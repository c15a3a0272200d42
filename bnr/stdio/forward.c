/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The standard streams of a job; see forward.h. This file takes what the hub brings, and knows when
 * all is out; output.c writes, input.c reads stdin.
 */
#include "bnr/stdio/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/core/stream/hub.h"
#include "bnr/core/stream/lines.h"
#include "bnr/io/amend.h"
#include "bnr/stdio/input.h"
#include "bnr/stdio/output.h"
#include "bnr/stdio/spool.h"

enum {
    INPUT = 1, /* the ids of our ends: stdin, */
    READER     /* and the ranks' output to 1, to 2 */
};

/* The output of a rank to 1 or 2. */
struct stream {
    struct output *output;
    int source;                 /* of the output's assembler */
    bool has_ended;
    struct hub_message pending; /* for when the output has room; kind 0: nothing */
};

struct stdio {
    uv_loop_t *loop;
    struct stdio_config cfg;
    struct output *output[2]; /* one and the same where 1 and 2 are the same file */
    bool is_told[2];          /* that its reader has gone */
    struct input input;
    struct stream *streams; /* by rank, and two of each */
    uv_timer_t done;        /* defers drained() to the loop */
    int open;               /* streams that have not ended */
    int own;                /* source of mpiexec's own lines in output[1] */
    bool has_input, inherit;
    bool begun;
    struct spool *spool; /* NULL: there are no files */
    bool drained;
    bool dead;
    bool has_lost; /* bytes, which has been said */
};

void stdio_guard(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
}

static void on_done_closed(uv_handle_t *handle)
{
    struct stdio *s = handle->data;
    free(s->streams);
    free(s);
}

static void on_done(uv_timer_t *timer)
{
    struct stdio *s = timer->data;
    bool is_idle = output_is_idle(s->output[0]) && output_is_idle(s->output[1]);
    if (s->drained || !is_idle || !spool_is_idle(s->spool))
        return;
    s->drained = true;
    s->cfg.drained(s->cfg.arg);
}

static void check_drained(struct stdio *s)
{
    if (s->begun && !s->open && !s->drained && !s->dead)
        uv_timer_start(&s->done, on_done, 0, 0);
}

/* ---- from the hub ---- */

/* Take the hub's word for it: more may come from it when this has gone out, and is in its file. */
static void say_taken(struct stdio *s, struct stream *t)
{
    struct hub_message m = t->pending;
    int i = (int)(t - s->streams);
    if (!m.kind || (output_is_full(t->output) && !(m.flags & HUB_EOF)) ||
        spool_has(s->spool, i / 2, i % 2 + 1))
        return;
    t->pending.kind = 0;
    s->cfg.say(s->cfg.arg, &m);
}

bool stdio_is_unread(const struct stdio *s, int fd)
{
    return output_is_unread(s->output[s->cfg.records_fd ? 0 : fd - 1]);
}

/* An output has written something: its streams may go on. */
static void on_moved(void *arg)
{
    struct stdio *s = arg;
    for (int fd = 1; s->cfg.ends_unread && fd <= 2; fd++) {
        if (s->is_told[fd - 1] || !stdio_is_unread(s, fd))
            continue;
        s->is_told[fd - 1] = true;
        s->cfg.unread(s->cfg.arg, fd);
    }
    for (int i = 0; s->open && i < 2 * s->cfg.ranks; i++)
        say_taken(s, &s->streams[i]);
    check_drained(s);
}

/* ---- files ---- */

static void on_file_written(void *arg, int rank, int fd)
{
    struct stdio *s = arg;
    if (s->dead)
        return;
    say_taken(s, &s->streams[2 * rank + fd - 1]);
    check_drained(s);
}

static void on_file_failed(void *arg, int rank, int fd, int rc)
{
    struct stdio *s = arg;
    s->has_lost = true;
    s->cfg.file_failed(s->cfg.arg, rank, fd, rc);
}

/* Put bytes into the file of their stream, where mpiexec writes that. Returns whether they go there
 * alone. */
static bool put_file(struct stdio *s, const struct hub_message *m)
{
    const struct outfile *files = s->cfg.files;
    bool is_far = s->cfg.is_elsewhere && s->cfg.is_elsewhere(s->cfg.arg, m->rank);
    if (!s->spool || !files->pattern[m->tag - 1] || (!files->is_copied && !is_far))
        return false;
    int rc = spool_put(s->spool, m->rank, m->tag, m->data, m->len);
    if (rc)
        on_file_failed(s, m->rank, m->tag, rc);
    return !files->is_copied;
}

static void take_fragment(struct stdio *s, const struct hub_message *m)
{
    struct stream *t = &s->streams[2 * m->rank + m->tag - 1];
    output_stamp(t->output, t->source, m->head);
    if (m->len && !put_file(s, m))
        output_put(t->output, t->source, (const char *)m->data, m->len);
    output_expect(t->output, t->source, m->flags & HUB_OPEN);
    t->pending = (struct hub_message){.kind = HUB_TAKEN,
                                      .id = m->id,
                                      .stream = m->stream,
                                      .off = m->off + m->len,
                                      .flags = m->flags & HUB_EOF};
    if (m->flags & HUB_BROKEN && !t->has_ended) {
        s->has_lost = true;
        stdio_say(s, "mpiexec: what rank %d writes to %s cannot be read any more: the rest is lost\n",
                  m->rank, m->tag == 1 ? "stdout" : "stderr");
    }
    if (m->flags & HUB_EOF && !t->has_ended) {
        t->has_ended = true;
        output_end(t->output, t->source);
        s->open--;
        check_drained(s);
    }
    say_taken(s, t);
}

void stdio_hear(struct stdio *s, const struct hub_message *m)
{
    if (s->dead)
        return;
    if (m->id == INPUT)
        input_hear(&s->input, m);
    else if (m->kind == HUB_FRAGMENT)
        take_fragment(s, m);
}

/* stdin has ended too early. */
static void on_torn_input(void *owner)
{
    struct stdio *s = owner;
    s->has_lost = true;
    stdio_say(s, "mpiexec: stdin cannot be read to its end: who reads it gets a part alone\n");
}

/* ---- beginning ---- */

static bool same_file(int a, int b)
{
    struct stat sa, sb;
    return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* The labels of count sources, which begin with first: ranks' stdout, then their stderr. */
static void set_labels(const struct stdio *s, int *label_of, int count, int first)
{
    for (int i = 0; i < count; i++) {
        int label = s->cfg.labels ? first + i : (first + i) % s->cfg.ranks;
        bool is_raw = s->cfg.has_terminal && s->cfg.has_terminal(s->cfg.arg, label % s->cfg.ranks);
        label_of[i] = is_raw ? LINES_RAW : s->cfg.label ? label : LINES_PLAIN;
    }
}

/* Two outputs: the ranks' stderr and mpiexec's own lines go to the second. If the first has a file
 * of its own, all of the ranks' output goes to it; if both are the same file, all goes to the
 * second. */
static int create_outputs(struct stdio *s)
{
    int n = s->cfg.ranks, fd = s->cfg.records_fd;
    bool one = !fd && same_file(1, 2);
    s->own = fd ? 0 : one ? 2 * n : n;
    int *label_of = malloc((2 * (size_t)n + 1) * sizeof(*label_of));
    if (!label_of)
        return -ENOMEM;
    set_labels(s, label_of, s->own, one ? 0 : n);
    label_of[s->own] = LINES_OWN;
    int rc = output_create(&s->output[1], s->loop, 2, s->own + 1, label_of, on_moved, s);
    if (!rc && one)
        s->output[0] = s->output[1];
    else if (!rc) {
        set_labels(s, label_of, fd ? 2 * n : n, 0);
        rc = output_create(&s->output[0], s->loop, fd ? fd : 1, fd ? 2 * n : n, label_of, on_moved, s);
    }
    free(label_of);
    for (int i = 0; !rc && s->cfg.labels && i < (fd ? 1 : 2); i++)
        output_set_labels(s->output[i], s->cfg.labels);
    for (int i = 0; i < 2 * n; i++)
        s->streams[i] = (struct stream){.output = s->output[fd ? 0 : i % 2],
                                        .source = fd || one ? i % 2 * n + i / 2 : i / 2};
    return rc;
}

/* A stdin that is no terminal and has one reader, here, is that rank's. */
static void choose_input(struct stdio *s)
{
    const char *list = s->cfg.stdin_to;
    int count = 0, last = 0;
    for (int r = 0; list && r < s->cfg.ranks; r++)
        if (amend_lists(list, r)) {
            count++;
            last = r;
        }
    bool is_far = s->cfg.is_elsewhere && s->cfg.is_elsewhere(s->cfg.arg, last);
    bool has_terminal = s->cfg.has_terminal && s->cfg.has_terminal(s->cfg.arg, last);
    s->inherit = count == 1 && !isatty(0) && !is_far && !has_terminal;
    s->has_input = count && !s->inherit;
}

/* Subscribe to what all ranks write. */
static void read_all(struct stdio *s)
{
    for (int i = 0; i < 2; i++)
        s->cfg.say(s->cfg.arg, &(struct hub_message){.kind = HUB_SUBSCRIBE,
                                                     .id = READER + (uint32_t)i,
                                                     .rank = HUB_ANY,
                                                     .tag = 1 + i,
                                                     .off = HUB_FROM_OLDEST,
                                                     .flags = HUB_OPEN});
}

int stdio_create(struct stdio **s, uv_loop_t *loop, const struct stdio_config *cfg)
{
    struct stdio *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;
    made->loop = loop;
    made->cfg = *cfg;
    made->open = 2 * cfg->ranks;
    made->input = (struct input){
        .say = cfg->say, .arg = cfg->arg, .torn = on_torn_input, .owner = made};
    made->streams = calloc(2 * (size_t)cfg->ranks, sizeof(*made->streams));
    int rc = made->streams ? uv_timer_init(loop, &made->done) : -ENOMEM;
    if (rc) {
        free(made->streams);
        free(made);
        return rc;
    }
    made->done.data = made;
    const struct spool_hooks hooks = {on_file_written, on_file_failed, made};
    rc = create_outputs(made);
    if (!rc && (cfg->files->pattern[0] || cfg->files->pattern[1]))
        rc = spool_create(&made->spool, loop, cfg->files, &hooks);
    if (rc) {
        stdio_destroy(made);
        return rc;
    }
    choose_input(made);
    signal(SIGPIPE, SIG_IGN);
    *s = made;
    read_all(made);
    return 0;
}

enum stdio_input stdio_input_of(const struct stdio *s, int rank)
{
    if (!s->cfg.stdin_to || !amend_lists(s->cfg.stdin_to, rank))
        return STDIO_INPUT_NULL;
    return s->inherit ? STDIO_INPUT_INHERIT : STDIO_INPUT_PIPE;
}

int stdio_begin(struct stdio *s)
{
    s->begun = true;
    check_drained(s);
    return s->has_input ? input_start(&s->input, s->loop, s->cfg.stdin_to, s->cfg.ranks, INPUT) : 0;
}

void stdio_say(struct stdio *s, const char *fmt, ...)
{
    char *text;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    if (s->drained)
        output_say(s->output[1], s->own, text, (size_t)n);
    else
        output_put(s->output[1], s->own, text, (size_t)n);
    free(text);
}

void stdio_set_raw(struct stdio *s, bool is_raw)
{
    output_set_returns(s->output[0], is_raw);
    output_set_returns(s->output[1], is_raw);
}

void stdio_end(struct stdio *s)
{
    s->drained = true;
}

bool stdio_is_idle(const struct stdio *s)
{
    return output_is_idle(s->output[1]);
}

bool stdio_has_lost(const struct stdio *s)
{
    return s->has_lost;
}

int stdio_error(const struct stdio *s)
{
    int rc = output_error(s->output[0]);
    return rc ? rc : output_error(s->output[1]);
}

void stdio_destroy(struct stdio *s)
{
    if (!s)
        return;
    s->dead = true;
    input_stop(&s->input);
    spool_destroy(s->spool);
    if (s->output[0] != s->output[1])
        output_destroy(s->output[0]);
    output_destroy(s->output[1]);
    uv_close((uv_handle_t *)&s->done, on_done_closed);
}
