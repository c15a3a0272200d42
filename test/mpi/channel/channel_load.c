/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Channels that come after MPI_Init.
 *
 * usage: channel_load good FILE MARK   three ranks; the first two are connected before they load it
 *        channel_load all FILE         any number, at different times, while they talk
 *        channel_load bad FILE WORD    the channel is refused, and WORD is in the reason
 *        channel_load tool FILE BAD    a tool loads it by writing a control variable, and not BAD
 *        channel_load rights FILE      77 where this process has its user's rights alone; else it
 *                                      loads nothing
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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

/* What a write of VIREO_CHANNEL_PATH says. */
static int write_path(const char *path)
{
    int index, count, rc;
    MPI_T_cvar_handle handle;
    CHECK(!MPI_T_cvar_get_index("VIREO_CHANNEL_PATH", &index));
    CHECK(!MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    rc = MPI_T_cvar_write(handle, path);
    char *now = calloc(1, (size_t)count);
    CHECK(now && !MPI_T_cvar_read(handle, now));
    CHECK(!strcmp(now, path) == !rc);
    CHECK(!MPI_T_cvar_handle_free(&handle));
    free(now);
    return rc;
}

static bool is_there(const char *file)
{
    char value[4096];
    bool found = false;
    MPI_Info info;
    for (int i = 0, flag, len = sizeof(value);
         !MPIX_Channel_get_info(i, &info) && info != MPI_INFO_NULL; i++, len = sizeof(value)) {
        OK(MPI_Info_get_string(info, "file", &len, value, &flag));
        found |= flag && !strcmp(value, file);
        OK(MPI_Info_free(&info));
    }
    return found;
}

static void tool(const char *file, const char *refused)
{
    int provided, rank = check_rank(MPI_COMM_WORLD);
    char both[8192];
    CHECK(!MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(write_path(refused) == MPI_T_ERR_INVALID);
    CHECK(!is_there(file));
    CHECK(!write_path(file));
    CHECK(is_there(file));
    CHECK(!write_path(file)); /* it is there */
    snprintf(both, sizeof(both), "%s:%s", file, refused);
    CHECK(write_path(both) == MPI_T_ERR_INVALID);
    CHECK(!MPI_T_finalize());
    OK(MPI_Barrier(MPI_COMM_WORLD));
    talk(rank ^ 1, 1);
}

static void rights(const char *file)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, code;
    if (!getauxval(AT_SECURE))
        exit(77);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_FILE, code = MPIX_Channel_load(file));
    OK(MPI_Error_string(code, text, &len));
    CHECK(strstr(text, "set-user-id"));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    CHECK(argc > 2);
    if (!strcmp(argv[1], "good"))
        good(argv[2], argv[3]);
    else if (!strcmp(argv[1], "all"))
        all(argv[2]);
    else if (!strcmp(argv[1], "tool"))
        tool(argv[2], argv[3]);
    else if (!strcmp(argv[1], "rights"))
        rights(argv[2]);
    else
        bad(argv[2], argv[3]);
    OK(MPI_Finalize());
    return 0;
}
