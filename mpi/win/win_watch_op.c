/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations of windows that are watched; see win_watch.h. */
#include <mpi.h>

#include "mpi/known.h"
#include "mpi/request/busy.h"
#include "mpi/type/type_hash.h"
#include "mpi/win/win.h"
#include "mpi/win/win_check.h"
#include "mpi/win/win_log.h"
#include "mpi/win/win_op.h"
#include "mpi/win/win_watch.h"

/* The buffers of an operation; returns their number. */
static int places_of(const struct win_op *op, struct busy_place places[3])
{
    int n = 0;
    if (win_op_takes(op))
        places[n++] = (struct busy_place){op->from.buf, op->from.count, type_from(op->from.type), false};
    if (op->kind == WIN_OP_COMPARE)
        places[n++] = (struct busy_place){op->compare, 1, op->target_type, false};
    if (win_op_brings(op))
        places[n++] = (struct busy_place){op->to.buf, op->to.count, type_from(op->to.type), true};
    return n;
}

/* The origin's data must be of the target's basic types. */
static void check_types(const struct win_op *op, const struct mpid_call_site *site)
{
    const struct win_data *data = win_op_takes(op) ? &op->from : &op->to;
    const struct type *mine = type_from(data->type);
    struct type_hash hash = type_hash(mine, data->count), theirs = type_hash(op->target_type, op->count);
    if (!hash.elements || type_is_untyped(mine) || type_is_untyped(op->target_type))
        return;
    if (hash.elements <= theirs.elements &&
        type_hash_first(op->target_type, hash.elements).value == hash.value)
        return;
    win_log_fault(site, MPI_ERR_TYPE, "the basic types of the origin are not those of the target");
}

static void check_buffers(const struct busy_place *places, int n, const struct mpid_call_site *site)
{
    struct stretch a[BUSY_STRETCHES], b[BUSY_STRETCHES];
    uint64_t at, len;
    for (int i = 0; i < n; i++)
        busy_claim(&places[i], site);
    for (int i = 0; i + 1 < n; i++) {
        int mine = busy_stretches(&places[i], a), theirs = busy_stretches(&places[n - 1], b);
        for (int k = 0; k < mine * theirs; k++) {
            if (stretch_meets(&a[k / theirs], &b[k % theirs], &at, &len))
                win_log_fault(site, MPI_ERR_BUFFER, "its result and what it takes share memory");
        }
    }
}

/* Where the target's bytes are, for its log. That it has those of a dynamic window only it can judge. */
static int find_range(struct win *win, const struct win_op *op, uint64_t *at)
{
    const struct win_told *told = &win->watch->told[op->rank];
    int64_t from = op->disp;
    int rc = MPI_SUCCESS;
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        rc = win_check_range(win, op, told->unit, told->size, &from);
    *at = (uint64_t)from;
    return rc;
}

/* That a target of another host has waited is not told here: operations there are over at MPI_Win_complete. */
static struct board_access access_of(struct win_watch *w, const struct win_op *op)
{
    static const uint8_t kinds[] = {
        [WIN_OP_PUT] = BOARD_PUT, [WIN_OP_GET] = BOARD_GET, [WIN_OP_ACCUMULATE] = BOARD_CHANGE,
        [WIN_OP_FETCH] = BOARD_CHANGE, [WIN_OP_COMPARE] = BOARD_COMPARE};
    struct board_access access = {.kind = kinds[op->kind], .origin = known_rank(),
                                  .by = known_rank(), .via = op->rank,
                                  .returns = win_op_brings(op),
                                  .posted = w->win->access == WIN_START && board_is_near(&w->board, op->rank)};
    if (op->basic) {
        access.form = op->basic->form;
        access.size = (uint8_t)op->basic->size;
    }
    if (op->how)
        access.op = op->how->code;
    return access;
}

static unsigned place_of(uint64_t at)
{
    return (unsigned)(at >> 3) % BOARD_PLACES;
}

/* Whoever finds its data at the target knows as much as this process does now. */
static void give_known(struct win_watch *w, const struct win_op *op, uint64_t at)
{
    struct board_log *log = &w->board.logs[op->rank];
    struct known now = known_now();
    if (op->kind == WIN_OP_GET)
        return;
    board_leak(&w->board, op->rank, &now);
    if (!board_hold(&log->busy))
        return;
    if (op->kind == WIN_OP_PUT)
        known_join(&log->put, &now);
    for (unsigned i = 0; i < BOARD_PLACES && op->kind != WIN_OP_PUT; i++)
        if (i == place_of(at) || win_op_bytes(op) > 8)
            known_join(&log->changed[i], &now);
    board_release(&log->busy);
}

static void note_fetched(struct win_watch *w, const struct win_op *op, uint64_t at)
{
    if (op->kind != WIN_OP_GET && win_op_brings(op))
        win_log_note_fetched(w, op->rank, win_op_bytes(op) > 8 ? 0xff : 1u << place_of(at));
}

/* A number for an operation with a request: each has its own, never 0. */
static uint32_t draw_serial(struct win_watch *w)
{
    uint32_t serial = atomic_fetch_add(&w->serials, 1) + 1;
    return serial ? serial : draw_serial(w);
}

int win_watch_op(struct win *win, const struct win_op *op, struct win_watched *watched)
{
    struct win_watch *w = win->watch;
    struct busy_place places[3];
    struct stretch bytes[BUSY_STRETCHES];
    *watched = (struct win_watched){.serial = 0};
    if (!op->count || !op->target_type->size)
        return MPI_SUCCESS;
    mpid_find_site(&watched->site);
    check_types(op, &watched->site);
    int rc = find_range(win, op, &watched->at), n = places_of(op, places);
    if (rc)
        return rc;
    check_buffers(places, n, &watched->site);
    watched->serial = op->requests ? draw_serial(w) : 0;
    struct board_access access = access_of(w, op);
    access.site = board_site(&w->board, &watched->site);
    w->used = access.site;
    access.serial = watched->serial;
    give_known(w, op, watched->at);
    int pieces = w->ranks[op->rank] >= 0
                     ? type_stretches(op->target_type, op->count, watched->at, bytes, BUSY_STRETCHES)
                     : 0;
    for (int i = 0; i < pieces; i++) {
        access.bytes = bytes[i];
        win_log_enter(w, op->rank, &access);
    }
    for (int i = 0; i < n; i++) {
        struct board_access local = {.kind = places[i].writes ? BOARD_WRITE : BOARD_READ,
                                     .origin = known_rank(), .by = known_rank(), .via = op->rank,
                                     .serial = access.serial, .site = access.site,
                                     .returns = true};
        win_log_enter_place(w, &places[i], &local);
    }
    return MPI_SUCCESS;
}

void win_watch_started(struct win *win, const struct win_op *op, const struct win_watched *watched,
                       const void *request)
{
    struct win_watch *w = win->watch;
    struct busy_place places[3];
    struct busy_use use = {win, op->rank, request};
    if (!op->count || !op->target_type->size)
        return;
    note_fetched(w, op, watched->at);
    for (int i = 0, n = places_of(op, places); i < n; i++)
        busy_add(&places[i], &watched->site, &use);
    if (request)
        win_log_add_request(w, op->rank, watched->serial, request);
    win_log_publish(w);
}

void win_watch_complete(struct win *win, int target, bool local)
{
    struct win_watch *w = win->watch;
    struct win_ending e = {.via = target, .local = local, .step = known_step()};
    busy_end(win, target);
    win_log_end(w, &e);
    win_log_publish(w);
}

void win_watch_brought(struct win *win, int target)
{
    for (int i = 0; i < win->size; i++)
        if (target < 0 || i == target)
            win_log_learn_fetched(win->watch, i);
}
