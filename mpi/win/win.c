/* SPDX-License-Identifier: BSD-3-Clause */

/* Windows as objects; see win.h. */
#include "mpi/win/win.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/info.h"
#include "mpi/store.h"
#include "mpi/world.h"
#include "os/memory/segment.h"

static struct store store = {.lock = OS_LOCK_INIT};

static struct win none;
struct win *win_recent = &none;

struct win *win_create_object(void)
{
    struct win *win = store_make(&store, sizeof(*win), OBJECT_WIN);
    if (!win)
        return NULL;
    win->posted_count = -1;
    win->segment.fd = -1;
    errh_start(&win->errhandler, errh_from(MPI_ERRORS_ARE_FATAL));
    return win;
}

void win_destroy_object(struct win *win)
{
    struct win_target *target, *next;
    struct win *recent = win;
    (void)__atomic_compare_exchange_n(&win_recent, &recent, &none, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    HASH_ITER(hh, win->far, target, next)
    {
        HASH_DEL(win->far, target);
        free(target);
    }
    for (int i = 0; win->near && i < win->near_count; i++)
        os_segment_unmap(win->near[i].map_base, win->near[i].size);
    errh_stop(&win->errhandler);
    info_destroy(win->info);
    free(win->near);
    free(win->quick);
    free(win->shown);
    store_free(&store, win);
}

/* ---- targets ---- */

/* The number of a rank among the members of this host, or -1. */
static int near_of(struct win *win, int rank)
{
    const struct comm_hosts *hosts = win->comm->hosts;
    if (win->near_count == 1)
        return rank == win->rank ? 0 : -1;
    if (!hosts->host || hosts->host[rank] != hosts->mine)
        return hosts->host ? -1 : rank;
    const int *ranks = hosts->ranks + hosts->first[hosts->mine];
    int low = 0, high = win->near_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (ranks[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int win_rank_of(const struct win *win, int near)
{
    const struct comm_hosts *hosts = win->comm->hosts;
    if (win->near_count == 1)
        return win->rank;
    return hosts->host ? hosts->ranks[hosts->first[hosts->mine] + near] : near;
}

struct win_target *win_target_slow(struct win *win, int rank)
{
    struct win_target *target;
    int near = near_of(win, rank);
    if (near >= 0)
        return &win->near[near];
    os_lock(&win->lock);
    HASH_FIND_INT(win->far, &rank, target);
    if (!target && (target = calloc(1, sizeof(*target)))) {
        target->rank = rank;
        HASH_ADD_INT(win->far, rank, target);
        if (!os_hash_has(hh, target)) {
            free(target);
            target = NULL;
        }
    }
    os_unlock(&win->lock);
    return target;
}

void win_allow(struct win *win, struct win_target *target)
{
    size_t i = (size_t)(target - win->near);
    if (i >= (size_t)win->near_count) /* one of another host */
        return;
    bool may = !win_is_revoked(win) && target->mapped && (target->open || win->open_all) && target->unit <= INT32_MAX;
    struct win_quick *quick = &win->quick[i];
    if (quick->base != target->base)
        quick->base = target->base;
    atomic_store_explicit(&quick->room, may ? target->size : 0, memory_order_release);
}

void win_allow_all(struct win *win)
{
    for (int i = 0; i < win->near_count; i++)
        win_allow(win, &win->near[i]);
}

void win_map(struct win *win, struct win_target *target)
{
    if (__atomic_load_n(&target->place.fd, __ATOMIC_ACQUIRE) < 0 || !target->size)
        return;
    os_lock(&win->lock);
    if (!target->mapped) {
        target->map_base = memory_open(&target->place, target->size);
        if (target->map_base) {
            target->base = target->map_base;
            atomic_store_explicit(&target->mapped, true, memory_order_release);
        }
        __atomic_store_n(&target->place.fd, -1, __ATOMIC_RELEASE);
    }
    win_allow(win, target);
    os_unlock(&win->lock);
}

bool win_has(struct win *win, uintptr_t address, uint64_t len)
{
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return address >= (uintptr_t)win->base && len <= (uint64_t)win->bytes &&
               address - (uintptr_t)win->base <= (uint64_t)win->bytes - len;
    os_lock(&win->lock);
    const struct win_piece *piece = win->pieces;
    while (piece && len) { /* pieces may adjoin: then go on behind this one */
        uint64_t behind = address >= piece->base ? address - piece->base : piece->size;
        if (behind >= piece->size) {
            piece = piece->next;
            continue;
        }
        uint64_t here = piece->size - behind;
        address += here;
        len -= here < len ? here : len;
        piece = win->pieces;
    }
    os_unlock(&win->lock);
    return !len;
}

/* ---- failures ---- */

bool win_has_failed(const struct win *win, int rank)
{
    struct process process;
    if (!atomic_load_explicit(&win->comm->failed, memory_order_relaxed))
        return false;
    for (int i = 0; mpid_failed(i, &process.gid, &process.rank); i++) {
        int found = group_find(win->comm->group, &process);
        if (found != MPI_UNDEFINED && (rank < 0 || found == rank))
            return true;
    }
    return false;
}

void win_revoked(void *owner)
{
    struct win *win = owner;
    os_lock(&win->lock);
    win_allow_all(win);
    __atomic_store_n(&win->flushes, 0, __ATOMIC_RELAXED);
    os_unlock(&win->lock);
    mpid_wake();
}

uint32_t win_failures(void)
{
    return atomic_load_explicit(&comm_list_failures, memory_order_acquire);
}

const char *win_is_busy(const struct win *win)
{
    if (win_is_revoked(win))
        return NULL;
    if (win->posted_count >= 0)
        return "it is exposed by MPI_Win_post: call MPI_Win_wait first";
    if (win->access == WIN_START)
        return "an epoch of MPI_Win_start is open: call MPI_Win_complete first";
    if (win->access == WIN_LOCK || win->access == WIN_LOCK_ALL)
        return "targets are locked: unlock them first";
    return NULL;
}

/* ---- names and errors ---- */

void win_name_comm(struct win *win)
{
    char text[MPI_MAX_OBJECT_NAME + 8], name[MPI_MAX_OBJECT_NAME];
    bool named = name_get(&win->name, name) > 0;
    snprintf(text, sizeof(text), "window%s%s", named ? " " : "", name);
    name_set(&win->comm->name, text);
}

void win_set_errhandler(struct win *win, struct errhandler *errhandler)
{
    errh_set(&win->errhandler, errhandler);
    errh_set(&win->comm->errhandler, errhandler);
}

int win_error(struct win *win, int error_class, const char *function, const char *fmt, ...)
{
    char what[320], name[MPI_MAX_OBJECT_NAME];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    const char *quote = name_get(&win->name, name) ? "'" : "";
    return errh_on(errh_get(&win->errhandler), win_handle(win), error_class, function,
                   "%s: window %s%.60s%s, its rank %d", what, quote, name, quote, win->rank);
}

int win_bad(MPI_Win handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    return errh_comm(NULL, MPI_ERR_WIN, function, "window %s is none, or was freed",
                     errh_name(handle).text);
}
