/* SPDX-License-Identifier: BSD-3-Clause */

/* Predefined types without names: Fortran's kinds and pairs of a value and an index are sent,
 * reduced and packed as those with names are. */
#include <stdint.h>
#include <string.h>

#include "check.h"

static void reduce_pairs(int rank, int size)
{
    struct {
        uint16_t value;
        int64_t index;
    } mine[3] = {{(uint16_t)(100 - rank), rank}, {7, 1000 - rank}, {(uint16_t)(rank * 300), rank}},
      least[3], most[3];
    MPI_Datatype pair;

    OK(MPI_Type_get_value_index(MPI_UINT16_T, MPI_INT64_T, &pair));
    CHECK(pair != MPI_DATATYPE_NULL);
    OK(MPI_Allreduce(mine, least, 3, pair, MPI_MINLOC, MPI_COMM_WORLD));
    OK(MPI_Allreduce(mine, most, 3, pair, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(least[0].value == 100 - (size - 1) && least[0].index == size - 1);
    CHECK(most[0].value == 100 && most[0].index == 0);
    CHECK(least[1].value == 7 && least[1].index == 1000 - (size - 1));
    CHECK(most[2].value == (size - 1) * 300 && most[2].index == size - 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_OP, MPI_Allreduce(mine, most, 3, pair, MPI_SUM, MPI_COMM_WORLD));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void reduce_kinds(int rank, int size)
{
    double mine[2] = {rank + 0.5, 1}, sum[2];
    int64_t long_mine = rank, long_most;
    MPI_Datatype real, integer;

    OK(MPI_Type_create_f90_real(15, 300, &real));
    OK(MPI_Allreduce(mine, sum, 2, real, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum[0] == size * (size - 1) / 2 + 0.5 * size && sum[1] == size);
    OK(MPI_Type_create_f90_integer(18, &integer));
    OK(MPI_Allreduce(&long_mine, &long_most, 1, integer, MPI_MAX, MPI_COMM_WORLD));
    CHECK(long_most == size - 1);
}

static void send_kinds(int rank, int size)
{
    double out[4] = {rank, 2, 3, 4}, in[4] = {0};
    int from = (rank + size - 1) % size, name_len;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype real, rows;

    OK(MPI_Type_create_f90_real(10, MPI_UNDEFINED, &real));
    OK(MPI_Type_get_name(real, name, &name_len));
    CHECK(name_len == 0);
    OK(MPI_Type_set_name(real, "real(10)"));
    OK(MPI_Type_get_name(real, name, &name_len));
    CHECK(!strcmp(name, "real(10)"));
    OK(MPI_Type_vector(2, 1, 2, real, &rows));
    OK(MPI_Type_commit(&rows));
    OK(MPI_Sendrecv(out, 1, rows, (rank + 1) % size, 0, in, 2, real, from, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(in[0] == from && in[1] == 3 && in[2] == 0);
    OK(MPI_Type_free(&rows));
}

/* What one process packs as external32, the next unpacks to another type. */
static void send_external(int rank, int size)
{
    long out[3] = {rank, -2, 300000}, in[3] = {0};
    char packed[64];
    MPI_Aint at = 0, len;
    int from = (rank + size - 1) % size;

    OK(MPI_Pack_external_size("external32", 3, MPI_LONG, &len));
    CHECK(len == 12);
    OK(MPI_Pack_external("external32", out, 3, MPI_LONG, packed, sizeof(packed), &at));
    CHECK(at == len);
    OK(MPI_Sendrecv_replace(packed, (int)len, MPI_BYTE, (rank + 1) % size, 0, from, 0,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    at = 0;
    OK(MPI_Unpack_external("external32", packed, len, &at, in, 3, MPI_LONG));
    CHECK(in[0] == from && in[1] == -2 && in[2] == 300000);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    reduce_pairs(rank, size);
    reduce_kinds(rank, size);
    send_kinds(rank, size);
    send_external(rank, size);
    OK(MPI_Finalize());
    return 0;
}
