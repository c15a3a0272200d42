/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The target's side of windows; see win_serve.h.
 *
 * Everything in a question is checked: an origin that asks for what is not in the window is told
 * so, and a question that breaks the rules is dropped with a line.
 */
#include "mpi/win/win_serve.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/request/request.h"
#include "mpi/win/win.h"
#include "mpi/win/win_apply.h"
#include "mpi/win/win_grant.h"
#include "mpi/win/win_server.h"
#include "os/log.h"

/* ---- the end of an origin's operations ---- */

static void answer_due(struct win_server *server, struct win_origin *origin,
                       const struct win_head *head)
{
    if (head->ask == WIN_UNLOCK)
        win_grant_back(server, origin);
    (void)win_server_answer_word(server, origin->rank, head->tag, origin->error);
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
            win_grant_back(q->server, q->origin);
        win_server_answer_nothing(q->server, q->origin->rank, q->head.tag);
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
        win_server_answer(q->server, q->origin->rank, q->head.tag, NULL, 0, NULL);
}

/* Equal runs, as struct win_run and struct win_row have them; count 1: a single one. */
struct series {
    struct win_run run;
    struct win_row rest;
};

/* The next row of a question, from unit 0 on. */
static bool next_row(const struct win_question *q, uint32_t *unit, struct series *row)
{
    if (*unit == q->head.runs)
        return false;
    *row = (struct series){q->runs[(*unit)++], {0, 1}};
    if (!(row->run.len & WIN_ROW))
        return true;
    row->run.len &= ~WIN_ROW;
    memcpy(&row->rest, &q->runs[(*unit)++], sizeof(row->rest));
    return true;
}

static struct win_run run_of(const struct series *row, uint64_t nth)
{
    return (struct win_run){row->run.offset + (int64_t)nth * row->rest.stride, row->run.len};
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

/* A window that has the first and the last run of a row has all of it, but for a dynamic one. */
static bool all_there(const struct win_question *q)
{
    struct series row;
    bool has_gaps = q->win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    for (uint32_t unit = 0; next_row(q, &unit, &row);) {
        uint64_t step = has_gaps || row.rest.count == 1 ? 1 : row.rest.count - 1;
        for (uint64_t i = 0; i < row.rest.count; i += step) {
            struct win_run run = run_of(&row, i);
            if (!place_of(q, &run))
                return false;
        }
    }
    return true;
}

/* Numbers of the commonest size are copied by one instruction each. */
static void copy(unsigned char *to, const unsigned char *from, uint64_t len)
{
    if (len == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, len);
}

static void put(const struct win_question *q)
{
    const unsigned char *from = q->data;
    struct series row;
    for (uint32_t unit = 0; next_row(q, &unit, &row);) {
        unsigned char *first = place_of(q, &row.run);
        for (uint64_t i = 0; i < row.rest.count; i++, from += row.run.len)
            copy(first + (int64_t)i * row.rest.stride, from, row.run.len);
    }
}

static void take_runs(const struct win_question *q, unsigned char *to)
{
    struct series row;
    for (uint32_t unit = 0; next_row(q, &unit, &row);) {
        const unsigned char *first = place_of(q, &row.run);
        for (uint64_t i = 0; i < row.rest.count; i++, to += row.run.len)
            copy(to, first + (int64_t)i * row.rest.stride, row.run.len);
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
    win_server_end_use(server);
}

/* The data of a refused one are received all the same: by a receive that has no room for them. */
static void put_long(const struct win_question *q)
{
    struct p2p_side from = win_server_side(q->server, q->origin->rank, WIN_TAG_DATA | q->head.tag);
    unsigned char *at = place_of(q, &q->runs[0]);
    struct request *request;
    if (!at)
        refuse(q, MPI_ERR_RMA_RANGE);
    int rc = p2p_irecv(&from, at, at ? (MPI_Count)q->runs[0].len : 0, MPI_BYTE, &request);
    if (rc) {
        refuse(q, rc);
        return;
    }
    win_server_use(q->server);
    request->state = q->origin;
    q->origin->long_puts++;
    if (!mpid_when_done(&request->dev, on_put))
        on_put(&request->dev);
}

static void get(const struct win_question *q)
{
    unsigned char *packed;
    if (q->head.runs == 1) {
        win_server_answer(q->server, q->origin->rank, q->head.tag, place_of(q, q->runs), q->head.bytes, NULL);
        return;
    }
    if (!(packed = malloc(q->head.bytes))) {
        refuse(q, MPI_ERR_NO_MEM);
        return;
    }
    take_runs(q, packed);
    win_server_answer(q->server, q->origin->rank, q->head.tag, packed, q->head.bytes, packed);
}

/* The elements and the operation of an accumulate. Returns whether there are such. */
static bool elements_of(const struct win_question *q, struct win_elements *how)
{
    const struct win_head *head = &q->head;
    how->type =
        head->type ? type_from((MPI_Datatype)((uintptr_t)MPI_DATATYPE_NULL + head->type)) : NULL;
    how->op = op_from((MPI_Op)((uintptr_t)MPI_OP_NULL + head->op));
    how->queue = win_server_queue(q->win);
    if (!how->type || !how->type->predefined || !how->type->size)
        return false;
    if (head->ask == WIN_COMPARE)
        return head->bytes == (uint64_t)how->type->size && head->runs == 1 &&
               head->len == 2 * head->bytes;
    if (!how->op || !how->op->predefined || head->bytes % (uint64_t)how->type->size)
        return false;
    return win_may_apply(how, head->len == head->bytes, !head->len);
}

/* Whether the next run goes on with an element, of which rest bytes are to come, or begins elements that are in the
 * window. */
static bool is_next(const struct win_question *q, const struct type *type, struct win_run run, uint64_t *rest)
{
    uint64_t size = (uint64_t)type->size, end = (uint64_t)(type->true_lb + type->true_extent);
    uint64_t piece = run.len < *rest ? run.len : *rest;
    *rest -= piece;
    run.offset += (int64_t)piece;
    run.len -= piece;
    if (!run.len)
        return true;
    uint64_t whole = (run.len + size - 1) / size;
    *rest = whole * size - run.len;
    if (*rest && type->extent == type->size)
        return false;
    run.len = (whole - 1) * size + (end > size ? end : size);
    return place_of(q, &run);
}

/* Whether the runs consist of whole elements that are in the window, as win_spread() takes them: a
 * run begins an element wherever an earlier one has not begun it. */
static bool are_elements(const struct win_question *q, const struct type *type)
{
    uint64_t rest = 0;
    struct series row;
    for (uint32_t unit = 0; next_row(q, &unit, &row);)
        for (uint64_t i = 0; i < row.rest.count; i++)
            if (!is_next(q, type, run_of(&row, i), &rest))
                return false;
    return !rest;
}

static void spread_all(const struct win_question *q, struct win_spread *spread)
{
    struct series row;
    for (uint32_t unit = 0; next_row(q, &unit, &row);)
        for (uint64_t i = 0; i < row.rest.count; i++) {
            struct win_run run = run_of(&row, i);
            win_spread(spread, place_of(q, &run), run.len);
        }
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
        spread_all(q, &spread);
    if (was)
        win_server_answer(q->server, q->origin->rank, q->head.tag, was, q->head.bytes, was);
}

/* ---- questions ---- */

/* Add up the bytes of the runs. Returns whether these are well formed. */
static bool count_bytes(const struct win_question *q, uint64_t *sum)
{
    struct series row;
    int64_t last;
    uint64_t len;
    for (uint32_t unit = 0; unit < q->head.runs;) {
        if ((q->runs[unit].len & WIN_ROW && unit + 1 == q->head.runs) || !next_row(q, &unit, &row))
            return false;
        uint64_t count = row.rest.count;
        if (!row.run.len || !count || count > WIN_PACKED_MAX || __builtin_mul_overflow(row.run.len, count, &len) ||
            __builtin_add_overflow(*sum, len, sum) ||
            __builtin_mul_overflow(row.rest.stride, (int64_t)count - 1, &last) ||
            __builtin_add_overflow(row.run.offset, last, &last))
            return false;
    }
    return true;
}

/* Take a question apart, whose bytes are aligned and stay. Returns whether its parts fit together. */
static bool read_question(struct win_question *q, const unsigned char *message, size_t len)
{
    struct win_head *head = &q->head;
    uint64_t sum = 0;
    if (len < sizeof(*head))
        return false;
    memcpy(head, message, sizeof(*head));
    if (!head->ask || head->ask >= WIN_ASKS || head->runs > WIN_RUNS_MAX || head->tag >= WIN_TAG_DATA ||
        (head->tag && head->tag < WIN_TAG_FIRST) ||
        head->len > (head->ask == WIN_EPOCH ? WIN_QUESTION_MAX : WIN_DATA_MAX) ||
        len != sizeof(*head) + head->runs * sizeof(struct win_run) + head->len)
        return false;
    q->runs = (const struct win_run *)(const void *)(message + sizeof(*head));
    q->data = message + sizeof(*head) + head->runs * sizeof(*q->runs);
    if (!count_bytes(q, &sum) || sum != head->bytes)
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
    default:
        return !head->runs && (!head->len || head->ask == WIN_EPOCH) && head->tag && head->op <= WIN_HOW_PASSING;
    }
}

/* The question in one of a whole epoch, if there is one. Returns whether it may be there. */
static bool read_inner(const struct win_question *epoch, const unsigned char *message, struct win_question *q)
{
    *q = (struct win_question){.server = epoch->server, .win = epoch->win, .origin = epoch->origin};
    return !epoch->head.len || (read_question(q, message, epoch->head.len) &&
                                (q->head.ask == WIN_PUT || q->head.ask == WIN_ACCUMULATE));
}

static void operate(const struct win_question *q)
{
    if (!all_there(q))
        refuse(q, MPI_ERR_RMA_RANGE);
    else if (q->head.ask == WIN_PUT)
        put(q);
    else if (q->head.ask == WIN_GET)
        get(q);
    else
        change(q);
}

static void run_epoch(struct win_server *server, struct win_origin *origin, const struct due *due)
{
    struct win_question q, end = {.server = server, .win = server->win, .origin = origin, .head = due->head};
    if (read_inner(&end, due->inner, &q) && due->head.len)
        operate(&q);
    end.head.ask = WIN_UNLOCK;
    ask_end(&end);
}

static void handle(const struct win_question *q)
{
    switch (q->head.ask) {
    case WIN_PUT_LONG: put_long(q); return;
    case WIN_LOCK_ASK:
    case WIN_EPOCH: win_grant_ask(q); return;
    case WIN_FLUSH:
    case WIN_UNLOCK: ask_end(q); return;
    default: operate(q); return;
    }
}

/* Take a question that has come. Returns whether there may be more. */
static bool take(struct win_server *server, struct request *request)
{
    MPI_Status status;
    bool cancelled = request->dev.cancelled;
    size_t len = request->dev.count;
    int rc = p2p_finish(request, &status);
    if ((rc && rc != MPI_ERR_TRUNCATE) || cancelled || !win_server_begin_use(server))
        return false;
    struct win_question inner, q = {.server = server, .win = server->win};
    q.origin = win_server_origin(server, status.MPI_SOURCE);
    if (!rc)
        win_wire_turn_question(server->message, len, false);
    bool good = !rc && q.origin && read_question(&q, server->message, len);
    if (good && (q.head.ask != WIN_EPOCH || read_inner(&q, q.data, &inner)))
        handle(&q);
    else
        os_log(OS_LOG_WARN, "windows: a message of rank %d breaks the rules, and is ignored",
               status.MPI_SOURCE);
    win_server_end_use(server);
    return true;
}

static void on_question(struct mpid_request *dev);

/* Post the receive again until one does not complete at once, or drop the receive's reference. */
static void post(struct win_server *server)
{
    struct p2p_side from = win_server_side(server, MPI_ANY_SOURCE, WIN_TAG_ASK);
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
    win_server_unref(server);
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
        win_server_unref(server);
}

int win_serve_begin(struct win *win)
{
    struct win_server *server = aligned_alloc(64, (sizeof(*server) + 63) / 64 * 64);
    if (!server)
        return MPI_ERR_NO_MEM;
    memset(server, 0, offsetof(struct win_server, message));
    server->win = win;
    server->comm = win->comm;
    object_ref(&win->comm->object);
    server->run_epoch = run_epoch;
    server->references = 3;
    server->failures = win_failures();
    win->server = server;
    win_grant_watch(server);
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
    win_server_unref(server);
    win->server = NULL;
}
