/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sections of arrays as datatypes, for calls that read or write them after they have returned and give no
 * request: MPI_Put, MPI_Get, MPI_Accumulate. The datatype has as its parts the one that the call
 * names, so that an accumulate still has one predefined datatype. As many of these as fit must fill
 * each stretch of the section that has no gaps.
 */
#include <stdio.h>

#include "fortran/fortran.h"

enum { DIMS_MAX = 16 };

/* The dimensions of a section, the one that changes fastest first, of elements of a datatype. */
struct dims {
    int count;
    struct {
        MPI_Count extent;
        MPI_Count stride; /* bytes */
    } of[DIMS_MAX];
};

/* Dimensions that lie one behind another without gaps are one. */
static void find_dims(struct dims *dims, const struct fortran_descriptor *of)
{
    dims->count = 1;
    dims->of[0].extent = (MPI_Count)of->elem_len;
    dims->of[0].stride = 1;
    for (int i = 0; i < of->rank && dims->count < DIMS_MAX; i++) {
        int last = dims->count - 1;
        if (of->dim[i].stride == dims->of[last].extent * dims->of[last].stride) {
            dims->of[last].extent *= of->dim[i].extent;
            continue;
        }
        dims->of[dims->count].extent = of->dim[i].extent;
        dims->of[dims->count++].stride = of->dim[i].stride;
    }
}

/* The datatype of the first count elements of dimensions 0 to dim. */
static int make_first(const struct dims *dims, int dim, MPI_Count count, MPI_Datatype type, MPI_Datatype *made)
{
    MPI_Datatype part, all[2];
    MPI_Count block = 1;
    if (dim == 0)
        return PMPI_Type_create_hvector_c(count, 1, dims->of[0].stride, type, made);
    for (int i = 0; i < dim; i++)
        block *= dims->of[i].extent;
    MPI_Count whole = count / block, rest = count % block;
    int rc = make_first(dims, dim - 1, block, type, &part);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Type_create_hvector_c(whole, 1, dims->of[dim].stride, part, made);
    (void)PMPI_Type_free(&part);
    if (rc != MPI_SUCCESS || rest == 0)
        return rc;
    const MPI_Count lengths[2] = {1, 1}, places[2] = {0, whole * dims->of[dim].stride};
    all[0] = *made;
    rc = make_first(dims, dim - 1, rest, type, &all[1]);
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Type_create_struct_c(2, lengths, places, all, made);
        (void)PMPI_Type_free(&all[1]);
    }
    (void)PMPI_Type_free(&all[0]);
    return rc;
}

static bool refuse(const struct fortran_descriptor *of, const char *function, int *ierror)
{
    char text[MPI_MAX_ERROR_STRING];
    (void)snprintf(text, sizeof(text), "%s: the section of an array of rank %d has gaps within an element of the "
                   "datatype: give it a contiguous array, or a datatype of one element", function, of->rank);
    fortran_refuse(text, ierror);
    return false;
}

bool fortran_layout_gaps(struct fortran_layout *layout, const struct fortran_descriptor *of,
                         const char *function, int *ierror)
{
    struct dims dims;
    MPI_Count size = 0, lb = 0, extent = 0;
    if (layout->count <= 0)
        return true;
    int rc = PMPI_Type_size_c(layout->type, &size);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_get_extent_c(layout->type, &lb, &extent);
    if (rc != MPI_SUCCESS) {
        fortran_error(ierror, rc);
        return false;
    }
    find_dims(&dims, of);
    if (size <= 0 || extent != size || lb != 0 || dims.of[0].extent % size != 0)
        return refuse(of, function, ierror);
    dims.of[0].extent /= size;
    dims.of[0].stride = size;
    rc = make_first(&dims, dims.count - 1, layout->count, layout->type, &layout->type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_commit(&layout->type);
    if (rc != MPI_SUCCESS) {
        fortran_error(ierror, rc);
        return false;
    }
    layout->is_made = true;
    layout->count = 1;
    return true;
}

bool fortran_first(const struct fortran_descriptor *of, MPI_Datatype type, const char *function,
                   int *ierror)
{
    MPI_Count size = 0;
    if (__builtin_expect(fortran_is_dense(of), 1))
        return true;
    if (PMPI_Type_size_c(type, &size) == MPI_SUCCESS && size > (MPI_Count)of->elem_len)
        return refuse(of, function, ierror);
    return true;
}

void fortran_layout_end(struct fortran_layout *layouts, int count)
{
    for (int i = 0; i < count; i++) {
        if (__builtin_expect(layouts[i].is_made, 0))
            (void)PMPI_Type_free(&layouts[i].type);
    }
}
