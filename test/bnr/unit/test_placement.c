/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where ranks run, against tables worked out by hand.
 *
 * A row: the hosts, as NAME[:SLOTS][<MAX_SLOTS], all of one machine; how many ranks (0: not said);
 * the options; and for each rank its host and the hardware threads that it is bound to, or a part
 * of the refusal.
 *
 * Machines, as packages, NUMA nodes of each, L3 of each of these, cores of each, threads of each:
 *   2x4      2 1 1 4 1   cores 0 to 3, 4 to 7
 *   2x2x2    2 1 1 2 2   packages of 2 cores of 2 threads: 01 23 | 45 67
 *   numa     2 2 2 2 1   16 cores: L3 01 23 | 45 67 || 89 ...
 *   one      1 1 1 2 1   2 cores
 *   2x8x2    2 1 1 8 2   cores 0-1, 2-3, ... 30-31, packages 0-15, 16-31
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/place/placement.h"

enum {
    CPUS_MAX = 64,
    HOSTS = 8
};

static struct placement_cpu cpus[CPUS_MAX];
static struct placement_machine machine = {cpus, 0, 0};

static void make_machine(const char *name)
{
    static const struct {
        const char *name;
        int shape[5];
    } rows[] = {{"2x4", {2, 1, 1, 4, 1}},
                {"2x2x2", {2, 1, 1, 2, 2}},
                {"numa", {2, 2, 2, 2, 1}},
                {"one", {1, 1, 1, 2, 1}},
                {"2x8x2", {2, 1, 1, 8, 2}}};
    size_t row = 0;
    while (strcmp(rows[row].name, name) != 0)
        row++;
    static const int part_of[PLACEMENT_NODE] = {4, 3, 3, 3, 2, 2, 2, 1, 0}; /* L1, L2: a core's */
    uint32_t each[5]; /* hardware threads of an object, packages first */
    each[4] = 1;
    for (int i = 4; i > 0; i--)
        each[i - 1] = each[i] * (uint32_t)rows[row].shape[i];
    machine.count = each[0] * (uint32_t)rows[row].shape[0];
    for (uint32_t i = 0; i < machine.count; i++) {
        cpus[i].os_index = i;
        for (int level = 0; level < PLACEMENT_NODE; level++)
            cpus[i].object[level] = i / each[part_of[level]];
    }
}

struct row {
    const char *hosts;
    uint32_t ranks;
    const char *options, *result;
};

static uint32_t read_hosts(const char *text, struct placement_host *hosts, char names[HOSTS][8])
{
    uint32_t count = 0;
    char copy[128], *rest = copy, *word;
    snprintf(copy, sizeof(copy), "%s", text);
    while ((word = strsep(&rest, " "))) {
        struct placement_host *h = &hosts[count];
        char *most = strchr(word, '<'), *slots = strchr(word, ':');
        *h = (struct placement_host){.name = names[count++], .machine = &machine};
        h->max_slots = most ? (uint32_t)atoi(most + 1) : 0;
        h->slots = slots ? (uint32_t)atoi(slots + 1) : 0;
        word[strcspn(word, ":<")] = 0;
        snprintf(names[count - 1], 8, "%s", word);
    }
    return count;
}

/* map=, rank=, bind=, pe=, ppn=, ppr=N:LEVEL, width=, limited, overload, span,
 * fill */
static void read_options(const char *text, struct placement_request *r)
{
    char copy[128], *rest = copy, *word;
    snprintf(copy, sizeof(copy), "%s", text);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');
        value = value ? value + 1 : word;
        if (!strncmp(word, "map=", 4))
            assert_true(placement_word(value, strlen(value), &r->map));
        else if (!strncmp(word, "rank=", 5))
            assert_true(placement_word(value, strlen(value), &r->rank_by));
        else if (!strncmp(word, "bind=", 5))
            assert_true(placement_word(value, strlen(value), &r->bind));
        else if (!strncmp(word, "pe=", 3))
            r->pe = (uint32_t)atoi(value);
        else if (!strncmp(word, "width=", 6))
            r->width = (uint32_t)atoi(value);
        else if (!strncmp(word, "ppn=", 4))
            r->ppn = (uint32_t)atoi(value);
        else if (!strncmp(word, "ppr=", 4)) {
            r->ppr = (uint32_t)atoi(value);
            value = strchr(value, ':') + 1;
            assert_true(placement_word(value, strlen(value), &r->map));
        } else if (*word) {
            r->is_limited |= !strcmp(word, "limited");
            r->may_overload |= !strcmp(word, "overload");
            r->is_spanning |= !strcmp(word, "span");
            r->is_spread |= !strcmp(word, "spread");
            r->is_filling |= !strcmp(word, "fill");
        }
    }
}

/* As a0-3 a4 b: the host, and what it is bound to. */
static void show(const struct placement *p, const struct placement_host *hosts, char *text)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct placement_rank *rank = &p->ranks[i];
        text += sprintf(text, "%s%s", i ? " " : "", hosts[rank->host].name);
        for (uint32_t c = 0; c < rank->cpu_count; c++) {
            uint32_t first = c;
            while (c + 1 < rank->cpu_count && rank->cpus[c + 1] == rank->cpus[c] + 1)
                c++;
            text += sprintf(text, "%s%u", first ? "," : "", rank->cpus[first]);
            if (c > first)
                text += sprintf(text, "-%u", rank->cpus[c]);
        }
    }
}

static void place(const char *name, const struct row *rows)
{
    make_machine(name);
    for (; rows->hosts; rows++) {
        struct placement_host hosts[HOSTS];
        char names[HOSTS][8], text[1024] = "";
        struct placement p;
        struct placement_request r = {.hosts = hosts,
                                      .ranks = rows->ranks,
                                      .map = PLACEMENT_SLOT,
                                      .rank_by = PLACEMENT_SLOT,
                                      .bind = PLACEMENT_NONE};
        r.host_count = read_hosts(rows->hosts, hosts, names);
        read_options(rows->options, &r);
        int rc = placement_make(&p, &r);
        bool is_right;
        if (rc == 0) {
            show(&p, hosts, text);
            is_right = strcmp(text, rows->result) == 0;
        } else {
            snprintf(text, sizeof(text), "%s", p.problem);
            is_right = rc == -EINVAL && strstr(text, rows->result);
        }
        if (!is_right)
            fail_msg("%s: hosts %s, %u ranks, %s:\n  got    %s\n  wanted %s", name, rows->hosts,
                     rows->ranks, rows->options, text, rows->result);
        placement_fini(&p);
    }
}

/* ---- which host: slots, as mpirun(1) and Hydra's page on hosts tell ---- */

static void slots_are_filled(void **state)
{
    static const struct row rows[] = {
        {"a:2 b:2", 4, "", "a a b b"},
        {"a:2 b:2", 3, "", "a a b"},
        {"a:2 b:2", 2, "", "a a"},
        {"a:2 b:2", 1, "", "a"},
        {"a:1 b:1 c:1", 3, "", "a b c"},
        {"a:1 b:3", 4, "", "a b b b"},
        {"a:4 b:1", 5, "", "a a a a b"},
        {"a:3", 3, "", "a a a"},
        {"a b", 8, "", "a a a a a a a a"}, /* as many as cores */
        {"a b", 10, "", "a a a a a a a a b b"},
        {"a b:1", 9, "", "a a a a a a a a b"},
        /* more than slots: it begins again */
        {"a:2 b:2", 5, "", "a a b b a"},
        {"a:2 b:2", 8, "", "a a b b a a b b"},
        {"a:1 b:1", 4, "", "a b a b"},
        {"a:1", 3, "", "a a a"},
        {"a:1 b:3", 6, "", "a b b b a b"},
        /* unless that is forbidden */
        {"a:2 b:2", 4, "limited", "a a b b"},
        {"a:2 b:2", 5, "limited", "5 ranks, but the hosts have 4 slots"},
        {"a:1", 2, "limited", "2 ranks, but the hosts have 1 slots"},
        {"a b", 17, "limited", "17 ranks, but the hosts have 16 slots"},
        /* or max_slots says so */
        {"a:2<3 b:2", 6, "", "a a b b a b"},
        {"a:2<2 b:2", 6, "", "a a b b b b"},
        {"a:2<2 b:2<3", 5, "", "a a b b b"},
        {"a:2<2 b:2<3", 6, "", "max_slots, 5 together"},
        {"a:1<4", 4, "", "a a a a"},
        {"a:1<4", 5, "", "max_slots"},
        {"a:2 b:2", 0, "", "no rank"},
        {0}};
    place("2x4", rows);
}

static void nodes_take_turns(void **state)
{
    static const struct row rows[] = {{"a:2 b:2", 4, "map=node", "a b a b"},
                                      {"a:2 b:2", 3, "map=node", "a b a"},
                                      {"a:2 b:2 c:2", 6, "map=node", "a b c a b c"},
                                      {"a:1 b:3", 4, "map=node", "a b b b"},
                                      {"a:3 b:1", 4, "map=node", "a b a a"},
                                      {"a:2 b:1 c:3", 6, "map=node", "a b c a c c"},
                                      {"a:1 b:1", 5, "map=node", "a b a b a"},
                                      {"a:2 b:1", 6, "map=node", "a b a a b a"},
                                      {"a:1<1 b:1", 3, "map=node", "a b b"},
                                      {"a:1 b:1", 3, "map=node limited", "the hosts have 2 slots"},
                                      {"a b", 3, "map=node", "a b a"},
                                      /* so many on each, -ppn */
                                      {"a b", 4, "ppn=2", "a a b b"},
                                      {"a b", 3, "ppn=2", "a a b"},
                                      {"a b", 6, "ppn=2", "a a b b a a"},
                                      {"a:4 b:4", 4, "ppn=1", "a b a b"},
                                      {"a:1 b:1", 6, "ppn=3", "a a a b b b"},
                                      {"a b c", 3, "ppn=1", "a b c"},
                                      {"a b", 5, "ppn=2 limited", "the hosts have 4 slots"},
                                      {"a<1 b", 4, "ppn=2", "a b b b"},
                                      {"a:1 b:1", 4, "ppn=2 map=node", "a a b b"},
                                      {0}};
    place("2x4", rows);
}

static void so_many_on_each_object(void **state)
{
    static const struct row rows[] = {
        {"a b", 0, "ppr=1:node", "a b"},
        {"a b", 0, "ppr=3:node", "a a a b b b"},
        {"a b", 4, "ppr=3:node", "a a a b"},
        {"a b", 6, "ppr=3:node", "a a a b b b"},
        {"a b", 7, "ppr=3:node", "ppr:3:node makes 6"},
        {"a b", 0, "ppr=1:socket", "a a b b"},
        {"a b", 0, "ppr=2:package", "a a a a b b b b"},
        {"a", 0, "ppr=1:core", "a a a a a a a a"},
        {"a", 0, "ppr=1:hwthread", "a a a a a a a a"},
        {"a", 9, "ppr=1:core", "makes 8"},
        {"a b", 0, "ppr=1:slot", "name a node"},
        {"a<1 b", 0, "ppr=2:node", "max_slots=1 of host a"},
        {"a", 0, "ppr=1:socket bind=socket", "a0-3 a4-7"},
        {"a", 0, "ppr=2:socket bind=core", "a0 a1 a4 a5"},
        {"a", 3, "ppr=2:socket bind=core", "a0 a1 a4"},
        {"a", 0, "ppr=2:socket bind=socket", "a0-3 a0-3 a4-7 a4-7"},
        {"a", 0, "ppr=2:socket bind=core pe=2", "a0-1 a2-3 a4-5 a6-7"},
        {"a", 0, "ppr=3:socket bind=core pe=2", "pe=2: host a has no 2 free cores"},
        {"a b", 0, "ppr=1:socket bind=core", "a0 a4 b0 b4"},
        {"a", 0, "ppr=2:node bind=core", "a0 a1"},
        {"a", 0, "ppr=2:node bind=core pe=4", "a0-3 a4-7"},
        {"a", 0, "ppr=5:socket bind=core", "too few cores for its 10"},
        {0}};
    place("2x4", rows);
}

/* ---- which processors ---- */

static void ranks_are_bound(void **state)
{
    static const struct row rows[] = {
        {"a", 2, "bind=none", "a a"},
        {"a", 2, "bind=core", "a0 a1"},
        {"a", 8, "bind=core", "a0 a1 a2 a3 a4 a5 a6 a7"},
        {"a", 9, "bind=core", "host a has too few cores for its 9 ranks"},
        {"a", 9, "bind=core", "by --bind-to core:overload-allowed"},
        {"a:4", 9, "bind=core overload", "a0 a1 a2 a3 a4 a5 a6 a7 a0"},
        {"a:2 b:2", 4, "bind=core", "a0 a1 b0 b1"},
        {"a:2 b:2", 4, "map=node bind=core", "a0 b0 a1 b1"},
        {"a", 2, "bind=socket", "a0-3 a0-3"},
        {"a", 5, "bind=package", "a0-3 a0-3 a0-3 a0-3 a4-7"},
        {"a", 9, "bind=socket", "a0-3 a0-3 a0-3 a0-3 a4-7 a4-7 a4-7 a4-7 a0-3"},
        {"a", 2, "bind=numa", "a0-3 a0-3"},
        {"a", 2, "bind=node", "a a"},
        {"a", 2, "bind=hwthread", "a0 a1"},
        {"a", 2, "bind=slot", "no such kind"},
        /* mapped to objects */
        {"a", 2, "map=socket", "a a"},
        {"a", 2, "map=socket bind=socket", "a0-3 a4-7"},
        {"a", 3, "map=socket bind=socket", "a0-3 a4-7 a0-3"},
        {"a", 4, "map=socket bind=core", "a0 a4 a1 a5"},
        {"a", 5, "map=socket bind=core", "a0 a4 a1 a5 a2"},
        {"a:4 b:4", 6, "map=socket bind=core", "a0 a4 a1 a5 b0 b4"},
        {"a:2 b:2", 4, "map=socket bind=socket", "a0-3 a4-7 b0-3 b4-7"},
        {"a", 8, "map=socket bind=core", "a0 a4 a1 a5 a2 a6 a3 a7"},
        {"a", 9, "map=socket bind=core", "too few cores"},
        {"a", 3, "map=core bind=core", "a0 a1 a2"},
        {"a", 3, "map=core bind=socket", "a0-3 a0-3 a0-3"},
        {"a", 5, "map=core bind=socket", "a0-3 a0-3 a0-3 a0-3 a4-7"},
        {"a", 3, "map=hwthread bind=core", "a0 a1 a2"},
        {"a", 2, "map=numa bind=numa", "a0-3 a4-7"},
        {"a", 2, "map=l3cache bind=core", "a0 a4"},
        /* several for each */
        {"a", 2, "bind=core pe=2", "a0-1 a2-3"},
        {"a", 4, "bind=core pe=2", "a0-1 a2-3 a4-5 a6-7"},
        {"a", 2, "bind=core pe=3", "a0-2 a3-5"},
        {"a", 3, "bind=core pe=3", "pe=3: host a has no 3 free cores left for rank 2 of its 3; ask for fewer"},
        {"a", 2, "map=socket bind=core pe=2", "a0-1 a4-5"},
        {"a", 4, "map=socket bind=core pe=2", "a0-1 a4-5 a2-3 a6-7"},
        {"a", 2, "map=socket bind=core pe=5", "pe=5"},
        {"a", 2, "bind=socket pe=2", "pe=2 binds to cores or hwthreads, not to package"},
        {"a", 2, "pe=2", "pe=2 binds to cores or hwthreads, not to none"},
        {"a:1 b:1", 2, "bind=core pe=4", "a0-3 b0-3"},
        {"a:1 b:1", 2, "map=node bind=core pe=8", "a0-7 b0-7"},
        {0}};
    place("2x4", rows);
}

static void threads_belong_to_cores(void **state)
{
    static const struct row rows[] = {
        {"a", 2, "bind=core", "a0-1 a2-3"},
        {"a", 4, "bind=core", "a0-1 a2-3 a4-5 a6-7"},
        {"a", 5, "bind=core", "too few cores"},
        {"a b", 5, "", "a a a a b"}, /* slots are cores */
        {"a", 4, "bind=hwthread", "a0 a1 a2 a3"},
        {"a:8", 8, "bind=hwthread", "a0 a1 a2 a3 a4 a5 a6 a7"},
        {"a:9", 9, "bind=hwthread", "too few hwthreads"},
        {"a", 2, "map=core bind=hwthread", "a0 a2"},
        {"a:8", 6, "map=core bind=hwthread", "a0 a2 a4 a6 a1 a3"},
        {"a", 4, "map=socket bind=hwthread", "a0 a4 a1 a5"},
        {"a", 4, "map=socket bind=core", "a0-1 a4-5 a2-3 a6-7"},
        {"a", 3, "map=hwthread bind=hwthread", "a0 a1 a2"},
        {"a", 3, "map=hwthread bind=core", "too few cores"},
        {"a", 3, "map=hwthread bind=core overload", "a0-1 a0-1 a2-3"},
        {"a", 3, "map=hwthread bind=socket", "a0-3 a0-3 a0-3"},
        {"a", 2, "bind=socket", "a0-3 a0-3"},
        {"a", 3, "bind=socket", "a0-3 a0-3 a4-7"}, /* the third core is in the second */
        {"a", 2, "bind=hwthread pe=2", "a0-1 a2-3"},
        {"a", 2, "bind=hwthread pe=3", "a0-2 a3-5"},
        {"a", 2, "bind=core pe=2", "a0-3 a4-7"},
        {"a", 2, "map=core bind=hwthread pe=2", "a0-1 a2-3"},
        {"a", 2, "map=hwthread bind=hwthread pe=2", "pe=2"},
        {"a", 2, "map=hwthread bind=core pe=2", "mapped by hwthread there is no room"},
        {"a", 2, "map=socket bind=hwthread pe=4", "a0-3 a4-7"},
        {"a", 0, "ppr=1:core bind=core", "a0-1 a2-3 a4-5 a6-7"},
        {"a", 0, "ppr=2:core bind=hwthread", "a0 a1 a2 a3 a4 a5 a6 a7"},
        {"a", 0, "ppr=2:core bind=core", "too few cores"},
        {"a", 0, "ppr=1:hwthread bind=hwthread", "a0 a1 a2 a3 a4 a5 a6 a7"},
        {"a:2 b:2", 4, "map=node bind=hwthread", "a0 b0 a1 b1"},
        {0}};
    place("2x2x2", rows);
}

static void caches_and_memory_are_objects(void **state)
{
    static const struct row rows[] = {
        {"a", 4, "map=numa bind=numa", "a0-3 a4-7 a8-11 a12-15"},
        {"a", 5, "map=numa bind=numa", "a0-3 a4-7 a8-11 a12-15 a0-3"},
        {"a", 4, "map=numa bind=core", "a0 a4 a8 a12"},
        {"a", 6, "map=numa bind=core", "a0 a4 a8 a12 a1 a5"},
        {"a", 3, "map=l3cache bind=l3cache", "a0-1 a2-3 a4-5"},
        {"a", 3, "map=l3 bind=l3", "a0-1 a2-3 a4-5"},
        {"a", 9, "map=l3cache bind=core", "a0 a2 a4 a6 a8 a10 a12 a14 a1"},
        {"a", 3, "map=l3cache bind=numa", "a0-3 a0-3 a4-7"},
        {"a", 3, "map=numa bind=l3cache", "a0-1 a4-5 a8-9"},
        {"a", 5, "map=numa bind=l3cache", "a0-1 a4-5 a8-9 a12-13 a2-3"},
        {"a", 2, "map=socket bind=numa", "a0-3 a8-11"},
        {"a", 4, "map=socket bind=numa", "a0-3 a8-11 a4-7 a12-15"},
        {"a", 4, "map=socket bind=l3cache", "a0-1 a8-9 a2-3 a10-11"},
        {"a", 2, "map=numa bind=socket", "a0-7 a0-7"},
        {"a", 3, "map=numa bind=socket", "a0-7 a0-7 a8-15"},
        {"a", 5, "bind=numa", "a0-3 a0-3 a0-3 a0-3 a4-7"},
        {"a", 3, "bind=l3cache", "a0-1 a0-1 a2-3"},
        {"a", 2, "map=numa bind=core pe=4", "a0-3 a4-7"},
        {"a", 2, "map=numa bind=core pe=5", "pe=5"},
        {"a", 3, "map=l3cache bind=core pe=2", "a0-1 a2-3 a4-5"},
        {"a", 9, "map=l3cache bind=core pe=2", "pe=2"},
        {"a", 0, "ppr=1:numa bind=numa", "a0-3 a4-7 a8-11 a12-15"},
        {"a", 0, "ppr=1:l3cache bind=core", "a0 a2 a4 a6 a8 a10 a12 a14"},
        {"a", 0, "ppr=2:numa bind=core pe=2", "a0-1 a2-3 a4-5 a6-7 a8-9 a10-11 a12-13 a14-15"},
        {"a b", 0, "ppr=1:numa", "a a a a b b b b"},
        {"a", 6, "ppr=2:numa bind=l3", "a0-1 a2-3 a4-5 a6-7 a8-9 a10-11"},
        {0}};
    place("numa", rows);
}

/* ---- which rank: two hosts, two packages, as in mpirun(1) ---- */

static void ranks_are_dealt_out(void **state)
{
    static const struct row rows[] = {
        {"a:4 b:4", 8, "rank=slot bind=none", "a a a a b b b b"},
        {"a:2 b:2", 4, "rank=node", "a b a b"},
        {"a:4 b:4", 8, "rank=node", "a b a b a b a b"},
        {"a:1 b:3", 4, "rank=node", "a b b b"},
        {"a:3 b:1", 4, "rank=node bind=core", "a0 b0 a1 a2"},
        {"a b", 0, "ppr=2:socket bind=core rank=slot", "a0 a1 a4 a5 b0 b1 b4 b5"},
        {"a b", 0, "ppr=2:socket bind=core rank=core", "a0 a1 a4 a5 b0 b1 b4 b5"},
        {"a b", 0, "ppr=2:socket bind=core rank=socket", "a0 a4 a1 a5 b0 b4 b1 b5"},
        {"a b", 0, "ppr=2:socket bind=core rank=socket span", "a0 a4 b0 b4 a1 a5 b1 b5"},
        {"a b", 0, "ppr=2:socket bind=core rank=node", "a0 b0 a1 b1 a4 b4 a5 b5"},
        {"a:4 b:4", 8, "map=socket bind=core rank=slot", "a0 a4 a1 a5 b0 b4 b1 b5"},
        {"a:4 b:4", 8, "map=socket bind=core rank=core", "a0 a1 a4 a5 b0 b1 b4 b5"},
        {"a:4 b:4", 8, "map=socket bind=core rank=node", "a0 b0 a4 b4 a1 b1 a5 b5"},
        {"a:2 b:2", 4, "map=node rank=slot", "a b a b"},
        {"a:2 b:2", 4, "map=node bind=core rank=core", "a0 a1 b0 b1"},
        {"a:2 b:2", 4, "map=node bind=core rank=core span", "a0 a1 b0 b1"},
        {"a", 4, "map=core bind=core rank=socket", "a0 a1 a2 a3"},
        {"a", 6, "map=core bind=core rank=socket", "a0 a4 a1 a5 a2 a3"},
        {"a", 2, "rank=none", "no such kind"},
        {"a:4 b:4", 8, "map=socket bind=core spread", "a0 a4 b0 b4 a1 a5 b1 b5"},
        {"a:4 b:4", 6, "map=socket bind=core spread", "a0 a4 b0 b4 a1 a5"},
        {"a:1 b:4", 5, "map=socket bind=core spread", "a0 b0 b4 b1 b5"},
        {"a:3 b:2", 6, "map=socket bind=core spread", "a0 a4 b0 b4 a1 a5"},
        {"a:2 b:2", 5, "map=socket bind=core spread limited", "hosts have 4 slots"},
        {"a:8<2 b:8", 5, "map=socket bind=core spread", "a0 a4 b0 b4 b1"},
        {"a:4 b:4", 4, "map=core bind=core rank=socket spread span", "a0 a1 a2 a3"},
        {"a:2 b:2", 4, "map=slot bind=core spread", "a0 a1 b0 b1"},
        {0}};
    place("2x4", rows);
}

static void small_machines_too(void **state)
{
    static const struct row rows[] = {
        {"a b", 4, "", "a a b b"},
        {"a b", 4, "bind=core", "a0 a1 b0 b1"},
        {"a b", 4, "map=node bind=core", "a0 b0 a1 b1"},
        {"a b", 4, "map=socket bind=core", "a0 a1 b0 b1"},
        {"a b", 5, "bind=core", "host a has too few cores for its 3 ranks"},
        {"a b", 5, "bind=core overload", "a0 a1 b0 b1 a0"},
        {"a b", 2, "map=node bind=socket", "a0-1 b0-1"},
        {"a b", 0, "ppr=1:core bind=core", "a0 a1 b0 b1"},
        {"a b c d", 4, "ppn=1 bind=core pe=2", "a0-1 b0-1 c0-1 d0-1"},
        {"a b c d", 8, "ppn=2 bind=core", "a0 a1 b0 b1 c0 c1 d0 d1"},
        {"a b c d", 8, "ppn=2 bind=core rank=node", "a0 b0 c0 d0 a1 b1 c1 d1"},
        {"a b", 3, "bind=hwthread overload", "a0 a1 b0"},
        {0}};
    place("one", rows);
}

/* So many objects for each, as Hydra's socket:2, and ranks that fill objects, as prterun's fill. */
static void several_objects(void **state)
{
    static const struct row rows[] = {
        {"a", 4, "bind=numa width=2", "a0-7 a8-15 a0-7 a8-15"},
        {"a", 3, "bind=numa width=3", "a0-11 a0-7,12-15 a0-3,8-15"},
        {"a", 2, "bind=socket width=2", "a0-15 a0-15"},
        {"a", 2, "bind=socket width=3", "host a has 2 packages, and each rank is to have 3"},
        {"a", 4, "bind=core width=2", "a0-1 a2-3 a4-5 a6-7"},
        {"a", 9, "bind=core width=2", "host a has no 2 free cores left for rank 8 of its 9"},
        {"a:9", 9, "bind=core width=2 overload",
         "a0-1 a2-3 a4-5 a6-7 a8-9 a10-11 a12-13 a14-15 "
         "a0-1"},
        {"a", 2, "bind=l3 width=2", "a0-3 a4-7"},
        {"a", 4, "map=socket bind=core rank=socket fill", "a0 a1 a8 a9"},
        {"a", 5, "map=numa bind=core rank=numa fill", "a0 a1 a4 a8 a12"},
        {"a:4 b:4", 8, "map=socket bind=core rank=socket fill", "a0 a1 a8 a9 b0 b1 b8 b9"},
        {"a", 3, "map=l1cache bind=l1cache", "a0 a1 a2"},
        {"a", 3, "map=l2cache bind=core", "a0 a1 a2"},
        {0}};
    place("numa", rows);
}

/* What the manuals of Hydra and Open MPI (and IBM's of it) show themselves. */
static void examples_of_manuals_come_out(void **state)
{
    static const struct row rows[] = {
        {"a:1 b:1 c:1 d:1", 4, "", "a b c d"},
        {"a:1 b:1 c:1 d:1", 8, "", "a b c d a b c d"},
        {"a:2 b:2 c:2 d:2", 8, "", "a a b b c c d d"},
        {"a:2 b:3 c:2", 7, "", "a a b b b c c"},
        {"a:4 b:2", 6, "map=core bind=core", "a0-1 a2-3 a4-5 a6-7 b0-1 b2-3"},
        {"a:4 b:2", 6, "map=socket bind=socket", "a0-15 a16-31 a0-15 a16-31 b0-15 b16-31"},
        {"a", 0, "ppr=4:socket", "a a a a a a a a"},
        {"a b", 0, "ppr=2:socket bind=socket rank=core",
         "a0-15 a0-15 a16-31 a16-31 b0-15 b0-15 b16-31 b16-31"},
        {"a b", 0, "ppr=2:socket bind=socket rank=socket",
         "a0-15 a16-31 a0-15 a16-31 b0-15 b16-31 b0-15 b16-31"},
        {"a b", 0, "ppr=2:socket bind=socket rank=socket span",
         "a0-15 a16-31 b0-15 b16-31 a0-15 a16-31 b0-15 b16-31"},
        {0}};
    place("2x8x2", rows);
}

/* Say as on one line where each rank of a rankfile is on hosts a, b and c, as each host works it out for
 * its own ranks; or the problem. */
static int place_by_file(const char *text, uint32_t ranks, char shown[512])
{
    static const char *const names[] = {"a", "b", "c", "self"}; /* self: b's other name */
    const struct placement_names known = {names, 4, 3};
    const struct placement_host hosts[] = {
        {"a", 0, 0, &machine}, {"b", 0, 0, &machine}, {"c", 0, 0, &machine}};
    struct placement_rank all[8] = {0};
    struct placement whole = {.ranks = all};
    struct placement_file f;
    struct placement own[3] = {0};
    uint32_t host_of[8], number_of[8];
    int rc = placement_file_read(&f, text, strlen(text));
    if (!rc) {
        whole.count = ranks ? ranks : f.count;
        rc = placement_file_hosts(&f, &known, whole.count, host_of, f.problem);
    }
    snprintf(shown, 512, "%s", f.problem);
    for (uint32_t h = 0; !rc && h < 3; h++) {
        struct placement_share share = {
            .file = &f, .machine = &machine, .host = names[h], .number_of = number_of};
        for (uint32_t r = 0; r < whole.count; r++)
            if ((host_of[r] == 3 ? 1 : host_of[r]) == h)
                number_of[share.ranks++] = r;
        rc = placement_bind_file(&own[h], &share);
        snprintf(shown, 512, "%s", own[h].problem);
        for (uint32_t i = 0; !rc && i < share.ranks; i++) {
            all[number_of[i]] = own[h].ranks[i];
            all[number_of[i]].host = h;
        }
    }
    if (!rc)
        show(&whole, hosts, shown);
    for (int h = 0; h < 3; h++)
        placement_fini(&own[h]);
    placement_file_fini(&f);
    return rc;
}

static void rankfiles_are_read(void **state)
{
    static const struct {
        const char *text;
        uint32_t ranks;
        const char *result;
    } rows[] = {
        {"rank 0=a slot=1:0-2\nrank 1=b slot=0:0,1\nrank 2=c slot=1-2\n", 0, "a4-6 b0-1 c1-2"},
        {"# two\n\nrank 1=a slot=3 # last\nrank 0=b slot=0,2", 0, "b0,2 a3"},
        {"rank 0=+n1 slot=0\nrank 1=+n0 slot=1\n", 0, "b0 a1"},
        {"rank 0=a slot=1:*\n", 0, "a4-7"},
        {"rank 0=a slot=*\n", 0, "a0-7"},
        {"rank 0=a slot=0:0,1;1:0\n", 0, "a0-1,4"},
        {"rank 0=a slot=0:3,1:3\n", 0, "a3,7"},
        {"rank 0=a slot=0\nrank 1=a slot=1\n", 1, "a0"},
        {"rank 0=a slot=0\n", 2, "no line for rank 1"},
        {"rank 0=a slot=0\nrank 0=a slot=1\n", 0, "line 2: each rank stands once"},
        {"rank 0=a slot=0\nrank 7=a slot=1\n", 0, "line 2: a rank below"},
        {"rank 0=z slot=0\n", 0, "line 1: a host of the job is expected, not 'z'"},
        {"rank 0=a slot=0\nrank 1=z slot=0\n", 1, "a0"},
        {"rank 1=self slot=0\nrank 0=localhost slot=0\n", 0, "line 2: a host of the job"},
        {"rank 0=self slot=5\n", 0, "b5"},
        {"rank 0=+n3 slot=0\n", 0, "a host of the job"},
        {"rank 0= slot=0\n", 0, "a host is expected"},
        {"rank 0=a slot=8\n", 0, 
         "line 1 of the rankfile: rank 0 is to have '8', but a has cores 0 to 7, of packages 0 to 1"},
        {"rank 0=a slot=0\nrank 1=b slot=0\nrank 2=b slot=1,0:2-4\n", 0,
         "line 3 of the rankfile: rank 2 is to have '0:2-4', but b has"},
        {"rank 0=a slot=1:4\n", 0, "is to have '1:4'"},
        {"rank 0=a slot=2:0\n", 0, "is to have '2:0'"},
        {"rank 0=a slot=0:\n", 0, "cores are expected after the package"},
        {"rank 0=a slot=3-1\n", 0, "cores are expected"},
        {"rank 0=a\n", 0, "'slot=CORES' is expected"},
        {"rank 0=a slot=0 x\n", 0, "the end of the line"},
        {"0=a slot=0\n", 0, "'rank N=HOST"},
    };
    make_machine("2x4");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[512];
        int rc = place_by_file(rows[i].text, rows[i].ranks, text);
        if (rc ? rc != -EINVAL || !strstr(text, rows[i].result) : strcmp(text, rows[i].result))
            fail_msg("'%s': '%s'", rows[i].text, text);
    }
}

/* What is no text of some lines is refused, and memory is bounded by it. */
static void rankfiles_are_bounded(void **state)
{
    char *text = malloc(PLACEMENT_FILE_MAX + 2);
    struct placement_file f;
    assert_non_null(text);
    memset(text, '\n', PLACEMENT_FILE_MAX + 1);
    assert_int_equal(placement_file_read(&f, text, PLACEMENT_FILE_MAX + 1), -EINVAL);
    assert_non_null(strstr(f.problem, "longer than 4 MiB"));
    assert_int_equal(placement_file_read(&f, text, PLACEMENT_FILE_MAX), 0);
    assert_int_equal(f.count, 0);
    placement_file_fini(&f);
    assert_int_equal(placement_file_read(&f, "rank 99999999999=a slot=0", 25), -EINVAL);
    free(text);
}

static void lists_restrict(void **state)
{
    static const struct {
        const char *list;
        uint32_t count;
    } rows[] = {{"0", 1}, {"0,2-5", 5}, {"7,0", 2}, {"0-7", 8}, {"0-99", 8}, {"", 0},
                {"8", 0}, {"0,", 0},    {"a", 0},   {"0-", 0},  {"3-1", 0},  {"0 1", 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char problem[PLACEMENT_PROBLEM_LEN];
        make_machine("2x4");
        uint32_t count = machine.count;
        int rc = placement_restrict(cpus, &count, rows[i].list, PLACEMENT_BY_SYSTEM, problem);
        if (rows[i].count ? rc || count != rows[i].count : rc != -EINVAL || count != 8)
            fail_msg("'%s': %d, %u", rows[i].list, rc, count);
    }
}

/* The numbers of a list count threads as the system does, or cores, or threads of the machine. */
static void units_of_lists_differ(void **state)
{
    static const struct {
        enum placement_unit unit;
        const char *list;
        uint32_t count, first;
    } rows[] = {{PLACEMENT_BY_SYSTEM, "5,1", 2, 1},
                {PLACEMENT_BY_CORE, "1-2", 4, 1},
                {PLACEMENT_BY_CORE, "3", 2, 3},
                {PLACEMENT_BY_THREAD, "1-2", 2, 4}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char problem[PLACEMENT_PROBLEM_LEN];
        uint32_t count = 8;
        make_machine("2x2x2");
        for (uint32_t c = 0; c < count; c++)
            cpus[c].os_index = c / 2 + c % 2 * 4; /* 0 4 1 5 2 6 3 7, as Linux does */
        assert_int_equal(placement_restrict(cpus, &count, rows[i].list, rows[i].unit, problem), 0);
        assert_int_equal(count, rows[i].count);
        assert_int_equal(cpus[0].os_index, rows[i].first);
    }
}

static void lists_bind(void **state)
{
    static const struct {
        const char *name, *list;
        uint32_t ranks;
        enum placement_unit unit;
        bool begins_again;
        const char *result;
    } rows[] = {
        {"2x4", "0,2,5", 3, PLACEMENT_BY_CORE, false, "a0 a2 a5"},
        {"2x4", "0,2,5", 4, PLACEMENT_BY_CORE, false, "4 ranks, but the list has processors for 3"},
        {"2x4", "0,2,5", 4, PLACEMENT_BY_CORE, true, "a0 a2 a5 a0"},
        {"2x4", "0+2,1+4,3,2", 5, PLACEMENT_BY_SYSTEM, true, "a0,2 a1,4 a3 a2 a0,2"},
        {"2x4", "0-2,7", 4, PLACEMENT_BY_SYSTEM, false, "a0 a1 a2 a7"},
        {"2x2x2", "1,3", 2, PLACEMENT_BY_CORE, false, "a2-3 a6-7"},
        {"2x2x2", "1,3", 2, PLACEMENT_BY_THREAD, false, "a1 a3"},
        {"2x2x2", "3+0", 1, PLACEMENT_BY_CORE, false, "a0-1,6-7"},
        {"2x4", "8", 1, PLACEMENT_BY_CORE, false, "'8' is no list of processors"},
        {"2x4", "", 1, PLACEMENT_BY_CORE, false, "'' is no list"},
        {"2x4", "0,", 1, PLACEMENT_BY_CORE, false, "'0,' is no list"},
        {"2x4", "0+", 1, PLACEMENT_BY_CORE, false, "'0+' is no list"},
        {"2x4", "*", 1, PLACEMENT_BY_CORE, false, "'*' is no list"},
        {"2x4", "0+1-3", 1, PLACEMENT_BY_CORE, false, "is no list"},
        {"2x4", "0-99999999", 1, PLACEMENT_BY_CORE, false, "is no list"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct placement_host host = {"a", 0, 0, &machine};
        struct placement_request r = {.hosts = &host,
                                      .host_count = 1,
                                      .ranks = rows[i].ranks,
                                      .map = PLACEMENT_SLOT,
                                      .rank_by = PLACEMENT_SLOT,
                                      .bind = PLACEMENT_NONE};
        struct placement p;
        char text[512];
        make_machine(rows[i].name);
        assert_int_equal(placement_make(&p, &r), 0);
        int rc =
            placement_bind_list(&p, &(struct placement_words){&machine, rows[i].list, rows[i].unit,
                                                              rows[i].begins_again});
        if (rc == 0)
            show(&p, &host, text);
        else
            snprintf(text, sizeof(text), "%s", p.problem);
        if (rc ? rc != -EINVAL || !strstr(text, rows[i].result) : strcmp(text, rows[i].result))
            fail_msg("%s '%s': '%s'", rows[i].name, rows[i].list, text);
        placement_fini(&p);
    }
}

/* An object unknown to the machine is refused by name. */
static void objects_may_be_missing(void **state)
{
    struct placement_host host = {"a", 0, 0, &machine};
    struct placement_request r = {.hosts = &host,
                                  .host_count = 1,
                                  .ranks = 2,
                                  .map = PLACEMENT_L3,
                                  .rank_by = PLACEMENT_SLOT,
                                  .bind = PLACEMENT_CORE};
    struct placement p;
    make_machine("one");
    machine.lacks = 1u << PLACEMENT_L3;
    assert_int_equal(placement_make(&p, &r), -EINVAL);
    assert_string_equal(p.problem,
                        "host a tells of no l3cache; choose another object, as core or package");
    machine.lacks = 0;
    assert_int_equal(placement_make(&p, &r), 0);
    placement_fini(&p);
}

static void pictures_show_bindings(void **state)
{
    uint32_t bound[] = {1, 4, 5};
    struct placement_rank rank = {.cpus = bound, .cpu_count = 3};
    char text[64];
    make_machine("2x2x2");
    placement_picture(&machine, &rank, text, sizeof(text));
    assert_string_equal(text, "[.B/..][BB/..]");
    rank.cpu_count = 0;
    placement_picture(&machine, &rank, text, sizeof(text));
    assert_string_equal(text, "[../..][../..]");
    placement_picture(&machine, &rank, text, 5);
    assert_string_equal(text, "[../");
}

/* A machine with processors that may not be used: only the others are counted. */
static void what_may_not_be_used_is_not(void **state)
{
    struct placement_cpu some[3];
    struct placement_machine small = {some, 3, 0};
    struct placement_host host = {"a", 0, 0, &small};
    struct placement_request r = {.hosts = &host,
                                  .host_count = 1,
                                  .ranks = 3,
                                  .map = PLACEMENT_PACKAGE,
                                  .rank_by = PLACEMENT_SLOT,
                                  .bind = PLACEMENT_CORE};
    struct placement p;
    char text[256];
    make_machine("2x4");
    some[0] = cpus[1];
    some[1] = cpus[4];
    some[2] = cpus[7];
    assert_int_equal(placement_objects(&small, PLACEMENT_CORE), 3);
    assert_int_equal(placement_objects(&small, PLACEMENT_PACKAGE), 2);
    assert_int_equal(placement_make(&p, &r), -EINVAL); /* the first package has one core */
    r.ranks = 2;
    assert_int_equal(placement_make(&p, &r), 0);
    show(&p, &host, text);
    assert_string_equal(text, "a0 a1");
    assert_int_equal(some[p.ranks[1].cpus[0]].os_index, 4);
    placement_fini(&p);
    small.count = 0;
    assert_int_equal(placement_make(&p, &r), -EINVAL);
    assert_non_null(strstr(p.problem, "no processor"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_filled),
        cmocka_unit_test(nodes_take_turns),
        cmocka_unit_test(so_many_on_each_object),
        cmocka_unit_test(ranks_are_bound),
        cmocka_unit_test(threads_belong_to_cores),
        cmocka_unit_test(caches_and_memory_are_objects),
        cmocka_unit_test(ranks_are_dealt_out),
        cmocka_unit_test(small_machines_too),
        cmocka_unit_test(several_objects),
        cmocka_unit_test(examples_of_manuals_come_out),
        cmocka_unit_test(rankfiles_are_read),
        cmocka_unit_test(rankfiles_are_bounded),
        cmocka_unit_test(lists_restrict),
        cmocka_unit_test(units_of_lists_differ),
        cmocka_unit_test(lists_bind),
        cmocka_unit_test(objects_may_be_missing),
        cmocka_unit_test(pictures_show_bindings),
        cmocka_unit_test(what_may_not_be_used_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
