/* SPDX-License-Identifier: BSD-3-Clause */

/* Long messages that are streamed on one connection take turns: a shorter one does not wait for the end of
 * a longer one that began before it. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LONG = 32 << 20, SHORT = 1 << 20 };

/* Returns which of the two was complete first. */
static int receive_two(char *whole, char *part)
{
    MPI_Request requests[2];
    int first = -1;
    OK(MPI_Irecv(whole, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(part, SHORT, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD));
    OK(MPI_Waitany(2, requests, &first, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LONG; i += 4093)
        CHECK(whole[i] == 'l');
    for (int i = 0; i < SHORT; i += 4093)
        CHECK(part[i] == 's');
    return first;
}

static void take_turns(int rank)
{
    char *whole = malloc(LONG), *part = malloc(SHORT);
    CHECK(whole && part);
    memset(whole, 'l', LONG);
    memset(part, 's', SHORT);
    if (rank == 0) {
        MPI_Request requests[2];
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Isend(whole, LONG, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(part, SHORT, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else {
        /* A socket may take all of the long one before the short one's receiver is heard. */
        int first = receive_two(whole, part);
        CHECK(first == 1 || getenv("VIREO_CHANNELS"));
    }
    free(whole);
    free(part);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    take_turns(check_rank(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    return 0;
}
