/* SPDX-License-Identifier: BSD-3-Clause */

/* Data representations: external32 is big endian in every kind of access, and has its own extents;
 * the user's functions are called, and told what they were registered with. */
#include "io.h"

enum { N = 100 };

static int rank, size;
static int data[N], got[N];

static void expect_big_endian(const char *name)
{
    MPI_File file = io_open(name, MPI_MODE_RDONLY);
    unsigned char raw[4 * N];
    MPI_Status status;
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * 4 * N, raw, 4 * N, MPI_BYTE, &status));
    CHECK(io_count(&status, MPI_BYTE) == 4 * N);
    for (int i = 0; i < N; i++)
        CHECK(data[i] == (raw[4 * i] << 24 | raw[4 * i + 1] << 16 | raw[4 * i + 2] << 8 | raw[4 * i + 3]));
    OK(MPI_File_close(&file));
}

static MPI_File open_external(const char *name)
{
    MPI_File file = io_open(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_view(file, (MPI_Offset)rank * 4 * N, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    return file;
}

static void close_and_look(MPI_File file, const char *name)
{
    OK(MPI_File_close(&file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    expect_big_endian(name);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        OK(MPI_File_delete(io_name(name), MPI_INFO_NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void external(void)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Aint extent = -1;
    for (int way = 0; way < 5; way++) {
        MPI_File file = open_external("external");
        switch (way) {
        case 0: OK(MPI_File_write_at(file, 0, data, N, MPI_INT, &status)); break;
        case 1: OK(MPI_File_write_at_all(file, 0, data, N, MPI_INT, &status)); break;
        case 2:
            OK(MPI_File_iwrite_at(file, 0, data, N, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
            break;
        case 3:
            OK(MPI_File_iwrite_at_all(file, 0, data, N, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
            break;
        default:
            OK(MPI_File_write_at_all_begin(file, 0, data, N, MPI_INT));
            OK(MPI_File_write_at_all_end(file, data, &status));
        }
        CHECK(io_count(&status, MPI_INT) == N);
        OK(MPI_File_sync(file));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        memset(got, 0, sizeof(got));
        if (way % 2) {
            OK(MPI_File_iread_at_all(file, 0, got, N, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_File_iread_at(file, 0, got, N, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK(io_count(&status, MPI_INT) == N && !memcmp(got, data, sizeof(data)));
        OK(MPI_File_get_type_extent(file, MPI_WCHAR, &extent));
        CHECK(extent == 2);
        OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
        CHECK(extent == 8);
        close_and_look(file, "external");
    }
}

/* Of a type that has another size there. */
static void external_wide(void)
{
    MPI_File file = io_open("wide", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Offset bytes = -1, disp = -1;
    wchar_t out[4] = {L'a', L'b', L'c', L'd'}, in[4] = {0};
    MPI_Status status;
    OK(MPI_File_set_view(file, 0, MPI_WCHAR, MPI_WCHAR, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, rank * 4, out, 4, MPI_WCHAR, &status));
    CHECK(io_count(&status, MPI_WCHAR) == 4);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == size * 8);
    OK(MPI_File_get_byte_offset(file, 3, &disp));
    CHECK(disp == 6);
    OK(MPI_File_read_at_all(file, rank * 4, in, 4, MPI_WCHAR, &status));
    CHECK(!memcmp(in, out, sizeof(in)));
    OK(MPI_File_read_at_all(file, size * 4 - 2, in, 4, MPI_WCHAR, &status));
    CHECK(io_count(&status, MPI_WCHAR) == 2);
    OK(MPI_File_close(&file));
}

/* ---- the user's: numbers are kept negated, in 8 bytes each ---- */

static int calls, token;

static int wide_extent(MPI_Datatype type, MPI_Aint *extent, void *extra_state)
{
    CHECK(extra_state == &token && type == MPI_INT);
    *extent = 8;
    return MPI_SUCCESS;
}

static int wide_write(void *user, MPI_Datatype type, int count, void *in_file, MPI_Offset position,
                      void *extra_state)
{
    CHECK(extra_state == &token && type == MPI_INT && position == 0);
    for (int i = 0; i < count; i++)
        ((long long *)in_file)[i] = -((const int *)user)[i];
    calls++;
    return MPI_SUCCESS;
}

static int wide_read(void *user, MPI_Datatype type, int count, void *in_file, MPI_Offset position,
                     void *extra_state)
{
    CHECK(extra_state == &token && type == MPI_INT && position == 0);
    for (int i = 0; i < count; i++)
        ((int *)user)[i] = (int)-((const long long *)in_file)[i];
    calls++;
    return MPI_SUCCESS;
}

static void user(void)
{
    MPI_File file = io_open("user", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    char name[MPI_MAX_DATAREP_STRING];
    long long raw[N];
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    MPI_Status status;
    OK(MPI_Register_datarep("negated", wide_read, wide_write, wide_extent, &token));
    FAILS(MPI_ERR_DUP_DATAREP,
          MPI_Register_datarep("negated", wide_read, wide_write, wide_extent, &token));
    FAILS(MPI_ERR_DUP_DATAREP,
          MPI_Register_datarep("native", wide_read, wide_write, wide_extent, &token));
    OK(MPI_File_set_view(file, (MPI_Offset)rank * 8 * N, MPI_INT, MPI_INT, "negated", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, data, N, MPI_INT, &status));
    CHECK(io_count(&status, MPI_INT) == N && calls == 1);
    memset(got, 0, sizeof(got));
    OK(MPI_File_read_at_all(file, 0, got, N, MPI_INT, &status));
    CHECK(io_count(&status, MPI_INT) == N && calls == 2 && !memcmp(got, data, sizeof(data)));
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, name));
    CHECK(!strcmp(name, "negated") && etype == MPI_INT && filetype == MPI_INT);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &disp, &etype, &filetype, name));
    CHECK(!strcmp(name, "internal"));
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * 8 * N, raw, sizeof(raw), MPI_BYTE, &status));
    for (int i = 0; i < N; i++)
        CHECK(raw[i] == -data[i]);
    OK(MPI_File_close(&file));
}

int main(void)
{
    OK(MPI_Init(NULL, NULL));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        data[i] = rank * 123456 + i * 77;
    io_begin();
    external();
    external_wide();
    user();
    CHECK(io_end() == 0);
    OK(MPI_Finalize());
    return 0;
}
