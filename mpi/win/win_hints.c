/* SPDX-License-Identifier: BSD-3-Clause */

/* The hints of windows; see win_hints.h. */
#include "mpi/win/win_hints.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/info.h"
#include "mpi/win/win.h"

enum { ALIGN_MIN = 64, ALIGN_MAX = 2 << 20 };

static bool is_truth(const char *value)
{
    return !strcmp(value, "true") || !strcmp(value, "false");
}

/* none, or some of four words, with commas between them. */
static bool is_ordering(const char *value)
{
    if (!strcmp(value, "none"))
        return true;
    for (;; value += 4) {
        if (value[0] != 'r' && value[0] != 'w')
            return false;
        if (value[1] != 'a' || (value[2] != 'r' && value[2] != 'w'))
            return false;
        if (value[3] != ',')
            return !value[3];
    }
}

static bool is_ops(const char *value)
{
    return !strcmp(value, "same_op") || !strcmp(value, "same_op_no_op");
}

static bool is_number(const char *value)
{
    return *value && strlen(value) < 19 && strspn(value, "0123456789") == strlen(value);
}

/* The alignment that a value asks for; 0: it is none. */
static uint64_t alignment(const char *value)
{
    uint64_t align = is_number(value) ? strtoull(value, NULL, 10) : 0;
    return align <= ALIGN_MAX && !(align & (align - 1)) ? align : 0;
}

static bool is_alignment(const char *value)
{
    return alignment(value) != 0;
}

static bool is_text(const char *value)
{
    return *value;
}

/* Those that are kept if they mean something, and the value of each that was not given. */
static const struct {
    const char *key, *otherwise;
    bool (*is_good)(const char *value); /* NULL: it is not the program's */
} hints[] = {
    {"no_locks", "false", is_truth},
    {"accumulate_ordering", "rar,raw,war,waw", is_ordering},
    {"accumulate_ops", "same_op_no_op", is_ops},
    {"mpi_accumulate_granularity", "0", is_number},
    {"same_size", "false", is_truth},
    {"same_disp_unit", "false", is_truth},
    {"alloc_shared_noncontig", "false", is_truth},
    {"mpi_minimum_memory_alignment", "64", is_alignment},
    {"mpi_assert_memory_alloc_kinds", NULL, is_text},
    {"mpi_memory_alloc_kinds", "mpi,system", NULL},
};

enum {
    HINTS = sizeof(hints) / sizeof(hints[0])
};

bool win_hint_is_true(const struct info *info, const char *key)
{
    char value[8];
    return info && info_read(info, key, value, sizeof(value)) >= 0 && !strcmp(value, "true");
}

uint64_t win_hint_align(const struct info *info)
{
    char text[32];
    if (!info || info_read(info, "mpi_minimum_memory_alignment", text, sizeof(text)) < 0)
        return ALIGN_MIN;
    uint64_t align = alignment(text);
    return align > ALIGN_MIN ? align : ALIGN_MIN;
}

void win_read_hints(struct win *win, const struct info *info)
{
    win->no_locks = win_hint_is_true(info, "no_locks");
    win->noncontiguous = win_hint_is_true(info, "alloc_shared_noncontig");
    (void)win_set_hints(win,
                        info); /* where memory is out the hints are those of a window without */
}

int win_set_hints(struct win *win, const struct info *info)
{
    char value[MPI_MAX_INFO_VAL];
    int rc = MPI_SUCCESS;
    os_lock(&win->lock);
    for (int i = 0; i < HINTS && info && !rc; i++) {
        if (info_read(info, hints[i].key, value, sizeof(value)) < 0 || !hints[i].is_good ||
            !hints[i].is_good(value))
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
