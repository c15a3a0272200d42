/* SPDX-License-Identifier: BSD-3-Clause */

/* Virtual topologies: any, and grids (MPI-5.0 chapter 8). */
#include "mpi/comm/topo.h"

#include <mpi.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/topo/topo_dims.h"
#include "mpi/topo/topo_finish.h"
#include "mpi/topo/topo_make.h"
#include "mpi/world.h"

static int check_grid(struct comm *comm, const struct topo_grid *grid, const char *function)
{
    if (grid->ndims < 0)
        return errh_comm(comm, MPI_ERR_DIMS, function, "ndims %d is negative", grid->ndims);
    if (grid->ndims && (!grid->dims || !grid->periods))
        return topo_null_argument(comm, function);
    for (int d = 0; d < grid->ndims; d++)
        if (grid->dims[d] < 1)
            return errh_comm(comm, MPI_ERR_DIMS, function, "dims[%d] is %d: must be 1 or more", d,
                             grid->dims[d]);
    if (topo_grid_size(grid, comm->size) < 0)
        return errh_comm(comm, MPI_ERR_DIMS, function,
                         "the grid has more nodes than the communicator has processes (%d)",
                         comm->size);
    return MPI_SUCCESS;
}

/* ---- any topology ---- */

/*
 * Say which kind of topology a communicator has.
 *
 * Local. Duplicates of a communicator have its topology.
 *
 * status: MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED if there is none
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!status)
        return topo_null_argument(on, __func__);
    *status = on->topo ? on->topo->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* ---- grids ---- */

/*
 * Choose sides for a grid that are as close to each other as possible.
 *
 * Local. Sides that are not 0 stay as they are. The others are filled in, the greatest first, so
 * that the difference of the greatest and the least is the smallest that there is; of several such
 * ways it is the one with the greatest least side.
 *
 * nnodes: the product that all sides shall have
 * ndims: number of sides; 0 where nnodes is 1
 * dims (inout): ndims sides, 0 if one is to be chosen
 *
 * MPI_ERR_DIMS: nnodes is not positive, a side is negative, or no sides make up nnodes.
 *
 * MPI-5.0 8.5.2
 */
int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    int free_dims = 0, rest = nnodes, next = 0;
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (nnodes < 1 || ndims < 0)
        return errh_comm(NULL, MPI_ERR_DIMS, __func__,
                         "nnodes %d, ndims %d: nnodes must be positive, ndims not negative", nnodes,
                         ndims);
    if (ndims && !dims)
        return topo_null_argument(NULL, __func__);
    for (int d = 0; d < ndims; d++) {
        if (dims[d] < 0 || (dims[d] && rest % dims[d]))
            return errh_comm(NULL, MPI_ERR_DIMS, __func__,
                             "dims[%d] is %d: nnodes %d is no multiple of the sides that are given",
                             d, dims[d], nnodes);
        if (dims[d])
            rest /= dims[d];
        else
            free_dims++;
    }
    if (!free_dims && rest != 1)
        return errh_comm(NULL, MPI_ERR_DIMS, __func__,
                         "nnodes %d is not the product of the %d sides that are given", nnodes,
                         ndims);
    if (!free_dims)
        return MPI_SUCCESS;
    int *factors = malloc((size_t)free_dims * sizeof(*factors));
    if (!factors)
        return topo_no_memory(NULL, __func__);
    topo_dims_balance(rest, free_dims, factors);
    for (int d = 0; d < ndims; d++)
        if (!dims[d])
            dims[d] = factors[next++];
    free(factors);
    return MPI_SUCCESS;
}

/*
 * Make a communicator whose processes form a grid.
 *
 * Collective over comm_old. The last dimension varies fastest with the rank. Processes that are
 * left over get MPI_COMM_NULL.
 *
 * ndims: number of dimensions; 0 makes a grid of one process
 * dims: ndims sides, each 1 or more; their product is at most the size of comm_old
 * periods: a truth value for each dimension: whether it is closed to a ring
 * reorder: whether ranks may change, so that neighbours share hosts, packages and caches; they do
 *   if that lowers the number of neighbours between these
 * comm_cart: the new communicator
 *
 * MPI_ERR_DIMS: a side is not positive, or the grid is larger than comm_old.
 *
 * MPI-5.0 8.5.1
 */
int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *comm_cart)
{
    struct comm *on;
    struct topo_grid grid = {ndims, dims, periods};
    int rc = topo_check_parent(comm_old, &on, __func__);
    if (rc)
        return rc;
    if (!comm_cart)
        return topo_null_argument(on, __func__);
    *comm_cart = MPI_COMM_NULL;
    rc = check_grid(on, &grid, __func__);
    if (rc)
        return rc;
    int size = topo_grid_size(&grid, on->size);
    return topo_finish(on, topo_create_grid(&grid), size, reorder, comm_cart, __func__);
}

/*
 * Say which rank this process would get in a grid, were MPI_Cart_create to order it by hardware.
 *
 * Collective over comm.
 *
 * ndims: number of dimensions
 * dims: ndims sides, each 1 or more; their product is at most the size of comm
 * periods: a truth value for each dimension: whether it is closed to a ring
 * newrank: the rank, or MPI_UNDEFINED where the process is left over
 *
 * MPI_ERR_DIMS: a side is not positive, or the grid is larger than comm.
 *
 * MPI-5.0 8.5.8
 */
int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    struct comm *on;
    struct topo_grid grid = {ndims, dims, periods};
    int rc = topo_check_parent(comm, &on, __func__);
    if (!rc)
        rc = newrank ? check_grid(on, &grid, __func__) : topo_null_argument(on, __func__);
    if (rc)
        return rc;
    int size = topo_grid_size(&grid, on->size);
    return topo_finish_map(on, topo_create_grid(&grid), size, newrank, __func__);
}

/*
 * Cut a grid into grids of fewer dimensions: make the communicator of the one that this process is
 * in.
 *
 * Collective over comm. Where no dimension remains, each process is a grid of its own, without
 * dimensions.
 *
 * remain_dims: a truth value for each dimension: whether it remains
 *
 * MPI_ERR_TOPOLOGY: comm has no Cartesian topology.
 *
 * MPI-5.0 8.5.7
 */
int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct comm *on, *new;
    int rc = topo_check_kind(comm, MPI_CART, &on, __func__);
    if (rc)
        return rc;
    if (!newcomm || (on->topo->grid.ndims && !remain_dims))
        return topo_null_argument(on, __func__);
    rc = topo_make_part(on, remain_dims, &new);
    if (rc)
        return topo_failed(on, rc, __func__);
    *newcomm = comm_handle(new);
    return MPI_SUCCESS;
}

/*
 * Say how many dimensions a grid has.
 *
 * Local.
 *
 * ndims: the number, 0 or more
 *
 * MPI_ERR_TOPOLOGY: comm has no Cartesian topology.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_CART, &on, __func__);
    if (rc)
        return rc;
    if (!ndims)
        return topo_null_argument(on, __func__);
    *ndims = on->topo->grid.ndims;
    return MPI_SUCCESS;
}

/*
 * Say what a grid is like, and where in it this process is.
 *
 * Local. The arrays are not touched where the grid has no dimensions.
 *
 * maxdims: room in each of the arrays, at least the number of dimensions
 * dims (out): the sides
 * periods (out): for each dimension 1 if it is closed to a ring, 0 if not
 * coords (out): coordinates of this process, from 0 on
 *
 * MPI_ERR_TOPOLOGY: comm has no Cartesian topology.
 * MPI_ERR_ARG: maxdims is too small, or an array is NULL.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_CART, &on, __func__);
    if (rc)
        return rc;
    const struct topo_grid *grid = &on->topo->grid;
    rc = topo_check_room(on, maxdims, grid->ndims, __func__);
    if (rc || !grid->ndims)
        return rc;
    if (!dims || !periods || !coords)
        return topo_null_argument(on, __func__);
    for (int d = 0; d < grid->ndims; d++) {
        dims[d] = grid->dims[d];
        periods[d] = grid->periods[d];
    }
    topo_grid_coords(grid, on->rank, coords);
    return MPI_SUCCESS;
}

/*
 * Say which rank has given coordinates in a grid.
 *
 * Local.
 *
 * coords: a coordinate for each dimension: 0 to its side less 1; any if it is closed to a ring
 * rank: the rank in comm
 *
 * MPI_ERR_TOPOLOGY: comm has no Cartesian topology.
 * MPI_ERR_ARG: a coordinate is outside of its dimension, which is not closed.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_CART, &on, __func__);
    if (rc)
        return rc;
    const struct topo_grid *grid = &on->topo->grid;
    if (!rank || (grid->ndims && !coords))
        return topo_null_argument(on, __func__);
    int at = 0;
    for (int d = 0; d < grid->ndims; d++) {
        int size = grid->dims[d], coord = coords[d];
        if (grid->periods[d])
            coord = (int)(((int64_t)coord % size + size) % size);
        if (coord < 0 || coord >= size)
            return errh_comm(on, MPI_ERR_ARG, __func__, "coords[%d] is %d: must be 0 to %d", d,
                             coord, size - 1);
        at = at * size + coord;
    }
    *rank = at;
    return MPI_SUCCESS;
}

/*
 * Say which coordinates a rank has in a grid.
 *
 * Local.
 *
 * rank: a rank of comm
 * maxdims: room in coords, at least the number of dimensions
 * coords (out): the coordinates, from 0 on
 *
 * MPI_ERR_TOPOLOGY: comm has no Cartesian topology.
 * MPI_ERR_RANK: no such rank.
 * MPI_ERR_ARG: maxdims is too small.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_CART, &on, __func__);
    if (!rc)
        rc = topo_check_rank(on, rank, __func__);
    if (!rc)
        rc = topo_check_room(on, maxdims, on->topo->grid.ndims, __func__);
    if (rc || !on->topo->grid.ndims)
        return rc;
    if (!coords)
        return topo_null_argument(on, __func__);
    topo_grid_coords(&on->topo->grid, rank, coords);
    return MPI_SUCCESS;
}

/*
 * Say with whom this process exchanges data when all of a grid is shifted along one dimension.
 *
 * Local. Both ranks may go to MPI_Sendrecv as they are.
 *
 * direction: the dimension, from 0 on
 * disp: steps of the shift, which may be negative
 * rank_source: from whom this process receives, or MPI_PROC_NULL beyond the rim
 * rank_dest: to whom it sends, or MPI_PROC_NULL beyond the rim
 *
 * MPI_ERR_TOPOLOGY: comm has no Cartesian topology.
 * MPI_ERR_DIMS: no such dimension.
 *
 * MPI-5.0 8.5.6
 */
int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    struct comm *on;
    int to[2], rc = topo_check_kind(comm, MPI_CART, &on, __func__);
    if (rc)
        return rc;
    if (!rank_source || !rank_dest)
        return topo_null_argument(on, __func__);
    if ((unsigned)direction >= (unsigned)on->topo->grid.ndims)
        return errh_comm(on, MPI_ERR_DIMS, __func__, "direction %d, but ndims is %d", direction,
                         on->topo->grid.ndims);
    topo_grid_shift(&on->topo->grid, on->rank, direction, disp, to);
    *rank_source = to[0];
    *rank_dest = to[1];
    return MPI_SUCCESS;
}

#include "topo.gen.h"
