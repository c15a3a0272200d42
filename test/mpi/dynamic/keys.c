/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job that spawns a process by info keys, some of them in a file; keys.sh starts it.
 *
 * usage: keys FILE
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    MPI_Info info;
    int word = 0, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        const char *first = getenv("KEYS_FIRST"), *second = getenv("KEYS_SECOND");
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        word = size == 2 && first && second && !strcmp(first, "one = 1") && !strcmp(second, "2");
        MPI_Send(&word, 1, MPI_INT, 0, 0, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "file", argv[1]);
    MPI_Info_set(info, "arch", "any");
    MPI_Info_set(info, "env", "KEYS_FIRST=one = 1\nKEYS_SECOND=2");
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 5, info, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Recv(&word, 1, MPI_INT, i, 0, child, MPI_STATUS_IGNORE);
        printf("%s\n", word ? "as wanted" : "otherwise");
    }
    MPI_Comm_disconnect(&child);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
