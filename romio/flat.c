/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatypes as ROMIO sees them: lists of runs of bytes, which the datatype engine of mpi/ gives.
 * They replace ROMIO's own decoding (flatten.c, iscontig.c). A list is kept as an attribute of its
 * type.
 */
#include <mpioimpl.h>

#include <adio_extern.h>

#include "romio/failure.h"
#include "romio/library.h"

int ADIOI_Flattened_type_keyval = MPI_KEYVAL_INVALID;

int ADIOI_Flattened_type_copy(MPI_Datatype type, int keyval, void *extra, void *from, void *to,
                              int *flag)
{
    ADIOI_Flatlist_node *node = from;
    (void)type;
    (void)keyval;
    (void)extra;
    __atomic_add_fetch(&node->refct, 1, __ATOMIC_RELAXED);
    *(void **)to = node;
    *flag = 1;
    return MPI_SUCCESS;
}

int ADIOI_Flattened_type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    ADIOI_Flatlist_node *node = value;
    (void)type;
    (void)keyval;
    (void)extra;
    if (__atomic_sub_fetch(&node->refct, 1, __ATOMIC_ACQ_REL) == 0) {
        free(node->blocklens);
        free(node);
    }
    return MPI_SUCCESS;
}

static int count_run(void *arg, int64_t offset, int64_t len)
{
    (void)offset;
    (void)len;
    ++*(MPI_Count *)arg;
    return 0;
}

static int take_run(void *arg, int64_t offset, int64_t len)
{
    ADIOI_Flatlist_node *node = arg;
    MPI_Count i = node->count++;
    node->indices[i] = offset;
    node->blocklens[i] = len;
    if (offset < 0)
        node->flag |= ADIOI_TYPE_NEGATIVE;
    if (i && offset < node->indices[i - 1])
        node->flag |= ADIOI_TYPE_DECREASE;
    if (i && offset < node->indices[i - 1] + node->blocklens[i - 1])
        node->flag |= ADIOI_TYPE_OVERLAP;
    return 0;
}

static ADIOI_Flatlist_node *make(MPI_Datatype type)
{
    MPI_Count runs = 0;
    ADIOI_Flatlist_node *node = calloc(1, sizeof(*node));
    (void)library_hooks->flatten(type, count_run, &runs);
    MPI_Count room = runs ? runs : 1;
    if (node)
        node->blocklens = calloc((size_t)room * 2, sizeof(*node->blocklens));
    if (!node || !node->blocklens)
        failure_no_memory("the runs of a datatype, of which a file is accessed");
    node->type = type;
    node->refct = 1;
    node->lb_idx = node->ub_idx = -1;
    node->indices = node->blocklens + room;
    (void)library_hooks->flatten(type, take_run, node);
    node->count = room; /* of no data: one run of no bytes */
    return node;
}

ADIOI_Flatlist_node *ADIOI_Flatten_datatype(MPI_Datatype type)
{
    ADIOI_Flatlist_node *node;
    int found;
    PMPI_Type_get_attr(type, ADIOI_Flattened_type_keyval, &node, &found);
    if (found)
        return node;
    /* Two threads may come here at once; one of them makes the list. */
    library_lock();
    PMPI_Type_get_attr(type, ADIOI_Flattened_type_keyval, &node, &found);
    if (!found) {
        node = make(type);
        PMPI_Type_set_attr(type, ADIOI_Flattened_type_keyval, node);
    }
    library_unlock();
    return node;
}

ADIOI_Flatlist_node *ADIOI_Flatten_and_find(MPI_Datatype type)
{
    return ADIOI_Flatten_datatype(type);
}

/* In ROMIO's sense: elements are one run that begins at the buffer, and adjoin. */
void ADIOI_Datatype_iscontig(MPI_Datatype type, int *flag)
{
    MPI_Count size;
    MPI_Aint lb, extent, true_lb, true_extent;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    *flag = size == 0;
    if (size && size == extent && size == true_extent && true_lb == 0) {
        MPI_Count runs = 0;
        (void)library_hooks->flatten(type, count_run, &runs);
        *flag = runs == 1;
    }
}
