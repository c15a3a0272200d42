/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations watched; see win_watch.h. */
#include "mpi/win/win_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/call_text.h"
#include "mpi/comm/group.h"
#include "mpi/known.h"
#include "mpi/left.h"
#include "mpi/request/busy.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type_hash.h"
#include "mpi/win/win.h"
#include "mpi/win/win_board.h"
#include "mpi/win/win_hints.h"
#include "mpi/win/win_meet.h"
#include "mpi/win/win_op.h"
#include "mpi/world.h"

/* An operation with a request, which is complete once that is. */
struct pending {
    struct pending *next;
    const void *request;
    uint32_t serial;
    int target;
};

/* Members tell each other of their memory, and of a fence. */
struct told {
    uint64_t size;
    int64_t unit, no_locks;
};
struct fence_told {
    int32_t assert, rank;
    struct mpid_call_site site;
};

struct win_watch {
    struct win_watch *next; /* in watches */
    struct win *win;
    struct board board;
    struct told *told;  /* [size] */
    int *ranks;         /* [size] in MPI_COMM_WORLD; -1: of another job */
    _Atomic uint32_t *open; /* [size] accesses of this process in each log that are not over, at most; its holder
                               changes it */
    uint16_t *locked;   /* [size] the call that has locked it */
    uint8_t *fetched;   /* [size] a bit of each of BOARD_PLACES that something is brought from */
    _Atomic uint16_t exposed;  /* the call that has exposed the window */
    _Atomic uint16_t began;    /* the call that began the access epoch, and ... */
    _Atomic uint16_t used;     /* ... the last operation in it */
    _Atomic uint32_t serials;  /* of operations with a request, so far */
    _Atomic uint32_t version;  /* of the published clocks that this process has read */
    bool full;          /* it was told that a log is */
    struct pending *pending;
    struct known *heard; /* in words that end an exposure */
    int heard_count;
};

/* Guards watches: those in it are not freed while it is held. It is taken before any other lock. */
static struct os_lock list_lock = OS_LOCK_INIT;
static struct win_watch *watches;
static struct os_lock lock = OS_LOCK_INIT; /* guards fields of theirs that change and are not atomic */

/* ---- sentences ---- */

static void name_window(const struct win *win, char text[MPI_MAX_OBJECT_NAME + 16])
{
    char name[MPI_MAX_OBJECT_NAME];
    bool named = name_get(&((struct win *)(uintptr_t)win)->name, name) > 0;
    snprintf(text, MPI_MAX_OBJECT_NAME + 16, "window%s%s", named ? " " : "", named ? name : "");
}

/* Name a call and the fault. */
static _Noreturn void tell_one(const struct mpid_call_site *site, int error_class, const char *what)
{
    char call[CALL_TEXT], text[2 * CALL_TEXT];
    call_text(call, world_facts.rank, site, site);
    snprintf(text, sizeof(text), "--check: %s: %s", call, what);
    mpid_abort(error_class & 0xff, text);
}

/* Name two calls and the fault. */
static _Noreturn void tell(const struct mpid_call_site *first, int first_rank,
                           const struct mpid_call_site *second, const char *what)
{
    char one[CALL_TEXT], two[CALL_TEXT], text[4 * CALL_TEXT];
    call_text(one, first_rank, first, second);
    call_text(two, world_facts.rank, second, second);
    snprintf(text, sizeof(text), "--check: %s, %s: %s", one, two, what);
    mpid_abort(MPI_ERR_OTHER & 0xff, text);
}

static const char *word_of(const struct board_access *a)
{
    static const char *const words[] = {
        [BOARD_READ] = "reads", [BOARD_WRITE] = "writes", [BOARD_GET] = "gets", [BOARD_PUT] = "puts",
        [BOARD_CHANGE] = "accumulates", [BOARD_COMPARE] = "compares and swaps"};
    return a->kind == BOARD_CHANGE && a->op == OP_CODE_NO_OP ? "fetches" : words[a->kind];
}

static _Noreturn void tell_conflict(struct win_watch *w, int target, const struct board_access *old,
                                    const struct board_access *new, const uint64_t both[2],
                                    enum board_conflict why)
{
    static const char *const reasons[] = {
        [BOARD_RACE] = "and nothing orders the two",
        [BOARD_MIXED_OPS] = "by different operations, and nothing orders the two",
        [BOARD_MIXED_TYPES] = "by different types, and nothing orders the two"};
    char name[MPI_MAX_OBJECT_NAME + 16], what[2 * MPI_MAX_OBJECT_NAME + 200];
    struct mpid_call_site first = board_site_of(&w->board, old->site);
    struct mpid_call_site second = board_site_of(&w->board, new->site);
    name_window(w->win, name);
    snprintf(what, sizeof(what),
             "the first %s and the second %s bytes %" PRIu64 " to %" PRIu64 " of rank %d in %s, %s",
             word_of(old), word_of(new), both[0], both[0] + both[1] - 1, w->ranks[target], name,
             reasons[why]);
    tell(&first, old->origin, &second, what);
}

/* ---- logs ---- */

static void publish(struct win_watch *w)
{
    struct known now = known_now();
    if (!board_hold(&w->board.head->busy))
        return;
    w->board.published[w->win->rank] = now;
    atomic_fetch_add(&w->board.head->versions, 1);
    board_release(&w->board.head->busy);
}

/* Compare an access with those of a target's log, and note it. */
static void enter(struct win_watch *w, int target, const struct board_access *new)
{
    struct board_log *log = &w->board.logs[target];
    struct board_access old;
    uint64_t both[2];
    struct known now = board_known(&w->board);
    if (!board_hold(&log->busy))
        return;
    enum board_conflict why = board_find(log, &now, new, &old, both);
    bool gives = !why && board_note(log, new);
    w->open[target] += !why && !new->done;
    board_release(&log->busy);
    if (why)
        tell_conflict(w, target, &old, new, both, why);
    os_lock_slow(&lock);
    bool tells = gives && !w->full;
    w->full = w->full || gives;
    os_unlock_slow(&lock);
    if (tells)
        dprintf(STDERR_FILENO,
                "--check: rank %d: more than %d accesses of a window at rank %d may still conflict with "
                "others: the oldest are not compared any more\n",
                world_facts.rank, BOARD_LOG, w->ranks[target]);
}

/* Which accesses of this process end. */
struct ending {
    int via;         /* -1: any */
    bool local;      /* only those that are over with it */
    uint32_t serial; /* 0: any */
    uint32_t step;
};

static bool ends(const struct ending *e, const struct board_access *a)
{
    if ((e->via >= 0 && a->via != e->via) || (e->serial && a->serial != e->serial))
        return false;
    if (a->returns)
        return true;
    return !e->local && !a->posted;
}

static void end_in(struct win_watch *w, int target, const struct ending *e)
{
    struct board_log *log = &w->board.logs[target];
    uint32_t open = 0;
    if (!w->open[target] || !board_hold(&log->busy))
        return;
    for (uint32_t i = 0; (i = board_open(log, i, world_facts.rank)) < BOARD_LOG; i++) {
        if (ends(e, &log->row[i]))
            board_end(log, i, e->step);
        else
            open++;
    }
    w->open[target] = open;
    board_release(&log->busy);
}

/* Learn what those have known that accumulated in these places. For the holder of the log. */
static void learn_changed(struct board_log *log, unsigned places)
{
    for (unsigned i = 0; i < BOARD_PLACES; i++)
        if (places & 1u << i)
            known_learn(&log->changed[i]);
}

/* Fetched values have come: this process may know all that is known by those who changed them. */
static void learn_fetched(struct win_watch *w, int target)
{
    struct board_log *log = &w->board.logs[target];
    os_lock_slow(&lock);
    unsigned fetched = w->fetched[target];
    w->fetched[target] = 0;
    os_unlock_slow(&lock);
    if (!fetched || !board_hold(&log->busy))
        return;
    learn_changed(log, fetched);
    board_release(&log->busy);
}

static void end_accesses(struct win_watch *w, const struct ending *e)
{
    for (int i = 0; i < w->win->size; i++)
        if (e->via < 0 || i == e->via || i == w->win->rank)
            end_in(w, i, e);
}

void win_watch_complete(struct win *win, int target, bool local)
{
    struct win_watch *w = win->watch;
    struct ending e = {.via = target, .local = local, .step = known_step()};
    busy_end(win, target);
    end_accesses(w, &e);
    publish(w);
}

void win_watch_brought(struct win *win, int target)
{
    for (int i = 0; i < win->size; i++)
        if (target < 0 || i == target)
            learn_fetched(win->watch, i);
}

/* ---- memory of the program that is in windows ---- */

/* The part of a window that a stretch of this process's memory is in. Of one piece, the rest is cut off; one of several
 * pieces that reaches out is passed over. */
static bool find_part(const struct win *win, const struct stretch *bytes, int *target, struct stretch *part)
{
    uint64_t at, len;
    for (int i = 0; i < win->near_count; i++) {
        const struct win_target *near = &win->near[i];
        bool here = i == win->near_me ||
                    (win->flavor == MPI_WIN_FLAVOR_SHARED && near->mapped);
        struct stretch all = {(uintptr_t)near->base, near->size, near->size, 1};
        if (!here || !near->size || !stretch_meets(bytes, &all, &at, &len))
            continue;
        *part = bytes->count == 1 ? (struct stretch){at, len, len, 1} : *bytes;
        if (part->at < all.at || stretch_end(part) > stretch_end(&all))
            continue;
        part->at -= all.at;
        *target = near->rank;
        return true;
    }
    return false;
}

/* Of a dynamic window: all of it must be attached. */
static bool find_piece(struct win *win, const struct stretch *bytes, struct stretch *part)
{
    *part = *bytes;
    return win_has(win, bytes->at, stretch_end(bytes) - bytes->at);
}

/* Of the memory of a window, the part that a stretch is in. */
static bool find(struct win *win, const struct stretch *bytes, int *target, struct stretch *part)
{
    *target = win->rank;
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC ? find_piece(win, bytes, part)
                                                 : find_part(win, bytes, target, part);
}

static void enter_place(struct win_watch *w, const struct busy_place *place, const struct board_access *as)
{
    struct stretch bytes[BUSY_STRETCHES];
    int n = busy_stretches(place, bytes), target;
    struct board_access access = *as;
    for (int i = 0; i < n; i++)
        if (find(w->win, &bytes[i], &target, &access.bytes))
            enter(w, target, &access);
}

static bool is_outside(struct win *win, const struct stretch *bytes, int n)
{
    struct stretch part;
    int target, i = 0;
    while (i < n && !find(win, &bytes[i], &target, &part))
        i++;
    return i == n;
}

static void touch(struct win_watch *w, const struct busy_place *place, const struct mpid_call_site *site,
                  uint32_t step)
{
    struct board_access access = {.kind = place->writes ? BOARD_WRITE : BOARD_READ,
                                  .origin = world_facts.rank, .by = world_facts.rank, .done = step,
                                  .via = w->win->rank};
    struct board_log *log = &w->board.logs[w->win->rank];
    access.site = board_site(&w->board, site);
    if (board_hold(&log->busy)) { /* the program may have seen them change */
        learn_changed(log, ~0u);
        board_release(&log->busy);
    }
    enter_place(w, place, &access);
}

/* Other threads may make and free windows meanwhile. */
static void touched(const struct busy_place *place, const struct mpid_call_site *site, uint32_t step)
{
    struct stretch bytes[BUSY_STRETCHES];
    int n = busy_stretches(place, bytes);
    os_lock_slow(&list_lock);
    for (struct win_watch *w = watches; w && n; w = w->next)
        if (!is_outside(w->win, bytes, n))
            touch(w, place, site, step);
    os_unlock_slow(&list_lock);
}

/* ---- operations ---- */

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
    tell_one(site, MPI_ERR_TYPE, "the basic types of the origin are not those of the target");
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
                tell_one(site, MPI_ERR_BUFFER, "its result and what it takes share memory");
        }
    }
}

/* Where the target's bytes are, for its log. That it has those of a dynamic window only it can judge. */
static int find_range(struct win *win, const struct win_op *op, uint64_t *at)
{
    const struct told *told = &win->watch->told[op->rank];
    int64_t from = op->disp;
    int rc = MPI_SUCCESS;
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        rc = win_range_find(win, op, told->unit, told->size, &from);
    *at = (uint64_t)from;
    return rc;
}

/* That a target of another host has waited is not told here: operations there are over at MPI_Win_complete. */
static struct board_access access_of(struct win_watch *w, const struct win_op *op)
{
    static const uint8_t kinds[] = {
        [WIN_OP_PUT] = BOARD_PUT, [WIN_OP_GET] = BOARD_GET, [WIN_OP_ACCUMULATE] = BOARD_CHANGE,
        [WIN_OP_FETCH] = BOARD_CHANGE, [WIN_OP_COMPARE] = BOARD_COMPARE};
    struct board_access access = {.kind = kinds[op->kind], .origin = world_facts.rank,
                                  .by = world_facts.rank, .via = op->rank,
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
    if (op->kind == WIN_OP_GET || !win_op_brings(op))
        return;
    os_lock_slow(&lock);
    w->fetched[op->rank] |= (uint8_t)(win_op_bytes(op) > 8 ? 0xff : 1u << place_of(at));
    os_unlock_slow(&lock);
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
        enter(w, op->rank, &access);
    }
    for (int i = 0; i < n; i++) {
        struct board_access local = {.kind = places[i].writes ? BOARD_WRITE : BOARD_READ,
                                     .origin = world_facts.rank, .by = world_facts.rank, .via = op->rank,
                                     .serial = access.serial, .site = access.site,
                                     .returns = true};
        enter_place(w, &places[i], &local);
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
    struct pending *pending = request ? malloc(sizeof(*pending)) : NULL;
    os_lock_slow(&lock);
    if (pending) {
        *pending = (struct pending){w->pending, request, watched->serial, op->rank};
        w->pending = pending;
    }
    os_unlock_slow(&lock);
    publish(w);
}

/* ---- requests ---- */

/* Take the operation of a request off the list; NULL: it has none here. */
static struct pending *take_pending(struct win_watch *w, const void *request)
{
    os_lock_slow(&lock);
    struct pending **link = &w->pending;
    while (*link && (*link)->request != request)
        link = &(*link)->next;
    struct pending *found = *link;
    if (found)
        *link = found->next;
    os_unlock_slow(&lock);
    return found;
}

/* A request of any kind is freed. */
static void freed(const void *request)
{
    os_lock_slow(&list_lock);
    for (struct win_watch *w = watches; w; w = w->next) {
        struct pending *found = take_pending(w, request);
        if (!found)
            continue;
        struct ending e = {found->target, true, found->serial, known_step()};
        busy_end_request(request);
        learn_fetched(w, found->target);
        end_accesses(w, &e);
        publish(w);
        free(found);
    }
    os_unlock_slow(&list_lock);
}

/* ---- synchronization ---- */

int win_watch_fence(struct win *win, int assert)
{
    const int same = MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    struct win_watch *w = win->watch;
    struct fence_told mine = {assert, world_facts.rank, {{0}, {0}, 0}};
    struct fence_told *all = malloc(sizeof(*all) * (size_t)win->size);
    if (!all)
        return MPI_ERR_NO_MEM;
    mpid_find_site(&mine.site);
    if (assert & MPI_MODE_NOPRECEDE && win->access == WIN_FENCE && win->used) {
        struct mpid_call_site used = board_site_of(&w->board, w->used);
        tell(&used, world_facts.rank, &mine.site,
             "the fence's MPI_MODE_NOPRECEDE says that no operation precedes it, but the first one does");
    }
    int rc = win_meet_give(win, &mine, all, sizeof(mine));
    for (int i = 0; i < win->size && !rc; i++)
        if ((all[i].assert ^ assert) & same)
            tell(&all[i].site, all[i].rank, &mine.site,
                 "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED must be given by all members or by none: an "
                 "epoch would begin or end at some of them alone");
    free(all);
    w->began = board_site(&w->board, &mine.site);
    return rc;
}

void win_watch_fenced(struct win *win)
{
    struct board_log *log = &win->watch->board.logs[win->rank];
    if (!board_hold(&log->busy))
        return;
    board_prune(log);
    board_release(&log->busy);
    publish(win->watch);
}

struct known *win_watch_heard(struct win *win, int count)
{
    struct win_watch *w = win->watch;
    free(w->heard);
    w->heard = calloc((size_t)count + 1, sizeof(*w->heard));
    w->heard_count = w->heard ? count : 0;
    return w->heard;
}

/* An exposure is over: so are the operations within it. */
void win_watch_waited(struct win *win)
{
    struct win_watch *w = win->watch;
    for (int i = 0; i < w->heard_count; i++)
        known_learn(&w->heard[i]);
    w->heard_count = 0;
    struct board_log *log = &w->board.logs[win->rank];
    uint32_t step = known_step();
    if (!board_hold(&log->busy))
        return;
    for (uint32_t i = 0; i < log->count && i < BOARD_LOG; i++)
        if (log->row[i].posted && !log->row[i].done)
            board_end(log, i, step);
    board_release(&log->busy);
    publish(w);
}

void win_watch_opened(struct win *win, bool exposes)
{
    struct win_watch *w = win->watch;
    struct mpid_call_site site;
    mpid_find_site(&site);
    *(exposes ? &w->exposed : &w->began) = board_site(&w->board, &site);
}

/* All that gave back a lock of a target before have known. */
static void learn_given(struct board_log *log, bool exclusive)
{
    if (!board_hold(&log->busy))
        return;
    known_learn(&log->exclusive);
    if (exclusive)
        known_learn(&log->shared);
    board_release(&log->busy);
}

void win_watch_lock(struct win *win, int target, bool exclusive, bool unchecked)
{
    struct win_watch *w = win->watch;
    struct mpid_call_site site;
    mpid_find_site(&site);
    uint16_t number = board_site(&w->board, &site);
    w->began = number;
    int first = target < 0 ? 0 : target, end = target < 0 ? win->size : target + 1;
    for (int i = first; i < end; i++) {
        w->locked[i] = number;
        if (!unchecked)
            learn_given(&w->board.logs[i], exclusive);
    }
}

void win_watch_unlock(struct win *win, int target, bool exclusive)
{
    struct board_log *log = &win->watch->board.logs[target];
    struct known now = known_now();
    win->watch->locked[target] = 0;
    if (exclusive)
        board_leak(&win->watch->board, target, &now);
    if (!board_hold(&log->busy))
        return;
    known_join(exclusive ? &log->exclusive : &log->shared, &now);
    board_release(&log->busy);
}

void win_watch_sync(struct win *win)
{
    struct win_watch *w = win->watch;
    struct board_head *head = w->board.head;
    struct board_log *log = &w->board.logs[win->rank];
    struct known now = known_now();
    if (board_hold(&head->busy)) {
        known_learn(&head->synced);
        known_join(&head->synced, &now);
        board_release(&head->busy);
    }
    if (!board_hold(&log->busy))
        return;
    learn_changed(log, ~0u);
    known_learn(&log->put);
    board_release(&log->busy);
}

/* ---- all ---- */

static void learn_any(void)
{
    os_lock_slow(&list_lock);
    for (struct win_watch *w = watches; w; w = w->next) {
        uint32_t version = atomic_load(&w->board.head->versions);
        if (version == w->version || !board_hold(&w->board.head->busy))
            continue;
        w->version = version;
        for (int i = 0; i < w->win->size; i++)
            known_learn(&w->board.published[i]);
        board_release(&w->board.head->busy);
    }
    os_unlock_slow(&list_lock);
}

static void destroy(struct win_watch *w)
{
    if (w && w->board.head)
        board_free(&w->board);
    while (w && w->pending) {
        struct pending *pending = w->pending;
        w->pending = pending->next;
        free(pending);
    }
    if (w) {
        free(w->told);
        free(w->ranks);
        free(w->open);
        free(w->locked);
        free(w->fetched);
        free(w->heard);
    }
    free(w);
}

static int fill(struct win_watch *w)
{
    struct win *win = w->win;
    struct told mine = {(uint64_t)win->bytes, win->unit, win->no_locks};
    size_t size = (size_t)win->size;
    w->told = calloc(size, sizeof(*w->told));
    w->ranks = calloc(size, sizeof(*w->ranks));
    w->open = calloc(size, sizeof(*w->open));
    w->locked = calloc(size, sizeof(*w->locked));
    w->fetched = calloc(size, sizeof(*w->fetched));
    if (!w->told || !w->ranks || !w->open || !w->locked || !w->fetched)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < win->size; i++) {
        struct process process = group_process(win->comm->group, i);
        bool ours = !memcmp(&process.gid, &world_facts.gid, sizeof(process.gid));
        w->ranks[i] = ours ? (int)process.rank : -1;
    }
    return win_meet_give(win, &mine, w->told, sizeof(mine));
}

/* Hints that say something of all members. */
static void check_hints(const struct win_watch *w)
{
    const struct told *all = w->told, *mine = &all[w->win->rank];
    struct mpid_call_site site;
    char text[CALL_TEXT];
    for (int i = 0; i < w->win->size; i++) {
        const char *hint =
            win_hint_is_true(w->win->info, "same_size") && all[i].size != mine->size             ? "same_size"
            : win_hint_is_true(w->win->info, "same_disp_unit") && all[i].unit != mine->unit      ? "same_disp_unit"
            : all[i].no_locks != mine->no_locks                                   ? "no_locks"
                                                                                  : NULL;
        if (!hint)
            continue;
        mpid_find_site(&site);
        snprintf(text, sizeof(text), "its hint %s is not so of rank %d of the window", hint, i);
        tell_one(&site, MPI_ERR_INFO_VALUE, text);
    }
}

int win_watch_begin(struct win *win)
{
    struct win_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return MPI_ERR_NO_MEM;
    w->win = win;
    int rc = fill(w);
    if (!rc)
        rc = board_make(&w->board, win);
    if (rc) {
        destroy(w);
        return rc;
    }
    check_hints(w);
    win->watch = w;
    publish(w);
    known_on_any(learn_any);
    busy_on_touch(touched);
    left_on_freed(freed);
    os_lock_slow(&list_lock);
    w->next = watches;
    watches = w;
    os_unlock_slow(&list_lock);
    return MPI_SUCCESS;
}

void win_watch_free(struct win *win, const char *why)
{
    struct win_watch *w = win->watch;
    struct mpid_call_site site, first;
    uint16_t began = win->posted_count >= 0 ? w->exposed : w->began;
    mpid_find_site(&site);
    for (int i = 0; i < win->size && win->access == WIN_LOCK; i++)
        if (w->locked[i])
            began = w->locked[i];
    first = board_site_of(&w->board, began);
    if (why)
        tell(&first, world_facts.rank, &site, why);
    first = board_site_of(&w->board, w->used);
    if (win->access == WIN_FENCE && win->used)
        tell(&first, world_facts.rank, &site, "no MPI_Win_fence completes the operation before");
}

void win_watch_end(struct win *win)
{
    struct win_watch **link = &watches;
    if (!win->watch)
        return;
    os_lock_slow(&list_lock);
    while (*link != win->watch)
        link = &(*link)->next;
    *link = win->watch->next;
    os_unlock_slow(&list_lock);
    destroy(win->watch);
    win->watch = NULL;
}
