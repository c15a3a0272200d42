/* SPDX-License-Identifier: BSD-3-Clause */

/* Where ranks run; see place.h. */
#include "bnr/io/place.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/core/place/start_wish.h"
#include "bnr/io/ranks.h"
#include "bnr/wire/hosts.h"
#include "os/cpu/cpus.h"
#include "os/log.h"

enum {
    PICTURE_LEN = 4096
};

/* ---- asking ---- */

static bool is_bound(const struct start_wish *place)
{
    return place->bind < PLACEMENT_NODE || start_wish_names_cpus(place) || place->rankfile;
}

static size_t host_count(const struct place_job *job)
{
    return job->hosts ? job->hosts->count : 0;
}

/* Whether the processors have to be known. */
static bool needs_hardware(const struct place_job *job)
{
    const struct start_wish *place = job->wish;
    return is_bound(place) || place->shows_bindings || place->shows_hardware || place->allowed ||
           (place->is_limited && !host_count(job));
}

static enum placement_unit unit_of(const struct start_wish *place)
{
    return place->by_thread ? PLACEMENT_BY_THREAD : PLACEMENT_BY_CORE;
}

static uint32_t slots_of(const struct place *p, const struct place_job *job)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < host_count(job); i++)
        slots += job->hosts->items[i].is_here ? job->hosts->items[i].slots : 0;
    if (slots)
        return slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
    if (!p->hardware.cpus)
        return (uint32_t)os_cpus_usable();
    slots = placement_objects(&p->hardware.machine,
                              job->wish->by_thread ? PLACEMENT_HWTHREAD : PLACEMENT_CORE);
    uint64_t usable = p->hardware.is_own ? (uint64_t)os_cpus_usable() : slots;
    return (uint32_t)(usable < slots ? usable : slots);
}

/* ---- working it out ---- */

/* Every rank gets all of the list. */
static int bind_all(struct place *p, const struct start_wish *place)
{
    struct placement *made = &p->placement;
    uint32_t count = p->hardware.machine.count, kept = count;
    struct placement_cpu *some = malloc((count ? count : 1) * sizeof(*some));
    if (!some)
        return -ENOMEM;
    memcpy(some, p->hardware.cpus, count * sizeof(*some));
    int rc = placement_restrict(some, &kept, place->list, unit_of(place), made->problem);
    for (uint32_t r = 0; !rc && r < made->count; r++) {
        struct placement_rank *rank = &made->ranks[r];
        rank->cpus = malloc(kept * sizeof(*rank->cpus));
        rc = rank->cpus ? 0 : -ENOMEM;
        for (uint32_t i = 0; !rc && i < count; i++)
            if (rank->cpu_count < kept &&
                p->hardware.cpus[i].os_index == some[rank->cpu_count].os_index)
                rank->cpus[rank->cpu_count++] = i;
    }
    free(some);
    return rc;
}

/* The processors, in the order of their numbers, as a list: for one rank after the other. */
static char *list_in_turn(const struct hardware *h)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    uint32_t last = 0;
    for (uint32_t i = 0; to && i < h->machine.count; i++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t c = 0; c < h->machine.count; c++)
            if ((!i || h->cpus[c].os_index > last) && h->cpus[c].os_index < best)
                best = h->cpus[c].os_index;
        fprintf(to, "%s%u", i ? "," : "", best);
        last = best;
    }
    if (!to || fclose(to))
        return NULL;
    return text;
}

/* The processors near the device, for all ranks; or a core for each, those near first. */
static char *list_near(const struct hardware *h, bool by_core)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    bool is_first = true;
    for (int far = 0; to && far <= by_core; far++)
        for (uint32_t i = 0; i < h->machine.count; i++) {
            bool goes_on = i && (!by_core || h->cpus[i].object[PLACEMENT_CORE] ==
                                                 h->cpus[i - 1].object[PLACEMENT_CORE]);
            if (h->cpus[i].is_near == far)
                continue;
            fprintf(to, "%s%u", is_first ? "" : goes_on || !by_core ? "+" : ",", h->cpus[i].os_index);
            is_first = false;
        }
    if (!to || fclose(to))
        return NULL;
    return text;
}

static int bind_by_list(struct place *p, const struct start_wish *place)
{
    struct placement_words words = {&p->hardware.machine, place->list, unit_of(place), false};
    char *in_turn = NULL;
    if (place->user || place->device) {
        in_turn = place->device  ? list_near(&p->hardware, place->by_distance)
                  : *place->user ? strdup(place->user)
                                 : list_in_turn(&p->hardware);
        words = (struct placement_words){&p->hardware.machine, in_turn, PLACEMENT_BY_SYSTEM, true};
    } else if (!place->is_ordered) {
        return bind_all(p, place);
    }
    int rc = words.list ? 0 : -ENOMEM;
    if (!rc && place->device && !*in_turn) {
        snprintf(p->placement.problem, sizeof(p->placement.problem),
                 "none of the processors that may be used is near '%.60s'", place->device);
        rc = -EINVAL;
    }
    if (!rc)
        rc = placement_bind_list(&p->placement, &words);
    free(in_turn);
    return rc;
}

static int bind_by_file(struct place *p, const struct place_job *job)
{
    const struct placement_share share = {.file = &job->wish->file,
                                          .machine = &p->hardware.machine,
                                          .host = os_host_name(),
                                          .ranks = job->ranks,
                                          .number_of = job->number_of};
    return placement_bind_file(&p->placement, &share);
}

struct placement_request place_request(const struct start_wish *wish)
{
    return (struct placement_request){.map = wish->map,
                                      .ppr = wish->ppr,
                                      .rank_by = wish->rank_by,
                                      .is_spread = wish->is_spread,
                                      .is_spanning = wish->is_spanning,
                                      .is_filling = wish->is_filling,
                                      .bind = start_wish_names_cpus(wish) ? PLACEMENT_NONE : wish->bind,
                                      .pe = wish->pe,
                                      .width = wish->width,
                                      .is_limited = wish->is_limited,
                                      .may_overload = wish->may_overload};
}

static int work_out(struct place *p, const struct place_job *job)
{
    const struct start_wish *place = job->wish;
    static const struct placement_cpu some_cpu;
    static const struct placement_machine some_machine = {&some_cpu, 1, 0};
    const struct placement_host host = {
        .name = os_host_name(),
        .slots = slots_of(p, job),
        .machine = p->hardware.cpus ? &p->hardware.machine : &some_machine,
    };
    struct placement_request request = place_request(place);
    request.hosts = &host;
    request.host_count = 1;
    request.ranks = job->ranks;
    if (!is_bound(place)) { /* the order of ranks is all there is to it */
        request.map = request.rank_by = PLACEMENT_SLOT;
        request.ppr = 0;
    }
    if (place->rankfile)
        return bind_by_file(p, job);
    int rc = placement_make(&p->placement, &request);
    return rc || !start_wish_names_cpus(place) ? rc : bind_by_list(p, place);
}

/* Turn each rank's processors into what the kernel takes. */
static int make_sets(struct place *p)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->hardware.machine.count; i++)
        if (p->hardware.cpus[i].os_index > most)
            most = p->hardware.cpus[i].os_index;
    p->set_len = CPU_ALLOC_SIZE(most + 1);
    p->sets = calloc(p->placement.count, p->set_len);
    for (uint32_t r = 0; p->sets && r < p->placement.count; r++)
        for (uint32_t i = 0; i < p->placement.ranks[r].cpu_count; i++)
            CPU_SET_S(p->hardware.cpus[p->placement.ranks[r].cpus[i]].os_index, p->set_len,
                      (cpu_set_t *)(p->sets + r * p->set_len));
    return p->sets ? 0 : -ENOMEM;
}

static int prepare(struct place *p, const struct place_job *job, char why[512])
{
    const struct start_wish *place = job->wish;
    int rc = needs_hardware(job) ? hardware_read(&p->hardware, place->device, why) : 0;
    if (rc)
        return rc;
    if (place->allowed)
        rc = placement_restrict(p->hardware.cpus, &p->hardware.machine.count, place->allowed,
                                unit_of(place), p->placement.problem);
    if (!rc)
        rc = work_out(p, job);
    if (rc == -EINVAL)
        snprintf(why, 512, "%s", p->placement.problem);
    else if (rc)
        snprintf(why, 512, "out of memory");
    if (!rc && is_bound(place) && !p->hardware.is_own && !place->is_dry) {
        snprintf(why, 512,
                 "hwloc tells of another machine, to which ranks cannot be bound; unset "
                 "HWLOC_SYNTHETIC and HWLOC_XMLFILE, or say --do-not-launch");
        rc = -EINVAL;
    }
    return rc;
}

int place_make(struct place *p, const struct place_job *job, char why[512])
{
    const struct start_wish *place = job->wish;
    *p = (struct place){0};
    for (size_t i = 0; i < sizeof(place->nodes) / sizeof(place->nodes[0]); i++)
        p->nodes[i] = place->nodes[i];
    if (!place->is_wanted || !job->ranks)
        return 0;
    int rc = prepare(p, job, why);
    if (!rc && is_bound(place))
        rc = make_sets(p);
    if (rc && place->if_supported) {
        fprintf(stderr, "mpiexec: ranks are not bound: %s\n", why);
        place_fini(p);
        return 0;
    }
    return rc;
}

struct launch_binding place_of(const struct place *p, const struct start_wish *wish, int rank)
{
    static const int policies[] = {[START_MEMORY_LOCAL] = MPOL_LOCAL,
                                   [START_MEMORY_BIND] = MPOL_BIND,
                                   [START_MEMORY_INTERLEAVE] = MPOL_INTERLEAVE};
    struct launch_binding binding = {0};
    if (p->sets && p->placement.ranks[rank].cpu_count) {
        binding.cpus = (const cpu_set_t *)(p->sets + (size_t)rank * p->set_len);
        binding.cpus_len = p->set_len;
    }
    if (wish->memory != START_MEMORY_ANY) {
        binding.has_policy = true;
        binding.policy = policies[wish->memory];
        binding.nodes = p->nodes;
        binding.node_count = wish->memory == START_MEMORY_LOCAL ? 0 : START_NODES_MAX;
    }
    return binding;
}

/* ---- showing ---- */

static bool has_cpu(const void *arg, int cpu)
{
    const struct launch_binding *binding = arg;
    return CPU_ISSET_S((size_t)cpu, binding->cpus_len, binding->cpus);
}

void place_list(const struct place *p, int local_rank, char *text, size_t size)
{
    static const struct start_wish no_wish;
    struct launch_binding binding = place_of(p, &no_wish, local_rank);
    const char *by = " (set by mpiexec)";
    cpu_set_t own;
    text[0] = 0;
    if (!binding.cpus) {
        if (sched_getaffinity(0, sizeof(own), &own))
            return;
        by = CPU_COUNT(&own) < sysconf(_SC_NPROCESSORS_ONLN) ? " (set before mpiexec)" : "";
        binding.cpus = &own;
        binding.cpus_len = sizeof(own);
    }
    ranks_list(text, size, (int)(8 * binding.cpus_len), has_cpu, &binding);
    size_t len = strlen(text);
    snprintf(text + len, size - len, "%s", by);
}

/* Write numbers as 0-3,7. */
static void write_numbers(const struct placement_cpu *cpus, const struct placement_rank *rank,
                          FILE *to)
{
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        uint32_t first = cpus[rank->cpus[i]].os_index, last = first;
        while (i + 1 < rank->cpu_count && cpus[rank->cpus[i + 1]].os_index == last + 1) {
            last++;
            i++;
        }
        fprintf(to, last > first ? "%u-%u" : "%u", first, last);
        fputs(i + 1 < rank->cpu_count ? "," : "", to);
    }
}

void place_show_rank(const struct place_line *line, FILE *to)
{
    const struct placement_rank *rank = line->rank;
    char picture[PICTURE_LEN] = "";
    fprintf(to, "mpiexec: rank %u on %s", line->number, line->host);
    if (line->machine)
        placement_picture(line->machine, rank, picture, sizeof(picture));
    if (rank->cpu_count) {
        fprintf(to, " is bound to %s, processors ", picture);
        write_numbers(line->machine->cpus, rank, to);
    } else {
        fprintf(to, " is not bound%s%s", *picture ? ": " : "", picture);
    }
    fputc('\n', to);
}

static void show_hardware(const struct place *p, const char *host, FILE *to)
{
    static const struct {
        enum placement_level level;
        const char *word;
    } kinds[] = {{PLACEMENT_PACKAGE, "packages"},
                 {PLACEMENT_NUMA, "memory nodes"},
                 {PLACEMENT_L3, "L3 caches"},
                 {PLACEMENT_L2, "L2 caches"},
                 {PLACEMENT_L1, "L1 caches"},
                 {PLACEMENT_CORE, "cores"},
                 {PLACEMENT_HWTHREAD, "hardware threads"}};
    const struct placement_machine *m = &p->hardware.machine;
    const struct placement_rank none = {0};
    char picture[PICTURE_LEN];
    placement_picture(m, &none, picture, sizeof(picture));
    fprintf(to, "mpiexec: %s has %s: ", host, picture);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        fprintf(to, "%s%s %u", i ? ", " : "", kinds[i].word,
                m->lacks >> kinds[i].level & 1 ? 0 : placement_objects(m, kinds[i].level));
    fputc('\n', to);
}

void place_show(const struct place *p, const struct place_job *job, FILE *to)
{
    const struct start_wish *place = job->wish;
    const char *host = job->host ? job->host : os_host_name();
    if (place->shows_hardware && p->hardware.cpus)
        show_hardware(p, host, to);
    if (place->shows_map && job->ranks && !job->host)
        fprintf(to, "mpiexec: host %s: %u slots, %u ranks\n", host, slots_of(p, job), job->ranks);
    if (!place->shows_map && !place->shows_bindings)
        return;
    for (uint32_t r = 0; r < p->placement.count; r++)
        place_show_rank(&(struct place_line){.number = job->number_of ? job->number_of[r] : r,
                                             .host = host,
                                             .machine = p->hardware.cpus ? &p->hardware.machine : NULL,
                                             .rank = &p->placement.ranks[r]},
                        to);
}

void place_fini(struct place *p)
{
    placement_fini(&p->placement);
    hardware_fini(&p->hardware);
    free(p->sets);
    p->sets = NULL;
}
