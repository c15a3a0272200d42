/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two jobs, of which one has spawned the other: a process of either side dies, and all others revoke, agree and shrink, in
 * the intercommunicator or in the communicator that both were merged into, and start a substitute.
 *
 * usage: ulfm_spawn inter|merged SIDE CHILDREN
 *
 * SIDE: of the process that dies, parent or child: the last one there. Prints "ok" from each survivor, and from each
 * substitute.
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GIVE_UP_S = 50, TAG = 5 };

static int is_child, me; /* in MPI_COMM_WORLD */

static void require(int truth, const char *what, int line)
{
    if (truth)
        return;
    fprintf(stderr, "ulfm_spawn: %s %d, line %d: not so: %s\n", is_child ? "child" : "parent", me, line, what);
    _exit(99);
}

#define CHECK(what) require(!!(what), #what, __LINE__)
#define OK(call)    require((call) == MPI_SUCCESS, #call, __LINE__)

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static int size_of(MPI_Comm comm)
{
    int n = -1;
    OK(MPI_Comm_size(comm, &n));
    return n;
}

static int remote_of(MPI_Comm comm)
{
    int n = -1;
    OK(MPI_Comm_remote_size(comm, &n));
    return n;
}

/* All agree on the same number, sooner or later with success: then all know of the death. */
static void agree(MPI_Comm comm)
{
    int flag, rc;
    do {
        flag = 0x70 | 1 << (me % 4);
        rc = MPIX_Comm_agree(comm, &flag);
        CHECK((flag & 0x70) == 0x70);
        CHECK(class_of(rc) == MPI_SUCCESS || class_of(rc) == MPIX_ERR_PROC_FAILED);
        OK(MPIX_Comm_failure_ack(comm));
    } while (rc);
}

/* Wait for the death, in a call that it ends. */
static void notice(MPI_Comm comm)
{
    int rc, one = 1, sum;
    do
        rc = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    while (!rc);
    CHECK(class_of(rc) == MPIX_ERR_PROC_FAILED || class_of(rc) == MPIX_ERR_REVOKED);
    OK(MPIX_Comm_revoke(comm));
    CHECK(class_of(MPI_Barrier(comm)) == MPIX_ERR_REVOKED);
}

/* Start a substitute, and do something together. */
static void substitute(MPI_Comm comm, char **argv)
{
    MPI_Comm children, all;
    char *words[] = {"substitute", NULL};
    int one = 1, sum = 0;
    OK(MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE));
    OK(MPI_Intercomm_merge(children, 0, &all));
    CHECK(size_of(all) == size_of(comm) + 1);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == size_of(all));
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&children));
}

static void be_substitute(MPI_Comm parent)
{
    MPI_Comm all;
    int one = 1, sum = 0;
    OK(MPI_Intercomm_merge(parent, 1, &all));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == size_of(all));
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&parent));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, all, comm, next, left;
    alarm(GIVE_UP_S);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_get_parent(&parent));
    is_child = parent != MPI_COMM_NULL;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (argc == 2 && !strcmp(argv[1], "substitute")) {
        be_substitute(parent);
        printf("ok\n");
        OK(MPI_Finalize());
        return 0;
    }
    CHECK(argc == 4);
    inter = parent;
    if (!is_child)
        OK(MPI_Comm_spawn(argv[0], argv + 1, atoi(argv[3]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Intercomm_merge(inter, is_child, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    int is_merged = !strcmp(argv[1], "merged"), kills_child = !strcmp(argv[2], "child");
    int before = size_of(all), last = size_of(MPI_COMM_WORLD) - 1;
    comm = is_merged ? all : inter;
    OK(MPI_Barrier(all));
    (void)MPI_Barrier(all); /* the one that dies has left it, so all have left the first */
    if (kills_child == is_child && me == last)
        raise(SIGKILL);
    notice(comm);
    agree(comm);
    OK(MPIX_Comm_shrink(comm, &next));
    OK(MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN));
    left = next;
    if (!is_merged) {
        CHECK(size_of(next) + remote_of(next) == before - 1);
        OK(MPI_Intercomm_merge(next, is_child, &left));
        OK(MPI_Comm_free(&next));
    }
    CHECK(size_of(left) == before - 1);
    OK(MPI_Barrier(left));
    substitute(left, argv);
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&inter));
    printf("ok\n");
    OK(MPI_Finalize());
    return 0;
}
