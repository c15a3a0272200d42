/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An MPI program that does to itself what MPI could do without; see hurt.sh.
 *
 *   hurt space          rank 1 has no address space left for its peers' memory
 *   hurt space others   the same, and all the others too
 *   hurt finished MS N  rank 1 finalizes after N messages, and ends MS later; rank 0 sends to it
 *   hurt close N OTHER  after N rounds of messages rank 1 closes the descriptors that it does not
 *                       know, and, where OTHER is 1, opens files of its own
 *   hurt fork           forks children that call MPI
 *   hurt finished MS N fatal  the same, and the first error ends the job
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LONG = 1 << 20,
    SPARE = 8 << 20 /* bytes: less than a peer's memory */
};

static int rank, size;
static MPI_Comm other;
static unsigned char out[LONG], in[LONG];

static void require(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "hurt: rank %d: %s\n", rank, what);
    _exit(99);
}

/* Everybody sends to the next, and receives from the one before. */
static void ring(int len)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    memset(out, rank + len, (size_t)len);
    memset(in, 0, (size_t)len);
    MPI_Request request;
    MPI_Irecv(in, len, MPI_BYTE, before, 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, len, MPI_BYTE, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, before + len, (size_t)len);
    require(!memcmp(out, in, (size_t)len), "a message is damaged");
}

static void rings(void)
{
    static const int lengths[] = {0, 8, 8, 4000, 8, 12000, LONG, 8};
    if (rank == 0)
        MPI_Send(out, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(in, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        ring(lengths[i]);
}

static void leave_no_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    require(file && fscanf(file, "%lu", &pages) == 1, "the size of this process is not known");
    fclose(file);
    struct rlimit limit = {pages * (unsigned long)sysconf(_SC_PAGESIZE) + SPARE, RLIM_INFINITY};
    require(!setrlimit(RLIMIT_AS, &limit), "no limit can be set");
}

/* Messages to a rank that has finalized. */
static void finished(int ms, int count, int fatal)
{
    int class, flag, rc = MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        ring(8);
    if (rank == 1) {
        MPI_Finalize();
        usleep((useconds_t)ms * 1000);
        exit(0);
    }
    usleep(200000);
    if (!fatal)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        rc = MPI_Ssend(out, i ? LONG : 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Error_class(rc, &class);
        printf("%d\n", class == MPI_ERR_PROC_ABORTED);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    rc = MPI_Send(out, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Error_class(rc, &class);
    printf("%d\n", class == MPI_ERR_PROC_ABORTED);
}

static void finalize_once(void)
{
    int is_finalized;
    MPI_Finalized(&is_finalized);
    if (!is_finalized)
        MPI_Finalize();
}

/* What a child does that has been forked off a rank. Only how > 3 is a mistake. */
static void be_child(int how)
{
    MPI_Request request;
    int flag;
    switch (how) {
    case 0: exit(0);
    case 1: MPI_Finalize(); break;
    case 2: atexit(finalize_once); exit(0);
    case 3: MPI_Finalized(&flag); _exit(!flag);
    case 4: MPI_Send(out, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD); break;
    case 5: MPI_Send(out, 8, MPI_BYTE, 0, 1, other); break;
    case 6: MPI_Irecv(in, 8, MPI_BYTE, 0, 1, other, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 7: MPI_Barrier(other); break;
    case 8: MPI_Abort(MPI_COMM_WORLD, 5); break;
    case 9: MPI_Finalize(); MPI_Comm_rank(MPI_COMM_WORLD, &flag); break;
    }
    _exit(0);
}

static void children(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int how = 0; how < 10; how++) {
        int status;
        ring(8);
        fflush(NULL);
        pid_t child = fork();
        require(child >= 0, "fork() fails");
        if (!child)
            be_child(how);
        ring(LONG); /* while the child is at it */
        require(waitpid(child, &status, 0) == child && WIFEXITED(status), "a child crashes");
        if (!WEXITSTATUS(status) != (how < 4)) {
            fprintf(stderr, "hurt: child %d ends with %d\n", how, WEXITSTATUS(status));
            _exit(98);
        }
    }
    MPI_Comm_free(&other);
}

/* Close what is open beyond the standard streams, and maybe open something else instead. */
static void close_all(int open_others)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    for (int i = 0; i < 30 && open_others; i++)
        require(open("/dev/null", O_RDWR | O_CLOEXEC) >= 0, "/dev/null cannot be opened");
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(NULL, NULL, getenv("HURT_THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "space")) {
        if (rank == 1 || argc > 2)
            leave_no_space();
        rings();
    } else if (!strcmp(what, "finished") && argc > 3) {
        finished(atoi(argv[2]), atoi(argv[3]), argc > 4);
    } else if (!strcmp(what, "close") && argc > 3) {
        for (int i = atoi(argv[2]); i > 0; i--)
            rings();
        if (rank == 1)
            close_all(atoi(argv[3]));
        rings();
    } else if (!strcmp(what, "fork")) {
        children();
    } else {
        require(0, "what shall be done?");
    }
    MPI_Finalize();
    return 0;
}
