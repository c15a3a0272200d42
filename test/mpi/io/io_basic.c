/* SPDX-License-Identifier: BSD-3-Clause */

/* Each way to read and write finds what was written, where it was written; sizes, pointers and views
 * are as they were set; and nothing but the files is left. */
#include "io.h"

enum {
    BLOCK = 4,     /* ints of a rank that adjoin */
    BLOCKS = 300,
    INTS = BLOCK * BLOCKS
};

static int rank, size;
static int data[INTS], got[INTS + 8];

/* Blocks of the ranks take turns. */
static void set_view(MPI_File file)
{
    MPI_Datatype block, turn;
    OK(MPI_Type_contiguous(BLOCK, MPI_INT, &block));
    OK(MPI_Type_create_resized(block, 0, (MPI_Aint)(BLOCK * sizeof(int)) * size, &turn));
    OK(MPI_Type_commit(&turn));
    OK(MPI_File_set_view(file, (MPI_Offset)(rank * BLOCK * (int)sizeof(int)), MPI_INT, turn,
                         "native", MPI_INFO_NULL));
    OK(MPI_Type_free(&block));
    OK(MPI_Type_free(&turn));
}

static void forget(void)
{
    memset(got, 0x55, sizeof(got));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void found(MPI_Status *status, int ints)
{
    CHECK(io_count(status, MPI_INT) == ints);
    CHECK(!memcmp(got, data, (size_t)ints * sizeof(int)));
    CHECK(got[INTS] == 0x55555555);
}

static void write_all_ways(MPI_File file)
{
    const int part = INTS / 6;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_File_write_at(file, 0, data, part, MPI_INT, &status));
    CHECK(io_count(&status, MPI_INT) == part);
    OK(MPI_File_write_at_all(file, part, data + part, part, MPI_INT, &status));
    CHECK(io_count(&status, MPI_INT) == part);
    OK(MPI_File_seek(file, 2 * part, MPI_SEEK_SET));
    OK(MPI_File_write(file, data + 2 * part, part, MPI_INT, &status));
    OK(MPI_File_write_all(file, data + 3 * part, part, MPI_INT, &status));
    OK(MPI_File_iwrite(file, data + 4 * part, part, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(io_count(&status, MPI_INT) == part);
    OK(MPI_File_write_all_begin(file, data + 5 * part, part, MPI_INT));
    OK(MPI_File_write_all_end(file, data + 5 * part, &status));
    CHECK(io_count(&status, MPI_INT) == part);
}

static void read_all_ways(MPI_File file)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Offset position = -1;
    forget();
    OK(MPI_File_read_at(file, 0, got, INTS, MPI_INT, &status));
    found(&status, INTS);
    forget();
    OK(MPI_File_read_at_all(file, 0, got, INTS, MPI_INT, &status));
    found(&status, INTS);
    forget();
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read(file, got, INTS, MPI_INT, &status));
    found(&status, INTS);
    OK(MPI_File_get_position(file, &position));
    CHECK(position == INTS);
    forget();
    OK(MPI_File_seek(file, -INTS, MPI_SEEK_CUR));
    OK(MPI_File_read_all(file, got, INTS, MPI_INT, &status));
    found(&status, INTS);
    forget();
    OK(MPI_File_iread_at(file, 0, got, INTS, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    found(&status, INTS);
    forget();
    OK(MPI_File_iread_at_all(file, 0, got, INTS, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    found(&status, INTS);
    forget();
    OK(MPI_File_read_at_all_begin(file, 0, got, INTS, MPI_INT));
    OK(MPI_File_read_at_all_end(file, got, &status));
    found(&status, INTS);
}

static void views(void)
{
    MPI_File file = io_open("views", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Offset bytes = -1, disp = -1;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    set_view(file);
    write_all_ways(file);
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == (MPI_Offset)(INTS * sizeof(int)) * size);
    read_all_ways(file);
    OK(MPI_File_get_byte_offset(file, BLOCK + 1, &disp));
    CHECK(disp == (MPI_Offset)((size * BLOCK + rank * BLOCK + 1) * (int)sizeof(int)));
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    CHECK(etype == MPI_INT && !strcmp(datarep, "native"));
    CHECK(disp == (MPI_Offset)(rank * BLOCK * (int)sizeof(int)));
    OK(MPI_Type_free(&filetype));
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &disp));
    CHECK(disp == INTS);
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
}

/* Each rank's numbers come once; in the order of ranks they come in that. */
static void shared(void)
{
    MPI_File file = io_open("shared", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Status status;
    MPI_Offset position = -1;
    int *all = calloc((size_t)(2 * size), sizeof(int)), mine = -1, sum = 0;
    CHECK(all);
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, &status));
    OK(MPI_File_write_shared(file, &rank, 1, MPI_INT, &status));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_position_shared(file, &position));
    CHECK(position == 2 * size);
    OK(MPI_File_read_at_all(file, 0, all, 2 * size, MPI_INT, &status));
    CHECK(io_count(&status, MPI_INT) == 2 * size);
    for (int i = 0; i < size; i++) {
        CHECK(all[i] == i);
        sum += all[size + i];
    }
    CHECK(sum == size * (size - 1) / 2);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(file, &mine, 1, MPI_INT, &status));
    CHECK(mine == rank);
    OK(MPI_File_close(&file));
    free(all);
}

static void sizes(void)
{
    MPI_File file = io_open("sizes", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Offset bytes = -1;
    MPI_Group group, world;
    int amode = 0, flag = -1, same = -1;
    OK(MPI_File_set_size(file, 1000));
    OK(MPI_File_preallocate(file, 5000));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 5000);
    OK(MPI_File_preallocate(file, 10));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 5000);
    OK(MPI_File_get_amode(file, &amode));
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    OK(MPI_File_get_group(file, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &same));
    CHECK(same == MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag == 0);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag == 1);
    OK(MPI_File_close(&file));
    file = io_open("sizes", MPI_MODE_WRONLY | MPI_MODE_APPEND);
    OK(MPI_File_get_position(file, &bytes));
    CHECK(bytes == 5000);
    OK(MPI_File_close(&file));
}

int main(void)
{
    OK(MPI_Init(NULL, NULL));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    for (int i = 0; i < INTS; i++)
        data[i] = rank * INTS + i;
    io_begin();
    views();
    shared();
    sizes();
    CHECK(io_end() == 2);
    OK(MPI_Finalize());
    return 0;
}
