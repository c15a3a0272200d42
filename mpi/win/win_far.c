/* SPDX-License-Identifier: BSD-3-Clause */

/* The origin's side of a target that gets messages; see win_far.h. */
#include "mpi/win/win_far.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/context.h"
#include "mpi/errh_code.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type_runs.h"
#include "mpi/win/win.h"
#include "mpi/win/win_op.h"
#include "mpi/win/win_wire.h"

/* ---- items ---- */

/* Several items of one operation: once all are complete, what they brought goes to its place, and
 * the program's request is complete. */
struct batch {
    _Atomic int left;
    _Atomic int error;
    char *packed; /* [len] the answers; NULL: they go to their place at once */
    bool turned;  /* numbers in these have the other byte order */
    size_t len;
    void *to;
    MPI_Count count;
    struct type *type;       /* referenced */
    struct request *request; /* the program's, or NULL */
};

/* One thing under way: a receive of len bytes, or of an answer, or a send. */
struct win_item {
    struct win *win;
    struct win_target *target;
    struct batch *batch; /* or NULL */
    enum {
        SENT,
        DATA,
        ANSWER
    } kind;
    uint64_t len;
    int32_t answer;
};

/* Locked. */
static void note_asked(struct win *win, struct win_target *target)
{
    if (target->asked)
        return;
    target->asked = true;
    target->asked_next = win->asked;
    atomic_store_explicit(&win->asked, target, memory_order_release);
}

static void batch_end(struct batch *batch, int error)
{
    int none = MPI_SUCCESS;
    if (!batch)
        return;
    if (error)
        (void)atomic_compare_exchange_strong(&batch->error, &none, error);
    if (atomic_fetch_sub(&batch->left, 1) > 1)
        return;
    error = atomic_load(&batch->error);
    if (batch->packed && !error)
        (void)type_copy_in(batch->turned, batch->packed, (MPI_Count)batch->len, MPI_BYTE, batch->to, batch->count,
                           batch->type->handle); /* it was checked that they fit */
    if (batch->request)
        request_complete(batch->request, error);
    type_unref(batch->type);
    free(batch->packed);
    free(batch);
}

/* Data are in their place before the item counts as complete. */
static void item_end(struct win_item *item, int error)
{
    struct win_target *target = item->target;
    bool told = item->batch && item->batch->request; /* by the program's request */
    batch_end(item->batch, error);
    os_lock(&item->win->lock);
    if (error && !told && !target->error)
        target->error = error;
    target->outstanding--;
    os_unlock(&item->win->lock);
    free(item);
    mpid_wake();
}

static void on_done(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_item *item = request->state;
    size_t len = dev->count;
    int error = p2p_end(request);
    if (!error && item->kind != SENT && len != (item->kind == DATA ? item->len : sizeof(int32_t)))
        error = item->kind == DATA ? MPI_ERR_RMA_RANGE : MPI_ERR_NO_MEM; /* what an empty answer says */
    if (!error && item->kind == ANSWER)
        error = errh_class_of_peer(item->answer);
    item_end(item, error);
}

/* Count one more item of a target; of a batch, if that is not NULL. NULL: no memory. */
static struct win_item *item_begin(struct win *win, struct win_target *target, struct batch *batch)
{
    struct win_item *item = calloc(1, sizeof(*item));
    if (!item)
        return NULL;
    *item = (struct win_item){.win = win, .target = target, .batch = batch};
    if (batch)
        atomic_fetch_add(&batch->left, 1);
    os_lock(&win->lock);
    note_asked(win, target);
    target->outstanding++;
    os_unlock(&win->lock);
    return item;
}

/* Have an item follow its request, which was started with rc. */
static int item_follow(struct win_item *item, struct request *request, int rc)
{
    if (rc || request == &request_done) {
        item_end(item, rc);
        return rc;
    }
    request->state = item;
    if (!mpid_when_done(&request->dev, on_done))
        on_done(&request->dev);
    return MPI_SUCCESS;
}

/* ---- messages ---- */

static struct p2p_side side(struct win *win, int rank, int tag)
{
    return (struct p2p_side){win->comm, win->comm->context + CONTEXT_WIN, rank, tag};
}

static int new_tag(struct win *win)
{
    return WIN_TAG_FIRST + (int)(atomic_fetch_add(&win->tags, 1) % WIN_TAGS);
}

/* The caller may still need the question as it is. */
static __attribute__((noinline, cold)) int send_turned(const struct p2p_side *to, const void *message, size_t len)
{
    _Alignas(16) unsigned char turned[WIN_MESSAGE_MAX];
    memcpy(turned, message, len);
    win_wire_turn_question(turned, len, true);
    return p2p_send_mode(to, turned, (MPI_Count)len, MPI_BYTE, MPID_STANDARD);
}

static int send_now(struct win *win, struct win_target *target, const void *message, size_t len)
{
    struct p2p_side to = side(win, target->rank, WIN_TAG_ASK);
    uint8_t ask = ((const struct win_head *)message)->ask;
    os_lock(&win->lock);
    note_asked(win, target);
    target->ahead += len;
    os_unlock(&win->lock);
    int rc = win_wire_turns() ? send_turned(&to, message, len)
                      : p2p_send_mode(&to, message, (MPI_Count)len, MPI_BYTE, MPID_STANDARD);
    os_lock(&win->lock); /* only now, as a flush of another thread may have gone ahead of it */
    if (ask == WIN_PUT || ask == WIN_PUT_LONG || ask == WIN_ACCUMULATE)
        atomic_store_explicit(&target->unflushed, true, memory_order_relaxed);
    os_unlock(&win->lock);
    return rc;
}

/* The window whose locks were deferred last; those of all others were asked for. NULL: none, as where several threads
 * call. */
static struct win *_Atomic later;

static int settle(struct win *win, struct win_target *target);

/* The first operation of an epoch whose lock was not asked for yet. */
struct win_held {
    size_t len;
    _Alignas(16) unsigned char message[];
};

/* Keep a question back until the end of the epoch. Returns whether that is so. */
static bool hold(struct win *win, struct win_target *target, const void *message, size_t len)
{
    uint8_t ask = ((const struct win_head *)message)->ask;
    bool may = ask == WIN_PUT || ask == WIN_ACCUMULATE;
    struct win_held *held = may ? malloc(sizeof(*held) + len) : NULL;
    if (!held)
        return false;
    held->len = len;
    memcpy(held->message, message, len);
    os_lock(&win->lock);
    may = target->deferred && !target->settling && !target->held;
    if (may)
        target->held = held;
    os_unlock(&win->lock);
    if (!may)
        free(held);
    return may;
}

static int send(struct win *win, struct win_target *target, const void *message, size_t len)
{
    if (target->deferred && hold(win, target, message, len))
        return MPI_SUCCESS;
    int rc = settle(win, target);
    return rc ? rc : send_now(win, target, message, len);
}

static bool is_too_far_ahead(struct win *win, const struct win_target *target)
{
    os_lock(&win->lock);
    bool is = target->ahead > WIN_AHEAD_MAX;
    os_unlock(&win->lock);
    return is;
}

/* Receive an answer, before the question is sent: len bytes, or, if they are 0, an error class. */
static int expect(struct win *win, struct win_target *target, struct batch *batch, int tag,
                  const struct win_data *to, uint64_t len)
{
    struct p2p_side from = side(win, target->rank, tag);
    struct win_item *item = item_begin(win, target, batch);
    struct request *request = NULL;
    if (!item)
        return MPI_ERR_NO_MEM;
    item->kind = to ? DATA : ANSWER;
    item->len = len;
    int rc = to ? p2p_irecv(&from, (void *)(uintptr_t)to->buf, to->count, to->type, &request)
                : p2p_irecv(&from, &item->answer, 1, MPI_INT32_T, &request);
    return item_follow(item, request, rc);
}

static int ask_answer(struct win *win, struct win_target *target, enum win_ask ask, enum win_how how)
{
    struct win_head head = {.ask = (uint8_t)ask, .op = (uint8_t)how, .tag = (uint32_t)new_tag(win)};
    int rc = expect(win, target, NULL, (int)head.tag, NULL, 0);
    if (rc)
        return rc;
    os_lock(&win->lock);
    atomic_store_explicit(&target->unflushed, false, memory_order_relaxed);
    target->ahead = 0;
    os_unlock(&win->lock);
    return send_now(win, target, &head, sizeof(head));
}

int win_far_ask_flush(struct win *win, struct win_target *target)
{
    int rc = target->held ? settle(win, target) : MPI_SUCCESS;
    if (rc)
        return rc;
    return target->unflushed ? ask_answer(win, target, WIN_FLUSH, 0) : MPI_SUCCESS;
}

/* The whole epoch in one question. */
static int ask_epoch(struct win *win, struct win_target *target)
{
    struct win_held *held = target->held;
    uint8_t how = (uint8_t)(target->deferred - 1);
    size_t len = held ? held->len : 0;
    struct win_head head = {.ask = WIN_EPOCH, .op = how, .tag = (uint32_t)new_tag(win), .len = (uint32_t)len};
    _Alignas(16) unsigned char message[WIN_MESSAGE_MAX];
    memcpy(message, &head, sizeof(head));
    if (held)
        memcpy(message + sizeof(head), held->message, len);
    os_lock(&win->lock);
    target->held = NULL;
    target->deferred = 0;
    target->in_epoch = true;
    target->ahead = 0; /* it answers once all is done */
    os_unlock(&win->lock);
    free(held);
    int rc = expect(win, target, NULL, (int)head.tag, NULL, 0);
    return rc ? rc : send_now(win, target, message, sizeof(head) + len);
}

int win_far_ask_unlock(struct win *win, struct win_target *target, bool exclusive)
{
    if (target->deferred)
        return ask_epoch(win, target);
    return ask_answer(win, target, WIN_UNLOCK, exclusive ? WIN_HOW_EXCLUSIVE : WIN_HOW_SHARED);
}

/* ---- waiting ---- */

struct waiting {
    struct win *win;
    struct win_target *target; /* NULL: all */
    bool locks;                /* for the target's lock */
};

static int under_way(const struct waiting *w)
{
    int sum = 0;
    os_lock(&w->win->lock);
    if (w->target)
        sum = w->target->outstanding;
    for (struct win_target *t = w->target ? NULL : w->win->asked; t; t = t->asked_next)
        sum += t->outstanding;
    os_unlock(&w->win->lock);
    return sum;
}

static bool is_done(void *arg)
{
    return !under_way(arg);
}

/* The targets that have not answered are named. */
static void tell(void *arg, struct mpid_wait_report *report)
{
    const struct waiting *w = arg;
    for (struct win_target *t = w->win->asked; t; t = t->asked_next) {
        struct mpid_envelope env = {w->win->comm->context + CONTEXT_WIN, t->rank, WIN_TAG_FIRST};
        if (!t->outstanding || (w->target && w->target != t))
            continue;
        bool locks = w->locks || t->in_epoch;
        env.tag = locks ? t->rank : env.tag;
        (locks ? mpid_tell_lock : mpid_tell_receive)(report, &env);
    }
}

static int take_error(struct win_target *target)
{
    int error = target->error;
    target->in_epoch = false;
    target->error = MPI_SUCCESS;
    return error;
}

static int wait_for(const struct waiting *waiting)
{
    static const struct mpid_condition condition = {is_done, NULL, tell};
    struct waiting w = *waiting;
    struct win *win = w.win;
    struct win_target *target = w.target;
    int rc = MPI_SUCCESS;
    if (!is_done(&w))
        mpid_wait_condition(&condition, &w);
    os_lock(&win->lock);
    if (target)
        rc = take_error(target);
    for (struct win_target *t = target ? NULL : win->asked; t; t = t->asked_next) {
        int error = take_error(t);
        rc = rc ? rc : error;
    }
    os_unlock(&win->lock);
    return rc;
}

int win_far_wait(struct win *win, struct win_target *target)
{
    return wait_for(&(struct waiting){win, target, false});
}

static int ask_lock(struct win *win, struct win_target *target, enum win_how how)
{
    int rc = ask_answer(win, target, WIN_LOCK_ASK, how);
    return rc ? rc : wait_for(&(struct waiting){win, target, true});
}

static enum win_how how_of(bool exclusive, bool passes)
{
    return exclusive ? WIN_HOW_EXCLUSIVE : passes ? WIN_HOW_PASSING : WIN_HOW_SHARED;
}

int win_far_lock(struct win *win, struct win_target *target, bool exclusive, bool passes)
{
    return ask_lock(win, target, how_of(exclusive, passes));
}

/* ---- locks that are asked for later ---- */

void win_far_lock_later(struct win *win, struct win_target *target, bool exclusive, bool passes)
{
    static uint64_t turns;
    atomic_store_explicit(&later, win, memory_order_relaxed);
    os_lock(&win->lock);
    note_asked(win, target); /* the end of the epoch looks there, though nothing may follow */
    target->turn = ++turns;
    atomic_store(&target->deferred, (uint8_t)(how_of(exclusive, passes) + 1));
    os_unlock(&win->lock);
}

static bool is_settled(void *arg)
{
    return !atomic_load(&((struct win_target *)arg)->deferred);
}

/* Ask for a lock that was deferred, and send what was held back. Other threads that need the lock wait for that. */
static int settle_one(struct win *win, struct win_target *target)
{
    static const struct mpid_condition settled = {is_settled, NULL, NULL};
    if (is_settled(target))
        return MPI_SUCCESS;
    os_lock(&win->lock);
    bool mine = target->deferred && !target->settling;
    target->settling |= mine;
    os_unlock(&win->lock);
    if (!mine) {
        mpid_wait_condition(&settled, target);
        return MPI_SUCCESS;
    }
    struct win_held *held = target->held; /* nobody changes it while a thread settles */
    int rc = ask_lock(win, target, (enum win_how)(target->deferred - 1));
    if (!rc && held)
        rc = send_now(win, target, held->message, held->len);
    free(held);
    os_lock(&win->lock);
    target->held = NULL;
    target->settling = false;
    atomic_store(&target->deferred, 0);
    os_unlock(&win->lock);
    mpid_wake();
    return rc;
}

/* The first one of the locks that are deferred, or NULL. */
static struct win_target *first_deferred(const struct win *win)
{
    struct win_target *first = NULL;
    for (struct win_target *t = win->asked; t; t = t->asked_next)
        if (t->deferred && (!first || t->turn < first->turn))
            first = t;
    return first;
}

/* The end of its epoch tells of an error. */
static void settle_first(struct win *win, struct win_target *target)
{
    int rc = settle_one(win, target);
    os_lock(&win->lock);
    target->error = target->error ? target->error : rc;
    os_unlock(&win->lock);
}

/* The locks that were deferred before this one are asked for before it. */
static int settle(struct win *win, struct win_target *target)
{
    struct win_target *first;
    if (is_settled(target))
        return MPI_SUCCESS;
    while ((first = first_deferred(win)) && first != target)
        settle_first(win, first);
    return settle_one(win, target);
}

void win_far_settle_all(void)
{
    if (!atomic_load_explicit(&later, memory_order_relaxed))
        return;
    struct win *win = atomic_exchange(&later, NULL);
    struct win_target *first;
    while (win && (first = first_deferred(win)))
        settle_first(win, first);
}

void win_far_end(struct win *win)
{
    struct win *open = win;
    (void)atomic_compare_exchange_strong(&later, &open, NULL);
    for (struct win_target *t = win->asked; t; t = t->asked_next) {
        free(t->held);
        t->held = NULL;
    }
}

/* ---- operations ---- */

/* A question that is being composed. */
struct draft {
    struct win *win;
    struct win_target *target;
    const struct win_op *op;
    struct batch *batch;      /* of several questions, or of a request */
    bool turned;              /* the target has the other byte order, which its data have */
    struct mpid_bytes source; /* of what goes there */
    uint64_t limit;           /* bytes of the operation */
    uint64_t most;            /* of a question: the channel sends so many at once */
    uint64_t at;              /* of these, the ones in earlier questions */
    struct win_head head;
    struct win_run runs[WIN_RUNS_MAX];
};

static bool carries(const struct draft *d)
{
    return d->head.ask == WIN_PUT || d->head.ask == WIN_ACCUMULATE || d->head.ask == WIN_FETCH;
}

static bool has_source(const struct draft *d)
{
    return carries(d) && !(d->op->how && d->op->how->code == OP_CODE_NO_OP);
}

static bool is_answered(const struct draft *d)
{
    return d->head.ask == WIN_GET || d->head.ask == WIN_FETCH;
}

static int expect_part(struct draft *d)
{
    struct win_data part = d->op->to;
    d->head.tag = (uint32_t)new_tag(d->win);
    if (!d->batch || !d->batch->packed)
        return expect(d->win, d->target, d->batch, (int)d->head.tag, &part, d->head.bytes);
    part = (struct win_data){d->batch->packed + d->at, (MPI_Count)d->head.bytes, MPI_BYTE};
    return expect(d->win, d->target, d->batch, (int)d->head.tag, &part, d->head.bytes);
}

/* Take the first piece of an element whose second piece comes later out of the question. */
static struct win_run hold_back(struct draft *d)
{
    uint64_t part = carries(d) && d->op->basic ? d->head.bytes % (uint64_t)d->op->basic->size : 0;
    struct win_run *last = &d->runs[d->head.runs - 1];
    if (!part)
        return (struct win_run){0, 0};
    last->len -= part; /* that of a row is no part of an element */
    d->head.bytes -= part;
    d->head.runs -= !last->len;
    return (struct win_run){last->offset + (int64_t)last->len, part};
}

/* Send the question as it is, and begin the next one. */
static int send_part(struct draft *d)
{
    _Alignas(16) unsigned char message[WIN_MESSAGE_MAX];
    if (!d->head.bytes)
        return MPI_SUCCESS;
    struct win_run held = hold_back(d);
    size_t runs_len = d->head.runs * sizeof(*d->runs);
    d->head.len = has_source(d) ? (uint32_t)d->head.bytes : 0;
    int rc = is_answered(d) ? expect_part(d) : MPI_SUCCESS;
    if (rc)
        return rc;
    memcpy(message, &d->head, sizeof(d->head));
    memcpy(message + sizeof(d->head), d->runs, runs_len);
    if (d->head.len)
        type_pack(&d->source, d->at, message + sizeof(d->head) + runs_len, d->head.len);
    rc = send(d->win, d->target, message, sizeof(d->head) + runs_len + d->head.len);
    d->at += d->head.bytes;
    d->head.runs = held.len > 0;
    d->head.bytes = held.len;
    d->runs[0] = held;
    if (!rc && is_too_far_ahead(d->win, d->target) &&
        !(rc = ask_answer(d->win, d->target, WIN_FLUSH, 0)))
        rc = win_far_wait(d->win, d->target);
    return rc;
}

/* How much of a run fits into the question. Questions with data end between elements; a target packs
 * what several runs bring. */
static uint64_t room(const struct draft *d)
{
    if (d->head.runs == WIN_RUNS_MAX)
        return 0;
    if (!carries(d) && !d->head.runs)
        return UINT64_MAX;
    if (!carries(d))
        return d->head.bytes < WIN_PACKED_MAX ? WIN_PACKED_MAX - d->head.bytes : 0;
    uint64_t size = d->op->basic ? (uint64_t)d->op->basic->size : 1;
    uint64_t taken = sizeof(d->head) + (d->head.runs + 2) * sizeof(*d->runs);
    uint64_t whole = taken < d->most ? d->most - taken : 0;
    whole = (whole < WIN_DATA_MAX ? whole : WIN_DATA_MAX) / size * size;
    return whole > d->head.bytes ? whole - d->head.bytes : 0;
}

static int add_run(struct draft *d, int64_t offset, int64_t len)
{
    uint64_t left = (uint64_t)len, most = d->limit - d->at - d->head.bytes;
    left = left < most ? left : most;
    while (left) {
        uint64_t now = room(d);
        if (!now) {
            int rc = send_part(d);
            if (rc)
                return rc;
            continue;
        }
        now = now < left ? now : left;
        d->runs[d->head.runs++] = (struct win_run){offset, now};
        d->head.bytes += now;
        offset += (int64_t)now;
        left -= now;
    }
    return 0;
}

/* Put as many runs of a row into the question as there is room for. Returns their number, which may be 0: each has to
 * be added by itself then. */
static int64_t add_part(struct draft *d, const struct type_row *row)
{
    uint64_t len = (uint64_t)row->len, most = d->limit - d->at - d->head.bytes, space = room(d);
    uint64_t size = carries(d) && d->op->basic ? (uint64_t)d->op->basic->size : 1;
    if (len % size || d->head.bytes % size || d->head.runs + 2 > WIN_RUNS_MAX)
        return 0;
    space = space < WIN_PACKED_MAX ? space : WIN_PACKED_MAX;
    uint64_t count = (space < most ? space : most) / len;
    count = count < (uint64_t)row->count ? count : (uint64_t)row->count;
    if (count < 2)
        return 0;
    struct win_row rest = {row->stride, count};
    d->runs[d->head.runs++] = (struct win_run){row->offset, len | WIN_ROW};
    memcpy(&d->runs[d->head.runs++], &rest, sizeof(rest));
    d->head.bytes += len * count;
    return (int64_t)count;
}

static int add_row(void *arg, const struct type_row *row)
{
    struct type_row left = *row;
    int rc = 0;
    while (left.count && !rc) {
        int64_t count = left.count > 1 ? add_part(arg, &left) : 0;
        if (!count) {
            rc = add_run(arg, left.offset, left.len);
            count = 1;
        }
        left.count -= count;
        left.offset += count * left.stride;
    }
    return rc;
}

/* A long put to one place: its data go in a message of their own, as they lie. */
static int put_long(struct draft *d)
{
    const struct win_op *op = d->op;
    struct win_item *item = item_begin(d->win, d->target, d->batch);
    struct request *request = NULL;
    if (!item)
        return MPI_ERR_NO_MEM;
    struct {
        struct win_head head;
        struct win_run run;
    } message = {{.ask = WIN_PUT_LONG,
                  .tag = (uint32_t)new_tag(d->win),
                  .runs = 1,
                  .disp = op->disp,
                  .bytes = d->limit},
                 {op->target_type->true_lb, d->limit}};
    struct p2p_side to = side(d->win, d->target->rank, WIN_TAG_DATA | (int)message.head.tag);
    int rc = send(d->win, d->target, &message, sizeof(message));
    if (!rc)
        rc = p2p_isend(&to, op->from.buf, op->from.count, op->from.type, &request);
    item->kind = SENT;
    return item_follow(item, request, rc);
}

static int compare(struct draft *d)
{
    size_t size = (size_t)d->op->basic->size;
    struct {
        struct win_head head;
        struct win_run run;
        unsigned char data[32];
    } message = {.head = d->head, .run = {0, size}};
    d->head.bytes = size;
    d->head.tag = message.head.tag = (uint32_t)new_tag(d->win);
    message.head.runs = 1;
    message.head.len = (uint32_t)(2 * size);
    message.head.bytes = size;
    memcpy(message.data, d->op->compare, size);
    memcpy(message.data + size, d->op->from.buf, size);
    if (d->turned)
        win_wire_turn_all(message.data, size, 2);
    struct win_data to = d->op->to;
    if (d->batch && d->batch->packed)
        to = (struct win_data){d->batch->packed, (MPI_Count)size, MPI_BYTE};
    int rc = expect(d->win, d->target, d->batch, (int)d->head.tag, &to, size);
    return rc ? rc
              : send(d->win, d->target, &message,
                     sizeof(message.head) + sizeof(message.run) + 2 * size);
}

/* The batch of an operation that needs one: the program has a request, or what comes has to be
 * collected first. */
static int begin_batch(struct draft *d, struct request **done)
{
    bool collects = is_answered(d) && (d->op->target_type->kernels ||
                                       (d->head.ask == WIN_FETCH && d->limit > room(d)));
    if (win_wire_is_network())
        collects = is_answered(d) || d->head.ask == WIN_COMPARE;
    if (!done && !collects)
        return MPI_SUCCESS;
    struct batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return MPI_ERR_NO_MEM;
    batch->left = 1;
    if (collects) {
        batch->len = d->limit;
        batch->turned = d->turned;
        batch->to = (void *)(uintptr_t)d->op->to.buf;
        batch->count = d->op->to.count;
        batch->type = type_from(d->op->to.type);
        type_ref(batch->type);
        batch->packed = malloc(batch->len);
    }
    if (done)
        *done = batch->request = request_begin(d->win->comm);
    d->batch = batch;
    if ((!collects || batch->packed) && (!done || *done))
        return MPI_SUCCESS;
    if (done && *done)
        request_free(*done);
    if (done)
        *done = NULL;
    batch->request = NULL;
    free(batch->packed);
    batch->packed = NULL;
    batch_end(batch, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

/* The bytes that an operation moves: those that the origin gives or takes. */
static uint64_t limit_of(const struct win_op *op)
{
    uint64_t there = win_op_bytes(op);
    if (op->kind != WIN_OP_PUT && op->kind != WIN_OP_GET)
        return there;
    const struct win_data *mine = op->kind == WIN_OP_PUT ? &op->from : &op->to;
    uint64_t here = (uint64_t)type_from(mine->type)->size * (uint64_t)mine->count;
    return here < there ? here : there;
}

static int start(struct draft *d)
{
    const struct win_op *op = d->op;
    bool together = !op->target_type->kernels;
    if (op->kind == WIN_OP_COMPARE)
        return compare(d);
    if (op->kind == WIN_OP_PUT && together && !win_wire_is_network() && d->limit > WIN_LONG_MIN && d->limit > room(d)) {
        int settled = settle(d->win, d->target);
        return settled ? settled : put_long(d);
    }
    int rc = type_rows(op->target_type, op->count, add_row, d);
    return rc ? rc : send_part(d);
}

/* Whether numbers have another order in the target's memory. */
static bool is_turned(struct win *win, const struct win_target *target)
{
    struct vc *vc = win_wire_is_network() ? comm_vc(win->comm, target->rank) : NULL;
    return vc && mpid_has_other_order(vc);
}

/* Bytes of a question that carries so many at most. */
static uint64_t most_of(struct win *win, const struct win_target *target, uint64_t bytes)
{
    struct vc *vc = bytes > WIN_QUESTION_LEAST / 2 ? comm_vc(win->comm, target->rank) : NULL;
    uint64_t most = vc ? mpid_eager_max(vc) : WIN_QUESTION_MAX;
    return most < WIN_QUESTION_LEAST ? WIN_QUESTION_LEAST : most < WIN_QUESTION_MAX ? most : WIN_QUESTION_MAX;
}

int win_far_start(struct win *win, struct win_target *target, const struct win_op *op,
                  struct request **done)
{
    static const uint8_t asks[] = {[WIN_OP_PUT] = WIN_PUT,
                                   [WIN_OP_GET] = WIN_GET,
                                   [WIN_OP_ACCUMULATE] = WIN_ACCUMULATE,
                                   [WIN_OP_FETCH] = WIN_FETCH,
                                   [WIN_OP_COMPARE] = WIN_COMPARE};
    struct draft d = {.win = win,
                      .target = target,
                      .op = op,
                      .limit = limit_of(op),
                      .head = {.ask = asks[op->kind], .disp = op->disp}};
    struct type *used;
    int rc = MPI_SUCCESS;
    if (!d.limit)
        return MPI_SUCCESS;
    bool may_wait = !done && op->kind <= WIN_OP_ACCUMULATE && op->kind != WIN_OP_GET && d.limit <= WIN_DATA_MAX;
    if (!may_wait && (rc = settle(win, target)))
        return rc;
    if (op->basic && !op->basic->place)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    d.most = most_of(win, target, d.limit);
    d.head.type = op->basic ? op->basic->place : 0;
    d.head.op = op->how ? (uint8_t)op->how->code : 0;
    d.turned = is_turned(win, target);
    if (has_source(&d) && win_wire_is_network())
        rc = type_place_in(d.turned, op->from.type, op->from.buf, op->from.count, &d.source, &used);
    else if (has_source(&d))
        rc = type_place(op->from.type, op->from.buf, op->from.count, &d.source, &used);
    if (!rc)
        rc = begin_batch(&d, done);
    if (rc)
        return rc;
    rc = start(&d);
    batch_end(d.batch, rc);
    return rc;
}
