/* SPDX-License-Identifier: BSD-3-Clause */

/* A descriptor as an end of a stream; see fd_end.h. */
#include "bnr/streams/fd_end.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "bnr/io/pty.h"
#include "os/clock.h"

enum {
    READ_LEN = HUB_DATA_MAX,
    WRITE_LEN = 1 << 12, /* what a pipe that is ready takes without blocking */
    GRACE_MS = 200,      /* how long a dead process's pipe may be held by others */
    QUIET_MS = 20,       /* a line that is not ended for so long may not be soon */
    BACKGROUND_MS = 100, /* between looks whether the terminal is ours again */
    PTY_MAX = 1 << 16,   /* more than a terminal keeps of what was written to it */
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
    uv_poll_t poll;
    uv_timer_t timer; /* of the grace, or where the descriptor cannot be polled */
    uv_timer_t quiet; /* of an open line */
    uint32_t id;
    int fd, handles;
    enum fd_end_kind kind;
    bool is_file, is_terminal, is_polling, is_over;
    bool is_flushing, has_ended; /* a flush is being answered; it closes with that */
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
    if (!end->is_file) {
        uv_poll_stop(&end->poll);
        uv_close((uv_handle_t *)&end->poll, on_closed);
    }
    close(end->fd);
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

static void on_ready(uv_poll_t *poll, int status, int events);
static void move(struct fd_end *end);

/* It is time to try again, without having been told by poll. */
static void on_turn(uv_timer_t *timer)
{
    struct fd_end *end = timer->data;
    end->is_polling = false;
    move(end);
}

/* Hear when the descriptor is ready. One that cannot be polled always is. */
static void set_polling(struct fd_end *end, bool is_wanted)
{
    if (end->is_polling == is_wanted || end->is_over)
        return;
    end->is_polling = is_wanted;
    if (end->is_file && is_wanted)
        uv_timer_start(&end->timer, on_turn, 0, 0);
    else if (end->is_file)
        uv_timer_stop(&end->timer);
    else if (is_wanted)
        (void)uv_poll_start(&end->poll, is_writer(end) ? UV_READABLE : UV_WRITABLE,
                            on_ready);
    else
        uv_poll_stop(&end->poll);
}

/* ---- a writer: from the descriptor to the hub ---- */

/* Bytes that can be read now. */
static uint64_t readable(const struct fd_end *end)
{
    int bytes = 0;
    return !ioctl(end->fd, FIONREAD, &bytes) && bytes > 0 ? (uint64_t)bytes : 0;
}

/* Where reads and writes cannot be told not to wait: whether they would. */
static bool is_ready(const struct fd_end *end, short events)
{
    struct pollfd p = {.fd = end->fd, .events = events};
    return poll(&p, 1, 0) > 0;
}

static bool is_in_background(const struct fd_end *end)
{
    pid_t front = end->is_terminal ? tcgetpgrp(end->fd) : -1;
    return front >= 0 && front != getpgrp();
}

/* Read from a terminal: in the background that fails with EIO, and stops nobody. */
static ssize_t read_terminal(const struct fd_end *end, void *at, size_t len)
{
    sigset_t stop, old;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &stop, &old);
    ssize_t n = read(end->fd, at, len);
    int error = n < 0 && errno == EIO && is_in_background(end) ? EAGAIN : errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return n;
}

static ssize_t read_some(const struct fd_end *end, void *at, size_t len)
{
    struct iovec part = {at, len};
    ssize_t n = preadv2(end->fd, &part, 1, -1, end->is_file ? 0 : RWF_NOWAIT);
    if (n >= 0 || errno != EOPNOTSUPP)
        return n;
    if (is_ready(end, POLLIN))
        return end->is_terminal ? read_terminal(end, at, len) : read(end->fd, at, len);
    errno = EAGAIN;
    return -1;
}

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
    if (end->flush_at)
        end->flush_at = 1;
    say_flush(end);
    end->has_ended = true;
    set_polling(end, false);
    if (!end->is_flushing)
        finish(end, 0);
}

/* Nothing has come for a while: the line is not about to be ended. Bytes that the hub has no room for
 * stay in the pipe, and say nothing. */
static void on_quiet(uv_timer_t *timer)
{
    struct fd_end *end = timer->data;
    const struct hub_message m = {.kind = HUB_DATA, .id = end->id, .head = os_real_ns()};
    if (end->sent == end->granted || readable(end))
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
    set_polling(end, room > 0 && !is_in_background(end));
    if (room && !end->is_polling)
        uv_timer_start(&end->timer, on_turn, BACKGROUND_MS, 0);
    if (!end->is_polling)
        return false;
    ssize_t n = read_some(end, bytes, room < READ_LEN ? (size_t)room : READ_LEN);
    if (n < 0 && (errno == EAGAIN || errno == EINTR) && !end->is_last)
        return false;
    if (n <= 0) {
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

static ssize_t write_some(const struct fd_end *end, const void *at, size_t len)
{
    struct iovec part = {(void *)at, len};
    ssize_t n = pwritev2(end->fd, &part, 1, -1, end->is_file ? 0 : RWF_NOWAIT);
    if (n >= 0 || errno != EOPNOTSUPP)
        return n;
    if (is_ready(end, POLLOUT))
        return write(end->fd, at, len < WRITE_LEN ? len : WRITE_LEN);
    errno = EAGAIN;
    return -1;
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
    bool is_end = f->is_end && end->kind == FD_END_READER;
    free(f);
    if (is_end)
        pty_end_input(end->fd);
    end->hooks.say(end->hooks.arg, &m);
    if (is_end)
        finish(end, 0);
}

/* Write once. Returns false when nothing more can be written now. */
static bool give(struct fd_end *end)
{
    struct fd_fragment *f = end->first;
    set_polling(end, f != NULL);
    if (!f)
        return false;
    ssize_t n = f->len ? write_some(end, f->bytes + f->at, f->len - f->at) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
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

static void move(struct fd_end *end)
{
    for (int i = 0; i < 4 || end->is_last; i++) /* then others come; the last bytes are few */
        if (!(is_writer(end) ? take(end) : give(end)))
            return;
    if (end->is_file)
        set_polling(end, true);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    move(poll->data);
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
        finish(end, 0);
    if (end->is_over || end->has_ended)
        return;
    set_polling(end, true);
    if (end->is_last) /* poll is silent where nothing is left, and others hold the descriptor */
        uv_timer_start(&end->timer, on_turn, 0, 0);
}

/* How many bytes are still to be read. A terminal tells only of those that it has processed: what
 * can be read at once counts there. */
static uint64_t last_bytes(const struct fd_end *end)
{
    unsigned number;
    if (end->is_file)
        return UINT64_MAX;
    return ioctl(end->fd, TIOCGPTN, &number) ? readable(end) : PTY_MAX;
}

void fd_end_close(struct fd_end *end)
{
    if (!is_writer(end)) {
        finish(end, 0);
        return;
    }
    end->left = last_bytes(end);
    end->is_last = !end->is_file;
    move(end);
}

static void on_grace(uv_timer_t *timer)
{
    fd_end_close(timer->data);
}

void fd_end_orphan(struct fd_end *end)
{
    if (!is_writer(end)) {
        finish(end, HUB_BROKEN);
        return;
    }
    if (end->is_file)
        finish(end, 0);
    else
        uv_timer_start(&end->timer, on_grace, GRACE_MS, 0);
}

void fd_end_flush(struct fd_end *end, uint64_t number)
{
    end->flush = number;
    end->flush_at = end->sent + readable(end) + 1;
    say_flush(end);
}

int fd_end_create(struct fd_end **made, uv_loop_t *loop, uint32_t id, int fd, enum fd_end_kind kind,
                  const struct fd_end_hooks *hooks)
{
    struct fd_end *end = calloc(1, sizeof(*end));
    bool is_shared = kind == FD_END_WRITER || kind == FD_END_READER_OF_MANY;
    int mode = is_shared ? fcntl(fd, F_GETFL) : 0;
    int rc = end ? uv_poll_init(loop, &end->poll, fd) : -ENOMEM;
    struct stat st;
    if (rc == UV_EPERM && !fstat(fd, &st) && !S_ISDIR(st.st_mode)) {
        end->is_file = true;
        rc = 0;
    }
    if (is_shared) /* the loop has made it non-blocking, for all who share it */
        (void)fcntl(fd, F_SETFL, mode);
    if (rc) {
        close(fd);
        free(end);
        return rc;
    }
    uv_timer_init(loop, &end->timer);
    uv_timer_init(loop, &end->quiet);
    end->hooks = *hooks;
    end->poll.data = end->timer.data = end->quiet.data = end;
    end->handles = end->is_file ? 2 : 3;
    end->id = id;
    end->fd = fd;
    end->is_terminal = isatty(fd) && tcgetsid(fd) == getsid(0);
    end->kind = kind;
    end->last = &end->first;
    *made = end;
    return 0;
}
