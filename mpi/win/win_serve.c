/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The target's side of windows; see win_serve.h.
 *
 * One receive for questions is posted; its handler answers and posts the next one. Handlers run one
 * at a time, so only what an asking thread of this process also uses is locked. A lock that cannot
 * be given at once waits in a list; the first one there has a ticket of the window's queue, and
 * progress looks whether its turn has come. Those that pass others wait in a list of their own.
 *
 * Everything in a question is checked: an origin that asks for what is not in the window is told
 * so, and a question that breaks the rules is dropped with a line.
 */
#include "mpi/win/win_serve.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/context.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/win/win.h"
#include "mpi/win/win_apply.h"
#include "mpi/win/win_queue.h"
#include "mpi/win/win_sync.h"
#include "mpi/win/win_wire.h"
#include "os/log.h"

/* An answer that is due once an origin's long puts are there; or a lock that waits. */
struct due {
    struct due *next;
    int rank;
    struct win_head head;
};

struct win_origin {
    struct win_server *server;
    int rank;
    int long_puts;    /* whose data are not there yet */
    int error;        /* the first error class since the last flush */
    uint8_t locked;   /* enum win_locked: by this origin */
    bool waits;       /* for a lock */
    struct due *dues; /* oldest first */
    UT_hash_handle hh;
};

struct win_server {
    struct win *win;        /* not used once closed */
    struct comm *comm;      /* referenced */
    _Atomic int references; /* the window's, the posted receive's, the look's, those of users */
    struct os_lock lock;    /* guards listening and closed */
    struct request *listening;
    _Atomic int users; /* of the window: a question that is handled, long puts of all origins, and
                          the lock that waits; closed comes before the last one has ended */
    bool closed;
    _Atomic bool ends; /* the same, for looks */
    struct win_origin *origins;
    struct due *waiting; /* locks, oldest first; the first one has the ticket */
    struct due *passing; /* those that pass others */
    bool looks;          /* look is there: may read these four */
    _Atomic bool has_ticket, passes;
    uint32_t ticket;
    bool exclusive;
    struct mpid_look look;
    struct mpid_look death; /* of a member */
    uint32_t failures;      /* up to which locks of the dead have been given back */
    _Alignas(16) unsigned char message[WIN_MESSAGE_MAX];
};

/* A question, taken apart. */
struct win_question {
    struct win_server *server;
    struct win *win;
    struct win_origin *origin;
    struct win_head head;
    const struct win_run *runs;
    const unsigned char *data;
};

static void unref(struct win_server *server)
{
    struct win_origin *origin, *next;
    if (atomic_fetch_sub(&server->references, 1) > 1)
        return;
    HASH_ITER(hh, server->origins, origin, next)
    {
        HASH_DEL(server->origins, origin);
        free(origin);
    }
    comm_unref(server->comm);
    free(server);
}

/* Use the window for longer than the caller does, who uses it. */
static void use(struct win_server *server)
{
    atomic_fetch_add(&server->users, 1);
    atomic_fetch_add(&server->references, 1);
}

/* Use the window. Returns whether that may begin. */
static bool begin_use(struct win_server *server)
{
    os_lock(&server->lock);
    bool may = !server->closed;
    if (may)
        use(server);
    os_unlock(&server->lock);
    return may;
}

static void end_use(struct win_server *server)
{
    if (atomic_fetch_sub(&server->users, 1) == 1)
        mpid_wake(); /* win_serve_end() may wait */
    unref(server);
}

static struct win_origin *origin_of(struct win_server *server, int rank)
{
    struct win_origin *origin;
    HASH_FIND_INT(server->origins, &rank, origin);
    if (!origin && (origin = calloc(1, sizeof(*origin)))) {
        origin->server = server;
        origin->rank = rank;
        HASH_ADD_INT(server->origins, rank, origin);
        if (!os_hash_has(hh, origin)) {
            free(origin);
            origin = NULL;
        }
    }
    return origin;
}

/* ---- answers ---- */

static struct p2p_side side(const struct win_server *server, int rank, uint32_t tag)
{
    return (struct p2p_side){server->comm, server->comm->context + CONTEXT_WIN, rank, (int)tag};
}

/* Send bytes; owned is freed once they are out. */
static void answer(struct win_server *server, int rank, uint32_t tag, const void *bytes, size_t len,
                   void *owned)
{
    struct p2p_side to = side(server, rank, tag);
    struct request *request = NULL;
    if (p2p_isend(&to, bytes, (MPI_Count)len, MPI_BYTE, &request) || request == &request_done) {
        free(owned); /* an origin that cannot be reached is told so by its own receive */
        return;
    }
    request->owned = owned;
    request_let_go(request);
}

/* No word: an error at the origin. */
static void answer_nothing(struct win_server *server, int rank, uint32_t tag)
{
    answer(server, rank, tag, NULL, 0, NULL);
}

/* Returns whether there is memory for it. */
static bool answer_word(struct win_server *server, int rank, uint32_t tag, int32_t word)
{
    int32_t *owned = malloc(sizeof(*owned));
    if (!owned) {
        answer_nothing(server, rank, tag);
        return false;
    }
    *owned = word;
    answer(server, rank, tag, owned, sizeof(*owned), owned);
    return true;
}

/* ---- locks ---- */

static bool is_exclusive(const struct win_head *head)
{
    return !head->op;
}

static struct win_queue *queue_of(const struct win *win)
{
    return win->near[win->near_me].queue;
}

static void give_back(struct win_server *server, struct win_origin *origin)
{
    struct win *win = server->win;
    bool exclusive = origin->locked == WIN_EXCLUSIVE;
    if (exclusive)
        atomic_store_explicit(&queue_of(win)->behalf, 0, memory_order_relaxed);
    if (origin->locked)
        win_wake(win, win_queue_leave(queue_of(win), (uint32_t)win->near_me, exclusive));
    origin->locked = WIN_UNLOCKED;
}

/* This process has the lock: on behalf of an origin. */
static void give_lock(struct win_server *server, const struct due *due)
{
    struct win *win = server->win;
    struct win_origin *origin = origin_of(server, due->rank); /* it is there */
    origin->locked = is_exclusive(&due->head) ? WIN_EXCLUSIVE : WIN_SHARED;
    if (is_exclusive(&due->head))
        atomic_store_explicit(&queue_of(win)->behalf, (uint32_t)due->rank + 1,
                              memory_order_relaxed);
    origin->waits = false;
    if (win_has_failed(win, due->rank) ||
        !answer_word(server, due->rank, due->head.tag, MPI_SUCCESS))
        give_back(server, origin);
}

static bool is_turn(void *arg)
{
    const struct win_server *server = arg;
    struct win_queue *queue;
    if (atomic_load_explicit(&server->ends, memory_order_relaxed))
        return true;
    queue = queue_of(server->win);
    return (atomic_load(&server->passes) && win_queue_may_pass(queue)) ||
           (atomic_load(&server->has_ticket) &&
            win_queue_is_turn(queue, server->ticket, server->exclusive));
}

static void turn_sleeps(void *arg, bool begins)
{
    const struct win_server *server = arg;
    win_queue_sleeps(queue_of(server->win), begins);
}

static const struct mpid_shared_wait watch_turn = {.is_done = is_turn, .sleeps = turn_sleeps};

static void on_turn(struct mpid_request *dev);

/* Nobody waits for a lock any more: the origins are told. */
static void refuse_locks(struct win_server *server, struct due **list)
{
    while (*list) {
        struct due *due = *list;
        *list = due->next;
        origin_of(server, due->rank)->waits = false; /* it is there */
        answer_nothing(server, due->rank, due->head.tag);
        free(due);
    }
}

static void refuse_all(struct win_server *server, const char *why)
{
    struct win *win = server->win;
    if (!server->waiting && !server->passing)
        return; /* they were given since the look for their turn began */
    os_log(OS_LOG_WARN, "windows: %s, so a lock is refused", why);
    if (atomic_exchange(&server->has_ticket, false))
        win_wake(win, win_queue_give_up(queue_of(win), (uint32_t)win->near_me, server->ticket));
    if (atomic_exchange(&server->passes, false))
        win_queue_passes(queue_of(win), false);
    refuse_locks(server, &server->waiting);
    refuse_locks(server, &server->passing);
}

/* Look for turns, while locks wait. */
static void look_for_turn(struct win_server *server)
{
    struct win *win = server->win;
    if (server->looks || !(server->waiting || server->passing))
        return;
    struct request *request = request_begin(server->comm);
    if (!request) {
        refuse_all(server, "there is no memory to wait for a turn");
        return;
    }
    use(server);
    server->looks = true;
    server->look = (struct mpid_look){.how = &watch_turn, .arg = server, .request = &request->dev};
    request->state = server;
    (void)mpid_when_done(&request->dev, on_turn);
    mpid_look(&server->look);
    win_bury(win, queue_of(win));
}

/* The first lock that waits takes a ticket. */
static void join(struct win_server *server)
{
    struct win *win = server->win;
    if (!server->waiting || atomic_load(&server->has_ticket))
        return;
    server->exclusive = is_exclusive(&server->waiting->head);
    server->ticket = win_queue_join(queue_of(win), (uint32_t)win->near_me);
    atomic_store(&server->has_ticket, true);
}

static void give_first(struct win_server *server, struct due **list)
{
    struct due *due = *list;
    *list = due->next;
    give_lock(server, due);
    free(due);
}

/* The turn of the first lock that waits may have come. */
static void take_turn(struct win_server *server)
{
    struct win *win = server->win;
    int wake;
    if (!atomic_load(&server->has_ticket) ||
        !win_queue_is_turn(queue_of(win), server->ticket, server->exclusive))
        return;
    bool has = win_queue_enter(queue_of(win), (uint32_t)win->near_me, server->exclusive, &wake);
    win_wake(win, wake);
    if (!has)
        return;
    atomic_store(&server->has_ticket, false);
    give_first(server, &server->waiting);
    join(server);
}

/* Give as many locks as can be had to those that pass others. */
static void pass(struct win_server *server)
{
    struct win *win = server->win;
    int wake;
    bool has = true;
    while (has && server->passing) {
        has = win_queue_take(queue_of(win), (uint32_t)win->near_me, false, &wake);
        win_wake(win, wake);
        if (has)
            give_first(server, &server->passing);
    }
    bool waits = server->passing;
    if (atomic_exchange(&server->passes, waits) != waits)
        win_queue_passes(queue_of(win), waits);
}

static void on_turn(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_server *server = request->state;
    (void)p2p_end(request);
    server->looks = false;
    if (atomic_load(&server->ends)) {
        refuse_all(server, "the window is freed");
    } else {
        pass(server);
        take_turn(server);
        look_for_turn(server);
    }
    end_use(server);
}

static void append(struct due **list, struct due *due)
{
    while (*list)
        list = &(*list)->next;
    *list = due;
}

static void ask_lock(const struct win_question *q)
{
    struct win_server *server = q->server;
    bool again = q->origin->locked || q->origin->waits, has;
    int wake = WIN_QUEUE_NOBODY;
    struct due *due = again ? NULL : malloc(sizeof(*due));
    if (again)
        os_log(OS_LOG_WARN, "windows: rank %d asks for a lock that it has", q->origin->rank);
    if (!due) {
        answer_nothing(server, q->origin->rank, q->head.tag);
        return;
    }
    *due = (struct due){NULL, q->origin->rank, q->head};
    q->origin->waits = true;
    has = !server->waiting && !server->passing &&
          win_queue_try(queue_of(q->win), (uint32_t)q->win->near_me, is_exclusive(&q->head), &wake);
    win_wake(q->win, wake);
    if (has) {
        give_lock(server, due);
        free(due);
        return;
    }
    append(q->head.op == WIN_HOW_PASSING ? &server->passing : &server->waiting, due);
    if (q->head.op == WIN_HOW_PASSING)
        pass(server);
    else
        join(server);
    look_for_turn(server);
}

/* ---- locks of the dead ---- */

static bool has_died(void *arg)
{
    const struct win_server *server = arg;
    return win_failures() != server->failures ||
           atomic_load_explicit(&server->ends, memory_order_relaxed);
}

/* A death is no word in memory: who sleeps is woken by it anyway. */
static void death_sleeps(void *arg, bool begins)
{
    (void)arg, (void)begins;
}

static const struct mpid_shared_wait watch_death = {.is_done = has_died, .sleeps = death_sleeps};

static void on_death(struct mpid_request *dev);

/* Drops the look's reference where no memory is left for it. */
static void await_death(struct win_server *server)
{
    struct request *request = request_begin(server->comm);
    if (!request) {
        unref(server);
        return;
    }
    server->death =
        (struct mpid_look){.how = &watch_death, .arg = server, .request = &request->dev};
    request->state = server;
    (void)mpid_when_done(&request->dev, on_death);
    mpid_look(&server->death);
}

static void on_death(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_server *server = request->state;
    (void)p2p_end(request);
    if (atomic_load(&server->ends)) {
        unref(server);
        return;
    }
    os_lock(&server->lock); /* the window is there until the server is closed */
    server->failures = win_failures();
    if (!server->closed)
        win_bury(server->win, queue_of(server->win));
    for (struct win_origin *origin = server->origins; origin && !server->closed;
         origin = origin->hh.next)
        if (origin->locked && win_has_failed(server->win, origin->rank)) {
            win_tell_dead(server->win, origin->rank, server->win->rank);
            give_back(server, origin);
        }
    os_unlock(&server->lock);
    await_death(server);
}

/* ---- the end of an origin's operations ---- */

static void answer_due(struct win_server *server, struct win_origin *origin,
                       const struct win_head *head)
{
    if (head->ask == WIN_UNLOCK)
        give_back(server, origin);
    (void)answer_word(server, origin->rank, head->tag, origin->error);
    origin->error = MPI_SUCCESS;
}

static void ask_end(const struct win_question *q)
{
    struct due *due, **end = &q->origin->dues;
    if (!q->origin->long_puts) {
        answer_due(q->server, q->origin, &q->head);
        return;
    }
    if (!(due = malloc(sizeof(*due)))) {
        if (q->head.ask == WIN_UNLOCK)
            give_back(q->server, q->origin);
        answer_nothing(q->server, q->origin->rank, q->head.tag);
        return;
    }
    *due = (struct due){NULL, q->origin->rank, q->head};
    while (*end)
        end = &(*end)->next;
    *end = due;
}

/* ---- data ---- */

/* An empty answer tells of the range already, so that the next flush does not. */
static void refuse(const struct win_question *q, int error)
{
    bool answers = q->head.tag && q->head.ask != WIN_PUT_LONG;
    if (!q->origin->error && !(answers && error == MPI_ERR_RMA_RANGE))
        q->origin->error = error;
    if (answers)
        answer(q->server, q->origin->rank, q->head.tag, NULL, 0, NULL);
}

/* The bytes of a run, or NULL: they are not in the window. */
static unsigned char *place_of(const struct win_question *q, const struct win_run *run)
{
    int64_t at;
    struct win *win = q->win;
    if (__builtin_mul_overflow(q->head.disp, (int64_t)win->unit, &at) ||
        __builtin_add_overflow(at, run->offset, &at))
        return NULL;
    uintptr_t address = (uintptr_t)win->base + (uintptr_t)at;
    bool good = win->flavor == MPI_WIN_FLAVOR_DYNAMIC || (at >= 0 && at <= win->bytes);
    return good && win_has(win, address, run->len) ? (unsigned char *)address : NULL;
}

static bool all_there(const struct win_question *q)
{
    for (uint32_t i = 0; i < q->head.runs; i++)
        if (!place_of(q, &q->runs[i]))
            return false;
    return true;
}

static void put(const struct win_question *q)
{
    const unsigned char *from = q->data;
    for (uint32_t i = 0; i < q->head.runs; i++) {
        memcpy(place_of(q, &q->runs[i]), from, q->runs[i].len);
        from += q->runs[i].len;
    }
}

static void on_put(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_origin *origin = request->state;
    struct win_server *server = origin->server;
    int rc = p2p_end(request);
    if (rc && !origin->error)
        origin->error = rc;
    if (--origin->long_puts == 0) {
        while (origin->dues) {
            struct due *due = origin->dues;
            origin->dues = due->next;
            answer_due(server, origin, &due->head);
            free(due);
        }
    }
    end_use(server);
}

/* The data of a refused one are received all the same: by a receive that has no room for them. */
static void put_long(const struct win_question *q)
{
    struct p2p_side from = side(q->server, q->origin->rank, WIN_TAG_DATA | q->head.tag);
    unsigned char *at = place_of(q, &q->runs[0]);
    struct request *request;
    if (!at)
        refuse(q, MPI_ERR_RMA_RANGE);
    int rc = p2p_irecv(&from, at, at ? (MPI_Count)q->runs[0].len : 0, MPI_BYTE, &request);
    if (rc) {
        refuse(q, rc);
        return;
    }
    use(q->server);
    request->state = q->origin;
    q->origin->long_puts++;
    if (!mpid_when_done(&request->dev, on_put))
        on_put(&request->dev);
}

static void get(const struct win_question *q)
{
    unsigned char *packed, *to;
    if (q->head.runs == 1) {
        answer(q->server, q->origin->rank, q->head.tag, place_of(q, q->runs), q->head.bytes, NULL);
        return;
    }
    if (!(packed = to = malloc(q->head.bytes))) {
        refuse(q, MPI_ERR_NO_MEM);
        return;
    }
    for (uint32_t i = 0; i < q->head.runs; i++) {
        memcpy(to, place_of(q, &q->runs[i]), q->runs[i].len);
        to += q->runs[i].len;
    }
    answer(q->server, q->origin->rank, q->head.tag, packed, q->head.bytes, packed);
}

/* The elements and the operation of an accumulate. Returns whether there are such. */
static bool elements_of(const struct win_question *q, struct win_elements *how)
{
    const struct win_head *head = &q->head;
    how->type =
        head->type ? type_from((MPI_Datatype)((uintptr_t)MPI_DATATYPE_NULL + head->type)) : NULL;
    how->op = op_from((MPI_Op)((uintptr_t)MPI_OP_NULL + head->op));
    how->queue = queue_of(q->win);
    if (!how->type || !how->type->predefined || !how->type->size)
        return false;
    if (head->ask == WIN_COMPARE)
        return head->bytes == (uint64_t)how->type->size && head->runs == 1 &&
               head->len == 2 * head->bytes;
    if (!how->op || !how->op->predefined || head->bytes % (uint64_t)how->type->size)
        return false;
    return win_may_apply(how, head->len == head->bytes, !head->len);
}

/* Whether the runs consist of whole elements that are in the window, as win_spread() takes them: a
 * run begins an element wherever an earlier one has not begun it. */
static bool are_elements(const struct win_question *q, const struct type *type)
{
    uint64_t size = (uint64_t)type->size, rest = 0;
    uint64_t end = (uint64_t)(type->true_lb + type->true_extent);
    for (uint32_t i = 0; i < q->head.runs; i++) {
        struct win_run run = q->runs[i];
        uint64_t piece = run.len < rest ? run.len : rest;
        rest -= piece;
        run.offset += (int64_t)piece;
        run.len -= piece;
        if (!run.len)
            continue;
        uint64_t whole = (run.len + size - 1) / size;
        rest = whole * size - run.len;
        if (rest && type->extent == type->size)
            return false;
        run.len = (whole - 1) * size + (end > size ? end : size);
        if (!place_of(q, &run))
            return false;
    }
    return !rest;
}

static void change(const struct win_question *q)
{
    struct win_spread spread = {.in = q->head.len ? (const char *)q->data : NULL};
    bool good = elements_of(q, &spread.how), whole = good && are_elements(q, spread.how.type);
    if (!good || !whole) {
        refuse(q, good ? MPI_ERR_RMA_RANGE : MPI_ERR_OP);
        return;
    }
    char *was = q->head.ask != WIN_ACCUMULATE ? malloc(q->head.bytes) : NULL;
    if (q->head.ask != WIN_ACCUMULATE && !was) {
        refuse(q, MPI_ERR_NO_MEM);
        return;
    }
    spread.out = was;
    if (q->head.ask == WIN_COMPARE)
        win_compare(&spread.how, place_of(q, q->runs), q->data, q->data + q->head.bytes, was);
    else
        for (uint32_t i = 0; i < q->head.runs; i++)
            win_spread(&spread, place_of(q, &q->runs[i]), q->runs[i].len);
    if (was)
        answer(q->server, q->origin->rank, q->head.tag, was, q->head.bytes, was);
}

/* ---- questions ---- */

/* Whether the parts of a question fit together. */
static bool is_whole(const struct win_question *q, size_t len)
{
    const struct win_head *head = &q->head;
    uint64_t sum = 0;
    if (!head->ask || head->ask >= WIN_ASKS || head->runs > WIN_RUNS_MAX || head->tag >= WIN_TAG_DATA ||
        (head->tag && head->tag < WIN_TAG_FIRST) || head->len > WIN_DATA_MAX ||
        len != sizeof(*head) + head->runs * sizeof(struct win_run) + head->len)
        return false;
    for (uint32_t i = 0; i < head->runs; i++)
        if (!q->runs[i].len || __builtin_add_overflow(sum, q->runs[i].len, &sum))
            return false;
    if (sum != head->bytes)
        return false;
    switch (head->ask) {
    case WIN_PUT: return head->runs && head->len == sum;
    case WIN_PUT_LONG: return head->runs == 1 && head->tag;
    case WIN_ACCUMULATE: return head->runs && sum <= WIN_DATA_MAX;
    case WIN_GET:
        return head->runs && head->tag &&
               sum <= (head->runs == 1 ? (uint64_t)PTRDIFF_MAX : WIN_PACKED_MAX);
    case WIN_FETCH:
    case WIN_COMPARE: return head->runs && head->tag && sum <= WIN_DATA_MAX;
    default: return !head->runs && !head->len && head->tag && head->op <= WIN_HOW_PASSING;
    }
}

static void handle(const struct win_question *q)
{
    switch (q->head.ask) {
    case WIN_PUT_LONG: put_long(q); return;
    case WIN_LOCK_ASK: ask_lock(q); return;
    case WIN_FLUSH:
    case WIN_UNLOCK: ask_end(q); return;
    default: break;
    }
    if (!all_there(q))
        refuse(q, MPI_ERR_RMA_RANGE);
    else if (q->head.ask == WIN_PUT)
        put(q);
    else if (q->head.ask == WIN_GET)
        get(q);
    else
        change(q);
}

/* Take a question that has come. Returns whether there may be more. */
static bool take(struct win_server *server, struct request *request)
{
    MPI_Status status;
    bool cancelled = request->dev.cancelled;
    size_t len = request->dev.count;
    int rc = p2p_finish(request, &status);
    if ((rc && rc != MPI_ERR_TRUNCATE) || cancelled || !begin_use(server))
        return false;
    struct win_question q = {.server = server, .win = server->win};
    q.origin = origin_of(server, status.MPI_SOURCE);
    if (len >= sizeof(q.head))
        memcpy(&q.head, server->message, sizeof(q.head));
    q.runs = (const struct win_run *)(const void *)(server->message + sizeof(q.head));
    q.data = server->message + sizeof(q.head) + q.head.runs * sizeof(*q.runs);
    if (!rc && q.origin && is_whole(&q, len))
        handle(&q);
    else
        os_log(OS_LOG_WARN, "windows: a message of rank %d breaks the rules, and is ignored",
               status.MPI_SOURCE);
    end_use(server);
    return true;
}

static void on_question(struct mpid_request *dev);

/* Post the receive again until one does not complete at once, or drop the receive's reference. */
static void post(struct win_server *server)
{
    struct p2p_side from = side(server, MPI_ANY_SOURCE, WIN_TAG_ASK);
    for (bool more = true; more;) {
        struct request *request = NULL;
        os_lock(&server->lock);
        if (!server->closed &&
            p2p_irecv(&from, server->message, sizeof(server->message), MPI_BYTE, &request))
            request = NULL;
        server->listening = request;
        if (request) {
            request->state = server;
            more = !mpid_when_done(&request->dev, on_question);
            if (more) /* it is taken below, and may be the last */
                server->listening = NULL;
        }
        os_unlock(&server->lock);
        if (!request)
            break;
        if (!more)
            return;
        more = take(server, request);
    }
    unref(server);
}

static void on_question(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_server *server = request->state;
    os_lock(&server->lock);
    server->listening = NULL;
    os_unlock(&server->lock);
    if (take(server, request))
        post(server);
    else
        unref(server);
}

int win_serve_begin(struct win *win)
{
    struct win_server *server = aligned_alloc(64, (sizeof(*server) + 63) / 64 * 64);
    if (!server)
        return MPI_ERR_NO_MEM;
    memset(server, 0, sizeof(*server));
    server->win = win;
    server->comm = win->comm;
    object_ref(&win->comm->object);
    server->references = 3;
    server->failures = win_failures();
    win->server = server;
    await_death(server);
    post(server);
    return MPI_SUCCESS;
}

static bool is_unused(void *arg)
{
    return !atomic_load(&((struct win_server *)arg)->users);
}

static void tell_nothing(void *arg, struct mpid_wait_report *report)
{
    (void)arg, (void)report;
}

/* Data on their way still go to the window's memory: they end, or their origin dies, before the
 * program gets that back. A lock that waits is refused. */
void win_serve_end(struct win *win)
{
    static const struct mpid_condition condition = {is_unused, NULL, tell_nothing};
    struct win_server *server = win->server;
    if (!server)
        return;
    os_lock(&server->lock);
    server->closed = true;
    if (server->listening)
        mpid_cancel(&server->listening->dev);
    os_unlock(&server->lock);
    atomic_store(&server->ends, true);
    if (!is_unused(server))
        mpid_wait_condition(&condition, server);
    unref(server);
    win->server = NULL;
}
