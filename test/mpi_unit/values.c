/* SPDX-License-Identifier: BSD-3-Clause */

/* Datatypes and operations for the tests of collectives; see values.h. */
#include "values.h"

#include <stdlib.h>

#include "mpi/type/op.h"
#include "mpi/type/type.h"

static void must(int rc)
{
    if (rc)
        abort();
}

/* ---- datatypes: all of ints ---- */

struct values_type values_types[VALUES_TYPES];

static void make_types(void)
{
    struct values_type *types = values_types;
    MPI_Count ones[] = {1, 1}, apart[] = {12, 4}, behind[] = {20};
    MPI_Datatype t;
    types[0].type = MPI_INT;
    PMPI_Type_vector_c(2, 1, 3, MPI_INT, &types[1].type);
    PMPI_Type_vector_c(2, 1, 2, MPI_INT, &t);
    PMPI_Type_create_resized_c(t, -8, 24, &types[2].type);
    PMPI_Type_free(&t);
    PMPI_Type_contiguous_c(4, MPI_INT, &types[3].type);
    PMPI_Type_create_resized_c(MPI_INT, 0, 12, &types[4].type);
    PMPI_Type_create_hindexed_c(2, ones, apart, MPI_INT, &types[5].type);
    PMPI_Type_contiguous_c(2, MPI_INT, &t);
    PMPI_Type_create_resized_c(t, 0, -16, &types[6].type);
    PMPI_Type_free(&t);
    PMPI_Type_create_hindexed_c(1, ones, behind, MPI_INT, &types[7].type);
    for (int i = 0; i < VALUES_TYPES; i++) {
        types[i].ints = (int)(type_from(types[i].type)->size / (MPI_Count)sizeof(int));
        if (i > 0)
            must(PMPI_Type_commit(&types[i].type));
    }
}

static void free_types(void)
{
    for (int i = 1; i < VALUES_TYPES; i++)
        PMPI_Type_free(&values_types[i].type);
}

/* ---- operations ---- */

void values_pack(const void *buf, MPI_Count count, MPI_Datatype type, int *ints)
{
    struct mpid_bytes bytes;
    struct type *used;
    must(type_place(type, buf, count, &bytes, &used));
    type_pack(&bytes, 0, ints, bytes.len);
}

void values_unpack(void *buf, MPI_Count count, MPI_Datatype type, const int *ints)
{
    struct mpid_bytes bytes;
    struct type *used;
    must(type_place(type, buf, count, &bytes, &used));
    type_unpack(&bytes, 0, ints, bytes.len);
}

void values_compose(const unsigned *first, unsigned *second)
{
    second[1] = second[0] * first[1] + second[1];
    second[0] = first[0] * second[0];
}

static void apply(int commutes, void *in, void *inout, MPI_Count count, MPI_Datatype type)
{
    size_t n = (size_t)(count * type_from(type)->size) / sizeof(int);
    unsigned *a = malloc(n * sizeof(int) + 1), *b = malloc(n * sizeof(int) + 1);
    values_pack(in, count, type, (int *)a);
    values_pack(inout, count, type, (int *)b);
    for (size_t i = 0; i < n; i += commutes ? 1 : 2) {
        if (commutes)
            b[i] += a[i];
        else
            values_compose(&a[i], &b[i]);
    }
    values_unpack(inout, count, type, (int *)b);
    free(a);
    free(b);
}

static void add_all(void *in, void *inout, int *len, MPI_Datatype *type)
{
    apply(1, in, inout, *len, *type);
}

static void compose_all(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    apply(0, in, inout, *len, *type);
}

struct op *values_sum, *values_composed;

void values_init(void)
{
    make_types();
    values_sum = op_create(&(struct op_user){.function = add_all}, true);
    values_composed = op_create(&(struct op_user){.function_c = compose_all}, false);
}

void values_fini(void)
{
    op_unref(values_sum);
    op_unref(values_composed);
    free_types();
}
