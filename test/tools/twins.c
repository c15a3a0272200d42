/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The generated int twins, called: bodies that only note what they got, for a world of GROUP
 * processes. coll.gen.h is made from this file by the test script.
 */

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "mpi/interface.h"

enum { GROUP = 100 };

static const int *volatile unreadable = (const int *)8;
static int at_root;
static int64_t seen_count, seen_first, seen_last, seen_displ;
static const void *seen_array;
static int no_mem_raised, failures, tests;

int interface_length(MPI_Comm comm, enum interface_group group, int root)
{
    if (comm == MPI_COMM_NULL)
        return 0;
    return group == INTERFACE_ROOT && root != at_root ? 0 : GROUP;
}

int interface_no_mem(MPI_Comm comm, const char *function)
{
    no_mem_raised++;
    return MPI_ERR_NO_MEM;
}

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    seen_count = count;
    return root;
}

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
    MPI_Comm comm)
{
    seen_array = recvcounts;
    if (root == at_root) {
        seen_first = recvcounts[0];
        seen_last = recvcounts[GROUP - 1];
        seen_displ = displs[GROUP - 1];
    }
    return MPI_SUCCESS;
}

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm)
{
    seen_array = sendcounts;
    seen_last = recvcounts[GROUP - 1];
    seen_displ = rdispls[GROUP - 1];
    return MPI_SUCCESS;
}

static void check(int right, const char *claim)
{
    failures += !right;
    printf("%s %d - %s\n", right ? "ok" : "not ok", ++tests, claim);
}

static void gatherv(const int counts[GROUP], const int displs[GROUP])
{
    int rc = MPI_Gatherv(NULL, 0, MPI_INT, NULL, counts, displs, MPI_INT, 3, MPI_COMM_WORLD);

    check(rc == MPI_SUCCESS && seen_first == -5 && seen_last == 99 && seen_displ == -99,
        "arrays at the root arrive whole, sign and all");
    at_root = 0;
    rc = MPI_Gatherv(NULL, 0, MPI_INT, NULL, unreadable, unreadable, MPI_INT, 3,
        MPI_COMM_WORLD);
    check(rc == MPI_SUCCESS && seen_array, "arrays elsewhere are not read");
    at_root = 3;
    rc = MPI_Gatherv(NULL, 0, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, MPI_COMM_WORLD);
    check(rc == MPI_SUCCESS && !seen_array, "no array stays no array");
    rc = MPI_Gatherv(NULL, 0, MPI_INT, NULL, unreadable, unreadable, MPI_INT, 0,
        MPI_COMM_NULL);
    check(rc == MPI_SUCCESS, "a bad communicator reaches the body, and no array is read");
}

int main(void)
{
    int counts[GROUP], displs[GROUP], rc;

    for (int i = 0; i < GROUP; i++) {
        counts[i] = i ? i : -5;
        displs[i] = -i;
    }
    at_root = 3;
    rc = MPI_Bcast(NULL, -7, MPI_INT, 9, MPI_COMM_WORLD);
    check(rc == 9 && seen_count == -7, "a negative count is negative in the body");
    gatherv(counts, displs);
    rc = MPI_Alltoallv(MPI_IN_PLACE, unreadable, unreadable, MPI_INT, NULL, counts, displs,
        MPI_INT, MPI_COMM_WORLD);
    check(rc == MPI_SUCCESS && seen_last == 99 && seen_displ == -99,
        "in place, the send arrays are not read");
    check(PMPI_Bcast(NULL, 1, MPI_INT, 4, MPI_COMM_WORLD) == 4 && seen_count == 1,
        "the PMPI name is the same function");
    check(no_mem_raised == 0, "there was memory");
    printf("1..%d\n", tests);
    return failures != 0;
}

#include "coll.gen.h"
