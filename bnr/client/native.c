/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The back end of this project's own mpiexec: all its data is in the two segments that mpiexec
 * passes on (table.h). It uses no socket and no message. In a job over several machines it rings
 * the daemon of this one for data that the segments do not hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/client/find.h"
#include "bnr/client/backoff.h"
#include "bnr/host/fence.h"
#include "bnr/host/table.h"
#include "os/be.h"
#include "os/futex.h"
#include "os/log.h"

enum {
    GET_SLEEP_MAX_NS = 5000000,
    FENCE_SLEEP_MAX_NS = 50000000
};

struct native {
    struct backend base;
    struct table table;
    struct fence fence;
    int slot, bell;
    char message[TABLE_MESSAGE_MAX]; /* of the event being delivered */
};

static struct native *self_of(struct backend *b)
{
    return (struct native *)(void *)b;
}

static struct table_page *own_page(struct native *n)
{
    return table_page(&n->table, n->slot);
}

/* Have the daemon look. Where the pipe is full it is about to. */
static void ring(struct native *n)
{
    static const char byte;
    if (n->bell >= 0)
        (void)!write(n->bell, &byte, 1);
}

/* The same for ranks on one machine, which need no daemon to see each other. */
static void ring_wide(struct native *n)
{
    if (n->table.head->is_wide)
        ring(n);
}

/* Tell the ranks that wait for this rank's next put. Of two accesses to awaited one comes first:
 * either this one finds a rank's bit, or that rank finds the value put before. */
static void give_news(struct native *n)
{
    uint64_t wanted = atomic_exchange(&own_page(n)->awaited, 0);
    for (int slot = 0; wanted && slot < n->table.slots; slot++)
        if (wanted >> slot % 64 & 1)
            table_give_news(&n->table, slot);
}

static int native_put(struct backend *b, const char *key, const void *val, size_t len,
                      unsigned flags)
{
    struct native *n = self_of(b);
    struct kvs log = table_log(&n->table, n->slot);
    int rc = kvs_put(&log, key, val, len, (flags & BNR_PUT_REPLACE) != 0);
    if (rc)
        return backend_kvs_code(rc);
    /* Sequentially consistent: either a waiter sees the new count before it
     * sleeps, or we see that it waits. */
    struct table_page *page = own_page(n);
    atomic_fetch_add(&page->puts, 1);
    if (atomic_load(&page->get_waiters))
        os_futex_wake(&page->puts, INT_MAX);
    give_news(n);
    ring_wide(n);
    return BNR_SUCCESS;
}

/* Whether rank will put nothing more. */
static int is_over(struct native *n, int rank, const struct table_page *page)
{
    return table_has_ended(&n->table, rank) || (atomic_load(&page->flags) & PAGE_FINALIZED) != 0;
}

static int read_reply(struct native *n, const struct table_question *q, const void **val,
                      size_t *len)
{
    static const int codes[] = {BNR_SUCCESS, BNR_ERR_NOT_FOUND, BNR_ERR_PROC_FAILED, BNR_ERR_AGAIN};
    if (q->status > TABLE_ANSWER_ASKED)
        return BNR_ERR_PROTO;
    if (q->len > TABLE_REPLY)
        return BNR_ERR_PROTO;
    *val = table_reply(&n->table, n->slot);
    *len = q->len;
    return codes[q->status];
}
_Static_assert(TABLE_REPLY >= BNR_MAX_VALUE, "a value fits");

/* Write the question down, and ring. Returns its number. */
static uint32_t ask(struct native *n, int owner, const char *key, unsigned flags)
{
    struct table_question *q = &own_page(n)->question;
    uint32_t number = atomic_load(&q->asked) + 1;
    q->owner = (uint32_t)owner;
    q->how = flags & BNR_GET_LATER    ? TABLE_LATER
             : flags & BNR_GET_NOWAIT ? TABLE_NOWAIT
                                      : TABLE_WAIT;
    q->key_len = (uint32_t)strlen(key);
    memcpy(q->key, key, q->key_len);
    atomic_store_explicit(&q->asked, number, memory_order_release);
    ring(n);
    return number;
}

/* Ask the daemon for a key of a rank on another machine. */
static int get_remote(struct native *n, int owner, const char *key, const void **val, size_t *len,
                      unsigned flags)
{
    struct table_question *q = &own_page(n)->question;
    struct backoff wait = backoff_begin(n->base.spins, GET_SLEEP_MAX_NS);
    if (n->bell < 0)
        return BNR_ERR_PROTO;
    uint32_t number = ask(n, owner, key, flags);
    for (;;) {
        uint32_t told = atomic_load_explicit(&q->told, memory_order_acquire);
        if (told == number)
            return read_reply(n, q, val, len);
        uint64_t sleep_ns = backoff_step(&wait);
        if (sleep_ns)
            (void)os_futex_wait(&q->told, told, sleep_ns);
        if (flags & (BNR_GET_NOWAIT | BNR_GET_LATER))
            continue; /* the daemon answers soon, and the caller expects no handler to run */
        backend_idle(&n->base);
        if (atomic_load(&q->asked) !=
            number) /* a handler that ran meanwhile has asked for something else */
            number = ask(n, owner, key, flags);
    }
}
_Static_assert(sizeof(((struct table_question *)0)->key) > BNR_MAX_KEY, "a key fits");

static int native_get(struct backend *b, int owner, const char *key, const void **val, size_t *len,
                      unsigned flags)
{
    struct native *n = self_of(b);
    int slot = table_slot(&n->table, owner);
    if (slot < 0)
        return n->table.head->is_wide ? get_remote(n, owner, key, val, len, flags) : BNR_ERR_PROTO;
    struct table_page *page = table_page(&n->table, slot);
    struct kvs log = table_log(&n->table, slot);
    struct backoff wait = backoff_begin(b->spins, GET_SLEEP_MAX_NS);
    if (flags & BNR_GET_LATER)
        atomic_fetch_or(&page->awaited, UINT64_C(1) << n->slot % 64);
    for (;;) {
        uint32_t seen = atomic_load(&page->puts);
        int over = is_over(n, owner, page); /* before the look: earlier puts are found */
        int rc = kvs_get(&log, key, val, len);
        if (rc != KVS_ABSENT || owner == b->rank)
            return backend_kvs_code(rc);
        if (over)
            return BNR_ERR_PROC_FAILED;
        if (flags & (BNR_GET_NOWAIT | BNR_GET_LATER))
            return BNR_ERR_NOT_FOUND;
        uint64_t sleep_ns = backoff_step(&wait);
        if (sleep_ns) {
            atomic_fetch_add(&page->get_waiters, 1);
            (void)os_futex_wait(&page->puts, seen, sleep_ns);
            atomic_fetch_sub(&page->get_waiters, 1);
        }
        backend_idle(b);
    }
}

static int native_fence(struct backend *b)
{
    struct native *n = self_of(b);
    struct backoff wait = backoff_begin(b->spins, FENCE_SLEEP_MAX_NS);
    fence_enter(&n->fence);
    ring_wide(n);
    uint32_t ends = atomic_load(b->events);
    int rc;
    while ((rc = fence_poll(&n->fence)) == FENCE_WAITING) {
        uint64_t sleep_ns = backoff_step(&wait);
        if (sleep_ns)
            fence_sleep(&n->fence, sleep_ns);
        uint32_t now = atomic_load(b->events);
        if (sleep_ns || now != ends)
            rc = fence_check(&n->fence);
        ends = now;
        if (rc != FENCE_WAITING)
            break;
        backend_idle(b);
    }
    if (!rc)
        rc = n->table.head->is_wide ? fence_check(&n->fence) : 0;
    return rc == FENCE_BROKEN ? BNR_ERR_PROC_FAILED : BNR_SUCCESS;
}

static int native_is_alive(struct backend *b, int rank)
{
    return !table_has_ended(&self_of(b)->table, rank);
}

static void native_locality(struct backend *b, int rank, int *node, int *local_rank,
                            int *local_size)
{
    struct native *n = self_of(b);
    *node = table_node(&n->table, rank);
    *local_rank = (int)n->table.rank[rank].local_rank;
    *local_size = (int)table_host(&n->table, rank)->ranks;
}

static int native_member(struct backend *b, int node, int local_rank)
{
    return table_member(&self_of(b)->table, node, local_rank);
}

static int native_host(struct backend *b, int rank, BNR_Host *h)
{
    const struct table_host *host = table_host(&self_of(b)->table, rank);
    h->id = host->id;
    h->name = host->name;
    h->cpus = (int)host->cpus;
    h->ranks = (int)host->ranks;
    return BNR_SUCCESS;
}

static int native_host_memory(struct backend *b, int rank, int *fd, unsigned long long *offset,
                              unsigned long long *size)
{
    struct native *n = self_of(b);
    int slot = table_slot(&n->table, rank);
    if (slot < 0 || table_node(&n->table, rank) != table_node(&n->table, b->rank))
        return BNR_ERR_UNSUPPORTED;
    *fd = n->table.memory_fd;
    *offset = table_region_offset(&n->table, slot);
    *size = TABLE_REGION;
    return BNR_SUCCESS;
}

static int native_appnum(struct backend *b, int *appnum)
{
    *appnum = (int)self_of(b)->table.rank[b->rank].app;
    return BNR_SUCCESS;
}

static int native_app(struct backend *b, int appnum, int *first, int *size)
{
    const struct native *n = self_of(b);
    int count = 0;
    for (int r = 0; r < b->size; r++)
        if (n->table.rank[r].app == (uint32_t)appnum && !count++)
            *first = r;
    if (!count)
        return BNR_ERR_NOT_FOUND;
    *size = count;
    return BNR_SUCCESS;
}

static int native_universe_size(struct backend *b, int *size)
{
    *size = (int)self_of(b)->table.head->universe_size;
    return BNR_SUCCESS;
}

static void native_event(struct backend *b, uint32_t index, BNR_Event *ev)
{
    struct native *n = self_of(b);
    int rank = (int)(n->table.order[index] % (uint32_t)b->size);
    int slot = table_slot(&n->table, rank);
    ev->rank = rank;
    ev->status = n->table.rank[rank].status;
    ev->type = ev->status ? BNR_EV_PROC_FAILED : BNR_EV_PROC_EXIT;
    if (slot < 0) {
        uint32_t end = n->table.rank[rank].end;
        ev->type = end & TABLE_END_ABORTED  ? BNR_EV_PROC_ABORT
                   : end & TABLE_END_FAILED ? BNR_EV_PROC_FAILED
                                            : ev->type;
        ev->joined = (end & TABLE_END_JOINED) != 0;
        ev->host_lost = (end & TABLE_END_HOST_LOST) != 0;
        return;
    }
    struct table_page *page = table_page(&n->table, slot);
    uint32_t flags = atomic_load(&page->flags);
    ev->joined = (flags & PAGE_INITIALIZED) != 0;
    if ((flags & PAGE_INITIALIZED) && !(flags & PAGE_FINALIZED))
        ev->type = BNR_EV_PROC_FAILED;
    if (atomic_load(&page->aborted)) {
        ev->type = BNR_EV_PROC_ABORT;
        table_abort_message(&n->table, slot, n->message);
        ev->data = n->message;
        ev->len = strlen(n->message);
    }
}

/* Under a wrapper mpiexec does not see this process end: take the wrapper along. Its
 * number stands in the table a moment after it has started. */
static void end_wrapper(struct native *n)
{
    const volatile int32_t *leader = &n->table.rank[n->base.rank].pid;
    for (int i = 0; i < 10000 && !*leader; i++)
        usleep(100);
    if (*leader > 1 && *leader != getpid())
        kill(-*leader, SIGKILL);
}

static void native_abort(struct backend *b, int exit_code, const char *msg)
{
    struct native *n = self_of(b);
    struct table_page *page = own_page(n);
    uint32_t none = 0;
    if (atomic_compare_exchange_strong(&page->aborted, &none, 1)) {
        page->abort_code = exit_code;
        snprintf(page->message, sizeof(page->message), "%s", msg ? msg : "");
        atomic_store(&page->aborted, 2);
    } else {
        for (int i = 0; i < 100 && atomic_load(&page->aborted) == 1; i++)
            usleep(100); /* another thread is writing its message */
    }
    end_wrapper(n);
    _exit(backend_exit_code(exit_code));
}

static int native_answer(struct backend *b, const void *text, size_t len)
{
    struct native *n = self_of(b);
    struct table_page *page = own_page(n);
    uint32_t asks = atomic_load(b->asks);
    len = len < TABLE_ANSWER ? len : TABLE_ANSWER;
    atomic_store(&page->answered, asks - 1); /* no process reads while it is written */
    if (len)
        memcpy(table_answer(&n->table, n->slot), text, len);
    page->answer_len = (uint32_t)len;
    atomic_store_explicit(&page->answered, asks, memory_order_release);
    return BNR_SUCCESS;
}
_Static_assert(TABLE_ANSWER == BNR_MAX_ANSWER, "what BNR promises");

/* ---- letters ---- */

/* Write all of it. The daemon reads it, and waits for no rank: so no callback runs here. */
static int send_all(struct native *n, const struct mail *out, const void *at, size_t len)
{
    struct backoff wait = backoff_begin(n->base.spins, GET_SLEEP_MAX_NS);
    for (;;) {
        uint32_t turns = atomic_load(&out->words->turns);
        long written = mail_write(out, at, len);
        if (written < 0)
            return BNR_ERR_PROTO;
        at = (const uint8_t *)at + written;
        len -= (size_t)written;
        if (!len)
            return BNR_SUCCESS;
        if (written)
            ring(n);
        uint64_t sleep_ns = backoff_step(&wait);
        if (sleep_ns)
            (void)os_futex_wait(&out->words->turns, turns, sleep_ns);
    }
}

static int native_xcast(struct backend *b, const struct backend_letter *letter)
{
    struct native *n = self_of(b);
    struct mail out = table_sent(&n->table, n->slot);
    uint8_t head[16], range[8];
    size_t len = sizeof(head) - 4 + sizeof(range) * letter->range_count + letter->len;
    if (n->bell < 0)
        return BNR_ERR_PROTO;
    os_be32_put(head, (uint32_t)len);
    os_be32_put(head + 4, (uint32_t)letter->mode);
    os_be32_put(head + 8, (uint32_t)letter->tag);
    os_be32_put(head + 12, (uint32_t)letter->range_count);
    int rc = send_all(n, &out, head, sizeof(head));
    for (size_t i = 0; !rc && i < letter->range_count; i++) {
        os_be32_put(range, (uint32_t)letter->ranges[i][0]);
        os_be32_put(range + 4, (uint32_t)letter->ranges[i][1]);
        rc = send_all(n, &out, range, sizeof(range));
    }
    if (!rc && letter->len)
        rc = send_all(n, &out, letter->data, letter->len);
    ring(n);
    return rc;
}

_Static_assert(MAIL_DATA_MAX == BNR_MAX_XCAST && MAIL_RANGES_MAX == BNR_MAX_XCAST_RANGES &&
                   (int)MAIL_DIRECT == (int)BNR_XCAST_DIRECT &&
                   (int)MAIL_BINARY == (int)BNR_XCAST_BINARY,
               "what BNR promises");

static long native_hear(struct backend *b, void *at, size_t len)
{
    struct native *n = self_of(b);
    struct mail in = table_come(&n->table, n->slot);
    long got = mail_read(&in, at, len);
    if (got > 0 && mail_has_waiter(&in))
        ring(n);
    return got < 0 ? BNR_ERR_PROTO : got;
}

static void native_tolerate(struct backend *b, bool on)
{
    if (on)
        atomic_fetch_or(&own_page(self_of(b))->flags, PAGE_TOLERANT);
    else
        atomic_fetch_and(&own_page(self_of(b))->flags, ~(uint32_t)PAGE_TOLERANT);
}

static void native_leave(struct backend *b)
{
    atomic_fetch_or(&own_page(self_of(b))->flags, PAGE_FINALIZED);
    give_news(self_of(b));
    ring_wide(self_of(b));
}

static void native_rejoin(struct backend *b)
{
    atomic_fetch_and(&own_page(self_of(b))->flags, ~(uint32_t)PAGE_FINALIZED);
}

static const struct backend_ops native_ops = {
    .name = "native",
    .caps = BNR_CAP_LAZYGET | BNR_CAP_STREAMS | BNR_CAP_EVENTS | BNR_CAP_BINARY |
            BNR_CAP_HOST_MEMORY | BNR_CAP_XCAST,
    .put = native_put,
    .get = native_get,
    .fence = native_fence,
    .is_alive = native_is_alive,
    .locality = native_locality,
    .member = native_member,
    .host = native_host,
    .host_memory = native_host_memory,
    .appnum = native_appnum,
    .app = native_app,
    .universe_size = native_universe_size,
    .event = native_event,
    .abort = native_abort,
    .answer = native_answer,
    .xcast = native_xcast,
    .hear = native_hear,
    .tolerate = native_tolerate,
    .leave = native_leave,
    .rejoin = native_rejoin,
};

static const char cure[] = "start it with mpiexec, or alone with VIREO_SINGLETON=1";

static int attach(struct native *n)
{
    char why[320];
    if (!getenv("BNR_FD") && !getenv("BNR_RANK")) {
        if (!find_by_descriptors(&n->table, &n->base.rank, &n->bell))
            return BNR_ERR_NOT_FOUND;
    } else if (find_by_environment(&n->table, &n->base.rank, &n->bell, why, sizeof(why))) {
        os_fail(0, "%s; %s", why, cure);
        return BNR_ERR_PROTO;
    }
    n->slot = n->base.rank < n->table.world_size ? table_slot(&n->table, n->base.rank) : -1;
    if (n->slot < 0) {
        os_fail(0, "BNR_RANK=%d is no rank of this job; %s", n->base.rank, cure);
        table_detach(&n->table);
        return BNR_ERR_PROTO;
    }
    return BNR_SUCCESS;
}

/* Become the process that is this rank: once in the rank's life. */
static int claim(struct native *n)
{
    struct table_page *page = own_page(n);
    int32_t other = 0;
    if (atomic_compare_exchange_strong(&page->claim_pid, &other, (int32_t)getpid())) {
        atomic_fetch_or(&page->flags, PAGE_INITIALIZED);
        return BNR_SUCCESS;
    }
    int alive = other > 0 && other != getpid() && (!kill(other, 0) || errno == EPERM);
    os_fail(0, "rank %d of this job is already another program (pid %d, which %s); %s",
            n->base.rank, (int)other, alive ? "runs" : "has ended", cure);
    table_detach(&n->table);
    return BNR_ERR_PERM;
}

/* A debugger has mpiexec start the ranks, and takes hold of them before they go on. */
static void wait_for_debugger(struct table *t)
{
    uint32_t held = atomic_load_explicit(&t->head->held, memory_order_acquire);
    if (held)
        (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* it need not be our parent */
    while ((held = atomic_load_explicit(&t->head->held, memory_order_acquire)))
        (void)os_futex_wait(&t->head->held, held, 1000000000u);
}

int native_join(struct backend **b)
{
    struct native *n = calloc(1, sizeof(*n));
    if (!n) {
        os_fail(-ENOMEM, "cannot join the job");
        return BNR_ERR_NOMEM;
    }
    int rc = attach(n);
    if (!rc)
        rc = claim(n);
    if (rc) {
        free(n);
        return rc;
    }
    const struct table_head *h = n->table.head;
    (void)fcntl(n->table.head_fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(n->table.memory_fd, F_SETFD, FD_CLOEXEC);
    if (n->bell >= 0)
        (void)fcntl(n->bell, F_SETFD, FD_CLOEXEC);
    n->base.ops = &native_ops;
    n->base.size = n->table.world_size;
    memcpy(n->base.gid.b, h->gid, sizeof(h->gid));
    memcpy(n->base.secret, h->secret, sizeof(h->secret));
    n->base.events = &h->ends;
    n->base.asks = &h->asks;
    n->base.letters = &own_page(n)->come.put;
    n->base.news = &own_page(n)->news;
    n->base.spins = (int)h->cpus >= n->table.slots ? 200 : 2;
    wait_for_debugger(&n->table);
    fence_init(&n->fence, &n->table, n->slot);
    os_log_identity(n->base.rank, table_host(&n->table, n->base.rank)->name);
    *b = &n->base;
    return BNR_SUCCESS;
}
