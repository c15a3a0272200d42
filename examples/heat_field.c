/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The field of the plate in a file: all ranks write their blocks of it together, and any number of
 * ranks can continue from it.
 *
 * The file is the numbers of columns and rows, as 64-bit integers, and then the cells, row by row.
 * A view shows each rank only its block.
 */

#include "heat.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* Print an error; one rank does it. */
static void complain(const char *path, int error, int rank)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    MPI_Error_string(error, text, &length);
    if (rank == 0)
        fprintf(stderr, "heat: %s: %s\n", path, text);
}

/* The file as this rank sees it from here on, and its block in memory, inside a frame of one cell. */
static int set_view(MPI_File file, const struct field *f, MPI_Datatype *inside)
{
    int whole[2] = {f->height, f->width}, block[2] = {f->rows, f->columns}, at[2] = {f->y, f->x};
    int framed[2] = {f->rows + 2, f->columns + 2}, corner[2] = {1, 1};
    MPI_Datatype mine;

    MPI_Type_create_subarray(2, whole, block, at, MPI_ORDER_C, MPI_DOUBLE, &mine);
    MPI_Type_create_subarray(2, framed, block, corner, MPI_ORDER_C, MPI_DOUBLE, inside);
    MPI_Type_commit(&mine);
    MPI_Type_commit(inside);
    int error = MPI_File_set_view(file, 2 * sizeof(int64_t), MPI_DOUBLE, mine, "native",
                                  MPI_INFO_NULL);

    MPI_Type_free(&mine);
    return error;
}

int field_save(const char *path, const struct field *f, int rank)
{
    int64_t size[2] = {f->width, f->height};
    MPI_Datatype inside;
    MPI_File file;
    int error = MPI_File_open(heat_comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY,
                              MPI_INFO_NULL, &file);

    if (error) {
        complain(path, error, rank);
        return -1;
    }
    /* All ranks call it; rank 0 has something to write. */
    error = MPI_File_write_at_all(file, 0, size, rank == 0 ? 2 : 0, MPI_INT64_T,
                                  MPI_STATUS_IGNORE);
    if (!error)
        error = set_view(file, f, &inside);
    if (!error) {
        error = MPI_File_write_all(file, f->t, 1, inside, MPI_STATUS_IGNORE);
        MPI_Type_free(&inside);
    }
    if (error)
        complain(path, error, rank);
    int closing = MPI_File_close(&file);

    if (!error && closing)
        complain(path, closing, rank);
    return error || closing ? -1 : 0;
}

int field_load(const char *path, const struct field *f, int rank)
{
    int64_t size[2] = {0, 0};
    MPI_Datatype inside;
    MPI_File file;
    int class, error = MPI_File_open(heat_comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);

    if (error) {
        MPI_Error_class(error, &class);
        if (class == MPI_ERR_NO_SUCH_FILE)
            return 0;
        complain(path, error, rank);
        return -1;
    }
    error = MPI_File_read_at_all(file, 0, size, 2, MPI_INT64_T, MPI_STATUS_IGNORE);
    if (!error && (size[0] != f->width || size[1] != f->height)) {
        if (rank == 0)
            fprintf(stderr, "heat: %s: a field of %lld x %lld cells, and the plate has %d x %d\n",
                    path, (long long)size[0], (long long)size[1], f->width, f->height);
        MPI_File_close(&file);
        return -1;
    }
    if (!error)
        error = set_view(file, f, &inside);
    if (!error) {
        error = MPI_File_read_all(file, f->t, 1, inside, MPI_STATUS_IGNORE);
        MPI_Type_free(&inside);
    }
    if (error)
        complain(path, error, rank);
    MPI_File_close(&file);
    return error ? -1 : 1;
}
