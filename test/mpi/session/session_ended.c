/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a process has sent arrives, although the process has ended meanwhile. The argument:
 *
 *   large  rank 1 sends much, and ends; rank 0 posts its receives late
 *   small  rank 1 sends 40 bytes, and ends, while rank 2 streams to rank 0
 *   many   of many connected ranks one after another sends 40 bytes, and ends; rank 0 hears of the
 *          end before it has looked at any connection
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "include/bnr.h"

enum {
    COUNT = 5,
    LARGE = 500 << 10,
    SMALL = 40,
    STREAM = 64 << 10,
    LATE_US = 400000,
    PATIENCE_MS = 10000,
    ENDERS = 20,
    TAG_WORD = 1,
    TAG_STREAM = 2,
    TAG_ENOUGH = 3,
    TAG_GO = 4
};

static char bytes[LARGE];

static void send_and_end(MPI_Comm comm, int count, int len)
{
    MPI_Request requests[COUNT];
    static char out[COUNT][LARGE];
    for (int i = 0; i < count; i++) {
        memset(out[i], i + 1, (size_t)len);
        OK(MPI_Isend(out[i], len, MPI_CHAR, 0, TAG_WORD, comm, &requests[i]));
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void receive(MPI_Comm comm, int count, int len)
{
    for (int i = 0; i < count; i++) {
        memset(bytes, 0, sizeof(bytes));
        OK(MPI_Recv(bytes, len, MPI_CHAR, 1, TAG_WORD, comm, MPI_STATUS_IGNORE));
        CHECK(bytes[0] == i + 1 && bytes[len - 1] == i + 1);
    }
}

/* Rank 2: messages to rank 0 until that has enough. */
static void stream(MPI_Comm comm)
{
    int enough = 0;
    MPI_Request request;
    OK(MPI_Irecv(NULL, 0, MPI_CHAR, 0, TAG_ENOUGH, comm, &request));
    while (!enough) {
        OK(MPI_Send(bytes, STREAM, MPI_CHAR, 0, TAG_STREAM, comm));
        OK(MPI_Test(&request, &enough, MPI_STATUS_IGNORE));
    }
    OK(MPI_Send(NULL, 0, MPI_CHAR, 0, TAG_STREAM, comm));
}

static void receive_amid_stream(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Status status;
    int here = 0, len = STREAM;
    char word[SMALL];
    for (double until = MPI_Wtime() + 0.6; MPI_Wtime() < until;)
        OK(MPI_Recv(bytes, STREAM, MPI_CHAR, 2, TAG_STREAM, comm, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(word, SMALL, MPI_CHAR, 1, TAG_WORD, comm, &request));
    while (!here) {
        OK(MPI_Recv(bytes, STREAM, MPI_CHAR, 2, TAG_STREAM, comm, MPI_STATUS_IGNORE));
        OK(MPI_Test(&request, &here, MPI_STATUS_IGNORE));
    }
    CHECK(word[0] == 1 && word[SMALL - 1] == 1);
    OK(MPI_Send(NULL, 0, MPI_CHAR, 2, TAG_ENOUGH, comm));
    while (len) {
        OK(MPI_Recv(bytes, STREAM, MPI_CHAR, 2, TAG_STREAM, comm, &status));
        OK(MPI_Get_count(&status, MPI_CHAR, &len));
    }
}

static bool has_ended(int rank)
{
    BNR_Group group;
    unsigned char alive[64];
    CHECK(!BNR_Get_group(&group) && !BNR_Get_alive(group, alive, sizeof(alive)));
    return !(alive[rank / 8] >> rank % 8 & 1);
}

/* Rank 0 calls no MPI function from the time that a rank is told to go until its end is known. */
static void receive_each(MPI_Comm comm, int size)
{
    char word[ENDERS + 1][SMALL];
    MPI_Request requests[ENDERS + 1];
    for (int rank = 1; rank < size; rank++)
        OK(MPI_Recv(NULL, 0, MPI_CHAR, rank, TAG_GO, comm, MPI_STATUS_IGNORE));
    for (int rank = 1; rank <= ENDERS; rank++)
        OK(MPI_Irecv(word[rank], SMALL, MPI_CHAR, rank, TAG_WORD, comm, &requests[rank]));
    for (int rank = 1; rank <= ENDERS; rank++) {
        OK(MPI_Send(NULL, 0, MPI_CHAR, rank, TAG_GO, comm));
        for (int ms = 0; ms < PATIENCE_MS && !has_ended(rank); ms++)
            usleep(1000);
        CHECK(has_ended(rank) && !BNR_Progress(NULL));
        OK(MPI_Wait(&requests[rank], MPI_STATUS_IGNORE));
        CHECK(word[rank][0] == 1 && word[rank][SMALL - 1] == 1);
    }
    for (int rank = ENDERS + 1; rank < size; rank++)
        OK(MPI_Send(NULL, 0, MPI_CHAR, rank, TAG_GO, comm));
}

static void run_many(MPI_Comm comm)
{
    int rank = check_rank(comm);
    if (!rank) {
        receive_each(comm, check_size(comm));
        return;
    }
    OK(MPI_Send(NULL, 0, MPI_CHAR, 0, TAG_GO, comm));
    OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, TAG_GO, comm, MPI_STATUS_IGNORE));
    if (rank <= ENDERS)
        send_and_end(comm, 1, SMALL);
}

static void run(MPI_Comm comm, const char *how)
{
    bool large = !strcmp(how, "large");
    if (!strcmp(how, "many")) {
        run_many(comm);
        return;
    }
    switch (check_rank(comm)) {
    case 0:
        if (large) {
            usleep(LATE_US);
            receive(comm, COUNT, LARGE);
        } else {
            receive_amid_stream(comm);
        }
        break;
    case 1:
        send_and_end(comm, large ? COUNT : 1, large ? LARGE : SMALL);
        break;
    case 2: stream(comm); break;
    }
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "ended", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Barrier(comm));
    run(comm, argc > 1 ? argv[1] : "large");
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    return 0;
}
