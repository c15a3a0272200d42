/* SPDX-License-Identifier: BSD-3-Clause */

/* Writing one output without ever blocking the loop; see output.h. */
#include "bnr/stdio/output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bnr/core/stream/lines.h"
#include "bnr/stdio/writer.h"
#include "os/clock.h"

enum {
    FULL = 1 << 20
}; /* bytes that wait before the ranks' pipes are left alone */

struct output {
    uv_loop_t *loop;
    struct writer *writer;
    uv_timer_t timer;
    struct lines *lines;
    struct lines_buffer waiting; /* comes next */
    struct lines_buffer busy;    /* belongs to the writer while writing */
    void (*moved)(void *arg);
    void *arg;
    int fd;
    int error;
    bool writing;
    bool broken;
    bool unread; /* its reader has gone */
    bool timing;
    bool held_up; /* output_is_full() has said so since the last write */
    bool dead;    /* destroy was called */
    bool timer_open;
    bool read_since; /* the timer has fired, and the loop goes round once more */
};

static void note(struct output *o, int rc)
{
    if (!rc)
        return;
    o->broken = true;
    o->unread |= rc == -EPIPE;
    if (rc != -EPIPE && !o->error)
        o->error = rc;
}

static void release(struct output *o)
{
    if (o->writing || o->timer_open)
        return;
    writer_destroy(o->writer);
    lines_destroy(o->lines);
    free(o->waiting.data);
    free(o->busy.data);
    free(o);
}

static void start(struct output *o);
static void arm(struct output *o);

static void on_written(void *arg, int rc)
{
    struct output *o = arg;
    o->writing = false;
    o->busy.len = 0;
    if (o->dead) {
        release(o);
        return;
    }
    note(o, rc);
    if (o->held_up)
        lines_restart(o->lines, os_now_ns());
    o->held_up = false;
    start(o);
    arm(o);
    o->moved(o->arg);
}

static void start(struct output *o)
{
    if (o->broken)
        o->waiting.len = 0;
    if (o->writing || !o->waiting.len)
        return;
    struct lines_buffer swap = o->busy;
    o->busy = o->waiting;
    o->waiting = swap;
    o->writing = true;
    writer_start(o->writer, o->busy.data, o->busy.len);
}

static void on_timer(uv_timer_t *timer);

/* Have the timer run when an unfinished line is due; a full output waits for its write first. */
static void arm(struct output *o)
{
    uint64_t due_ns = lines_deadline(o->lines);
    if (o->timing || o->dead || due_ns == UINT64_MAX || output_is_full(o))
        return;
    uint64_t now_ns = os_now_ns();
    uint64_t ms = due_ns > now_ns ? (due_ns - now_ns) / 1000000u + 1 : 1;
    uv_update_time(o->loop);
    o->timing = !uv_timer_start(&o->timer, on_timer, ms, 0);
}

/* A line is due. The timer may be late, and the rest of the line in its pipe by now: the
 * loop reads once more before the line is let out. */
static void on_timer(uv_timer_t *timer)
{
    struct output *o = timer->data;
    if (!o->read_since) {
        o->read_since = true;
        uv_timer_start(&o->timer, on_timer, 1, 0);
        return;
    }
    o->read_since = false;
    o->timing = false;
    if (!output_is_full(o))
        note(o, lines_tick(o->lines, os_now_ns(), &o->waiting));
    start(o);
    arm(o);
}

int output_create(struct output **o, uv_loop_t *loop, int fd, int sources, const int *label_of,
                  void (*moved)(void *arg), void *arg)
{
    struct output *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;
    int rc = lines_create(&made->lines, sources, label_of);
    if (!rc)
        rc = writer_create(&made->writer, loop, fd, on_written, made);
    if (!rc)
        rc = uv_timer_init(loop, &made->timer);
    if (rc) {
        writer_destroy(made->writer);
        lines_destroy(made->lines);
        free(made);
        return rc;
    }
    made->timer_open = true;
    made->loop = loop;
    made->timer.data = made;
    made->fd = fd;
    made->moved = moved;
    made->arg = arg;
    *o = made;
    return 0;
}

void output_set_labels(struct output *o, const struct lines_labels *labels)
{
    lines_set_labels(o->lines, labels);
}

void output_set_returns(struct output *o, bool is_on)
{
    lines_set_returns(o->lines, is_on && isatty(o->fd));
}

void output_put(struct output *o, int source, const char *data, size_t len)
{
    if (o->broken)
        return;
    note(o, lines_put(o->lines, source, data, len, os_now_ns(), &o->waiting));
    start(o);
    arm(o);
}

void output_stamp(struct output *o, int source, uint64_t read_ns)
{
    lines_stamp(o->lines, source, read_ns);
}

void output_expect(struct output *o, int source, bool is_coming)
{
    lines_expect(o->lines, source, is_coming, os_now_ns());
    arm(o);
}

void output_end(struct output *o, int source)
{
    note(o, lines_end(o->lines, source, &o->waiting));
    start(o);
}

bool output_is_full(struct output *o)
{
    o->held_up |= o->waiting.len >= FULL;
    return o->waiting.len >= FULL;
}

bool output_is_idle(const struct output *o)
{
    return !o->writing && !o->waiting.len;
}

int output_error(const struct output *o)
{
    return o->error;
}

bool output_is_unread(const struct output *o)
{
    return o->unread;
}

void output_say(struct output *o, int source, const char *data, size_t len)
{
    if (o->broken)
        return;
    note(o, lines_put(o->lines, source, data, len, os_now_ns(), &o->waiting));
    note(o, writer_write_now(o->writer, o->waiting.data, o->waiting.len));
    o->waiting.len = 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct output *o = handle->data;
    o->timer_open = false;
    release(o);
}

void output_destroy(struct output *o)
{
    if (!o)
        return;
    o->dead = true;
    uv_close((uv_handle_t *)&o->timer, on_closed);
}
