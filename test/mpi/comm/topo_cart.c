/* SPDX-License-Identifier: BSD-3-Clause */

/* Grids: coordinates, shifts, parts, what is left over; and MPI_Dims_create. */
#include <limits.h>
#include <stdlib.h>

#include "check.h"

enum {
    NDIMS = 3
};

/* Ranks and coordinates agree, and are those of the last dimension varying fastest. */
static void check_coords(MPI_Comm cart, const int *dims, const int *periods)
{
    int got_dims[NDIMS], got_periods[NDIMS], coords[NDIMS], ndims = -1, rank = -1;
    OK(MPI_Cartdim_get(cart, &ndims));
    CHECK(ndims == NDIMS);
    OK(MPI_Cart_get(cart, NDIMS, got_dims, got_periods, coords));
    OK(MPI_Cart_rank(cart, coords, &rank));
    CHECK(rank == check_rank(cart));
    for (int i = 0; i < check_size(cart); i++) {
        OK(MPI_Cart_coords(cart, i, NDIMS, coords));
        CHECK((coords[0] * dims[1] + coords[1]) * dims[2] + coords[2] == i);
        for (int d = 0; d < NDIMS; d++) {
            CHECK(got_dims[d] == dims[d] && got_periods[d] == periods[d]);
            CHECK(coords[d] >= 0 && coords[d] < dims[d]);
            coords[d] += periods[d] ? (d - 1) * 7 * dims[d] : 0;
        }
        OK(MPI_Cart_rank(cart, coords, &rank));
        CHECK(rank == i);
    }
}

/* Each process hears from the one that the shift says. */
static void check_shifts(MPI_Comm cart, const int *dims, const int *periods)
{
    static const int steps[] = {0, 1, -1, 2, -3, INT_MAX, INT_MIN};
    int me = check_rank(cart), coords[NDIMS];
    OK(MPI_Cart_coords(cart, me, NDIMS, coords));
    for (int d = 0; d < NDIMS; d++)
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            int from = -99, to = -99, got = -1, there[NDIMS];
            OK(MPI_Cart_shift(cart, d, steps[i], &from, &to));
            OK(MPI_Sendrecv(&me, 1, MPI_INT, to, 3, &got, 1, MPI_INT, from, 3, cart,
                            MPI_STATUS_IGNORE));
            CHECK(got == (from == MPI_PROC_NULL ? -1 : from));
            long long at = (long long)coords[d] + steps[i];
            if (!periods[d])
                CHECK((to == MPI_PROC_NULL) == (at < 0 || at >= dims[d]));
            if (to != MPI_PROC_NULL) {
                OK(MPI_Cart_coords(cart, to, NDIMS, there));
                CHECK(((at - there[d]) % dims[d]) == 0);
                there[d] = coords[d];
                OK(MPI_Cart_rank(cart, there, &to));
                CHECK(to == me);
            }
        }
}

/* All ways to keep some of the dimensions. */
static void check_parts(MPI_Comm cart, const int *dims, const int *periods)
{
    int coords[NDIMS];
    OK(MPI_Cart_coords(cart, check_rank(cart), NDIMS, coords));
    for (int keep = 0; keep < 1 << NDIMS; keep++) {
        int remain[NDIMS], size = 1, rank = 0, ndims = 0, got = -1;
        int part_dims[NDIMS], part_periods[NDIMS], part_coords[NDIMS];
        MPI_Comm part = MPI_COMM_NULL;
        for (int d = 0; d < NDIMS; d++)
            remain[d] = keep & 1 << d;
        OK(MPI_Cart_sub(cart, remain, &part));
        OK(MPI_Cart_get(part, NDIMS, part_dims, part_periods, part_coords));
        for (int d = 0; d < NDIMS; d++)
            if (remain[d]) {
                CHECK(part_dims[ndims] == dims[d] && part_periods[ndims] == periods[d]);
                CHECK(part_coords[ndims++] == coords[d]);
                size *= dims[d];
                rank = rank * dims[d] + coords[d];
            }
        OK(MPI_Cartdim_get(part, &got));
        CHECK(got == ndims);
        CHECK(check_size(part) == size && check_rank(part) == rank);
        OK(MPI_Comm_free(&part));
    }
}

static void with_grid(const int *dims, const int *periods, int reorder)
{
    MPI_Comm cart = MPI_COMM_WORLD, twin;
    int kind = -1, nodes = dims[0] * dims[1] * dims[2], newrank = -1, me = -1;
    OK(MPI_Cart_create(MPI_COMM_WORLD, NDIMS, dims, periods, reorder, &cart));
    OK(MPI_Cart_map(MPI_COMM_WORLD, NDIMS, dims, periods, &newrank));
    if (!reorder)
        CHECK((cart == MPI_COMM_NULL) == (check_rank(MPI_COMM_WORLD) >= nodes));
    else /* both order by hardware, alike */
        CHECK((cart == MPI_COMM_NULL) == (newrank == MPI_UNDEFINED));
    if (cart == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_rank(cart, &me));
    CHECK(me == (reorder ? newrank : check_rank(MPI_COMM_WORLD)));
    OK(MPI_Topo_test(cart, &kind));
    CHECK(kind == MPI_CART && check_size(cart) == nodes);
    check_coords(cart, dims, periods);
    check_shifts(cart, dims, periods);
    OK(MPI_Comm_dup(cart, &twin));
    OK(MPI_Comm_free(&cart));
    OK(MPI_Topo_test(twin, &kind));
    CHECK(kind == MPI_CART);
    check_coords(twin, dims, periods);
    check_parts(twin, dims, periods);
    OK(MPI_Comm_free(&twin));
}

static void grids(void)
{
    int size = check_size(MPI_COMM_WORLD);
    for (int nodes = 1; nodes <= size; nodes++)
        for (int i = 0; i < 16; i++) {
            int dims[NDIMS] = {0}, periods[NDIMS] = {i & 1, (i & 2) / 2, (i & 4) / 4};
            if (i & 1)
                dims[0] = 1;
            OK(MPI_Dims_create(nodes, NDIMS, dims));
            with_grid(dims, periods, i & 8);
        }
}

static void no_dimensions(void)
{
    MPI_Comm point, same;
    int ndims = -1, rank = -1;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &point));
    CHECK((point == MPI_COMM_NULL) == (check_rank(MPI_COMM_WORLD) != 0));
    OK(MPI_Dims_create(1, 0, NULL));
    if (point == MPI_COMM_NULL)
        return;
    CHECK(check_size(point) == 1);
    OK(MPI_Cartdim_get(point, &ndims));
    CHECK(ndims == 0);
    OK(MPI_Cart_get(point, 0, NULL, NULL, NULL));
    OK(MPI_Cart_coords(point, 0, 0, NULL));
    OK(MPI_Cart_rank(point, NULL, &rank));
    CHECK(rank == 0);
    OK(MPI_Cart_sub(point, NULL, &same));
    OK(MPI_Cartdim_get(same, &ndims));
    CHECK(ndims == 0 && check_size(same) == 1);
    OK(MPI_Comm_free(&same));
    OK(MPI_Comm_free(&point));
}

static void dims_create(void)
{
    int dims[16] = {0};
    OK(MPI_Dims_create(6, 2, dims));
    CHECK(dims[0] == 3 && dims[1] == 2);
    dims[0] = 0, dims[1] = 3, dims[2] = 0;
    OK(MPI_Dims_create(24, 3, dims));
    CHECK(dims[0] == 4 && dims[1] == 3 && dims[2] == 2);
    dims[0] = dims[1] = 0;
    OK(MPI_Dims_create(INT_MAX, 2, dims));
    CHECK(dims[0] == INT_MAX && dims[1] == 1);
    for (int i = 0; i < 16; i++)
        dims[i] = 0;
    OK(MPI_Dims_create(1 << 30, 16, dims));
    CHECK(dims[0] == 4 && dims[13] == 4 && dims[14] == 2 && dims[15] == 2);
    dims[0] = 4, dims[1] = 0;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 2, dims));
    CHECK(dims[0] == 4 && dims[1] == 0);
    dims[0] = 2, dims[1] = 2;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 2, dims));
    dims[0] = -2, dims[1] = 0;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 2, dims));
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(0, 1, dims));
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(2, 0, NULL));
}

static void errors(void)
{
    int size = check_size(MPI_COMM_WORLD), dims[2] = {size, 2}, periods[2] = {0, 1}, n = 0, to = 0;
    int coords[2] = {0, 0};
    MPI_Comm cart = MPI_COMM_WORLD;
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    CHECK(cart == MPI_COMM_NULL);
    FAILS(MPI_ERR_DIMS, MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &n));
    dims[1] = 0;
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &cart));
    FAILS(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 1, dims, periods, 0, &cart));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(MPI_COMM_WORLD, &n));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, coords));
    OK(MPI_Topo_test(MPI_COMM_WORLD, &n));
    CHECK(n == MPI_UNDEFINED);
    dims[1] = 1;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(cart, 0, &n));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(cart, size, 2, coords));
    FAILS(MPI_ERR_ARG, MPI_Cart_coords(cart, 0, 1, coords));
    FAILS(MPI_ERR_ARG, MPI_Cart_get(cart, 1, dims, periods, coords));
    FAILS(MPI_ERR_DIMS, MPI_Cart_shift(cart, 2, 1, &n, &to));
    FAILS(MPI_ERR_DIMS, MPI_Cart_shift(cart, -1, 1, &n, &to));
    coords[0] = size;
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(cart, coords, &n));
    coords[0] = size - 1, coords[1] = INT_MIN;
    OK(MPI_Cart_rank(cart, coords, &n));
    CHECK(n == size - 1);
    OK(MPI_Comm_free(&cart));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    grids();
    no_dimensions();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    dims_create();
    errors();
    OK(MPI_Finalize());
    return 0;
}
