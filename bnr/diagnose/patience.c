/* SPDX-License-Identifier: BSD-3-Clause */

/* How much processor time ranks have had since they were asked; see patience.h. */
#include "bnr/diagnose/patience.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/diagnose/answer.h"
#include "os/clock.h"
#include "os/file.h"

enum {
    ENOUGH_NS = 20000000, /* of running: a rank in MPI comes by the question in it */
    PART = 4              /* of the time: a rank that waited so long for a processor is late */
};

struct patience_rank {
    int pid;
    uint64_t ran_ns, waited_ns; /* when it was asked */
};

/* How long a process has run, and has waited for a processor. Returns whether that is known. */
static bool read_times(int pid, uint64_t *ran_ns, uint64_t *waited_ns)
{
    char path[64], text[128];
    snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
    return pid > 0 && os_read_start(path, text, sizeof(text)) > 0 &&
           sscanf(text, "%" SCNu64 " %" SCNu64, ran_ns, waited_ns) == 2;
}

void patience_begin(struct patience *p, const struct table *t)
{
    patience_end(p);
    *p = (struct patience){.table = t, .begun_ns = os_now_ns()};
    p->ranks = calloc((size_t)t->slots, sizeof(*p->ranks));
    for (int r = 0; p->ranks && r < t->world_size; r++) {
        int slot = table_slot(t, r);
        if (slot < 0 || answer_state(t, r) != DIAGNOSE_SILENT)
            continue;
        struct patience_rank *rank = &p->ranks[slot];
        rank->pid = answer_process(t, r);
        if (!read_times(rank->pid, &rank->ran_ns, &rank->waited_ns))
            rank->pid = 0;
    }
}

void patience_end(struct patience *p)
{
    free(p->ranks);
    *p = (struct patience){0};
}

/* Waiting is counted once it is over. */
static bool is_runnable(int pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    const char *name_end = os_read_start(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

static bool is_starved(const struct patience *p, const struct patience_rank *rank)
{
    uint64_t ran_ns, waited_ns;
    if (!read_times(rank->pid, &ran_ns, &waited_ns) || ran_ns - rank->ran_ns >= ENOUGH_NS)
        return false;
    return (waited_ns - rank->waited_ns) * PART > os_now_ns() - p->begun_ns ||
           is_runnable(rank->pid);
}

enum diagnose_state patience_state(const struct patience *p, int rank)
{
    enum diagnose_state state = answer_state(p->table, rank);
    if (state != DIAGNOSE_SILENT || !p->ranks)
        return state;
    bool is_late = is_starved(p, &p->ranks[table_slot(p->table, rank)]);
    return is_late ? DIAGNOSE_LATE : DIAGNOSE_SILENT;
}

bool patience_is_due(const struct patience *p)
{
    for (int r = 0; r < p->table->world_size; r++)
        if (table_slot(p->table, r) >= 0 && patience_state(p, r) == DIAGNOSE_LATE)
            return true;
    return false;
}
