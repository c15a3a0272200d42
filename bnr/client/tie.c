/* SPDX-License-Identifier: BSD-3-Clause */

/* The links of groups; see tie.h. */
#include "bnr/client/tie.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/clock.h"

enum {
    EVENTS = 64,
    FRAMES = 256,       /* heard at a time, from one tie */
    QUEUE_MAX = 256 << 20, /* bytes that wait for one peer */
    PATIENCE_MS = 1000  /* for what is queued at the end */
};
static const uint64_t linger_ns = 2000000000u; /* for the peer to read all and close */

struct tie_queued {
    struct tie_queued *next;
    uint8_t head[RALLIES_HEAD];
    struct rally_bytes *bytes;
    size_t sent;
};

struct tie {
    int id, refs;
    int fd; /* -1: not yet, or not any more */
    bool is_lost, is_shut, wants_out;
    uint64_t until_ns; /* of one that is closing */
    struct tie_queued *first, **end;
    size_t queued;
    uint8_t head[RALLIES_HEAD];
    size_t got;
    BNR_Gid gid;
    struct rally_frame frame;
};

static struct {
    int epoll; /* -1 */
    bool is_on;
    int last_id, count, room;
    int closing; /* ties without a reference */
    struct tie **all; /* by id */
    struct tie_hooks hooks;
} ties;

/* ---- the list ---- */

static int compare(const void *key, const void *item)
{
    int id = *(const int *)key, other = (*(struct tie *const *)item)->id;
    return (id > other) - (id < other);
}

static struct tie *find(int id)
{
    struct tie **at = ties.count ? bsearch(&id, ties.all, (size_t)ties.count, sizeof(struct tie *), compare) : NULL;
    return at ? *at : NULL;
}

int tie_new(void)
{
    if (ties.count == ties.room) {
        int room = ties.room ? 2 * ties.room : 16;
        struct tie **all = realloc(ties.all, sizeof(struct tie *) * (size_t)room);
        if (!all)
            return -1;
        ties.all = all;
        ties.room = room;
    }
    struct tie *t = calloc(1, sizeof(*t));
    if (!t)
        return -1;
    t->id = ++ties.last_id;
    t->refs = 1;
    t->fd = -1;
    t->end = &t->first;
    ties.all[ties.count++] = t;
    return t->id;
}

static void drop_queue(struct tie *t)
{
    while (t->first) {
        struct tie_queued *q = t->first;
        t->first = q->next;
        rally_bytes_unref(q->bytes);
        free(q);
    }
    t->end = &t->first;
    t->queued = 0;
}

static void shut(struct tie *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    drop_queue(t);
    rally_bytes_unref(t->frame.bytes);
    t->frame.bytes = NULL;
}

static void forget(struct tie *t)
{
    int at = 0;
    while (ties.all[at] != t)
        at++;
    memmove(ties.all + at, ties.all + at + 1, sizeof(struct tie *) * (size_t)(--ties.count - at));
    ties.closing -= !t->refs;
    shut(t);
    free(t);
}

bool tie_has_socket(int id)
{
    const struct tie *t = find(id);
    return t && t->fd >= 0;
}

bool tie_is_lost(int id)
{
    const struct tie *t = find(id);
    return !t || t->is_lost;
}

void tie_lose(int id)
{
    struct tie *t = find(id);
    if (!t || t->is_lost)
        return;
    shut(t);
    t->is_lost = true;
    if (!t->refs)
        forget(t);
    else
        ties.hooks.lost(id);
}

/* ---- sending ---- */

static void set_events(struct tie *t, bool wants_out)
{
    struct epoll_event event = {.events = EPOLLIN | (wants_out ? EPOLLOUT : 0), .data.u64 = (uint64_t)t->id};
    if (wants_out != t->wants_out)
        (void)epoll_ctl(ties.epoll, EPOLL_CTL_MOD, t->fd, &event);
    t->wants_out = wants_out;
}

/* Send one frame. Returns whether it has gone out whole; *failed: it never will. */
static bool send_one(struct tie *t, struct tie_queued *q, bool *failed)
{
    size_t len = q->bytes ? q->bytes->len : 0;
    while (q->sent < RALLIES_HEAD + len) {
        struct iovec part[2] = {{q->head, RALLIES_HEAD}, {q->bytes ? q->bytes->at : NULL, len}};
        struct msghdr msg = {.msg_iov = part, .msg_iovlen = len ? 2 : 1};
        if (q->sent < RALLIES_HEAD) {
            part[0] = (struct iovec){q->head + q->sent, RALLIES_HEAD - q->sent};
        } else {
            part[0] = (struct iovec){q->bytes->at + (q->sent - RALLIES_HEAD), len - (q->sent - RALLIES_HEAD)};
            msg.msg_iovlen = 1;
        }
        ssize_t n = sendmsg(t->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        *failed = n < 0 && errno != EAGAIN;
        if (n < 0)
            return false;
        q->sent += (size_t)n;
    }
    return true;
}

/* All is out, and nobody needs the tie any more: the peer closes it, too. */
static void close_softly(struct tie *t)
{
    if (t->refs || t->first || t->is_shut || t->fd < 0)
        return;
    (void)shutdown(t->fd, SHUT_WR);
    t->is_shut = true;
}

/* Returns false if the tie is lost. */
static bool send_queue(struct tie *t)
{
    bool failed = false;
    while (t->fd >= 0 && t->first && send_one(t, t->first, &failed)) {
        struct tie_queued *q = t->first;
        t->first = q->next;
        if (!t->first)
            t->end = &t->first;
        t->queued -= RALLIES_HEAD + (q->bytes ? q->bytes->len : 0);
        rally_bytes_unref(q->bytes);
        free(q);
    }
    if (failed) {
        if (!t->refs)
            tie_lose(t->id);
        return false; /* what has come is read before the loss */
    }
    if (t->fd >= 0)
        set_events(t, t->first != NULL);
    close_softly(t);
    return true;
}

void tie_send(int id, const BNR_Gid *gid, const struct rally_frame *frame)
{
    struct tie *t = find(id);
    size_t len = RALLIES_HEAD + (frame->bytes ? frame->bytes->len : 0);
    if (!t || t->is_lost)
        return;
    struct tie_queued *q = t->queued + len <= QUEUE_MAX ? calloc(1, sizeof(*q)) : NULL;
    if (!q) { /* the peer would miss something: it must learn so */
        if (t->fd >= 0)
            (void)shutdown(t->fd, SHUT_RDWR);
        return;
    }
    rallies_put_head(q->head, gid, frame);
    q->bytes = frame->bytes;
    if (q->bytes)
        q->bytes->refs++;
    *t->end = q;
    t->end = &q->next;
    t->queued += len;
    if (t->fd >= 0 && t->first == q)
        (void)send_queue(t);
}

void tie_take(int id, int fd)
{
    struct tie *t = find(id);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)id};
    if (!t || t->is_lost || t->fd >= 0 || epoll_ctl(ties.epoll, EPOLL_CTL_ADD, fd, &event)) {
        close(fd);
        return;
    }
    t->fd = fd;
    (void)send_queue(t);
}

void tie_move(int id, int from)
{
    struct tie *source = find(from);
    int fd = source ? source->fd : -1;
    if (fd < 0)
        return;
    (void)epoll_ctl(ties.epoll, EPOLL_CTL_DEL, fd, NULL);
    source->fd = -1;
    tie_take(id, fd);
    tie_unref(from);
}

/* ---- references ---- */

void tie_ref(int id)
{
    struct tie *t = find(id);
    if (t)
        t->refs++;
}

void tie_unref(int id)
{
    struct tie *t = find(id);
    if (!t || --t->refs)
        return;
    ties.closing++;
    t->until_ns = os_now_ns() + linger_ns;
    if (t->fd < 0)
        forget(t);
    else
        close_softly(t);
}

/* ---- hearing ---- */

/* Read up to the end of the head, or of the frame. Returns whether that is there; *gone: it never will be. */
static bool read_more(struct tie *t, bool *gone)
{
    size_t len = t->frame.bytes ? t->frame.bytes->len : 0, want = RALLIES_HEAD;
    uint8_t *at = t->head + t->got;
    if (t->got >= RALLIES_HEAD) {
        want += len;
        at = t->frame.bytes ? t->frame.bytes->at + (t->got - RALLIES_HEAD) : NULL;
    }
    while (t->got < want) {
        ssize_t n = recv(t->fd, at, want - t->got, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        *gone = !n || (n < 0 && errno != EAGAIN);
        if (n <= 0)
            return false;
        t->got += (size_t)n;
        at += n;
    }
    return true;
}

/* The head is there. */
static bool take_head(struct tie *t)
{
    long len = rallies_get_head(t->head, &t->gid, &t->frame);
    if (len > 0)
        t->frame.bytes = rally_bytes_new((size_t)len);
    return len == 0 || (len > 0 && t->frame.bytes);
}

/* Hear what has come. Returns how many frames. */
static int hear(int id)
{
    int count = 0;
    bool gone = false, is_good = true;
    struct tie *t;
    while ((t = find(id)) != NULL && t->fd >= 0 && count < FRAMES && is_good && read_more(t, &gone)) {
        if (t->got == RALLIES_HEAD && !t->frame.kind) {
            is_good = take_head(t) && t->frame.kind;
            if (t->frame.bytes)
                continue;
        }
        struct rally_frame frame = t->frame;
        t->frame = (struct rally_frame){0};
        t->got = 0;
        count++;
        if (is_good && t->refs)
            is_good = !ties.hooks.heard(id, &t->gid, &frame);
        rally_bytes_unref(frame.bytes);
    }
    if (gone || !is_good)
        tie_lose(id);
    return count + gone;
}

/* ---- all ---- */

static void watch(void *arg, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    (void)arg;
    (void)epoll_ctl(ties.epoll, EPOLL_CTL_ADD, fd, &event);
}

static void unwatch(void *arg, int fd)
{
    (void)arg;
    (void)epoll_ctl(ties.epoll, EPOLL_CTL_DEL, fd, NULL);
}

const struct os_port_watch ties_watch = {watch, unwatch, NULL};

int ties_begin(const struct tie_hooks *hooks)
{
    if (ties.is_on)
        return BNR_SUCCESS;
    ties.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (ties.epoll < 0)
        return BNR_FAIL;
    ties.hooks = *hooks;
    ties.is_on = true;
    return BNR_SUCCESS;
}

int ties_fd(void)
{
    return ties.is_on ? ties.epoll : -1;
}

/* Ties whose peers do not close them. */
static void end_closing(void)
{
    uint64_t now = ties.closing ? os_now_ns() : 0;
    for (int i = ties.count - 1; ties.closing && i >= 0; i--)
        if (!ties.all[i]->refs && now > ties.all[i]->until_ns)
            forget(ties.all[i]);
}

bool ties_step(int wait_ms)
{
    struct epoll_event events[EVENTS];
    if (!ties.is_on)
        return false;
    int count = epoll_wait(ties.epoll, events, EVENTS, wait_ms), done = 0;
    for (int i = 0; i < count; i++) {
        int id = (int)events[i].data.u64;
        struct tie *t = id ? find(id) : NULL;
        done += !id;
        if (t && events[i].events & EPOLLOUT)
            done += send_queue(t);
        if (t && events[i].events & ~(unsigned)EPOLLOUT)
            done += hear(id);
    }
    end_closing();
    return done > 0;
}

static bool has_queue(void)
{
    for (int i = 0; i < ties.count; i++)
        if (ties.all[i]->first && ties.all[i]->fd >= 0)
            return true;
    return false;
}

static int hear_nothing(int tie, const BNR_Gid *gid, const struct rally_frame *frame)
{
    (void)tie, (void)gid, (void)frame;
    return 0;
}

static void lose_nothing(int tie)
{
    (void)tie;
}

void ties_end(void)
{
    uint64_t until = os_now_ns() + PATIENCE_MS * UINT64_C(1000000);
    if (!ties.is_on)
        return;
    ties.hooks = (struct tie_hooks){hear_nothing, lose_nothing};
    while (has_queue() && os_now_ns() < until)
        (void)ties_step(10);
    while (ties.count)
        forget(ties.all[ties.count - 1]);
    free(ties.all);
    ties.all = NULL;
    ties.room = ties.closing = 0;
    close(ties.epoll);
    ties.is_on = false;
}
