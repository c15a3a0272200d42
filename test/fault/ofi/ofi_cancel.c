/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A long send that finds no room on its link is cancelled: its memory is no longer lent then. To be run with
 * fabric_faults preloaded, which counts what is lent. usage: ofi_cancel
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEN = 1 << 20, SMALL = 2, LONG = 3, SENDS = 5000, TURNS = 200 };

static void need(int truth, const char *what)
{
    if (truth)
        return;
    printf("not so: %s\n", what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Cancel a send. Returns whether it was. */
static int cancel(MPI_Request *request)
{
    MPI_Status status;
    int is_cancelled;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    return is_cancelled;
}

/* Send small messages until the link takes no more. Returns how many it has taken. */
static int fill(void)
{
    for (int i = 0; i < SENDS; i++) {
        MPI_Request request;
        int done;
        MPI_Isend(&i, 1, MPI_INT, 1, SMALL, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            continue;
        need(cancel(&request), "a send that waits can be cancelled");
        return i;
    }
    need(0, "a link is full at some time");
    return 0;
}

/* Rank 0, while the other one is away. Returns how many small messages that one will find. */
static int lend_and_cancel(int (*lent)(void))
{
    char *bytes = calloc(1, LEN);
    MPI_Request request;
    int sent = fill();
    MPI_Isend(bytes, LEN, MPI_CHAR, 1, LONG, MPI_COMM_WORLD, &request);
    for (int i = 0, done = 0; i < TURNS && !done; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    need(lent() == 1, "a long message is lent");
    need(cancel(&request), "a long send that waits can be cancelled");
    need(lent() == 0, "nothing is lent once the send is cancelled");
    free(bytes);
    return sent;
}

/* Rank 1 is away until the other one sends it a signal. */
static void stay_away(void)
{
    sigset_t wake;
    int signal, pid = getpid();
    sigemptyset(&wake);
    sigaddset(&wake, SIGUSR1);
    sigprocmask(SIG_BLOCK, &wake, NULL);
    MPI_Send(&pid, 1, MPI_INT, 0, SMALL, MPI_COMM_WORLD);
    sigwait(&wake, &signal);
}

int main(int argc, char **argv)
{
    int rank, sent, number, (*lent)(void);
    *(void **)&lent = dlsym(RTLD_DEFAULT, "fabric_faults_lent");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    need(lent != NULL, "fabric_faults is preloaded");
    if (rank == 0) {
        MPI_Recv(&number, 1, MPI_INT, 1, SMALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sent = lend_and_cancel(lent);
        kill(number, SIGUSR1);
        MPI_Send(&sent, 1, MPI_INT, 1, LONG, MPI_COMM_WORLD);
    } else if (rank == 1) {
        stay_away();
        MPI_Recv(&sent, 1, MPI_INT, 0, LONG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < sent; i++) {
            MPI_Recv(&number, 1, MPI_INT, 0, SMALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            need(number == i, "messages before what was cancelled arrive");
        }
    }
    MPI_Finalize();
    puts("ok");
    return 0;
}
