/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Comm_split_type and MPI_Get_hw_resource_info by every kind of hardware: on a machine that
 * hwloc makes up, in which two processors of this host, or the only one, stand where it suits.
 * usage: comm_hardware KIND [bare]: the outermost kind that they have not in common; rank 0 runs on
 * one of them, rank 1 on the other, and rank 2 on both. A bare machine has groups in groups, and
 * neither packages nor caches.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum {
    TEXT = 4096
};

/* From the outermost on. Each but the memory, which a group has one of, comes twice in the one
 * before it. */
static const struct {
    const char *kind;
    const char *others[4]; /* what else it may be called */
    const char *full, *bare; /* for hwloc; NULL: none */
} levels[] = {
    {"Package", {"Socket"}, "Package:2", NULL},
    {"Die", {0}, "Die:2", NULL},
    {"Group", {"Group0"}, "Group:2", "Group:2 Group:2"},
    {"NUMANode", {"NUMA", "Node"}, "[NUMANode]", "[NUMANode]"},
    {"L3Cache", {"L3"}, "L3Cache:2", NULL},
    {"L2Cache", {"L2"}, "L2Cache:2", NULL},
    {"L1Cache", {"L1", "L1d", "L1dCache"}, "L1Cache:2", NULL},
    {"Core", {0}, "Core:2", "Core:2"},
    {"PU", {0}, "PU:2", "PU:2"},
};

enum {
    COUNT = sizeof(levels) / sizeof(levels[0])
};

/* Names of what this machine has not, and of nothing. */
static const char *const absent[] = {"L4Cache", "L5Cache", "MemCache", "Group1", "L1iCache", "L6",
                                     "L3Cache:0", "L33", "Core0", "Cor", "PCIDev", "NUMANode ", ""};

static int me, apart = -1; /* of levels */
static int alone;          /* there is one processor */
static int bare;

static const char *made_of(int level)
{
    return bare ? levels[level].bare : levels[level].full;
}

/* How many of a level one of the level before has; of the two kinds of groups, together. */
static int arity(int level)
{
    const char *text = made_of(level);
    int n = 1;
    while (text && (text = strchr(text, ':'))) {
        n *= 2;
        text++;
    }
    return n;
}

/* Make the machine up: the second processor stands at the first leaf that lies in another
 * instance of the kind that is asked for. */
static void make_machine(int first_cpu, int second_cpu)
{
    char text[TEXT] = "", number[16];
    int next = 0, leaves = 1, step;
    for (int i = 0; i < COUNT; i++)
        leaves *= arity(i);
    step = leaves / 2;
    for (int i = 0; i < COUNT; i++) {
        if (!made_of(i))
            continue;
        strcat(strcat(text, made_of(i)), i + 1 < COUNT ? " " : "(indexes=");
        step /= i < apart ? arity(i) : 1;
    }
    for (int leaf = 0; leaf < leaves; leaf++) {
        while (next == first_cpu || next == second_cpu)
            next++;
        int cpu = leaf == 0 ? first_cpu : leaf == step && !alone ? second_cpu : next++;
        snprintf(number, sizeof(number), leaf ? ",%d" : "%d", cpu);
        strcat(text, number);
    }
    strcat(text, ")");
    CHECK(!setenv("HWLOC_SYNTHETIC", text, 1) && !setenv("HWLOC_THISSYSTEM", "1", 1));
}

/* Choose the processors, make a machine with them up, and bind. Before MPI_Init: mpiexec says
 * which rank this is. */
static void bind_and_make(void)
{
    static cpu_set_t all, mine;
    int cpu = -1, cpus[2];
    CHECK(!sched_getaffinity(0, sizeof(all), &all));
    alone = CPU_COUNT(&all) < 2;
    for (int i = 0; i < 2 - alone; i++) {
        while (!CPU_ISSET(++cpu, &all))
            ;
        cpus[i] = cpu;
    }
    if (alone)
        cpus[1] = cpus[0];
    make_machine(cpus[0], cpus[1]);
    if (me != 1)
        CPU_SET(cpus[0], &mine);
    if (me != 0)
        CPU_SET(cpus[1], &mine);
    CHECK(!sched_setaffinity(0, sizeof(mine), &mine));
}

/* How many ranks are in this one's part, itself included; 0: it is in none. */
static int expected_size(int level)
{
    if (!made_of(level))
        return 0;
    return level < apart || alone ? 3 : me == 2 ? 0 : 1;
}

static void split(int type, const char *key, const char *name, int size)
{
    MPI_Comm comm;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, name));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &comm));
    OK(MPI_Info_free(&info));
    CHECK((comm == MPI_COMM_NULL) == !size);
    if (comm == MPI_COMM_NULL)
        return;
    CHECK(check_size(comm) == size);
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
}

/* By a name without and with what comes before it, both ways. */
static void split_by(const char *name, int size)
{
    static const int types[] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    char uri[64];
    snprintf(uri, sizeof(uri), "hwloc://%s", name);
    for (int i = 0; i < 2; i++) {
        split(types[i], "mpi_hw_resource_type", uri, size);
        split(types[i], "mpi_hw_resource_type", name, size);
    }
}

static void guided(void)
{
    for (int i = 0; i < COUNT; i++) {
        split_by(levels[i].kind, expected_size(i));
        for (int j = 0; levels[i].others[j]; j++)
            split_by(levels[i].others[j], expected_size(i));
    }
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        split_by(absent[i], 0);
    split_by("Machine", 3);
    split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", 3);
    split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", 3);
}

/* The kinds that the machine has are told, and whether this process runs in one of each. */
static void told(void)
{
    MPI_Info info;
    char key[64], value[8];
    int count, flag, len, expect = 1;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &count));
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof(key), "hwloc://%s", levels[i].kind);
        len = sizeof(value);
        OK(MPI_Info_get_string(info, key, &len, value, &flag));
        CHECK(flag == (made_of(i) != NULL));
        CHECK(!flag || !strcmp(value, expected_size(i) ? "true" : "false"));
        expect += flag;
    }
    len = sizeof(value);
    OK(MPI_Info_get_string(info, "hwloc://Machine", &len, value, &flag));
    CHECK(flag && !strcmp(value, "true") && count == expect);
    OK(MPI_Info_free(&info));
}

/* Ranks 0 and 1 are told apart by the outermost kind that they have not in common. */
static void unguided(void)
{
    MPI_Comm both, part;
    MPI_Info info;
    char value[64] = "", expect[64];
    int len = sizeof(value), flag;
    OK(MPI_Comm_split(MPI_COMM_WORLD, me == 2 ? MPI_UNDEFINED : 0, 0, &both));
    if (me == 2)
        return;
    OK(MPI_Info_create(&info));
    OK(MPI_Comm_split_type(both, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part));
    OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &len, value, &flag));
    snprintf(expect, sizeof(expect), "hwloc://%s", levels[apart].kind);
    CHECK((part == MPI_COMM_NULL) == alone && flag == !alone);
    CHECK(alone || (!strcmp(value, expect) && check_size(part) == 1));
    if (part != MPI_COMM_NULL)
        OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&both));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    const char *rank = getenv("MPI_LOCALRANKID");
    me = rank ? atoi(rank) : 0;
    bare = argc == 3 && !strcmp(argv[2], "bare");
    for (int i = 0; i < COUNT && argc - bare == 2; i++)
        if (!strcmp(argv[1], levels[i].kind) && arity(i) > 1)
            apart = i;
    if (apart < 0)
        return 2;
    bind_and_make();
    OK(MPI_Init(&argc, &argv));
    CHECK(check_rank(MPI_COMM_WORLD) == me && check_size(MPI_COMM_WORLD) == 3);
    told();
    guided();
    unguided();
    OK(MPI_Finalize());
    return 0;
}
