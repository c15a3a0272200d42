/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hints for sizes that are no numbers of bytes: data are written and read all the same, collectively
 * and by sieving, and what is in use is a number. Good ones are taken.
 */
#include <stdbool.h>

#include "io.h"

enum { BLOCK = 16, BLOCKS = 500, BYTES = BLOCK * BLOCKS };

static const char *const keys[] = {"cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size"};
static int rank, size;

static void hint(MPI_File file, const char *key, char *value, int len)
{
    MPI_Info info;
    int found;
    OK(MPI_File_get_info(file, &info));
    OK(MPI_Info_get_string(info, key, &len, value, &found));
    CHECK(found);
    OK(MPI_Info_free(&info));
}

/* Blocks of the processes take turns. */
static void move(MPI_File file)
{
    static char out[BYTES], in[BYTES];
    for (int alone = 0; alone < 2; alone++) {
        memset(out, 'a' + rank + alone, sizeof(out));
        memset(in, 0, sizeof(in));
        if (alone)
            OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at_all(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (alone)
            OK(MPI_File_read_at(file, 0, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_read_at_all(file, 0, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(!memcmp(out, in, BYTES));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* later: the hint comes after the file was opened. */
static void test(const char *name, const char *key, const char *given, bool later)
{
    MPI_File file;
    MPI_Info info;
    MPI_Datatype block, blocks;
    char value[32];
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, given));
    OK(MPI_Info_set(info, "romio_ds_write", "enable"));
    OK(MPI_Info_set(info, "romio_ds_read", "enable"));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
                     later ? MPI_INFO_NULL : info, &file));
    if (later)
        OK(MPI_File_set_info(file, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_contiguous(BLOCK, MPI_BYTE, &block));
    OK(MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * size, &blocks));
    OK(MPI_Type_commit(&blocks));
    OK(MPI_File_set_view(file, (MPI_Offset)BLOCK * rank, MPI_BYTE, blocks, "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&blocks));
    move(file);
    hint(file, key, value, sizeof(value));
    CHECK(atoi(value) > 0);
    if (!strcmp(given, "4096"))
        CHECK(!strcmp(value, given));
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    static const char *const values[] = {"banana", "0", "-5", "16m", "99999999999", "", "4096"};
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    io_begin();
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            for (int later = 0; later < 2; later++)
                test(io_name("hints"), keys[k], values[i], later);
    CHECK(io_end() == 1);
    OK(MPI_Finalize());
    return 0;
}
