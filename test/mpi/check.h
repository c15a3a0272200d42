/* SPDX-License-Identifier: BSD-3-Clause */

/* What the MPI programs of the tests share: a failed check names its line and
 * ends the job. */
#ifndef TEST_MPI_CHECK_H
#define TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>

static inline void check(int good, const char *what, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(what) check(!!(what), #what, __FILE__, __LINE__)
/* The call succeeds. */
#define OK(call) check((call) == MPI_SUCCESS, #call, __FILE__, __LINE__)
/* The call returns a code of this class. */
#define FAILS(error_class, call) check(check_class(call) == (error_class), #call, __FILE__, __LINE__)

static inline int check_class(int code)
{
    int error_class = -1;
    MPI_Error_class(code, &error_class);
    return error_class;
}

static inline int check_rank(MPI_Comm comm)
{
    int rank = -1;
    OK(MPI_Comm_rank(comm, &rank));
    return rank;
}

static inline int check_size(MPI_Comm comm)
{
    int size = -1;
    OK(MPI_Comm_size(comm, &size));
    return size;
}

/* Every member sends its world rank round the communicator, which shows that it works;
 * expect(i) is the world rank of member i. */
static inline void check_ring(MPI_Comm comm, int (*expect)(int member, void *arg), void *arg)
{
    int rank = check_rank(comm), size = check_size(comm), me = check_rank(MPI_COMM_WORLD);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, from = -1;
    CHECK(expect(rank, arg) == me);
    OK(MPI_Sendrecv(&me, 1, MPI_INT, right, 5, &from, 1, MPI_INT, left, 5, comm,
                    MPI_STATUS_IGNORE));
    CHECK(from == expect(left, arg));
}

#endif
