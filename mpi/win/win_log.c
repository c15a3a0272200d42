/* SPDX-License-Identifier: BSD-3-Clause */

/* The logs of a window's accesses; see win_log.h. */
#include "mpi/win/win_log.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/call_text.h"
#include "mpi/known.h"
#include "mpi/left.h"
#include "mpi/request/busy.h"
#include "mpi/type/op_kernels.h"
#include "mpi/win/win.h"
#include "mpi/world.h"
#include "os/lock.h"

/* An operation with a request, which is complete once that is. */
struct pending {
    struct pending *next;
    const void *request;
    uint32_t serial;
    int target;
};

/* Guards watches: those in it are not freed while it is held. It is taken before any other lock. */
static struct os_lock list_lock = OS_LOCK_INIT;
static struct win_watch *watches;
static struct os_lock lock = OS_LOCK_INIT; /* guards full, fetched and pending of each */

void win_log_each(void (*visit)(struct win_watch *w, void *arg), void *arg)
{
    os_lock_slow(&list_lock);
    for (struct win_watch *w = watches; w; w = w->next)
        visit(w, arg);
    os_unlock_slow(&list_lock);
}

/* ---- sentences ---- */

static void name_window(const struct win *win, char text[MPI_MAX_OBJECT_NAME + 16])
{
    char name[MPI_MAX_OBJECT_NAME];
    bool named = name_get(&((struct win *)(uintptr_t)win)->name, name) > 0;
    snprintf(text, MPI_MAX_OBJECT_NAME + 16, "window%s%s", named ? " " : "", named ? name : "");
}

void win_log_fault(const struct mpid_call_site *site, int error_class, const char *what)
{
    char call[CALL_TEXT], text[2 * CALL_TEXT];
    call_text(call, world_facts.rank, site, site);
    snprintf(text, sizeof(text), "--check: %s: %s", call, what);
    mpid_abort(error_class & 0xff, text);
}

void win_log_fault_of_two(const struct mpid_call_site *first, int first_rank, const struct mpid_call_site *second,
                      const char *what)
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
                                    const struct board_access *new, const uint64_t both[2], enum board_conflict why)
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
    win_log_fault_of_two(&first, old->origin, &second, what);
}

/* ---- accesses ---- */

void win_log_publish(struct win_watch *w)
{
    struct known now = known_now();
    if (!board_hold(&w->board.head->busy))
        return;
    w->board.published[w->win->rank] = now;
    atomic_fetch_add(&w->board.head->versions, 1);
    board_release(&w->board.head->busy);
}

void win_log_enter(struct win_watch *w, int target, const struct board_access *new)
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

static bool ends(const struct win_ending *e, const struct board_access *a)
{
    if ((e->via >= 0 && a->via != e->via) || (e->serial && a->serial != e->serial))
        return false;
    if (a->returns)
        return true;
    return !e->local && !a->posted;
}

static void end_in(struct win_watch *w, int target, const struct win_ending *e)
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

void win_log_learn_changed(struct board_log *log, unsigned places)
{
    for (unsigned i = 0; i < BOARD_PLACES; i++)
        if (places & 1u << i)
            known_learn(&log->changed[i]);
}

void win_log_learn_fetched(struct win_watch *w, int target)
{
    struct board_log *log = &w->board.logs[target];
    os_lock_slow(&lock);
    unsigned fetched = w->fetched[target];
    w->fetched[target] = 0;
    os_unlock_slow(&lock);
    if (!fetched || !board_hold(&log->busy))
        return;
    win_log_learn_changed(log, fetched);
    board_release(&log->busy);
}

void win_log_end(struct win_watch *w, const struct win_ending *e)
{
    for (int i = 0; i < w->win->size; i++)
        if (e->via < 0 || i == e->via || i == w->win->rank)
            end_in(w, i, e);
}

void win_log_note_fetched(struct win_watch *w, int target, unsigned places)
{
    os_lock_slow(&lock);
    w->fetched[target] |= (uint8_t)places;
    os_unlock_slow(&lock);
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

void win_log_enter_place(struct win_watch *w, const struct busy_place *place, const struct board_access *as)
{
    struct stretch bytes[BUSY_STRETCHES];
    int n = busy_stretches(place, bytes), target;
    struct board_access access = *as;
    for (int i = 0; i < n; i++)
        if (find(w->win, &bytes[i], &target, &access.bytes))
            win_log_enter(w, target, &access);
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
        win_log_learn_changed(log, ~0u);
        board_release(&log->busy);
    }
    win_log_enter_place(w, place, &access);
}

/* Memory of the program is read or written by a call of MPI, other than an operation of a window. */
struct touch {
    const struct busy_place *place;
    const struct mpid_call_site *site;
    uint32_t step;
    const struct stretch *bytes;
    int n;
};

static void touch_in(struct win_watch *w, void *arg)
{
    const struct touch *t = arg;
    if (!is_outside(w->win, t->bytes, t->n))
        touch(w, t->place, t->site, t->step);
}

/* Other threads may make and free windows meanwhile. */
static void touched(const struct busy_place *place, const struct mpid_call_site *site, uint32_t step)
{
    struct stretch bytes[BUSY_STRETCHES];
    struct touch t = {place, site, step, bytes, busy_stretches(place, bytes)};
    if (t.n)
        win_log_each(touch_in, &t);
}

/* ---- requests ---- */

void win_log_add_request(struct win_watch *w, int target, uint32_t serial, const void *request)
{
    struct pending *pending = malloc(sizeof(*pending));
    if (!pending)
        return;
    os_lock_slow(&lock);
    *pending = (struct pending){w->pending, request, serial, target};
    w->pending = pending;
    os_unlock_slow(&lock);
}

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
static void end_of(struct win_watch *w, void *request)
{
    struct pending *found = take_pending(w, request);
    if (!found)
        return;
    struct win_ending e = {found->target, true, found->serial, known_step()};
    busy_end_request(request);
    win_log_learn_fetched(w, found->target);
    win_log_end(w, &e);
    win_log_publish(w);
    free(found);
}

static void freed(const void *request)
{
    win_log_each(end_of, (void *)(uintptr_t)request);
}

/* ---- windows ---- */

void win_log_add(struct win_watch *w)
{
    busy_on_touch(touched);
    left_on_freed(freed);
    os_lock_slow(&list_lock);
    w->next = watches;
    watches = w;
    os_unlock_slow(&list_lock);
}

void win_log_remove(struct win_watch *w)
{
    struct win_watch **link = &watches;
    os_lock_slow(&list_lock);
    while (*link != w)
        link = &(*link)->next;
    *link = w->next;
    os_unlock_slow(&list_lock);
    while (w->pending) {
        struct pending *pending = w->pending;
        w->pending = pending->next;
        free(pending);
    }
}
