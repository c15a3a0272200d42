/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatypes: constructors, and the life of what they make (MPI-5.0 5.1).
 *
 * The constructors with int counts are written out too, as MPI_Type_get_contents tells which
 * of the two made a type.
 */

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "mpi/api/type_argument.h"
#include "mpi/comm/errh.h"
#include "mpi/interface.h"
#include "mpi/left.h"
#include "mpi/type/type.h"
#include "mpi/type/type_attr.h"
#include "mpi/type/type_make.h"
#include "mpi/type/type_tree.h"

/* ---- arguments ---- */

int type_argument(const char *function, MPI_Datatype handle, struct type **type)
{
    *type = type_from(handle);
    if (*type)
        return MPI_SUCCESS;
    if (handle == MPI_DATATYPE_NULL)
        return errh_comm(NULL, MPI_ERR_TYPE, function, "datatype is MPI_DATATYPE_NULL");
    return errh_comm(NULL, MPI_ERR_TYPE, function, "datatype %p: no such datatype", (void *)handle);
}

int type_no_pointer(const char *function, const char *name)
{
    return errh_comm(NULL, MPI_ERR_ARG, function, "%s is NULL", name);
}

/* Check what every constructor has, and find the old type. */
static int begin(const char *function, MPI_Count count, MPI_Datatype oldtype,
                 const MPI_Datatype *newtype, struct type **old)
{
    if (count < 0)
        return errh_comm(NULL, MPI_ERR_COUNT, function, "count %lld: must not be negative",
                         (long long)count);
    if (!newtype)
        return type_no_pointer(function, "newtype");
    return type_argument(function, oldtype, old);
}

static int check_lengths(const char *function, MPI_Count count, const MPI_Count *lengths,
                         const MPI_Count *displacements)
{
    if (count > 0 && !lengths)
        return type_no_pointer(function, "array_of_blocklengths");
    if (count > 0 && !displacements)
        return type_no_pointer(function, "array_of_displacements");
    for (MPI_Count i = 0; i < count; i++) {
        if (lengths[i] < 0)
            return errh_comm(NULL, MPI_ERR_ARG, function,
                             "block %lld: length %lld must not be negative", (long long)i,
                             (long long)lengths[i]);
    }
    return MPI_SUCCESS;
}

static int check_length(const char *function, MPI_Count blocklength)
{
    if (blocklength >= 0)
        return MPI_SUCCESS;
    return errh_comm(NULL, MPI_ERR_ARG, function, "blocklength %lld: must not be negative",
                     (long long)blocklength);
}

/* ---- results ---- */

/* Give out what a maker has made, or report why there is nothing. */
static int give(const char *function, int rc, struct type **made, MPI_Datatype *newtype)
{
    if (rc == MPI_ERR_NO_MEM)
        return errh_comm(NULL, rc, function, "out of memory");
    if (rc)
        return errh_comm(NULL, rc, function,
                         "the datatype's size or bounds exceed 2^63 bytes, or it is nested deeper "
                         "than %d",
                         TYPE_DEPTH_MAX);
    (*made)->tree->large = true;
    *newtype = (*made)->handle;
    return MPI_SUCCESS;
}

/* Note that a type was made by a call with int counts. */
static int with_int(int rc, MPI_Datatype *newtype)
{
    if (rc == MPI_SUCCESS)
        type_from(*newtype)->tree->large = false;
    return rc;
}

/* ---- constructors ---- */

/*
 * Make a datatype of elements that follow one another.
 *
 * This call is local: no other process takes part. It is as long as count elements in a row.
 * MPI_Type_commit makes it fit for communication.
 *
 * count: number of elements, 0 or more
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct type *old, *made = NULL;
    int rc = begin(__func__, count, oldtype, newtype, &old);

    if (!rc)
        rc = give(__func__, type_make_contiguous(count, old, &made), &made, newtype);
    return rc;
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return with_int(PMPI_Type_contiguous_c(count, oldtype, newtype), newtype);
}

/*
 * Make a datatype of equal blocks at equal distances, counted in elements.
 *
 * This call is local: no other process takes part. Blocks begin stride elements apart, which may be
 * negative: a column of a matrix is a vector of blocks of one. MPI_Type_commit makes it fit for
 * communication.
 *
 * count: number of blocks, 0 or more
 * blocklength: elements of each block, 0 or more
 * stride: from the beginning of one block to that of the next, in extents of oldtype; maybe
 *   negative
 *
 * MPI_ERR_ARG: blocklength is negative, or newtype NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct type *old, *made = NULL;
    int rc = begin(__func__, count, oldtype, newtype, &old);

    if (!rc)
        rc = check_length(__func__, blocklength);
    if (rc)
        return rc;
    rc = type_make_vector(MPI_COMBINER_VECTOR, count, blocklength, stride, old, &made);
    return give(__func__, rc, &made, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    return with_int(PMPI_Type_vector_c(count, blocklength, stride, oldtype, newtype), newtype);
}

/*
 * Make a datatype of equal blocks at equal distances, counted in bytes.
 *
 * This call is local: no other process takes part. Blocks begin stride bytes apart, which may be
 * negative. MPI_Type_commit makes it fit for communication.
 *
 * count: number of blocks, 0 or more
 * blocklength: elements of each block, 0 or more
 * stride: from the beginning of one block to that of the next, in bytes; maybe negative
 *
 * MPI_ERR_ARG: blocklength is negative, or newtype NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct type *old, *made = NULL;
    int rc = begin(__func__, count, oldtype, newtype, &old);

    if (!rc)
        rc = check_length(__func__, blocklength);
    if (rc)
        return rc;
    rc = type_make_vector(MPI_COMBINER_HVECTOR, count, blocklength, stride, old, &made);
    return give(__func__, rc, &made, newtype);
}

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    return with_int(PMPI_Type_create_hvector_c(count, blocklength, stride, oldtype, newtype),
                    newtype);
}

/* All of the indexed constructors. */
static int indexed(const char *function, const struct type_blocks *blocks, MPI_Datatype oldtype,
                   MPI_Datatype *newtype)
{
    bool equal = blocks->combiner == MPI_COMBINER_INDEXED_BLOCK ||
                 blocks->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    struct type *old, *made = NULL;
    int rc = begin(function, blocks->count, oldtype, newtype, &old);

    if (!rc && equal)
        rc = check_length(function, blocks->lengths[0]);
    if (!rc && equal && blocks->count && !blocks->displacements)
        rc = type_no_pointer(function, "array_of_displacements");
    if (!rc && !equal)
        rc = check_lengths(function, blocks->count, blocks->lengths, blocks->displacements);
    if (rc)
        return rc;
    return give(function, type_make_indexed(blocks, old, &made), &made, newtype);
}

/*
 * Make a datatype of blocks of any length, at places counted in elements.
 *
 * This call is local: no other process takes part. Blocks may be in any order, and overlap where
 * the type is only sent. MPI_Type_commit makes it fit for communication.
 *
 * count: number of blocks, 0 or more
 * array_of_blocklengths: elements of each block, 0 or more
 * array_of_displacements: where each block begins, in extents of oldtype
 *
 * MPI_ERR_ARG: a block's length is negative, or an argument is NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    const struct type_blocks blocks = {MPI_COMBINER_INDEXED, count, array_of_blocklengths,
                                       array_of_displacements};

    return indexed(__func__, &blocks, oldtype, newtype);
}

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    struct interface_array wide[2];
    int rc;

    interface_widen(&wide[0], array_of_blocklengths, count);
    interface_widen(&wide[1], array_of_displacements, count);
    if (interface_widened(wide, 2))
        rc = PMPI_Type_indexed_c(count, wide[0].to, wide[1].to, oldtype, newtype);
    else
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    interface_release(wide, 2);
    return with_int(rc, newtype);
}

/*
 * Make a datatype of blocks of any length, at places counted in bytes.
 *
 * This call is local: no other process takes part. Blocks may be in any order, and overlap where
 * the type is only sent. MPI_Type_commit makes it fit for communication.
 *
 * count: number of blocks, 0 or more
 * array_of_blocklengths: elements of each block, 0 or more
 * array_of_displacements: where each block begins, in bytes
 *
 * MPI_ERR_ARG: a block's length is negative, or an argument is NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    const struct type_blocks blocks = {MPI_COMBINER_HINDEXED, count, array_of_blocklengths,
                                       array_of_displacements};

    return indexed(__func__, &blocks, oldtype, newtype);
}

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct interface_array wide;
    int rc;

    interface_widen(&wide, array_of_blocklengths, count);
    if (interface_widened(&wide, 1))
        rc = PMPI_Type_create_hindexed_c(count, wide.to, array_of_displacements, oldtype, newtype);
    else
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    interface_release(&wide, 1);
    return with_int(rc, newtype);
}

/*
 * Make a datatype of equal blocks, at places counted in elements.
 *
 * This call is local: no other process takes part. Blocks may be in any order, and overlap where
 * the type is only sent. MPI_Type_commit makes it fit for communication.
 *
 * count: number of blocks, 0 or more
 * blocklength: elements of each block, 0 or more
 * array_of_displacements: where each block begins, in extents of oldtype
 *
 * MPI_ERR_ARG: blocklength is negative, or an argument is NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    const struct type_blocks blocks = {MPI_COMBINER_INDEXED_BLOCK, count, &blocklength,
                                       array_of_displacements};

    return indexed(__func__, &blocks, oldtype, newtype);
}

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct interface_array wide;
    int rc;

    interface_widen(&wide, array_of_displacements, count);
    if (interface_widened(&wide, 1))
        rc = PMPI_Type_create_indexed_block_c(count, blocklength, wide.to, oldtype, newtype);
    else
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    interface_release(&wide, 1);
    return with_int(rc, newtype);
}

/*
 * Make a datatype of equal blocks, at places counted in bytes.
 *
 * This call is local: no other process takes part. Blocks may be in any order, and overlap where
 * the type is only sent. MPI_Type_commit makes it fit for communication.
 *
 * count: number of blocks, 0 or more
 * blocklength: elements of each block, 0 or more
 * array_of_displacements: where each block begins, in bytes
 *
 * MPI_ERR_ARG: blocklength is negative, or an argument is NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const struct type_blocks blocks = {MPI_COMBINER_HINDEXED_BLOCK, count, &blocklength,
                                       array_of_displacements};

    return indexed(__func__, &blocks, oldtype, newtype);
}

int PMPI_Type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    return with_int(PMPI_Type_create_hindexed_block_c(count, blocklength, array_of_displacements,
                                                      oldtype, newtype),
                    newtype);
}

/*
 * Make a datatype of blocks, each of a type of its own, at places counted in bytes.
 *
 * What a C struct is: offsetof() gives the places. MPI_Type_create_resized adds the padding at
 * its end, where an array of it is sent.
 *
 * count: number of blocks, 0 or more
 * array_of_blocklengths: elements of each block, 0 or more
 * array_of_displacements: where each block begins, in bytes
 * array_of_types: type of each block's elements
 *
 * MPI_ERR_TYPE: one of the types is none.
 * MPI_ERR_ARG: a block's length is negative, or an argument is NULL.
 *
 * MPI-5.0 5.1.2
 */
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    struct type *byte, **types, *made = NULL;
    int rc = begin(__func__, count, MPI_BYTE, newtype, &byte);

    if (!rc)
        rc = check_lengths(__func__, count, array_of_blocklengths, array_of_displacements);
    if (!rc && count && !array_of_types)
        rc = type_no_pointer(__func__, "array_of_types");
    if (rc)
        return rc;
    types = calloc((size_t)count + 1, sizeof(struct type *));
    if (!types)
        return give(__func__, MPI_ERR_NO_MEM, NULL, newtype);
    for (MPI_Count i = 0; !rc && i < count; i++) {
        types[i] = type_from(array_of_types[i]);
        if (!types[i])
            rc = errh_comm(NULL, MPI_ERR_TYPE, __func__, "array_of_types[%lld] is %s: must be a datatype",
                           (long long)i, errh_name(array_of_types[i]).text);
    }
    if (!rc) {
        rc = type_make_struct(count, array_of_blocklengths, array_of_displacements, types, &made);
        rc = give(__func__, rc, &made, newtype);
    }
    free(types);
    return rc;
}

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    struct interface_array wide;
    int rc;

    interface_widen(&wide, array_of_blocklengths, count);
    if (interface_widened(&wide, 1))
        rc = PMPI_Type_create_struct_c(count, wide.to, array_of_displacements, array_of_types,
                                       newtype);
    else
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    interface_release(&wide, 1);
    return with_int(rc, newtype);
}

/*
 * Make a datatype with other bounds.
 *
 * The data stay where they are; the extent is where the next element of an array begins.
 *
 * lb: lower bound in bytes, maybe negative
 * extent: bytes from one element to the next, maybe negative
 *
 * MPI-5.0 5.1.7
 */
int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype *newtype)
{
    struct type *old, *made = NULL;
    int rc = begin(__func__, 0, oldtype, newtype, &old);

    if (!rc)
        rc = give(__func__, type_make_resized(old, lb, extent, &made), &made, newtype);
    return rc;
}

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype *newtype)
{
    return with_int(PMPI_Type_create_resized_c(oldtype, lb, extent, newtype), newtype);
}

static int check_array(const char *function, int ndims, int order)
{
    if (ndims < 1)
        return errh_comm(NULL, MPI_ERR_ARG, function, "ndims %d: must be at least 1", ndims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "order %d: must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
    return MPI_SUCCESS;
}

static int check_subarray(const char *function, const struct type_subarray *array)
{
    int rc = check_array(function, array->ndims, array->order);

    if (!rc && (!array->sizes || !array->subsizes || !array->starts))
        rc = type_no_pointer(function, "an array of sizes, subsizes or starts");
    for (int i = 0; !rc && i < array->ndims; i++) {
        long long size = array->sizes[i], sub = array->subsizes[i], start = array->starts[i];
        if (size < 1 || sub < 1 || sub > size || start < 0 || start > size - sub)
            rc = errh_comm(NULL, MPI_ERR_ARG, function,
                           "dimension %d: %lld elements from %lld on are not within %lld", i, sub,
                           start, size);
    }
    return rc;
}

/*
 * Make a datatype of a part of an array, of any number of dimensions.
 *
 * Its extent is that of the whole array.
 *
 * ndims: number of dimensions, at least 1
 * array_of_sizes: elements of the whole array in each dimension, at least 1
 * array_of_subsizes: elements of the part in each dimension, at least 1
 * array_of_starts: where the part begins in each dimension, from 0 on
 * order: MPI_ORDER_C, the last dimension lies densest in memory, or MPI_ORDER_FORTRAN, the first
 *
 * MPI_ERR_ARG: the part is not within the array, ndims or order is wrong, or an argument is
 *   NULL.
 *
 * MPI-5.0 5.1.3
 */
int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    const struct type_subarray array = {ndims, order, array_of_sizes, array_of_subsizes,
                                        array_of_starts};
    struct type *old, *made = NULL;
    int rc = begin(__func__, 0, oldtype, newtype, &old);

    if (!rc)
        rc = check_subarray(__func__, &array);
    if (!rc)
        rc = give(__func__, type_make_subarray(&array, old, &made), &made, newtype);
    return rc;
}

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct interface_array wide[3];
    int rc;

    interface_widen(&wide[0], array_of_sizes, ndims);
    interface_widen(&wide[1], array_of_subsizes, ndims);
    interface_widen(&wide[2], array_of_starts, ndims);
    if (interface_widened(wide, 3))
        rc = PMPI_Type_create_subarray_c(ndims, wide[0].to, wide[1].to, wide[2].to, order, oldtype,
                                         newtype);
    else
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    interface_release(wide, 3);
    return with_int(rc, newtype);
}

/* One dimension of a distributed array. */
static int check_distribution(const char *function, const struct type_darray *array, int i)
{
    int distrib = array->distribs[i], darg = array->dargs[i], psize = array->psizes[i];
    long long gsize = array->gsizes[i];

    if (gsize < 1 || psize < 1)
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "dimension %d: size %lld and processes %d must be at least 1", i, gsize,
                         psize);
    if (distrib != MPI_DISTRIBUTE_NONE && distrib != MPI_DISTRIBUTE_BLOCK &&
        distrib != MPI_DISTRIBUTE_CYCLIC)
        return errh_comm(NULL, MPI_ERR_ARG, function, "dimension %d: no such distribution %d", i,
                         distrib);
    if (distrib == MPI_DISTRIBUTE_NONE && psize != 1)
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "dimension %d is not distributed, but over %d processes", i, psize);
    if (distrib == MPI_DISTRIBUTE_NONE || darg == MPI_DISTRIBUTE_DFLT_DARG)
        return MPI_SUCCESS;
    if (darg < 1 || (distrib == MPI_DISTRIBUTE_BLOCK && (long long)darg * psize < gsize))
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "dimension %d: blocks of %d on %d processes do not hold %lld", i, darg,
                         psize, gsize);
    return MPI_SUCCESS;
}

static int check_darray(const char *function, const struct type_darray *array)
{
    long long processes = 1;
    int rc = check_array(function, array->ndims, array->order);

    if (!rc && (!array->gsizes || !array->distribs || !array->dargs || !array->psizes))
        rc = type_no_pointer(function, "an array of gsizes, distribs, dargs or psizes");
    for (int i = 0; !rc && i < array->ndims; i++) {
        rc = check_distribution(function, array, i);
        processes *= array->psizes[i];
        if (!rc && processes > array->size)
            break;
    }
    if (rc)
        return rc;
    if (processes != array->size)
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "size %d: must be the product of array_of_psizes", array->size);
    if (array->rank < 0 || array->rank >= array->size)
        return errh_comm(NULL, MPI_ERR_ARG, function, "rank %d: must be 0 to %d", array->rank,
                         array->size - 1);
    return MPI_SUCCESS;
}

/*
 * Make a datatype of what one process has of a distributed array.
 *
 * The array is dealt out to a grid of processes, whose ranks run with the last dimension
 * fastest. The datatype's extent is that of the whole array.
 *
 * size: number of processes, the product of array_of_psizes
 * rank: the process whose part it is, 0 to size - 1
 * ndims: number of dimensions of the array and of the grid, at least 1
 * array_of_gsizes: elements of the whole array in each dimension, at least 1
 * array_of_distribs: MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE for each
 *   dimension
 * array_of_dargs: elements of each block that is dealt out, at least 1, or
 *   MPI_DISTRIBUTE_DFLT_DARG, for each dimension
 * array_of_psizes: processes in each dimension, 1 where it is not distributed
 * order: of the array: MPI_ORDER_C, the last dimension lies densest in memory, or
 *   MPI_ORDER_FORTRAN, the first
 *
 * MPI_ERR_ARG: the distribution does not hold the array, a number is wrong, or an argument is
 *   NULL.
 *
 * MPI-5.0 5.1.4
 */
int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    const struct type_darray array = {
        size,           rank,           ndims, order, array_of_gsizes, array_of_distribs,
        array_of_dargs, array_of_psizes};
    struct type *old, *made = NULL;
    int rc = begin(__func__, 0, oldtype, newtype, &old);

    if (!rc)
        rc = check_darray(__func__, &array);
    if (!rc)
        rc = give(__func__, type_make_darray(&array, old, &made), &made, newtype);
    return rc;
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    struct interface_array wide;
    int rc;

    interface_widen(&wide, array_of_gsizes, ndims);
    if (interface_widened(&wide, 1))
        rc = PMPI_Type_create_darray_c(size, rank, ndims, wide.to, array_of_distribs,
                                       array_of_dargs, array_of_psizes, order, oldtype, newtype);
    else
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    interface_release(&wide, 1);
    return with_int(rc, newtype);
}

/* ---- life ---- */

/*
 * Copy a datatype.
 *
 * The copy is committed if the original is, and gets those of its attributes that their
 * callbacks copy.
 *
 * newtype: the new datatype
 *
 * MPI-5.0 5.1.10
 */
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct type *old, *made = NULL;
    int rc = begin(__func__, 0, oldtype, newtype, &old);

    if (rc)
        return rc;
    rc = type_make_dup(old, &made);
    int failed = rc ? 0 : attr_copy(type_attr_of(old), type_attr_of(made));
    if (failed) {
        attr_delete_all(type_attr_of(made));
        type_unref(made);
        return errh_comm(NULL, failed, __func__, "an attribute could not be copied");
    }
    return give(__func__, rc, &made, newtype);
}

/*
 * Make a datatype ready to communicate with.
 *
 * What it needs is worked out here, once. A datatype that is committed already stays as it is.
 *
 * datatype (inout): the datatype, whose handle stays the same
 *
 * MPI_ERR_TYPE: not a datatype.
 * MPI_ERR_ARG: datatype is NULL.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 5.1.9
 */
int PMPI_Type_commit(MPI_Datatype *datatype)
{
    struct type *type;

    if (!datatype)
        return type_no_pointer(__func__, "datatype");
    int rc = type_argument(__func__, *datatype, &type);
    if (!rc && type_commit(type))
        rc = errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "out of memory");
    return rc;
}

/*
 * Free a datatype.
 *
 * Communication that is under way with it is completed, and datatypes that were made of it stay.
 * Its attributes are deleted first; where a callback fails, the call fails with that code and
 * the datatype stays.
 *
 * datatype (inout): the datatype; then MPI_DATATYPE_NULL
 *
 * MPI_ERR_TYPE: not a datatype, or a predefined one.
 * MPI_ERR_ARG: datatype is NULL.
 *
 * MPI-5.0 5.1.9
 */
int PMPI_Type_free(MPI_Datatype *datatype)
{
    char name[MPI_MAX_OBJECT_NAME];
    struct type *type;

    if (!datatype)
        return type_no_pointer(__func__, "datatype");
    int rc = type_argument(__func__, *datatype, &type);
    if (rc)
        return rc;
    if (type->predefined && name_get(&type->name, name))
        return errh_comm(NULL, MPI_ERR_TYPE, __func__, "%s is predefined", name);
    if (type->predefined)
        return errh_comm(NULL, MPI_ERR_TYPE, __func__, "the datatype is predefined");
    if (type->freed)
        return errh_comm(NULL, MPI_ERR_TYPE, __func__, "datatype %p was freed", (void *)*datatype);
    rc = attr_delete_all(type_attr_of(type));
    if (rc)
        return errh_comm(NULL, rc, __func__, "an attribute could not be deleted");
    type->freed = true;
    left_freed(type);
    type_unref(type);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

#include "type.gen.h"
