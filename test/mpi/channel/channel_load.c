/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Channels that come after MPI_Init.
 *
 * usage: channel_load good FILE MARK   three ranks; the first two are connected before they load it
 *        channel_load all FILE         any number, at different times, while they talk
 *        channel_load bad FILE WORD    the channel is refused, and WORD is in the reason
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { LONG = 300000, SHORT_MS = 20000 };

static void talk(int with, int tag)
{
    static char out[LONG], in[LONG];
    MPI_Request request;
    for (int len = 0; len <= LONG; len = len ? len * 10 : 3) {
        memset(out, tag + len, (size_t)len);
        OK(MPI_Isend(out, len, MPI_CHAR, with, tag, MPI_COMM_WORLD, &request));
        OK(MPI_Recv(in, len, MPI_CHAR, with, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(!memcmp(in, out, (size_t)len));
    }
}

/* Wait, without MPI, until a rank has loaded. */
static void await_mark(const char *mark, int rank)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.%d", mark, rank);
    for (int ms = 0; access(path, F_OK) && ms < SHORT_MS; ms++)
        usleep(1000);
    CHECK(!access(path, F_OK));
}

static void set_mark(const char *mark, int rank)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.%d", mark, rank);
    FILE *file = fopen(path, "w");
    CHECK(file && !fclose(file));
}

static void good(const char *file, const char *mark)
{
    int rank = check_rank(MPI_COMM_WORLD);
    if (rank < 2)
        talk(1 - rank, 1);
    if (rank == 0)
        OK(MPIX_Channel_load(file));
    if (rank < 2)
        talk(1 - rank, 2);
    if (rank > 0)
        OK(MPIX_Channel_load(file));
    set_mark(mark, rank);
    for (int i = 0; i < 3; i++)
        await_mark(mark, i);
    for (int i = 0; i < 3; i++)
        if (i != rank)
            talk(i, 3);
}

static void all(const char *file)
{
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int round = 0; round < 2 * size; round++) {
        int with = (round - rank + 2 * size) % size;
        if (with != rank)
            talk(with, round);
        if (round == rank)
            OK(MPIX_Channel_load(file));
    }
}

static void bad(const char *file, const char *word)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, before = 0, after = 0, code;
    MPI_Info info;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (; !MPIX_Channel_get_info(before, &info) && info != MPI_INFO_NULL; before++)
        OK(MPI_Info_free(&info));
    FAILS(MPI_ERR_FILE, code = MPIX_Channel_load(file));
    OK(MPI_Error_string(code, text, &len));
    for (; !MPIX_Channel_get_info(after, &info) && info != MPI_INFO_NULL; after++)
        OK(MPI_Info_free(&info));
    if (!strstr(text, word))
        fprintf(stderr, "the reason is: %s\n", text);
    CHECK(strstr(text, word));
    CHECK(before == after);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    CHECK(argc > 2);
    if (!strcmp(argv[1], "good"))
        good(argv[2], argv[3]);
    else if (!strcmp(argv[1], "all"))
        all(argv[2]);
    else
        bad(argv[2], argv[3]);
    OK(MPI_Finalize());
    return 0;
}
