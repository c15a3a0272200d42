/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Making and freeing windows; see win_make.h.
 *
 * The members exchange three rounds: how much memory each wants; where the segment of each host is;
 * and whether each member is ready. By the last one all members of a host agree whether they map
 * each other's memory.
 *
 * No member leaves alone: an error of one is carried on, unless it is of a round itself, and all
 * agree before the rounds and at the end on the same error.
 */
#include "mpi/win/win_make.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/errh_code.h"
#include "mpi/known.h"
#include "mpi/make/context_agree.h"
#include "mpi/win/win.h"
#include "mpi/win/win_helper.h"
#include "mpi/win/win_hints.h"
#include "mpi/win/win_meet.h"
#include "mpi/win/win_queue.h"
#include "mpi/win/win_segment.h"
#include "mpi/win/win_serve.h"
#include "mpi/win/win_watch.h"

enum {
    PAGE = 4096,
    HUGE_PAGE = 2 << 20
};

/* What a member shares with another one. A program may be told that it can share memory
 * (MPI_COMM_TYPE_SHARED) even if the channel that wakes is off: then a window that is nothing else has
 * members that look for their turn by themselves. */
enum near {
    NEAR_NOTHING,
    NEAR_MEMORY,
    NEAR_WAKES /* and they wake each other */
};

/* The rounds of the exchange: words of 64 bits. What members of one host tell each other may hold other fields. */
struct wants {
    uint64_t bytes;
    int64_t unit;
    uint64_t align;
    struct win_reach reach;
    struct memory_place place;
    uint64_t near; /* enum near: with all others of its host */
    uint64_t noncontiguous;
};
struct ready {
    int64_t error; /* an error class */
    int64_t mapped;
    struct win_segment_lack lack;
};

struct making {
    const struct win_wish *wish;
    struct win *win;
    struct wants *wants;              /* [size], like the next two */
    struct win_segment_place *places; /* of the segments */
    struct ready *ready;
    struct win_segment_lack lack;
    bool shares; /* a segment is made for this host */
    bool mapped; /* the members of this host map each other's memory */
    char *why;
    size_t why_size;
};

static int fail(struct making *m, int error_class, const char *what)
{
    if (!m->why[0])
        snprintf(m->why, m->why_size, "%s", what);
    return error_class;
}

/* Have all members of comm return the same, which is MPI_SUCCESS if all of them bring that. */
static int agree(struct making *m, struct comm *comm, int error)
{
    int rc = win_meet_agree(comm, error);
    return rc ? fail(m, rc, "another member could not make it") : MPI_SUCCESS;
}

/* ---- who is near ---- */

static int find_near(struct making *m)
{
    struct win *win = m->win;
    const struct comm_hosts *hosts = comm_hosts_of(win->comm);
    if (!hosts)
        return fail(m, MPI_ERR_NO_MEM, "no memory");
    win->near_count = hosts->count == 1 ? win->size
                      : hosts->count    ? hosts->first[hosts->mine + 1] - hosts->first[hosts->mine]
                                        : 1;
    win->near_me = 0;
    while (win->near_count > 1 && win_rank_of(win, win->near_me) != win->rank)
        win->near_me++;
    return MPI_SUCCESS;
}

static enum near near_all(const struct win *win)
{
    bool may = win->near_count > 1 && win->near_count < WIN_QUEUE_MEMBERS, wakes = may;
    for (int i = 0; i < win->near_count && wakes; i++) {
        struct process process = group_process(win->comm->group, win_rank_of(win, i));
        wakes = i == win->near_me || mpid_is_near(&process.gid, process.rank);
    }
    if (wakes)
        return NEAR_WAKES;
    return may && win->flavor == MPI_WIN_FLAVOR_SHARED ? NEAR_MEMORY : NEAR_NOTHING;
}

/* What all members of this host share. */
static enum near agreed_near(const struct making *m)
{
    uint64_t near = m->win->near_count > 1 ? NEAR_WAKES : NEAR_NOTHING;
    for (int i = 0; i < m->win->near_count; i++) {
        uint64_t theirs = m->wants[win_rank_of(m->win, i)].near;
        near = theirs < near ? theirs : near;
    }
    return (enum near)near;
}

/* ---- memory ---- */

static bool has_memory(const struct making *m)
{
    return m->wish->flavor == MPI_WIN_FLAVOR_ALLOCATE || m->wish->flavor == MPI_WIN_FLAVOR_SHARED;
}

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Where the part of a member begins in the data of the segment; of the one behind the last, their
 * end. */
static uint64_t offset_of(const struct making *m, int near)
{
    const struct win *win = m->win;
    bool apart = win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->noncontiguous;
    uint64_t at = 0;
    for (int i = 0; has_memory(m) && i <= near; i++) {
        const struct wants *wants =
            i < win->near_count ? &m->wants[win_rank_of(win, i)] : &(struct wants){.align = 1};
        uint64_t page = wants->bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
        if (apart)
            at = round_up(at, wants->align > page ? wants->align : page);
        if (i < near)
            at += wants->bytes;
    }
    return at;
}

/* Whether the parts of all members have numbers; offset_of() takes that as given. */
static bool adds_up(const struct making *m)
{
    uint64_t sum = 0;
    for (int i = 0; has_memory(m) && i < m->win->near_count; i++) {
        const struct wants *wants = &m->wants[win_rank_of(m->win, i)];
        if (wants->align > HUGE_PAGE || wants->bytes > PTRDIFF_MAX ||
            __builtin_add_overflow(sum, wants->bytes + HUGE_PAGE, &sum) || sum > PTRDIFF_MAX)
            return false;
    }
    return true;
}

/* The same sentence at all members. */
static int fail_memory(struct making *m, int rank, const struct win_segment_lack *lack)
{
    char what[256], there[64] = "no segment of so many can be made";
    if (lack->room != UINT64_MAX)
        snprintf(there, sizeof(there), "there are %llu", (unsigned long long)lack->room);
    snprintf(what, sizeof(what),
             "%llu bytes on the host of rank %d, and %s: ask for less memory, or raise the limit of "
             "the control group",
             (unsigned long long)lack->bytes, rank, there);
    return fail(m, MPI_ERR_NO_MEM, what);
}

static int make_segment(struct making *m, struct win_segment_place *place)
{
    if (!adds_up(m))
        return fail(m, MPI_ERR_NO_MEM, "the sizes of the members add up to too much");
    int rc = win_segment_make(&m->win->segment, (uint32_t)m->win->near_count,
                              offset_of(m, m->win->near_count), place, &m->lack);
    return rc ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* Open the segment, which has room for the parts of all members if its maker is right. */
static void open_segment(struct making *m, const struct win_segment_place *place)
{
    struct win_segment *segment = &m->win->segment;
    uint32_t members = (uint32_t)m->win->near_count;
    if (win_segment_open(segment, members, place))
        return;
    size_t head = (size_t)(win_segment_data(segment, members) - segment->base);
    if (!adds_up(m) || offset_of(m, m->win->near_count) > segment->len - head)
        win_segment_close(segment);
}

/* Where nothing is shared: a segment of this process alone. */
static int make_alone(struct making *m)
{
    struct win_segment_place place;
    m->win->near_me = 0;
    m->win->near_count = 1;
    int rc = make_segment(m, &place);
    win_segment_opened(&m->win->segment);
    return rc;
}

/* The segment of this host, or of this process; *error is this member's, and stays 0 where the
 * others can do without. */
static int share(struct making *m, int *error)
{
    struct win *win = m->win;
    struct win_segment_place mine = {0};
    if (!m->shares)
        *error = make_alone(m);
    else if (win->near_me == 0)
        *error = make_segment(m, &mine);
    int rc = win_meet_give(m->win, &mine, m->places, sizeof(mine));
    const struct win_segment_place *place = &m->places[win_rank_of(win, 0)];
    if (!rc && m->shares && win->near_me && place->len)
        open_segment(m, place);
    return rc;
}

/* ---- targets ---- */

static void fill_near(struct making *m)
{
    struct win *win = m->win;
    unsigned char *data = win_segment_data(&m->win->segment, (uint32_t)win->near_count);
    for (int i = 0; i < win->near_count; i++) {
        struct win_target *target = &win->near[i];
        target->queue = win_segment_queue(&m->win->segment, (uint32_t)i);
        if (!has_memory(m))
            continue;
        target->base = data + offset_of(m, i);
        target->mapped = true;
    }
    if (has_memory(m))
        win->base = win->near[win->near_me].base;
}

static int fill_targets(struct making *m)
{
    struct win *win = m->win;
    win->near = calloc((size_t)win->near_count, sizeof(*win->near));
    win->quick = calloc((size_t)win->near_count, sizeof(*win->quick));
    if (!win->near || !win->quick)
        return fail(m, MPI_ERR_NO_MEM, "no memory");
    for (int i = 0; i < win->near_count; i++) {
        int rank = win_rank_of(win, i);
        win->near[i].rank = rank;
        win->near[i].size = m->wants[rank].bytes;
        win->near[i].unit = win->quick[i].unit = m->wants[rank].unit;
        win->near[i].reach = m->wants[rank].reach;
        win->near[i].reach.found = 0; /* by this process */
        win->near[i].place = m->wants[rank].place;
        win->near[i].base = (unsigned char *)(uintptr_t)m->wants[rank].reach.base;
    }
    fill_near(m);
    win->near[win->near_me].base = win->base;
    win->near[win->near_me].mapped = true;
    win->direct = win->near_count == win->size ? win->size : 0;
    return MPI_SUCCESS;
}

/* ---- all ---- */

static struct win_reach reach_of(struct win *win)
{
    if (win->flavor != MPI_WIN_FLAVOR_CREATE && win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return (struct win_reach){0};
    win->shown = calloc(1, sizeof(*win->shown));
    if (!win->shown)
        return (struct win_reach){0};
    return win_reach_of(win->shown, win->base);
}

static struct memory_place place_of(const struct win *win)
{
    if (win->flavor != MPI_WIN_FLAVOR_CREATE)
        return (struct memory_place){.fd = -1};
    return memory_place_of(win->base, (size_t)win->bytes);
}

/* A member with an error, of the greatest class; -1: none. */
static int find_worst(const struct making *m)
{
    int worst = -1, error = MPI_SUCCESS;
    for (int i = 0; i < m->win->size; i++) {
        int theirs = errh_class_of_peer((int)m->ready[i].error);
        worst = theirs > error ? i : worst;
        error = theirs > error ? theirs : error;
    }
    return worst;
}

/* The rounds. The error is one of a round, or the same at all members. */
static int make_memory(struct making *m)
{
    struct win *win = m->win;
    int error = MPI_SUCCESS;
    struct wants mine = {(uint64_t)win->bytes, win->unit,     win_hint_align(m->wish->info),
                         reach_of(win),        place_of(win), near_all(win), win->noncontiguous};
    int rc = win_meet_give(m->win, &mine, m->wants, sizeof(mine));
    if (!rc) {
        enum near near = agreed_near(m);
        for (int i = 0; i < win->near_count; i++) /* it holds if all of them have said so */
            win->noncontiguous = win->noncontiguous && m->wants[win_rank_of(win, i)].noncontiguous;
        m->shares = near != NEAR_NOTHING;
        win->wakes = near != NEAR_MEMORY;
        rc = share(m, &error);
    }
    struct ready is = {error, m->win->segment.base != NULL, m->lack};
    if (!rc)
        rc = win_meet_give(m->win, &is, m->ready, sizeof(is));
    m->mapped = m->shares;
    for (int i = 0; i < win->near_count && !rc; i++)
        m->mapped = m->mapped && m->ready[win_rank_of(win, i)].mapped;
    int worst = rc ? -1 : find_worst(m);
    error = worst < 0 ? MPI_SUCCESS : errh_class_of_peer((int)m->ready[worst].error);
    if (rc || error || (m->shares && !m->mapped))
        win_segment_close(&m->win->segment);
    win_segment_opened(&m->win->segment);
    if (!rc && error)
        rc = m->ready[worst].lack.bytes ? fail_memory(m, worst, &m->ready[worst].lack)
                                        : fail(m, error, "a member has no memory for it");
    return rc;
}

static int make_rest(struct making *m)
{
    struct win *win = m->win;
    bool mapped = win->near_count == win->size, by_message = win->size > 1;
    for (int i = 0; i < win->near_count && !has_memory(m); i++)
        mapped = mapped && (win->near[i].place.fd >= 0 || !win->near[i].size) &&
                 win->flavor == MPI_WIN_FLAVOR_CREATE;
    if (has_memory(m) && mapped)
        by_message = false;
    win->unit_attr = win->unit > INT_MAX ? INT_MAX : (int)win->unit;
    win->model = MPI_WIN_UNIFIED;
    int rc = by_message ? win_serve_begin(win) : MPI_SUCCESS;
    if (!rc && by_message && !win->no_locks && !mapped) {
        win->helped = true;
        win_helper_begin();
    }
    return rc;
}

/* What each member does by itself after the rounds. */
static int make_own(struct making *m)
{
    struct win *win = m->win;
    int rc = m->win->segment.base ? MPI_SUCCESS : make_alone(m);
    if (rc && m->lack.bytes)
        (void)fail_memory(m, win->rank, &m->lack);
    if (!rc && win->flavor == MPI_WIN_FLAVOR_SHARED && win->size > 1 &&
        !(m->mapped && win->near_count == win->size))
        rc = fail(
            m, MPI_ERR_RMA_SHARED,
            "the members cannot map one memory: they are on several hosts, or this host refuses it; "
            "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED gives those of one host");
    if (!rc)
        rc = fill_targets(m);
    return rc ? rc : make_rest(m);
}

/* Everything that the rounds need. */
static int make_room(struct making *m)
{
    size_t size = (size_t)m->wish->comm->size;
    m->wants = malloc(sizeof(*m->wants) * size);
    m->places = malloc(sizeof(*m->places) * size);
    m->ready = malloc(sizeof(*m->ready) * size);
    if (!m->win || !m->wants || !m->places || !m->ready)
        return fail(m, MPI_ERR_NO_MEM, "no memory for a window");
    return MPI_SUCCESS;
}

static int make_comm(struct making *m)
{
    struct comm *parent = m->wish->comm, *comm;
    uint32_t context;
    int rc = context_agree(parent, NULL, &context);
    if (!rc && !m->win)
        context_release(context);
    if (!rc && !m->win)
        return MPI_ERR_NO_MEM;
    if (!rc)
        rc = comm_create(parent->group, context, &comm);
    if (rc)
        return fail(m, rc, "a context could not be agreed on");
    m->win->comm = comm;
    comm->handled = win_handle(m->win);
    win_set_errhandler(m->win, errh_from(MPI_ERRORS_ARE_FATAL));
    m->win->size = comm->size;
    m->win->rank = comm->rank;
    win_name_comm(m->win);
    comm_watch(comm, win_revoked, m->win);
    return find_near(m);
}

static void destroy(struct win *win)
{
    win_watch_end(win);
    if (win->comm)
        comm_watch(win->comm, NULL, NULL);
    if (win->helped)
        win_helper_end();
    win_serve_end(win);
    win_segment_close(&win->segment);
    while (win->pieces) {
        struct win_piece *piece = win->pieces;
        win->pieces = piece->next;
        free(piece);
    }
    if (win->comm) { /* requests may be left */
        errh_set(&win->comm->errhandler, errh_initial());
        win->comm->handled = NULL;
    }
    comm_unref(win->comm);
    win_destroy_object(win);
}

int win_make(const struct win_wish *wish, struct win **made, char *why, size_t size)
{
    struct win *win = win_create_object();
    struct making m = {.wish = wish, .win = win, .why = why, .why_size = size};
    why[0] = 0;
    if (win) {
        win->flavor = wish->flavor;
        win->base = wish->base;
        win->bytes = wish->bytes;
        win->unit = wish->unit;
        win_read_hints(win, wish->info);
    }
    int lacks = make_room(&m), rc = make_comm(&m);
    rc = agree(&m, wish->comm, lacks ? lacks : rc);
    if (!rc && !(rc = make_memory(&m)))
        rc = agree(&m, win->comm, make_own(&m));
    if (!rc && known_is_kept)
        rc = agree(&m, win->comm, win_watch_begin(win));
    free(m.wants);
    free(m.places);
    free(m.ready);
    if (!rc)
        *made = win;
    else if (win)
        destroy(win);
    return rc;
}

int win_free(struct win *win)
{
    int rc = win_is_revoked(win) ? MPI_SUCCESS : win_meet_barrier(win);
    if (rc == MPIX_ERR_REVOKED)
        rc = MPI_SUCCESS;
    destroy(win);
    return rc;
}
