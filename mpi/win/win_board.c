/* SPDX-License-Identifier: BSD-3-Clause */

/* The accesses to a window's memory; see win_board.h. */
#include "mpi/win/win_board.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/comm/comm_hosts.h"
#include "mpi/type/op_kernels.h"
#include "mpi/win/win.h"
#include "mpi/win/win_meet.h"
#include "os/memory/segment.h"

enum { TRIES = 1 << 20 };

/* ---- memory ---- */

static size_t len_of(int size)
{
    return sizeof(struct board_head) + (size_t)size * (sizeof(struct known) + sizeof(struct board_log));
}

static void use(struct board *board, void *memory, int size)
{
    board->head = memory;
    board->published = (struct known *)(board->head + 1);
    board->logs = (struct board_log *)(board->published + size);
}

/* The first member of this host. */
static int first_near(const struct win *win, const struct comm_hosts *hosts)
{
    if (hosts->count == 1)
        return 0;
    return hosts->count ? hosts->ranks[hosts->first[hosts->mine]] : win->rank;
}

/* Whether all members of this host have mapped the same. */
static int agree(struct win *win, const struct comm_hosts *hosts, bool mapped, bool *all)
{
    char mine = mapped, *theirs = malloc((size_t)win->size);
    int rc = theirs ? win_meet_give(win, &mine, theirs, 1) : MPI_ERR_NO_MEM;
    *all = !rc;
    for (int i = 0; i < win->size && !rc; i++)
        *all = *all && (hosts->count > 1 ? hosts->host[i] != hosts->mine || theirs[i] : theirs[i]);
    free(theirs);
    return rc;
}

int board_make(struct board *board, struct win *win)
{
    const struct comm_hosts *hosts = comm_hosts_of(win->comm);
    struct win_segment_place mine = {0}, *all = malloc(sizeof(*all) * (size_t)win->size);
    *board = (struct board){.win = win, .len = len_of(win->size)};
    if (!all || !hosts) {
        free(all);
        return MPI_ERR_NO_MEM;
    }
    int first = first_near(win, hosts), fd = -1;
    if (first == win->rank)
        fd = win_segment_create("vireo-check", board->len, sizeof(struct board_head), &mine);
    int rc = win_meet_give(win, &mine, all, sizeof(mine));
    if (!rc && first != win->rank && all[first].len == board->len)
        fd = win_segment_find(&all[first]);
    void *memory = !rc && fd >= 0 ? os_segment_map(fd, 0, board->len, 1) : NULL;
    if (!rc)
        rc = agree(win, hosts, memory != NULL, &board->is_shared);
    if (fd >= 0)
        close(fd);
    free(all);
    if (memory && (rc || !board->is_shared)) {
        os_segment_unmap(memory, board->len);
        memory = NULL;
    }
    if (!rc && !memory)
        memory = calloc(1, board->len);
    if (memory)
        use(board, memory, win->size);
    return rc ? rc : memory ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void board_free(struct board *board)
{
    if (board->is_shared)
        os_segment_unmap(board->head, board->len);
    else
        free(board->head);
    board->head = NULL;
}

bool board_hold(_Atomic uint32_t *busy)
{
    uint32_t none = 0;
    for (int i = 0; i < TRIES; i++, none = 0) {
        if (atomic_compare_exchange_weak(busy, &none, 1))
            return true;
        if (i % 64 == 63)
            sched_yield();
    }
    return false;
}

void board_release(_Atomic uint32_t *busy)
{
    atomic_store(busy, 0);
}

/* ---- other hosts ---- */

bool board_is_near(const struct board *board, int target)
{
    const struct win *win = board->win;
    bool near = target == win->rank;
    for (int i = 0; i < win->near_count && board->is_shared && !near; i++)
        near = win->near[i].rank == target;
    return near;
}

void board_leak(struct board *board, int target, const struct known *now)
{
    if (board_is_near(board, target) || !board_hold(&board->head->busy))
        return;
    known_join(&board->head->leaked, now);
    board_release(&board->head->busy);
}

struct known board_known(struct board *board)
{
    struct known now = known_now();
    if (!board_hold(&board->head->busy))
        return now;
    known_join(&now, &board->head->leaked);
    board_release(&board->head->busy);
    return now;
}

/* ---- call sites ---- */

uint16_t board_site(struct board *board, const struct mpid_call_site *site)
{
    struct board_head *head = board->head;
    uint32_t i;
    if (!board_hold(&head->busy))
        return 0;
    uint32_t count = head->sites < BOARD_SITES ? head->sites : BOARD_SITES;
    for (i = 0; i < count; i++)
        if (head->site[i].offset == site->offset && !memcmp(&head->site[i], site, sizeof(*site)))
            break;
    if (i == count && i < BOARD_SITES) {
        head->site[i] = *site;
        head->sites = i + 1;
    }
    board_release(&head->busy);
    return i < BOARD_SITES ? (uint16_t)(i + 1) : 0;
}

struct mpid_call_site board_site_of(struct board *board, uint16_t number)
{
    struct mpid_call_site site = {.function = "MPI, at a place that is not known,"};
    if (number && number <= BOARD_SITES)
        site = board->head->site[number - 1];
    return site;
}

/* ---- accesses ---- */

static bool is_over(const struct board_access *access, const struct known *now)
{
    return access->done && (access->by < 0 || known_says(now, access->by, access->done));
}

static uint32_t rows(const struct board_log *log)
{
    return log->count < BOARD_LOG ? log->count : BOARD_LOG;
}

/* The first row from i on whose bytes touch these; BOARD_LOG: there is none. */
static uint32_t near(const struct board_log *log, uint32_t i, const struct stretch *bytes)
{
    uint64_t first = bytes->at, end = stretch_end(bytes);
    for (uint32_t count = rows(log); i < count; i++)
        if (log->first[i] <= end && log->end[i] >= first)
            return i;
    return BOARD_LOG;
}

static void put(struct board_log *log, uint32_t i, const struct board_access *access)
{
    const struct stretch *bytes = &access->bytes;
    log->row[i] = *access;
    log->first[i] = bytes->at;
    log->end[i] = stretch_end(bytes);
    log->open[i] = access->done ? -1 : access->origin;
}

static bool is_atomic(const struct board_access *a)
{
    return a->kind >= BOARD_CHANGE;
}

static bool reads_only(const struct board_access *a)
{
    return a->kind == BOARD_READ || a->kind == BOARD_GET ||
           (a->kind == BOARD_CHANGE && a->op == OP_CODE_NO_OP);
}

/* Of one origin, accumulates are carried out in their order. */
static enum board_conflict conflict(const struct board_access *a, const struct board_access *b)
{
    if (reads_only(a) && reads_only(b))
        return BOARD_FINE;
    if (!is_atomic(a) || !is_atomic(b))
        return BOARD_RACE;
    if (a->form != b->form || a->size != b->size)
        return BOARD_MIXED_TYPES;
    bool goes = a->kind == BOARD_COMPARE || b->kind == BOARD_COMPARE || a->op == b->op ||
                a->op == OP_CODE_NO_OP || b->op == OP_CODE_NO_OP || a->origin == b->origin;
    return goes ? BOARD_FINE : BOARD_MIXED_OPS;
}

enum board_conflict board_find(const struct board_log *log, const struct known *now, const struct board_access *new,
                               struct board_access *found, uint64_t both[2])
{
    for (uint32_t i = 0; (i = near(log, i, &new->bytes)) < BOARD_LOG; i++) {
        const struct board_access *old = &log->row[i];
        enum board_conflict what = conflict(old, new);
        if (!what || !stretch_meets(&old->bytes, &new->bytes, &both[0], &both[1]) || is_over(old, now))
            continue;
        *found = *old;
        return what;
    }
    return BOARD_FINE;
}

static bool is_like(const struct board_access *a, const struct board_access *b)
{
    return a->origin == b->origin && a->via == b->via && a->site == b->site && a->kind == b->kind &&
           a->op == b->op && a->form == b->form && a->size == b->size && a->posted == b->posted &&
           a->serial == b->serial;
}

/* Whatever is ordered behind new is ordered behind one that is over when new begins; so the latter need
 * not be kept where new conflicts with all that it does. */
static bool replaces(const struct board_access *new, const struct board_access *old,
                     const struct known *now)
{
    bool same = old->kind == new->kind && old->op == new->op && old->form == new->form &&
                old->size == new->size && old->origin == new->origin;
    return (same || new->kind == BOARD_PUT || new->kind == BOARD_WRITE) &&
           stretch_covers(&new->bytes, &old->bytes) && is_over(old, now);
}

bool board_note(struct board_log *log, const struct board_access *new)
{
    struct known now = known_now();
    log->count = rows(log);
    for (uint32_t i = 0; (i = near(log, i, &new->bytes)) < BOARD_LOG;) {
        struct board_access old = log->row[i];
        if (!old.done && !new->done && is_like(&old, new) && stretch_grow(&old.bytes, &new->bytes)) {
            put(log, i, &old);
            return false;
        }
        if (replaces(new, &old, &now))
            put(log, i, &log->row[--log->count]);
        else
            i++;
    }
    if (log->count < BOARD_LOG) {
        put(log, log->count++, new);
        return false;
    }
    uint32_t given = log->next++ % BOARD_LOG;
    bool matters = !is_over(&log->row[given], &now);
    put(log, given, new);
    return matters;
}

uint32_t board_open(const struct board_log *log, uint32_t i, int32_t origin)
{
    for (uint32_t count = rows(log); i < count; i++)
        if (log->open[i] == origin)
            return i;
    return BOARD_LOG;
}

void board_end(struct board_log *log, uint32_t i, uint32_t step)
{
    log->row[i].by = known_rank();
    log->row[i].done = step;
    log->open[i] = -1;
}

void board_prune(struct board_log *log)
{
    struct known now = known_now();
    uint32_t kept = 0, count = rows(log);
    for (uint32_t i = 0; i < count; i++)
        if (!is_over(&log->row[i], &now))
            put(log, kept++, &log->row[i]);
    log->count = kept;
}
