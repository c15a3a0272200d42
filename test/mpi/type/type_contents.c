/* SPDX-License-Identifier: BSD-3-Clause */

/* Datatypes that MPI_Type_get_contents gives out are objects of their own, and a copy that an
 * attribute forbids leaves nothing behind (MPI-5.0 5.1.13, 7.7.3). */
#include <string.h>

#include "check.h"

static int deleted, copies;

static int copy(MPI_Datatype type, int keyval, void *extra_state, void *value, void *new_value,
                int *flag)
{
    (void)type, (void)keyval, (void)extra_state;
    *(void **)new_value = value;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int refuse(MPI_Datatype type, int keyval, void *extra_state, void *value, void *new_value,
                  int *flag)
{
    (void)type, (void)keyval, (void)extra_state, (void)value, (void)new_value, (void)flag;
    return MPI_ERR_OTHER;
}

static int forget(MPI_Datatype type, int keyval, void *value, void *extra_state)
{
    (void)type, (void)keyval, (void)value, (void)extra_state;
    deleted++;
    return MPI_SUCCESS;
}

static int combiner_of(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    return combiner;
}

/* The type that a contiguous one was made of. */
static MPI_Datatype inside(MPI_Datatype type)
{
    MPI_Datatype old = MPI_DATATYPE_NULL;
    int count;

    CHECK(combiner_of(type) == MPI_COMBINER_CONTIGUOUS);
    OK(MPI_Type_get_contents(type, 1, 0, 1, &count, NULL, &old));
    CHECK(count == 2);
    return old;
}

/* What is given out may be named, given attributes and freed, and the one that the program has
 * knows nothing of it. */
static void own_objects(MPI_Datatype rows, int keyval)
{
    char name[MPI_MAX_OBJECT_NAME];
    int value = 7, other = 8, flag, len, *found, from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[4];
    MPI_Datatype pair, got;

    OK(MPI_Type_set_name(rows, "rows"));
    OK(MPI_Type_set_attr(rows, keyval, &value));
    OK(MPI_Type_contiguous(2, rows, &pair));
    got = inside(pair);
    CHECK(combiner_of(got) == MPI_COMBINER_VECTOR);
    OK(MPI_Type_set_name(got, "got"));
    OK(MPI_Type_set_attr(got, keyval, &other));
    OK(MPI_Type_commit(&got));
    OK(MPI_Sendrecv(from, 1, got, 0, 0, to, 4, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(to[0] == 1 && to[1] == 3 && to[2] == 5 && to[3] == 7);
    deleted = 0;
    OK(MPI_Type_free(&got));
    CHECK(deleted == 1);
    OK(MPI_Type_get_name(rows, name, &len));
    CHECK(!strcmp(name, "rows"));
    OK(MPI_Type_get_attr(rows, keyval, &found, &flag));
    CHECK(flag && found == &value);
    got = inside(pair);
    OK(MPI_Type_free(&pair));
    CHECK(combiner_of(got) == MPI_COMBINER_VECTOR);
    OK(MPI_Type_free(&got));
    OK(MPI_Type_get_attr(rows, keyval, &found, &flag));
    CHECK(flag && found == &value);
}

/* Bounds of what is given out are those of what went in. */
static void same_bounds(void)
{
    MPI_Datatype sized, pair, got;
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;

    OK(MPI_Type_create_resized(MPI_DOUBLE_INT, -4, 40, &sized));
    OK(MPI_Type_contiguous(2, sized, &pair));
    OK(MPI_Type_free(&sized));
    got = inside(pair);
    OK(MPI_Type_get_extent(got, &lb, &extent));
    OK(MPI_Type_get_true_extent(got, &true_lb, &true_extent));
    OK(MPI_Type_size(got, &size));
    CHECK(lb == -4 && extent == 40 && true_lb == 0 && true_extent == 12 && size == 12);
    OK(MPI_Type_free(&got));
    OK(MPI_Type_free(&pair));
}

/* Attributes that were copied before one refused are deleted with the copy. */
static void refused_copy(MPI_Datatype rows, int keyval)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int refusing, flag, *found, value = 9;

    OK(MPI_Type_create_keyval(refuse, MPI_TYPE_NULL_DELETE_FN, &refusing, NULL));
    OK(MPI_Type_set_attr(rows, refusing, &value));
    copies = deleted = 0;
    FAILS(MPI_ERR_OTHER, MPI_Type_dup(rows, &made));
    CHECK(copies == deleted);
    OK(MPI_Type_get_attr(rows, keyval, &found, &flag));
    CHECK(flag);
    OK(MPI_Type_delete_attr(rows, refusing));
    OK(MPI_Type_free_keyval(&refusing));
    OK(MPI_Type_dup(rows, &made));
    CHECK(copies == deleted + 1);
    OK(MPI_Type_free(&made));
    CHECK(copies == deleted);
}

int main(int argc, char **argv)
{
    MPI_Datatype rows;
    int keyval;

    OK(MPI_Init(&argc, &argv));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    OK(MPI_Type_create_keyval(copy, forget, &keyval, NULL));
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &rows));
    OK(MPI_Type_commit(&rows));
    own_objects(rows, keyval);
    same_bounds();
    refused_copy(rows, keyval);
    deleted = 0;
    OK(MPI_Type_free(&rows));
    CHECK(deleted == 1);
    OK(MPI_Type_free_keyval(&keyval));
    OK(MPI_Finalize());
    return 0;
}
