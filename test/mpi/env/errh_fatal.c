/* SPDX-License-Identifier: BSD-3-Clause */

/* Do what its argument says, each of which ends the job; errh_fatal.sh looks on. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "before"))
        MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);
    if (!strcmp(what, "abort-before"))
        MPI_Abort(MPI_COMM_WORLD, 42);
    if (!strcmp(what, "rank-before"))
        return check_rank(MPI_COMM_WORLD);
    MPI_Comm kept;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &kept));
    if (!strcmp(what, "tag"))
        MPI_Send(NULL, 0, MPI_INT, 0, -3, MPI_COMM_WORLD);
    if (!strcmp(what, "null"))
        MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_NULL);
    if (!strcmp(what, "errors-abort")) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT));
        MPI_Send(NULL, 0, MPI_INT, 99, 3, MPI_COMM_WORLD);
    }
    if (!strcmp(what, "bcast")) { /* in the root by another algorithm than elsewhere */
        static int a[1 << 18];
        int rank = check_rank(MPI_COMM_WORLD);
        OK(MPI_Bcast(a, rank == 0 ? 10 : 1 << 18, MPI_INT, 0, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (!strcmp(what, "abort")) {
        printf("flushed\n");
        MPI_Abort(MPI_COMM_WORLD, 42);
    }
    if (!strcmp(what, "abort-0"))
        MPI_Abort(MPI_COMM_SELF, 0);
    if (!strcmp(what, "child-kept")) {
        int status = 0;
        pid_t child = fork();
        if (!child) {
            MPI_Barrier(kept);
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(!WIFEXITED(status) || WEXITSTATUS(status));
        MPI_Abort(kept, 3);
    }
    if (!strcmp(what, "init"))
        MPI_Init(NULL, NULL);
    OK(MPI_Finalize());
    if (!strcmp(what, "after"))
        MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);
    if (!strcmp(what, "after-kept"))
        MPI_Barrier(kept);
    if (!strcmp(what, "free-kept"))
        MPI_Comm_free(&kept);
    if (!strcmp(what, "finalize"))
        MPI_Finalize();
    return 0;
}
