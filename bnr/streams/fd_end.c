/* SPDX-License-Identifier: BSD-3-Clause */

/* A descriptor as an end of a stream; see fd_end.h. */
#include "bnr/streams/fd_end.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bnr/io/fd_port.h"
#include "bnr/io/pty.h"
#include "os/clock.h"

enum {
    READ_LEN = HUB_DATA_MAX,
    GRACE_MS = 200,      /* how long a dead process's pipe may be held by others */
    QUIET_MS = 20,       /* a line that is not ended for so long may not be soon */
    BACKGROUND_MS = 100, /* between looks whether the terminal is ours again */
    PTY_MAX = 1 << 16,   /* more than a terminal keeps of its input */
};

/* A fragment that waits to be written. */
struct fd_fragment {
    struct fd_fragment *next;
    uint64_t off;
    uint32_t stream, len, at;
    bool is_end;
    uint8_t bytes[];
};

struct fd_end {
    struct fd_end_hooks hooks;
    struct fd_port *port;
    uv_timer_t timer; /* of the grace, or of a try that nobody has called for */
    uv_timer_t quiet; /* of an open line */
    uint32_t id;
    int handles;
    enum fd_end_kind kind;
    bool is_over;
    bool wants_flush, wants_close; /* as soon as the readable bytes are known */
    bool is_flushing, has_ended; /* a flush is being answered; it closes with that */
    bool is_torn;                /* it could not be read to its end */
    uint64_t sent, granted;      /* of a writer */
    bool is_last;                /* only so many bytes are still read: */
    uint64_t left;
    uint64_t flush, flush_at;          /* its number, and when so much is sent; 0: none */
    struct fd_fragment *first, **last; /* of a reader */
};

static bool is_writer(const struct fd_end *end)
{
    return end->kind == FD_END_WRITER || end->kind == FD_END_LINES;
}

static void on_closed(uv_handle_t *handle)
{
    struct fd_end *end = handle->data;
    if (--end->handles)
        return;
    while (end->first) {
        struct fd_fragment *f = end->first;
        end->first = f->next;
        free(f);
    }
    free(end);
}

void fd_end_destroy(struct fd_end *end)
{
    if (end->is_over)
        return;
    end->is_over = true;
    fd_port_close(end->port);
    uv_close((uv_handle_t *)&end->timer, on_closed);
    uv_close((uv_handle_t *)&end->quiet, on_closed);
}

static void finish(struct fd_end *end, uint8_t flags)
{
    const struct hub_message m = {.kind = HUB_CLOSE, .id = end->id, .flags = flags};
    struct fd_end_hooks hooks = end->hooks;
    if (end->is_over)
        return;
    fd_end_destroy(end);
    hooks.say(hooks.arg, &m);
    hooks.over(hooks.arg, m.id);
}

/* ---- waiting ---- */

static void move(struct fd_end *end);

static void on_ready(void *arg)
{
    move(arg);
}

/* It is time to try again, without having been told by the port. */
static void on_turn(uv_timer_t *timer)
{
    move(timer->data);
}

/* ---- a writer: from the descriptor to the hub ---- */

static void say_flush(struct fd_end *end)
{
    const struct hub_message m = {.kind = HUB_FLUSH, .id = end->id, .off = end->flush};
    if (!end->flush_at || end->sent + 1 < end->flush_at)
        return;
    end->flush_at = 0;
    end->is_flushing = true;
    end->hooks.say(end->hooks.arg, &m);
}

/* No more will be read. A flush under way is answered first. */
static void end_input(struct fd_end *end)
{
    if (end->flush_at || end->wants_flush)
        end->flush_at = 1;
    end->wants_flush = false;
    say_flush(end);
    end->has_ended = true;
    fd_port_want(end->port, false);
    if (!end->is_flushing)
        finish(end, end->is_torn ? HUB_BROKEN : 0);
}

/* Nothing has come for a while: the line is not about to be ended. Bytes that the hub has no room for
 * stay in the pipe, and say nothing. */
static void on_quiet(uv_timer_t *timer)
{
    struct fd_end *end = timer->data;
    const struct hub_message m = {.kind = HUB_DATA, .id = end->id, .head = os_real_ns()};
    if (end->sent == end->granted || fd_port_readable(end->port))
        uv_timer_start(timer, on_quiet, QUIET_MS, 0);
    else
        end->hooks.say(end->hooks.arg, &m);
}

/* Whether bytes stop within a line. */
static bool is_open(struct fd_end *end, const uint8_t *bytes, size_t len)
{
    bool is_open = end->kind == FD_END_LINES && bytes[len - 1] != '\n';
    if (is_open)
        uv_timer_start(&end->quiet, on_quiet, QUIET_MS, 0);
    else
        uv_timer_stop(&end->quiet);
    return is_open;
}

/* Whether bytes are wanted now. In the background of its terminal it tries again later. */
static bool is_wanted(struct fd_end *end, uint64_t room)
{
    bool is_away = fd_port_is_in_background(end->port);
    fd_port_want(end->port, room > 0 && !is_away);
    if (room && is_away)
        uv_timer_start(&end->timer, on_turn, BACKGROUND_MS, 0);
    return room && !is_away;
}

/* The control side of a terminal has no end but this error, when the other side has closed. */
static bool is_end(const struct fd_end *end, ssize_t n)
{
    return !n || n == -EAGAIN || (n == -EIO && isatty(fd_port_fd(end->port)));
}

/* Read once. Returns false when there is nothing more now, or no room. */
static bool take(struct fd_end *end)
{
    static uint8_t bytes[READ_LEN]; /* mpiexec runs with a small stack, too */
    uint64_t room = end->granted - end->sent;
    if (end->is_last && end->left < room)
        room = end->left;
    if (end->has_ended)
        return false;
    if (end->is_last && !end->left) {
        end_input(end);
        return false;
    }
    if (!is_wanted(end, room))
        return false;
    ssize_t n = fd_port_read(end->port, bytes, room < READ_LEN ? (size_t)room : READ_LEN);
    if (n == -EINPROGRESS || (n == -EAGAIN && !end->is_last))
        return false;
    if (n <= 0) {
        end->is_torn = !is_end(end, n);
        end_input(end);
        return false;
    }
    const struct hub_message m = {.kind = HUB_DATA,
                                  .flags = is_open(end, bytes, (size_t)n) ? HUB_OPEN : 0,
                                  .id = end->id,
                                  .off = end->granted,
                                  .head = end->kind == FD_END_LINES ? os_real_ns() : 0,
                                  .data = bytes,
                                  .len = (uint32_t)n};
    end->sent += (uint64_t)n;
    end->left -= end->is_last ? (uint64_t)n : 0;
    end->hooks.say(end->hooks.arg, &m);
    say_flush(end);
    return !end->is_over;
}

/* ---- a reader: from the hub to the descriptor ---- */

static void keep(struct fd_end *end, const struct hub_message *m)
{
    struct fd_fragment *f = malloc(sizeof(*f) + m->len);
    if (!f) {
        finish(end, HUB_BROKEN);
        return;
    }
    *f = (struct fd_fragment){
        .off = m->off, .stream = m->stream, .len = m->len, .is_end = m->flags & HUB_EOF};
    for (uint32_t i = 0; i < m->len; i++)
        f->bytes[i] = m->data[i];
    *end->last = f;
    end->last = &f->next;
}

/* The first fragment is written, or the end of its stream has come. */
static void drop_first(struct fd_end *end)
{
    struct fd_fragment *f = end->first;
    const struct hub_message m = {.kind = HUB_TAKEN,
                                  .id = end->id,
                                  .stream = f->stream,
                                  .off = f->off + f->len,
                                  .head = f->next ? 0 : f->off + f->len,
                                  .flags = f->is_end ? HUB_EOF : 0};
    end->first = f->next;
    if (!end->first)
        end->last = &end->first;
    bool is_over = f->is_end && end->kind != FD_END_READER_OF_MANY;
    free(f);
    if (is_over)
        pty_end_input(fd_port_fd(end->port));
    end->hooks.say(end->hooks.arg, &m);
    if (is_over)
        finish(end, 0);
}

/* Write once. Returns false when nothing more can be written now. */
static bool give(struct fd_end *end)
{
    struct fd_fragment *f = end->first;
    fd_port_want(end->port, f != NULL);
    if (!f)
        return false;
    ssize_t n = f->len ? fd_port_write(end->port, f->bytes + f->at, f->len - f->at) : 0;
    if (n == -EAGAIN || n == -EINPROGRESS)
        return false;
    if (n < 0) {
        finish(end, HUB_BROKEN);
        return false;
    }
    f->at += (uint32_t)n;
    if (f->at == f->len)
        drop_first(end);
    return !end->is_over;
}

/* ---- both ---- */

/* Flush the bytes readable now, once their number is known. */
static void set_flush(struct fd_end *end)
{
    if (!end->wants_flush || fd_port_is_busy(end->port))
        return;
    end->wants_flush = false;
    end->flush_at = end->sent + fd_port_readable(end->port) + 1;
    say_flush(end);
}

/* How many bytes are still to be read. A terminal tells only of those that it has processed: there
 * the bytes readable at once count. */
static uint64_t last_bytes(const struct fd_end *end)
{
    unsigned number;
    return ioctl(fd_port_fd(end->port), TIOCGPTN, &number) ? fd_port_readable(end->port) : PTY_MAX;
}

/* Close behind the bytes readable now, likewise. */
static void set_last(struct fd_end *end)
{
    if (!end->wants_close || fd_port_is_busy(end->port))
        return;
    end->wants_close = false;
    end->is_last = true;
    end->left = fd_port_is_file(end->port) ? 0 : last_bytes(end);
}

static void move(struct fd_end *end)
{
    set_flush(end);
    set_last(end);
    for (int i = 0; i < 4 || end->is_last; i++) /* then others come; the last bytes are few */
        if (!(is_writer(end) ? take(end) : give(end)))
            return;
}

void fd_end_hear(struct fd_end *end, const struct hub_message *m)
{
    if (end->is_over)
        return;
    if (m->kind == HUB_GRANT)
        end->granted = m->off;
    else if (m->kind == HUB_FRAGMENT)
        keep(end, m);
    else if (m->kind == HUB_FLUSHED)
        end->is_flushing = false;
    if (m->kind == HUB_SHUT || (end->has_ended && !end->is_flushing))
        finish(end, end->is_torn ? HUB_BROKEN : 0);
    if (end->is_over || end->has_ended)
        return;
    fd_port_want(end->port, true);
    if (end->is_last) /* poll is silent where nothing is left, and others hold the descriptor */
        uv_timer_start(&end->timer, on_turn, 0, 0);
}

void fd_end_close(struct fd_end *end)
{
    if (!is_writer(end)) {
        finish(end, 0);
        return;
    }
    if (end->has_ended) /* it closes once its flush is answered */
        return;
    if (fd_port_is_regular(end->port)) { /* it has an end, and is read to that */
        fd_port_want(end->port, true);
        return;
    }
    end->wants_close = true;
    move(end);
}

static void on_grace(uv_timer_t *timer)
{
    fd_end_close(timer->data);
}

void fd_end_orphan(struct fd_end *end)
{
    if (!is_writer(end))
        finish(end, HUB_BROKEN);
    else if (fd_port_is_file(end->port))
        fd_end_close(end);
    else
        uv_timer_start(&end->timer, on_grace, GRACE_MS, 0);
}

void fd_end_flush(struct fd_end *end, uint64_t number)
{
    end->flush = number;
    end->wants_flush = true;
    set_flush(end);
}

int fd_end_create(struct fd_end **made, uv_loop_t *loop, uint32_t id, int fd, enum fd_end_kind kind,
                  const struct fd_end_hooks *hooks)
{
    struct fd_end *end = calloc(1, sizeof(*end));
    if (!end) {
        close(fd);
        return -ENOMEM;
    }
    end->kind = kind;
    const struct fd_port_spec spec = {.fd = fd,
                                      .writes = !is_writer(end),
                                      .is_own = kind == FD_END_LINES || kind == FD_END_FEED,
                                      .ready = on_ready,
                                      .arg = end};
    int rc = fd_port_open(&end->port, loop, &spec);
    if (rc) {
        free(end);
        return rc;
    }
    uv_timer_init(loop, &end->timer);
    uv_timer_init(loop, &end->quiet);
    end->hooks = *hooks;
    end->timer.data = end->quiet.data = end;
    end->handles = 2;
    end->id = id;
    end->last = &end->first;
    *made = end;
    return 0;
}
