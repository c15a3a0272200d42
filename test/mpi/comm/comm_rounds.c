/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many rounds of making a communicator, speaking to its members, and freeing it; every so often in a
 * session of its own. Memory, descriptors and connections stay what they were.
 */
#include <dirent.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum {
    ROUNDS = 10000,
    WARM = 1000,
    EVERY = 100,      /* rounds to a session */
    GROWTH = 64 << 10 /* bytes: pools may still grow once */
};

static void swap(MPI_Comm comm, int round)
{
    int rank = check_rank(comm), size = check_size(comm), in = -1;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Sendrecv(&round, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, comm,
                    MPI_STATUS_IGNORE));
    CHECK(in == round);
}

/* A group of the same members in another order, so that it has a list and connections of its own. */
static void in_turned_group(int round)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    MPI_Comm comm;
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + round) % size, &comm));
    swap(comm, round);
    OK(MPI_Comm_free(&comm));
}

static void in_session(int round)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "rounds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&group));
    swap(comm, round);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
}

static size_t memory(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static int descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* The sum over the variables that count connections by their state. */
static unsigned long long connections(void)
{
    int provided, index, count;
    unsigned long long sum = 0;
    MPI_T_pvar_session session;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_get_num(&count));
    OK(MPI_T_pvar_session_create(&session));
    for (index = 0; index < count; index++) {
        char name[128];
        int len = sizeof(name), class, verbosity, bind, flags[3], handles;
        MPI_Datatype type;
        OK(MPI_T_pvar_get_info(index, name, &len, &verbosity, &class, &type, NULL, NULL, NULL, &bind,
                               &flags[0], &flags[1], &flags[2]));
        if (strncmp(name, "connections_", 12))
            continue;
        MPI_T_pvar_handle handle;
        unsigned long long value = 0;
        OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &handles));
        OK(MPI_T_pvar_read(session, handle, &value));
        OK(MPI_T_pvar_handle_free(session, &handle));
        sum += value;
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return sum;
}

int main(int argc, char **argv)
{
    size_t bytes = 0;
    int fds = 0;
    unsigned long long peers = 0;
    OK(MPI_Init(&argc, &argv));
    for (int round = 0; round < ROUNDS; round++) {
        in_turned_group(round);
        if (round % EVERY == 0)
            in_session(round);
        if (round != WARM)
            continue;
        bytes = memory();
        fds = descriptors();
        peers = connections();
    }
    CHECK(memory() <= bytes + GROWTH);
    CHECK(descriptors() == fds);
    CHECK(peers > 0 && connections() == peers);
    OK(MPI_Finalize());
    return 0;
}
