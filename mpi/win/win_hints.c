/* SPDX-License-Identifier: BSD-3-Clause */

/* The hints of windows; see win_hints.h. */
#include "mpi/win/win_hints.h"

#include <string.h>

#include "mpi/info.h"

/* Those that are kept as they were given, and the value of each that was not. */
static const struct {
    const char *key, *otherwise;
} hints[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"mpi_accumulate_granularity", "0"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
    {"mpi_minimum_memory_alignment", "64"},
    {"mpi_assert_memory_alloc_kinds", NULL},
    {"mpi_memory_alloc_kinds", "mpi,system"},
};

enum {
    HINTS = sizeof(hints) / sizeof(hints[0])
};

static bool is_true(const struct info *info, const char *key)
{
    char value[8];
    return info && info_read(info, key, value, sizeof(value)) >= 0 && !strcmp(value, "true");
}

void win_read_hints(struct win *win, const struct info *info)
{
    win->no_locks = is_true(info, "no_locks");
    win->noncontiguous = is_true(info, "alloc_shared_noncontig");
    (void)win_set_hints(win,
                        info); /* where memory is out the hints are those of a window without */
}

int win_set_hints(struct win *win, const struct info *info)
{
    char value[MPI_MAX_INFO_VAL];
    int rc = MPI_SUCCESS;
    os_lock(&win->lock);
    for (int i = 0; i < HINTS && info && !rc; i++) {
        if (info_read(info, hints[i].key, value, sizeof(value)) < 0)
            continue;
        if (!win->info)
            win->info = info_create();
        rc = win->info ? info_set(win->info, hints[i].key, value) : MPI_ERR_NO_MEM;
    }
    os_unlock(&win->lock);
    return rc;
}

/* How an operation makes progress while its target computes: hardware, by the origin's own
 * instructions; thread, one of the library's that sleeps at the target; or target, in its calls. */
static const char *progress_of(const struct win *win)
{
    if (win->direct && win->near[win->size - 1].mapped)
        return "put:hardware get:hardware accumulate:hardware lock:hardware";
    bool near_locks = win->direct;
    if (win->no_locks)
        return "put:target get:target accumulate:target lock:none";
    return near_locks ? "put:thread get:thread accumulate:thread lock:hardware"
                      : "put:thread get:thread accumulate:thread lock:thread";
}

struct info *win_hints(struct win *win)
{
    struct info *all = info_create();
    int rc = all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    os_lock(&win->lock);
    for (int i = 0; i < HINTS && !rc; i++) {
        const char *value = win->info ? info_get(win->info, hints[i].key) : NULL;
        value = value ? value : hints[i].otherwise;
        rc = value ? info_set(all, hints[i].key, value) : MPI_SUCCESS;
    }
    os_unlock(&win->lock);
    if (!rc)
        rc = info_set(all, "vireo_progress", progress_of(win));
    if (rc) {
        info_destroy(all);
        return NULL;
    }
    return all;
}
