/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The BNR calls of streams. Descriptors go to the door of the job, which serves them; this process
 * itself gets bytes only for subscriptions with a function, and calls those where callbacks run.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/client/door_link.h"
#include "bnr/client/find.h"
#include "include/bnr.h"
#include "os/clock.h"

enum {
    WAIT_MS = 2 /* between calls of the progress hook */
};

enum what {
    WHAT_PUBLISHED = BNR_END_PUBLISHED,
    WHAT_TIED = BNR_END_TIED,
    WHAT_SUBSCRIBED = BNR_END_SUBSCRIBED
};

/* Bytes that the function has not taken. */
struct stream_fragment {
    struct stream_fragment *next;
    BNR_Frag frag;
    uint32_t stream;
    size_t len;
    uint8_t bytes[];
};

struct bnr_stream {
    struct bnr_stream *next;
    uint32_t id;
    enum what what;
    int rank, tag;
    bool is_writer, is_opened, is_shut, is_paused, is_dead;
    uint32_t status;
    uint64_t number; /* of the question whose answer is awaited */
    bool has_answer;
    struct hub_message answer;
    BNR_Frag_fn fn;
    void *arg;
    struct stream_fragment *first, **last;
    unsigned long long next_off;
};

/* The state of this process's streams. The caller serialises access, as to all of BNR. */
static struct {
    struct door_link link;
    struct backend *backend;
    struct bnr_stream *first;
    uint32_t last_id;
    uint64_t last_number;
    pid_t pid;       /* that has connected */
    bool is_calling; /* a function is running */
    int waits;       /* that are under way, and use what they wait for */
} streams = {.link = {.fd = -1}};

static int send_message(const struct hub_message *m, int fd)
{
    return door_link_send(&streams.link, m, fd) ? BNR_ERR_COMM : BNR_SUCCESS;
}

/* ---- messages of the hub ---- */

static struct bnr_stream *find(uint32_t id)
{
    struct bnr_stream *s = streams.first;
    while (s && s->id != id)
        s = s->next;
    return s;
}

static void keep(struct bnr_stream *s, const struct hub_message *m)
{
    struct stream_fragment *f = malloc(sizeof(*f) + m->len);
    if (!f)
        return; /* it is never taken: the stream waits, and nothing is lost in silence */
    *f = (struct stream_fragment){.stream = m->stream, .len = m->len};
    f->frag = (BNR_Frag){.gid = streams.backend->gid,
                         .rank = m->rank,
                         .tag = m->tag,
                         .off = m->off,
                         .flags = (m->flags & HUB_EOF ? BNR_FRAG_EOF : 0) |
                                  (m->flags & HUB_GAP ? BNR_FRAG_GAP : 0) |
                                  (m->flags & HUB_BROKEN ? BNR_FRAG_TORN : 0)};
    if (m->len)
        memcpy(f->bytes, m->data, m->len);
    *s->last = f;
    s->last = &f->next;
}

static void take(const struct hub_message *m)
{
    struct bnr_stream *s = find(m->id);
    if (!s || s->is_dead)
        return;
    switch (m->kind) {
    case HUB_OPENED:
        s->is_opened = true;
        s->status = m->status;
        break;
    case HUB_SHUT: s->is_shut = true; break;
    case HUB_FRAGMENT: keep(s, m); break;
    case HUB_FLUSHED:
    case HUB_STATE:
        s->has_answer |= m->off == s->number;
        s->answer = *m;
        break;
    default: break;
    }
}

/* Take all messages that have come; wait for the first. Returns a BNR code. */
static int pump(int timeout_ms)
{
    struct hub_message m;
    int rc = 0;
    if (streams.link.fd < 0)
        return BNR_ERR_COMM;
    while ((rc = door_link_next(&streams.link, &m, timeout_ms)) > 0) {
        take(&m);
        timeout_ms = 0;
    }
    if (rc < 0)
        door_link_close(&streams.link);
    return rc < 0 ? BNR_ERR_COMM : BNR_SUCCESS;
}

/* ---- functions ---- */

static void drop_first(struct bnr_stream *s)
{
    struct stream_fragment *f = s->first;
    s->first = f->next;
    if (!s->first)
        s->last = &s->first;
    free(f);
}

/* Have the function take what there is. Returns how often it ran. */
static int call(struct bnr_stream *s)
{
    int run = 0;
    while (s->first && !s->is_paused && !s->is_dead) {
        struct stream_fragment *f = s->first;
        run++;
        if (s->fn(&f->frag, f->bytes, f->len, s->arg)) {
            s->is_paused = true;
            break;
        }
        s->next_off = f->frag.off + f->len;
        const struct hub_message m = {.kind = HUB_TAKEN,
                                      .id = s->id,
                                      .stream = f->stream,
                                      .off = s->next_off,
                                      .flags = f->frag.flags & BNR_FRAG_EOF ? HUB_EOF : 0};
        if (!s->is_dead && streams.link.fd >= 0)
            (void)send_message(&m, -1);
        drop_first(s);
    }
    return run;
}

/* Release those that have ended, unless some code still looks at them. */
static void sweep(void)
{
    if (streams.is_calling || streams.waits)
        return;
    for (struct bnr_stream **at = &streams.first; *at;) {
        struct bnr_stream *s = *at;
        if (!s->is_dead) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        while (s->first)
            drop_first(s);
        free(s);
    }
}

static int turn(void)
{
    int run = 0;
    (void)pump(0);
    if (streams.is_calling)
        return 0;
    streams.is_calling = true;
    for (struct bnr_stream *s = streams.first; s; s = s->next)
        run += call(s);
    streams.is_calling = false;
    sweep();
    return run;
}

/* The last BNR_Finalize: the door still delivers the bytes readable from descriptors. */
static void leave(void)
{
    door_link_close(&streams.link);
    for (struct bnr_stream *s = streams.first; s; s = s->next)
        s->is_dead = true;
    sweep();
}

/* ---- asking and waiting ---- */

/* Wait until *flag. Returns a BNR code. */
static int wait_for(const bool *flag, int timeout_ms)
{
    uint64_t until = timeout_ms < 0 ? UINT64_MAX : os_now_ns() + (uint64_t)timeout_ms * 1000000u;
    int rc = 0;
    streams.waits++;
    while (!*flag && !rc) {
        rc = pump(WAIT_MS);
        if (!*flag && !rc && os_now_ns() >= until)
            rc = BNR_ERR_TIMEOUT;
        if (!*flag && !rc)
            backend_idle(streams.backend);
    }
    streams.waits--;
    return *flag ? BNR_SUCCESS : rc;
}

/* Say something that is answered with a number. */
static int ask(struct bnr_stream *s, enum hub_kind kind)
{
    const struct hub_message m = {.kind = (uint8_t)kind, .id = s->id, .off = ++streams.last_number};
    s->number = m.off;
    s->has_answer = false;
    return send_message(&m, -1);
}

/* ---- opening ---- */

static int connect_door(BNR_Group g)
{
    const char *name;
    int rank, rc = BNR_Get_rank(g, &rank);
    if (rc)
        return rc;
    if (streams.pid != getpid()) { /* a forked child has none of its parent's */
        streams.link.fd = -1;
        streams.first = NULL;
    }
    if (streams.link.fd >= 0)
        return BNR_SUCCESS;
    if (streams.first)
        return BNR_ERR_COMM;
    (void)BNR_Backend_name(&name);
    int pid = strcmp(name, "native") ? -1 : find_launcher();
    if (pid <= 0)
        return BNR_ERR_UNSUPPORTED;
    rc = door_link_open(&streams.link, DOOR_OF_JOB, pid, DOOR_STREAMS);
    if (rc == -ECONNREFUSED)
        rc = door_link_open(&streams.link, DOOR_OF_DAEMON, pid, DOOR_STREAMS);
    if (rc)
        return rc == -ENOMEM ? BNR_ERR_NOMEM : BNR_ERR_UNSUPPORTED;
    streams.pid = getpid();
    streams.backend = backend_take_turns(turn, leave);
    return BNR_SUCCESS;
}

static int code_of(uint32_t status)
{
    switch (status) {
    case HUB_GOOD: return BNR_SUCCESS;
    case HUB_FULL: return BNR_ERR_NOMEM;
    case HUB_LOST: return BNR_ERR_PROC_FAILED;
    case HUB_UNABLE: return BNR_ERR_UNSUPPORTED;
    default: return BNR_ERR_PROTO;
    }
}

static bool is_good_name(BNR_Group g, int rank, int tag, bool may_be_any)
{
    int size;
    return !BNR_Get_size(g, &size) && (rank >= 0 || (may_be_any && rank == BNR_RANK_ANY)) &&
           rank < size && (tag >= 0 || (may_be_any && tag == BNR_TAG_ANY));
}

static int check_name(BNR_Group g, int rank, int tag, bool may_be_any)
{
    int own, rc = BNR_Get_rank(g, &own);
    return rc ? rc : is_good_name(g, rank, tag, may_be_any) ? BNR_SUCCESS : BNR_ERR_ARG;
}

/* Open an end as a message says, with a descriptor or, in model, a function. */
static int open_end(BNR_Group g, struct hub_message *m, int fd, const struct bnr_stream *model,
                    BNR_Stream *made)
{
    int rc = connect_door(g);
    struct bnr_stream *s = rc ? NULL : calloc(1, sizeof(*s));
    if (!s)
        return rc ? rc : BNR_ERR_NOMEM;
    *s = *model;
    s->id = m->id = ++streams.last_id;
    s->rank = m->rank;
    s->tag = m->tag;
    s->last = &s->first;
    s->next = streams.first;
    streams.first = s;
    m->flags |= fd >= 0 ? HUB_HAS_FD : 0;
    rc = send_message(m, fd);
    if (!rc)
        rc = wait_for(&s->is_opened, -1);
    if (!rc)
        rc = code_of(s->status);
    if (rc)
        s->is_dead = true;
    else
        *made = s;
    sweep();
    return rc;
}

static BNR_Stream_attr whole(const BNR_Stream_attr *attr)
{
    BNR_Stream_attr all = {.size = sizeof(all), .from = BNR_FROM_OLDEST};
    if (attr)
        memcpy(&all, attr, attr->size < sizeof(all) ? attr->size : sizeof(all));
    return all;
}

int BNR_Stream_publish(BNR_Group g, int rank, int mode, int tag, int fd,
                       const BNR_Stream_attr *attr, BNR_Stream *s)
{
    const BNR_Stream_attr all = whole(attr);
    const struct bnr_stream model = {.what = WHAT_PUBLISHED, .is_writer = mode == BNR_SOURCE};
    struct hub_message m = {.kind = HUB_PUBLISH,
                            .rank = rank,
                            .tag = tag,
                            .flags = mode == BNR_SINK ? HUB_SINK : 0,
                            .policy = (uint8_t)all.policy};
    int rc = check_name(g, rank, tag, false);
    if (rc || !s || fd < 0 || (mode != BNR_SOURCE && mode != BNR_SINK) || all.policy < 0 ||
        all.policy >= HUB_POLICY_END)
        return rc ? rc : BNR_ERR_ARG;
    return open_end(g, &m, fd, &model, s);
}

int BNR_Stream_push(BNR_Group g, int rank, int tag, int fd, BNR_Stream *s)
{
    const struct bnr_stream model = {.what = WHAT_TIED, .is_writer = true};
    struct hub_message m = {.kind = HUB_PUSH, .rank = rank, .tag = tag};
    int rc = check_name(g, rank, tag, true);
    return rc || !s || fd < 0 ? rc ? rc : BNR_ERR_ARG : open_end(g, &m, fd, &model, s);
}

static struct hub_message subscription(int rank, int tag, const BNR_Stream_attr *attr)
{
    const BNR_Stream_attr all = whole(attr);
    return (struct hub_message){.kind = HUB_SUBSCRIBE,
                                .rank = rank,
                                .tag = tag,
                                .off = all.from,
                                .flags = all.is_observer ? HUB_OBSERVER : 0};
}

int BNR_Stream_pull(BNR_Group g, int rank, int tag, int fd, const BNR_Stream_attr *attr,
                    BNR_Stream *s)
{
    const struct bnr_stream model = {.what = WHAT_TIED};
    struct hub_message m = subscription(rank, tag, attr);
    int rc = check_name(g, rank, tag, true);
    return rc || !s || fd < 0 ? rc ? rc : BNR_ERR_ARG : open_end(g, &m, fd, &model, s);
}

int BNR_Stream_subscribe(BNR_Group g, int rank, int tag, const BNR_Stream_attr *attr,
                         BNR_Frag_fn fn, void *arg, BNR_Stream *s)
{
    const struct bnr_stream model = {.what = WHAT_SUBSCRIBED, .fn = fn, .arg = arg};
    struct hub_message m = subscription(rank, tag, attr);
    int rc = check_name(g, rank, tag, true);
    return rc || !s || !fn ? rc ? rc : BNR_ERR_ARG : open_end(g, &m, -1, &model, s);
}

/* ---- ending ---- */

static bool is_open(BNR_Stream s)
{
    for (const struct bnr_stream *t = streams.first; t; t = t->next)
        if (t == s && !t->is_dead)
            return true;
    return false;
}

static int end_one(struct bnr_stream *s)
{
    int rc = BNR_SUCCESS;
    if (streams.link.fd >= 0)
        rc = ask(s, HUB_CLOSE);
    if (!rc && streams.link.fd >= 0 && s->what != WHAT_SUBSCRIBED)
        rc = wait_for(&s->has_answer, -1); /* from now on nothing is read from the descriptor */
    s->is_dead = true;
    sweep();
    return rc;
}

static int end_stream(BNR_Stream *s, enum what what)
{
    if (!s || !is_open(*s) || (*s)->what != what)
        return BNR_ERR_ARG;
    struct bnr_stream *own = *s;
    *s = NULL;
    return end_one(own);
}

int BNR_Stream_unpublish(BNR_Stream *s)
{
    return end_stream(s, WHAT_PUBLISHED);
}

int BNR_Stream_stop(BNR_Stream *s)
{
    return end_stream(s, WHAT_TIED);
}

int BNR_Stream_unsubscribe(BNR_Stream *s, unsigned long long *next_off)
{
    unsigned long long off = s && is_open(*s) ? (*s)->next_off : 0;
    int rc = end_stream(s, WHAT_SUBSCRIBED);
    if (!rc && next_off)
        *next_off = off;
    return rc;
}

int BNR_Stream_end(BNR_Group g, int rank, int tag, unsigned what)
{
    int rc = check_name(g, rank, tag, true);
    for (struct bnr_stream *s = streams.first, *next; s && !rc; s = next) {
        next = s->next;
        if (s->is_dead || !(s->what & what) || (rank != BNR_RANK_ANY && rank != s->rank) ||
            (tag != BNR_TAG_ANY && tag != s->tag))
            continue;
        rc = end_one(s);
        next = streams.first; /* a function may have changed the list */
    }
    return rc;
}

/* ---- the rest ---- */

int BNR_Stream_resume(BNR_Stream s)
{
    if (!is_open(s))
        return BNR_ERR_ARG;
    s->is_paused = false;
    return BNR_SUCCESS;
}

static int flush_one(struct bnr_stream *s, int timeout_ms)
{
    int rc = ask(s, HUB_FLUSH);
    if (!rc)
        rc = wait_for(&s->has_answer, timeout_ms);
    return rc ? rc : code_of(s->answer.status);
}

int BNR_Stream_flush(BNR_Stream s, int timeout_ms)
{
    int rc = BNR_SUCCESS;
    if (s)
        return is_open(s) && s->is_writer ? flush_one(s, timeout_ms) : BNR_ERR_ARG;
    streams.waits++;
    for (s = streams.first; s; s = s->next) {
        int failed = !s->is_dead && s->is_writer ? flush_one(s, timeout_ms) : 0;
        rc = rc ? rc : failed;
    }
    streams.waits--;
    return rc;
}

int BNR_Stream_stat(BNR_Stream s, BNR_Stream_state *state)
{
    if (!is_open(s) || !state)
        return BNR_ERR_ARG;
    int rc = ask(s, HUB_STAT);
    if (!rc)
        rc = wait_for(&s->has_answer, -1);
    if (rc)
        return rc;
    *state = (BNR_Stream_state){s->answer.head, s->answer.taken, (int)s->answer.status, s->is_shut};
    return BNR_SUCCESS;
}
