/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Comm_split_type, and what MPI_Get_hw_resource_info says of the same hardware. Ranks bind
 * themselves to different processors where the machine has more than one. */
#include <sched.h>
#include <string.h>
#include <strings.h>

#include "check.h"

static int me, world_size, host_rank, host_size, is_here[64];

static MPI_Info with(const char *key, const char *value)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    return info;
}

static MPI_Comm guided(int type, const char *key, const char *value)
{
    MPI_Comm comm;
    MPI_Info info = with(key, value);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &comm));
    OK(MPI_Info_free(&info));
    return comm;
}

static void check_size_and_free(MPI_Comm comm, int size)
{
    if (!size) {
        CHECK(comm == MPI_COMM_NULL);
        return;
    }
    CHECK(check_size(comm) == size);
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
}

/* Bind to a processor, by number among those that are there. Returns the kernel's number. */
static int bind_to(int n)
{
    static cpu_set_t all;
    static int known;
    cpu_set_t one;
    if (!known++)
        CHECK(!sched_getaffinity(0, sizeof(all), &all));
    n %= CPU_COUNT(&all);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all) || n--)
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(!sched_setaffinity(0, sizeof(one), &one));
    return cpu;
}

/* How many ranks of this host have the same number. */
static int count_same(int number)
{
    int all[64], same = 0;
    CHECK(world_size <= 64);
    OK(MPI_Allgather(&number, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < world_size; i++)
        same += all[i] == number && is_here[i];
    return same;
}

/* Ranks whose host has the same name. */
static void look_around(void)
{
    static char name[64][MPI_MAX_PROCESSOR_NAME];
    int len;
    CHECK(world_size <= 64);
    OK(MPI_Get_processor_name(name[me], &len));
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                     MPI_COMM_WORLD));
    for (int i = 0; i < world_size; i++) {
        is_here[i] = !strcmp(name[i], name[me]);
        host_size += is_here[i];
        host_rank += is_here[i] && i < me;
    }
}

/* Whether the host has this kind, and this process is in one of it. */
static int is_restricted(const char *kind)
{
    MPI_Info info;
    char value[8];
    int len = sizeof(value), flag = 0;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_string(info, kind, &len, value, &flag));
    OK(MPI_Info_free(&info));
    if (!flag)
        return -1;
    CHECK(!strcmp(value, "true") || !strcmp(value, "false"));
    return !strcmp(value, "true");
}

static void kinds(void)
{
    MPI_Info info;
    int count = 0;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &count));
    CHECK(count >= 1);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY];
        OK(MPI_Info_get_nthkey(info, i, key));
        CHECK(!strncmp(key, "hwloc://", 8));
        /* Guided by it, whoever is restricted gets a communicator. */
        MPI_Comm comm = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", key);
        CHECK((comm != MPI_COMM_NULL) == is_restricted(key));
        if (comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Info_free(&info));
}

/* On one host all are together, until processors tell them apart. */
static void unguided(void)
{
    MPI_Comm comm;
    MPI_Info info;
    char value[64];
    int len = sizeof(value), flag = 0, cpu = bind_to(me), same = count_same(cpu);
    OK(MPI_Info_create(&info));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &comm));
    OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &len, value, &flag));
    CHECK(flag == (comm != MPI_COMM_NULL));
    if (same == world_size || is_restricted("hwloc://PU") != 1) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        int size = check_size(comm);
        CHECK(!strncmp(value, "hwloc://", 8));
        CHECK(size >= same && size < world_size);
        /* Down to the single processor. */
        for (int level = 0; size > same && level < 10; level++) {
            MPI_Comm part;
            OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
            OK(MPI_Comm_free(&comm));
            comm = part;
            size = check_size(comm);
        }
        CHECK(size == same);
        OK(MPI_Comm_free(&comm));
    }
    if (is_restricted("hwloc://PU") == 1)
        check_size_and_free(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU"),
                            same);
    OK(MPI_Info_free(&info));
}

static void by_name(void)
{
    MPI_Comm comm;
    int guided_types[] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    for (int i = 0; i < 2; i++) {
        int type = guided_types[i];
        const char *key = "mpi_hw_resource_type";
        check_size_and_free(guided(type, key, "mpi_shared_memory"), host_size);
        check_size_and_free(guided(type, key, "nobody://knows"), 0);
        check_size_and_free(guided(type, "some_key", "hwloc://PU"), 0);
        OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &comm));
        CHECK(comm == MPI_COMM_NULL);
    }
    check_size_and_free(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"),
                        world_size);
    check_size_and_free(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1);
    check_size_and_free(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "no://set"), 0);
    check_size_and_free(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"), 0);
}

static void wrong(void)
{
    MPI_Comm comm;
    MPI_Info info = with("mpi_hw_resource_type", "hwloc://PU");
    OK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_INFO, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info,
                                            &comm));
    FAILS(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, info, &comm));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    world_size = check_size(MPI_COMM_WORLD);
    look_around();
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &comm));
    CHECK(check_rank(comm) == host_size - 1 - host_rank);
    check_size_and_free(comm, host_size);
    /* Who stays out does so whatever the others want. */
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, me ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0,
                           MPI_INFO_NULL, &comm));
    check_size_and_free(comm, me ? host_size - is_here[0] : 0);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, me ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, 0,
                           MPI_INFO_NULL, &comm));
    if (comm != MPI_COMM_NULL)
        OK(MPI_Comm_free(&comm));
    kinds();
    by_name();
    unguided();
    wrong();
    OK(MPI_Finalize());
    return 0;
}
