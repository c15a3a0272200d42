/* SPDX-License-Identifier: BSD-3-Clause */

/* Several hosts, as MPI shows them. usage: comm_hosts N: run on N hosts, which have blocks of
 * ranks, as mpiexec --pretend-hosts N makes them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum {
    LONG = 300000 /* bytes that go by rendezvous, over any channel */
};

static int me, ranks, hosts;

static int host_of(int rank)
{
    for (int h = 0; h < hosts; h++)
        if (rank < (h + 1) * ranks / hosts)
            return h;
    return hosts;
}

static int ranks_of(int host)
{
    return (host + 1) * ranks / hosts - host * ranks / hosts;
}

/* The ranks of my host, in their order, and no others. */
static void check_host(MPI_Comm comm)
{
    int mine = host_of(me), size = check_size(comm), *all = malloc(sizeof(*all) * (size_t)ranks);
    CHECK(all && size == ranks_of(mine));
    OK(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        CHECK(all[i] == mine * ranks / hosts + i);
    free(all);
    OK(MPI_Comm_free(&comm));
}

static void shared(void)
{
    MPI_Comm comm;
    MPI_Info info;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    check_host(comm);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Machine"));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
    check_host(comm);
    OK(MPI_Info_free(&info));
}

/* The outermost kind of hardware that tells ranks apart is the host. */
static void unguided(void)
{
    MPI_Comm comm;
    MPI_Info info;
    char value[64];
    int len = sizeof(value), flag;
    OK(MPI_Info_create(&info));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &comm));
    if (hosts > 1) {
        check_host(comm);
        OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &len, value, &flag));
        CHECK(flag && !strcmp(value, "hwloc://Machine"));
    } else if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Info_free(&info));
}

/* early: MPI_Info_create_env() before MPI_Init. */
static void names(MPI_Info early)
{
    char host[MPI_MAX_PROCESSOR_NAME], mine[MPI_MAX_PROCESSOR_NAME] = "", *all;
    int len, room = sizeof(host), *global, flag;
    OK(MPI_Get_processor_name(mine, &len));
    OK(MPI_Info_get_string(early, "host", &room, host, &flag));
    CHECK(flag && !strcmp(host, mine));
    all = malloc((size_t)ranks * sizeof(mine));
    CHECK(all != NULL);
    OK(MPI_Allgather(mine, sizeof(mine), MPI_CHAR, all, sizeof(mine), MPI_CHAR, MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++)
        CHECK(!strcmp(all + (size_t)r * sizeof(mine), mine) == (host_of(r) == host_of(me)));
    free(all);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag));
    CHECK(flag && (hosts == 1 || !*global));
}

/* Every pair, within a host and between two. */
static void messages(void)
{
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    CHECK(out && in);
    for (int shift = 1; shift < ranks; shift++) {
        int to = (me + shift) % ranks, from = (me + ranks - shift) % ranks;
        for (int len = 1; len <= LONG; len = len < LONG && len * 30 > LONG ? LONG : len * 30) {
            memset(out, me + 1, (size_t)len);
            memset(in, 0, (size_t)len);
            OK(MPI_Sendrecv(out, len, MPI_BYTE, to, len, in, len, MPI_BYTE, from, len,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < len; i++)
                CHECK(in[i] == (unsigned char)(from + 1));
        }
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Info early;
    OK(MPI_Info_create_env(argc, argv, &early));
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    ranks = check_size(MPI_COMM_WORLD);
    CHECK(argc == 2);
    hosts = atoi(argv[1]);
    CHECK(hosts >= 1 && hosts <= ranks);
    shared();
    unguided();
    names(early);
    messages();
    OK(MPI_Info_free(&early));
    OK(MPI_Finalize());
    return 0;
}
