/* SPDX-License-Identifier: BSD-3-Clause */

/* Room for spawned jobs; see run_room.h. */
#include "bnr/run/run_room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/io/ranks.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_words.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_plan.h"

struct run_taken {
    uint32_t cpus; /* processes that are bound to free processors here */
    uint32_t on[]; /* processes, by host of the options */
};

/* What is taken by the jobs so far; NULL: no memory. */
static struct run_taken *taken_of(struct run *run)
{
    if (!run->taken)
        run->taken = calloc(1, sizeof(*run->taken) + run->plan->hosts.count * sizeof(run->taken->on[0]));
    return run->taken;
}

/* The processes of all programs: the number behind the first -n, and behind that of each further one. */
static uint32_t count_processes(const uint8_t *words, size_t len)
{
    uint64_t count = 0;
    bool is_due = true;
    const char *before = "";
    for (size_t i = 0; i < len; i += strlen((const char *)words + i) + 1) {
        const char *word = (const char *)words + i;
        if (is_due && !strcmp(before, "-n")) {
            count += strtoul(word, NULL, 10);
            is_due = false;
        }
        is_due |= !strcmp(word, ":");
        before = word;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static bool has_word(const uint8_t *words, size_t len, const char *word)
{
    for (size_t i = 0; i < len; i += strlen((const char *)words + i) + 1)
        if (!strcmp((const char *)words + i, word))
            return true;
    return false;
}

/* ---- hosts ---- */

/* The processes of this job on a host of its options. */
static uint32_t used_on(const struct run *run, size_t host)
{
    const struct hosts *hosts = &run->plan->hosts;
    const struct wide_plan *wide = run->wide ? wide_get_plan(run->wide) : NULL;
    if (!wide)
        return hosts->items[host].is_here ? (uint32_t)run->plan->nranks : 0;
    for (uint32_t node = 0; node < wide->count; node++)
        if (wide->hosts[node] == &hosts->items[host])
            return wide_plan_ranks_on(wide, node);
    return 0;
}

static uint32_t free_on(const struct run *run, size_t host)
{
    uint32_t used = used_on(run, host) + (run->taken ? run->taken->on[host] : 0);
    uint32_t slots = run->plan->hosts.items[host].slots;
    return used < slots ? slots - used : 0;
}

/* Take slots, in the order in which the new mpiexec does. Returns whether there were enough. */
static bool take_slots(struct run *run, struct run_room *room)
{
    uint32_t left = room->count;
    for (size_t h = 0; h < run->plan->hosts.count; h++) {
        uint32_t part = free_on(run, h);
        part = part < left ? part : left;
        room->on[h] = part;
        left -= part;
    }
    return !left;
}

/* Write the hosts that have room, or all of them. */
static char *list_hosts(const struct run *run, bool fits)
{
    const struct hosts *hosts = &run->plan->hosts;
    char *text = NULL;
    const char *comma = "";
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    for (size_t h = 0; to && h < hosts->count; h++) {
        const struct hosts_entry *host = &hosts->items[h];
        uint32_t slots = fits ? free_on(run, h) : host->slots;
        if (fits && !slots)
            continue;
        fprintf(to, "%s%s%s%s:%u", comma, host->user ? host->user : "", host->user ? "@" : "", host->name, slots);
        comma = ",";
    }
    if (to && !fclose(to))
        return text;
    free(text);
    return NULL;
}

static int take_hosts(struct run *run, struct run_room *room)
{
    size_t count = run->plan->hosts.count;
    if (!count)
        return 0;
    room->on = taken_of(run) ? calloc(count, sizeof(*room->on)) : NULL;
    if (!room->on)
        return -ENOMEM;
    room->hosts = list_hosts(run, take_slots(run, room));
    if (!room->hosts)
        return -ENOMEM;
    for (size_t h = 0; h < count; h++)
        run->taken->on[h] += room->on[h];
    return 0;
}

/* ---- processors ---- */

/* Take away those that ranks here are bound to. Returns whether they are bound. */
static bool leave_out_ranks(struct run *run, cpu_set_t *cpus)
{
    bool is_bound = false;
    for (int rank = 0; rank < run->plan->nranks; rank++) {
        if (run_is_elsewhere(run, rank))
            continue;
        int local = (int)run->ranks->table.rank[rank].local_rank;
        struct launch_binding binding = place_of(run->amend->place, &run->plan->start, local);
        for (size_t cpu = 0; binding.cpus && cpu < 8 * binding.cpus_len; cpu++)
            if (CPU_ISSET_S(cpu, binding.cpus_len, binding.cpus))
                CPU_CLR(cpu, cpus);
        is_bound |= binding.cpus != NULL;
    }
    return is_bound;
}

/* Ranks that are not bound leave it to the kernel, and so does the new job. */
static void take_cpus(struct run *run, struct run_room *room)
{
    if (!run->amend || !run->amend->place || sched_getaffinity(0, sizeof(room->cpus), &room->cpus))
        return;
    room->has_cpus = leave_out_ranks(run, &room->cpus) && taken_of(run) &&
                     (uint64_t)run->taken->cpus + room->count <= (uint64_t)CPU_COUNT(&room->cpus);
    if (room->has_cpus)
        run->taken->cpus += room->count;
}

/* ---- both ---- */

int run_room_take(struct run *run, struct run_room *room, const uint8_t *words, size_t len)
{
    *room = (struct run_room){.count = count_processes(words, len)};
    bool names_hosts = has_word(words, len, "-host") || has_word(words, len, "-hostfile");
    int rc = names_hosts ? 0 : take_hosts(run, room);
    if (!rc)
        take_cpus(run, room);
    return rc;
}

void run_room_leave(struct run *run, struct run_room *room)
{
    for (size_t h = 0; room->on && room->hosts && h < run->plan->hosts.count; h++)
        run->taken->on[h] -= room->on[h];
    if (room->has_cpus)
        run->taken->cpus -= room->count;
    free(room->on);
    free(room->hosts);
    *room = (struct run_room){0};
}

void run_room_stop(struct run *run)
{
    free(run->taken);
    run->taken = NULL;
}
