/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The standard streams of a job; see forward.h. This file reads the ranks' pipes for the hub, takes
 * what the hub brings, and knows when all is out; output.c writes, input.c feeds stdin.
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
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/core/hub.h"
#include "bnr/core/lines.h"
#include "bnr/stdio/input.h"
#include "bnr/stdio/output.h"

enum {
    READ_LEN = 1 << 16, /* bytes per read of a rank's pipe */
    GRACE_MS = 200,     /* how long a dead rank's pipes may be held by others */
    SINK = 1 << 29,     /* the ids of ranks' stdin follow; below are those of what they write */
    READER = 1 << 30    /* and those of our subscriptions */
};

/* One stream of a rank: its read end, and where it goes. */
struct stream {
    struct stdio *stdio;
    uv_poll_t poll;
    struct output *output;
    size_t left; /* bytes still to read when last */
    int source;  /* of the output's assembler */
    int fd;      /* -1: never attached, or ended */
    uint32_t id; /* in the hub: twice the rank, and 1 more for stderr */
    bool polling;
    bool is_elsewhere;          /* it has not ended, and its bytes come from another machine */
    bool last;                  /* only what stood in the pipe at the end of the grace is read */
    bool is_public;             /* it is a stream of the hub, and its end has not come from there */
    uint64_t sent, granted;     /* bytes, to the hub */
    struct lines_buffer held;   /* from another machine, beyond what is granted */
    bool ends;                  /* behind what is held */
    struct hub_message pending; /* what is to be said when the output has room; kind 0: nothing */
};

struct rank {
    struct stdio *stdio;
    struct stream stream[2]; /* stdout, stderr */
    struct hub_message fed;  /* to be said when its stdin has what the hub has sent; or kind 0 */
    uv_timer_t grace;
    bool grace_open;
};

struct stdio {
    uv_loop_t *loop;
    struct stdio_config cfg;
    struct output *output[2]; /* one and the same where 1 and 2 are the same file */
    struct input *input;      /* NULL where no rank gets a pipe */
    struct rank *ranks;
    uv_timer_t done; /* defers drained() to the loop */
    int open;        /* streams whose end has not come from the hub */
    size_t held[2];  /* bytes that streams of stdout, stderr hold */
    int handles;     /* open libuv handles of this file */
    int own;         /* source of mpiexec's own lines in output[1] */
    bool inherit;
    bool attached;
    bool drained;
    bool dead;
    char scratch[READ_LEN];
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

static void release(struct stdio *s)
{
    if (!s->dead || s->handles)
        return;
    for (int i = 0; i < 2 * s->cfg.ranks; i++)
        free(s->ranks[i / 2].stream[i % 2].held.data);
    free(s->ranks);
    free(s);
}

static void on_stream_closed(uv_handle_t *handle)
{
    struct stdio *s = ((struct stream *)handle->data)->stdio;
    s->handles--;
    release(s);
}

static void on_grace_closed(uv_handle_t *handle)
{
    struct stdio *s = ((struct rank *)handle->data)->stdio;
    s->handles--;
    release(s);
}

static void on_done_closed(uv_handle_t *handle)
{
    struct stdio *s = handle->data;
    s->handles--;
    release(s);
}

static void on_done(uv_timer_t *timer)
{
    struct stdio *s = timer->data;
    if (s->drained || !output_is_idle(s->output[0]) || !output_is_idle(s->output[1]))
        return;
    s->drained = true;
    s->cfg.drained(s->cfg.arg);
}

static void check_drained(struct stdio *s)
{
    if (s->attached && !s->open && !s->drained && !s->dead)
        uv_timer_start(&s->done, on_done, 0, 0);
}

/* ---- to the hub ---- */

static void say(struct stream *t, struct hub_message m)
{
    struct stdio *s = t->stdio;
    m.id = t->id;
    m.rank = (int32_t)(t->id / 2);
    m.tag = (int32_t)(1 + t->id % 2);
    s->cfg.say(s->cfg.arg, &m);
}

static void publish(struct stream *t)
{
    if (t->is_public)
        return;
    t->is_public = true;
    t->stdio->open++;
    say(t, (struct hub_message){.kind = HUB_PUBLISH});
}

static void send_bytes(struct stream *t, const void *data, size_t len)
{
    while (len) {
        size_t n = len < HUB_DATA_MAX ? len : HUB_DATA_MAX;
        t->sent += n;
        say(t, (struct hub_message){.kind = HUB_DATA, .data = data, .len = (uint32_t)n});
        data = (const char *)data + n;
        len -= n;
    }
}

static void close_stream(struct stream *t)
{
    struct stdio *s = t->stdio;
    if (t->fd < 0)
        return;
    uv_poll_stop(&t->poll);
    close(t->fd);
    t->fd = -1;
    uv_close((uv_handle_t *)&t->poll, on_stream_closed);
    if (!s->dead)
        say(t, (struct hub_message){.kind = HUB_CLOSE});
}

/* Read once and pass it on, as far as the hub grants. */
static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct stream *t = poll->data;
    char *scratch = t->stdio->scratch;
    size_t room = t->granted - t->sent < READ_LEN ? (size_t)(t->granted - t->sent) : READ_LEN;
    (void)status;
    (void)events;
    if (!room) {
        uv_poll_stop(&t->poll);
        t->polling = false;
        return;
    }
    ssize_t n = read(t->fd, scratch, t->last && t->left < room ? t->left : room);
    if (n < 0 && (errno == EINTR || (errno == EAGAIN && !t->last)))
        return;
    if (n > 0) {
        t->left -= t->last ? (size_t)n : 0;
        send_bytes(t, scratch, (size_t)n);
    }
    if (n <= 0 || (t->last && !t->left))
        close_stream(t);
}

static void poll_stream(struct stream *t)
{
    if (t->fd < 0 || t->polling)
        return;
    t->polling = true;
    if (uv_poll_start(&t->poll, UV_READABLE, on_readable))
        close_stream(t);
}

/* Take the hub's word for it: more may come from it when this has gone out. */
static void say_taken(struct stream *t)
{
    struct hub_message m = t->pending;
    if (!m.kind || output_is_full(t->output))
        return;
    t->pending.kind = 0;
    t->stdio->cfg.say(t->stdio->cfg.arg, &m);
}

/* An output has written something: its streams may go on. */
static void on_moved(void *arg)
{
    struct stdio *s = arg;
    for (int i = 0; s->open && i < 2 * s->cfg.ranks; i++) {
        struct stream *t = &s->ranks[i / 2].stream[i % 2];
        if (s->cfg.ends_unread && output_is_unread(t->output))
            close_stream(t);
        say_taken(t);
    }
    check_drained(s);
    if (s->cfg.moved)
        s->cfg.moved(s->cfg.arg);
}

/* ---- from the hub ---- */

/* Send what a stream of another machine holds, as far as the hub grants. */
static void send_held(struct stream *t)
{
    struct stdio *s = t->stdio;
    size_t room = (size_t)(t->granted - t->sent), n = t->held.len < room ? t->held.len : room;
    if (n) {
        struct lines_buffer all = t->held;
        t->held = (struct lines_buffer){0};
        s->held[t->id % 2] -= all.len;
        if (!lines_append(&t->held, all.data + n, all.len - n))
            s->held[t->id % 2] += t->held.len;
        send_bytes(t, all.data, n);
        free(all.data);
        if (!s->held[t->id % 2] && s->cfg.moved)
            s->cfg.moved(s->cfg.arg);
    }
    if (!t->ends || t->held.len)
        return;
    t->ends = false;
    say(t, (struct hub_message){.kind = HUB_CLOSE});
}

static void take_fragment(struct stream *t, const struct hub_message *m)
{
    struct stdio *s = t->stdio;
    if (m->len)
        output_put(t->output, t->source, (const char *)m->data, m->len);
    t->pending = (struct hub_message){.kind = HUB_TAKEN,
                                      .id = m->id,
                                      .stream = m->stream,
                                      .off = m->off + m->len,
                                      .flags = m->flags & HUB_EOF};
    if (m->flags & HUB_EOF && t->is_public) {
        t->is_public = false;
        output_end(t->output, t->source);
        s->open--;
        check_drained(s);
    }
    if (m->flags & HUB_EOF) {
        struct hub_message last = t->pending;
        t->pending.kind = 0;
        s->cfg.say(s->cfg.arg, &last);
        return;
    }
    say_taken(t);
}

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

static int create_outputs(struct stdio *s, bool one)
{
    int n = s->cfg.ranks;
    s->own = one ? 2 * n : n;
    int *label_of = malloc(((size_t)s->own + 1) * sizeof(*label_of));
    if (!label_of)
        return -ENOMEM;
    set_labels(s, label_of, s->own, one ? 0 : n);
    label_of[s->own] = LINES_OWN;
    int rc = output_create(&s->output[1], s->loop, 2, s->own + 1, label_of, on_moved, s);
    if (!rc && one)
        s->output[0] = s->output[1];
    else if (!rc) {
        set_labels(s, label_of, n, 0);
        rc = output_create(&s->output[0], s->loop, 1, n, label_of, on_moved, s);
    }
    free(label_of);
    for (int i = 0; !rc && s->cfg.labels && i < 2; i++)
        output_set_labels(s->output[i], s->cfg.labels);
    for (int i = 0; i < 2 * n; i++)
        s->ranks[i / 2].stream[i % 2].output = s->output[i % 2];
    return rc;
}

static int create_ranks(struct stdio *s, bool one)
{
    int n = s->cfg.ranks;
    s->ranks = calloc((size_t)n, sizeof(*s->ranks));
    for (int i = 0; s->ranks && i < 2 * n; i++) {
        struct stream *t = &s->ranks[i / 2].stream[i % 2];
        s->ranks[i / 2].stdio = s;
        t->stdio = s;
        t->source = one ? i % 2 * n + i / 2 : i / 2;
        t->fd = -1;
        t->id = (uint32_t)i;
        t->is_elsewhere = s->cfg.is_elsewhere && s->cfg.is_elsewhere(s->cfg.arg, i / 2);
    }
    return s->ranks ? 0 : -ENOMEM;
}

/* Its stdin is a sink of the hub: others may write to it, too. */
static void publish_sink(struct stdio *s, int rank)
{
    const struct hub_message m = {
        .kind = HUB_PUBLISH, .id = SINK + (uint32_t)rank, .rank = rank, .flags = HUB_SINK};
    s->cfg.say(s->cfg.arg, &m);
}

static void input_taken(void *arg, int rank)
{
    struct stdio *s = arg;
    struct hub_message m = s->ranks[rank].fed;
    s->ranks[rank].fed.kind = 0;
    if (m.kind)
        s->cfg.say(s->cfg.arg, &m);
}

static void input_dropped(void *arg, int rank)
{
    struct stdio *s = arg;
    const struct hub_message m = {
        .kind = HUB_CLOSE, .id = SINK + (uint32_t)rank, .flags = HUB_BROKEN};
    s->ranks[rank].fed.kind = 0;
    if (!s->dead)
        s->cfg.say(s->cfg.arg, &m);
}

/* Another than mpiexec writes to a rank's stdin. When it ends, the sink is there for the next. */
static void feed_rank(struct stdio *s, const struct hub_message *m)
{
    int rank = (int)(m->id - SINK);
    struct hub_message taken = {.kind = HUB_TAKEN,
                                .id = m->id,
                                .stream = m->stream,
                                .off = m->off + m->len,
                                .flags = m->flags & HUB_EOF};
    if (m->flags & HUB_EOF) {
        s->cfg.say(s->cfg.arg, &taken);
        taken.kind = HUB_CLOSE;
        taken.flags = 0;
        s->cfg.say(s->cfg.arg, &taken);
        publish_sink(s, rank);
        return;
    }
    s->ranks[rank].fed = taken;
    (void)input_put(s->input, rank, m->data, m->len);
}

static int create_input(struct stdio *s)
{
    if (s->cfg.stdin_mode == STDIO_STDIN_NONE)
        return 0;
    int targets = s->cfg.stdin_mode == STDIO_STDIN_ALL ? s->cfg.ranks : 1;
    const struct input_hooks hooks = {input_taken, input_dropped, s};
    bool is_far = s->cfg.is_elsewhere && s->cfg.is_elsewhere(s->cfg.arg, s->cfg.stdin_rank);
    bool has_terminal = s->cfg.has_terminal && s->cfg.has_terminal(s->cfg.arg, s->cfg.stdin_rank);
    s->inherit = targets == 1 && !isatty(0) && !is_far && !has_terminal;
    return s->inherit ? 0 : input_create(&s->input, s->loop, targets, &hooks);
}

void stdio_hear(struct stdio *s, const struct hub_message *m)
{
    if (s->dead)
        return;
    if (m->kind == HUB_FRAGMENT && m->id < READER) {
        feed_rank(s, m);
    } else if (m->kind == HUB_FRAGMENT) {
        take_fragment(&s->ranks[m->rank].stream[m->tag - 1], m);
    } else if (m->kind == HUB_GRANT && m->id < SINK) {
        struct stream *t = &s->ranks[m->id / 2].stream[m->id % 2];
        t->granted = m->off;
        poll_stream(t);
        send_held(t);
    }
}

/* Subscribe to what all ranks write; and publish what ranks on other machines do. */
static void read_all(struct stdio *s)
{
    for (int i = 0; i < 2; i++)
        s->cfg.say(s->cfg.arg, &(struct hub_message){.kind = HUB_SUBSCRIBE,
                                                     .id = READER + (uint32_t)i,
                                                     .rank = HUB_ANY,
                                                     .tag = 1 + i,
                                                     .off = HUB_FROM_OLDEST});
    for (int i = 0; i < 2 * s->cfg.ranks; i++)
        if (s->ranks[i / 2].stream[i % 2].is_elsewhere)
            publish(&s->ranks[i / 2].stream[i % 2]);
}

int stdio_create(struct stdio **s, uv_loop_t *loop, const struct stdio_config *cfg)
{
    struct stdio *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;
    made->loop = loop;
    made->cfg = *cfg;
    bool one = same_file(1, 2);
    int rc = create_ranks(made, one);
    if (!rc)
        rc = uv_timer_init(loop, &made->done);
    if (rc) {
        free(made->ranks);
        free(made);
        return rc;
    }
    made->done.data = made;
    made->handles = 1;
    rc = create_outputs(made, one);
    if (!rc)
        rc = create_input(made);
    if (rc) {
        stdio_destroy(made);
        return rc;
    }
    signal(SIGPIPE, SIG_IGN);
    *s = made;
    read_all(made);
    return 0;
}

enum stdio_input stdio_input_of(const struct stdio *s, int rank)
{
    bool target = s->cfg.stdin_mode == STDIO_STDIN_ALL ||
                  (s->cfg.stdin_mode == STDIO_STDIN_RANK && s->cfg.stdin_rank == rank);
    if (!target)
        return STDIO_INPUT_NULL;
    return s->inherit ? STDIO_INPUT_INHERIT : STDIO_INPUT_PIPE;
}

/* Take a read end over. */
static int attach_stream(struct stream *t, int fd)
{
    struct stdio *s = t->stdio;
    if (fd < 0)
        return 0;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    int rc = uv_poll_init(s->loop, &t->poll, fd); /* makes fd non-blocking */
    if (rc) {
        close(fd);
        return rc;
    }
    t->poll.data = t;
    t->fd = fd;
    s->handles++;
    publish(t);
    poll_stream(t);
    return 0;
}

static int attach_input(struct stdio *s, int rank, int fd)
{
    if (fd < 0)
        return 0;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (s->input) {
        int rc = input_attach(s->input, rank, fd);
        if (!rc && !s->ranks[rank].stream[0].is_elsewhere) /* there a pipe is for all of its host */
            publish_sink(s, rank);
        return rc;
    }
    close(fd);
    return -EINVAL;
}

int stdio_attach(struct stdio *s, int rank, int in_fd, int out_fd, int err_fd)
{
    int in = attach_input(s, rank, in_fd);
    int out = attach_stream(&s->ranks[rank].stream[0], out_fd);
    int err = attach_stream(&s->ranks[rank].stream[1], err_fd);
    return in ? in : out ? out : err;
}

int stdio_all_attached(struct stdio *s)
{
    s->attached = true;
    for (int i = 0; i < 2 * s->cfg.ranks; i++) {
        struct stream *t = &s->ranks[i / 2].stream[i % 2];
        if (t->fd < 0 && !t->is_elsewhere && !t->is_public)
            output_end(t->output, t->source);
    }
    check_drained(s);
    return s->input ? input_start(s->input) : 0;
}

static void close_grace(struct rank *r)
{
    if (!r->grace_open)
        return;
    r->grace_open = false;
    uv_close((uv_handle_t *)&r->grace, on_grace_closed);
}

/* Others still hold the pipes of a dead rank: take what stands in them, and no more. */
static void on_grace(uv_timer_t *timer)
{
    struct rank *r = timer->data;
    for (int i = 0; i < 2; i++) {
        struct stream *t = &r->stream[i];
        int bytes = 0;
        if (t->fd < 0)
            continue;
        if (ioctl(t->fd, FIONREAD, &bytes) || bytes <= 0) {
            close_stream(t);
            continue;
        }
        t->last = true;
        t->left = (size_t)bytes;
    }
    close_grace(r);
}

void stdio_rank_ended(struct stdio *s, int rank)
{
    struct rank *r = &s->ranks[rank];
    if (s->input)
        input_drop(s->input, rank);
    if (r->grace_open || (r->stream[0].fd < 0 && r->stream[1].fd < 0))
        return;
    if (uv_timer_init(s->loop, &r->grace))
        return;
    r->grace.data = r;
    r->grace_open = true;
    s->handles++;
    uv_update_time(s->loop);
    uv_timer_start(&r->grace, on_grace, GRACE_MS, 0);
}

void stdio_put(struct stdio *s, int rank, int fd, const void *data, size_t len)
{
    struct stream *t = &s->ranks[rank].stream[fd - 1];
    if (!t->is_elsewhere)
        return;
    if (len && !lines_append(&t->held, data, len))
        s->held[fd - 1] += len;
    t->is_elsewhere = len > 0;
    t->ends = !len;
    send_held(t);
}

bool stdio_is_full(struct stdio *s, int fd)
{
    return s->held[fd - 1] || output_is_full(s->output[fd - 1]);
}

bool stdio_is_open(const struct stdio *s, int rank, int fd)
{
    return s->ranks[rank].stream[fd - 1].is_elsewhere;
}

void stdio_drop_input(struct stdio *s, int rank)
{
    if (s->input)
        input_drop(s->input, rank);
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

bool stdio_is_unread(const struct stdio *s, int fd)
{
    return output_is_unread(s->output[fd - 1]);
}

bool stdio_is_idle(const struct stdio *s)
{
    return output_is_idle(s->output[1]);
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
    for (int i = 0; i < s->cfg.ranks; i++) {
        close_grace(&s->ranks[i]);
        close_stream(&s->ranks[i].stream[0]);
        close_stream(&s->ranks[i].stream[1]);
    }
    input_destroy(s->input);
    if (s->output[0] != s->output[1])
        output_destroy(s->output[0]);
    output_destroy(s->output[1]);
    uv_close((uv_handle_t *)&s->done, on_done_closed);
}
