/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the latest first, while MPI
 * still works. */
#include <stdint.h>

#include "check.h"

static int calls;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int flag = 1, rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), from = -1;
    (void)keyval;
    (void)extra;
    CHECK(comm == MPI_COMM_SELF && (intptr_t)value == 4 - calls);
    calls++;
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT,
                    (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(from == (rank + size - 1) % size);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keys[5];
    OK(MPI_Init(&argc, &argv));
    for (int i = 0; i < 5; i++)
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keys[4 - i], NULL));
    for (int i = 0; i < 5; i++) {
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(intptr_t)i));
        OK(MPI_Comm_free_keyval(&keys[i]));
    }
    OK(MPI_Finalize());
    return calls != 5;
}
