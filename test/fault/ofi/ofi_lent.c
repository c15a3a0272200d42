/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 lends a long message to rank 1, which does not fetch it yet, and has a stranger try to reach it
 * meanwhile; see ofi_stranger.c. The message has to arrive as it was sent. Rank 2 calls rank 0 amid a flood of
 * calls.
 *
 * usage: ofi_lent STRANGER PROVIDER
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { LEN = 1 << 20, LENT = 1, MAY_FETCH = 2, CALL = 3, DESCRIPTORS = 1024, FLOOD_BEGINS_US = 300000 };

static char bytes[LEN];

static void fail(const char *what)
{
    printf("not so: %s\n", what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The address and port at which the provider of this process listens. */
static void find_door(char address[INET_ADDRSTRLEN], char port[8])
{
    for (int fd = 3; fd < DESCRIPTORS; fd++) {
        struct sockaddr_in name = {0};
        socklen_t name_len = sizeof(name), len = sizeof(int);
        int listens = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) || !listens ||
            getsockname(fd, (struct sockaddr *)&name, &name_len) || name.sin_family != AF_INET)
            continue;
        if (name.sin_addr.s_addr == htonl(INADDR_ANY))
            name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        inet_ntop(AF_INET, &name.sin_addr, address, INET_ADDRSTRLEN);
        snprintf(port, 8, "%u", ntohs(name.sin_port));
        return;
    }
    fail("the provider listens somewhere");
}

/* Have the stranger try, while this process makes progress. */
static void endure(char *stranger, char *provider, char *how, MPI_Request *request)
{
    char address[INET_ADDRSTRLEN], port[8];
    char *args[] = {stranger, provider, address, port, how, NULL};
    pid_t pid;
    int status, done;
    find_door(address, port);
    if (posix_spawn(&pid, stranger, NULL, NULL, args, environ))
        fail("the stranger can be started");
    while (waitpid(pid, &status, WNOHANG) == 0) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            fail("the message is not fetched before its time");
        usleep(200);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail(WIFEXITED(status) && WEXITSTATUS(status) == 3 ? "a stranger is told nothing" : "a stranger can try");
}

/* Have the third rank call this one, once the stranger floods it. */
static void be_called(char *stranger, char *provider, MPI_Request *lent)
{
    int zero = 0;
    MPI_Request call;
    MPI_Irecv(&zero, 1, MPI_INT, 2, CALL, MPI_COMM_WORLD, &call);
    MPI_Send(&zero, 1, MPI_INT, 1, CALL, MPI_COMM_WORLD);
    endure(stranger, provider, "flood", lent);
    MPI_Wait(&call, MPI_STATUS_IGNORE);
}

static void check(const char *what)
{
    for (int i = 0; i < LEN; i++)
        if (bytes[i] != (char)(i % 251 + 1))
            fail(what);
}

int main(int argc, char **argv)
{
    int rank, zero = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        fail("usage: ofi_lent STRANGER PROVIDER");
    if (rank == 0) {
        MPI_Request request;
        for (int i = 0; i < LEN; i++)
            bytes[i] = (char)(i % 251 + 1);
        MPI_Ssend(&zero, 1, MPI_INT, 1, MAY_FETCH, MPI_COMM_WORLD); /* there is a connection */
        MPI_Isend(bytes, LEN, MPI_CHAR, 1, LENT, MPI_COMM_WORLD, &request);
        endure(argv[1], argv[2], "keys", &request);
        be_called(argv[1], argv[2], &request);
        MPI_Send(&zero, 1, MPI_INT, 1, MAY_FETCH, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check("a stranger overwrites nothing");
    } else if (rank == 1) {
        MPI_Recv(&zero, 1, MPI_INT, 0, MAY_FETCH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&zero, 1, MPI_INT, 0, CALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(FLOOD_BEGINS_US);
        MPI_Send(&zero, 1, MPI_INT, 2, CALL, MPI_COMM_WORLD);
        MPI_Recv(&zero, 1, MPI_INT, 0, MAY_FETCH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(bytes, LEN, MPI_CHAR, 0, LENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check("what is received was sent");
    } else if (rank == 2) {
        MPI_Recv(&zero, 1, MPI_INT, 1, CALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&zero, 1, MPI_INT, 0, CALL, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
