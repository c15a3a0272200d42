/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of datatypes. */
#include <stdint.h>

#include "check.h"

static int deleted;

static int copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    (void)keyval;
    (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    (void)keyval;
    (void)extra;
    deleted += (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static intptr_t value_of(MPI_Datatype type, int key)
{
    void *value = NULL;
    int flag = -1;
    OK(MPI_Type_get_attr(type, key, &value, &flag));
    return flag ? (intptr_t)value : -1;
}

int main(int argc, char **argv)
{
    MPI_Datatype type, dup;
    int key, comm_key;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_create_keyval(copy, delete, &key, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    FAILS(MPI_ERR_KEYVAL, MPI_Type_set_attr(type, comm_key, NULL)); /* of another kind */
    OK(MPI_Type_set_attr(type, key, (void *)(intptr_t)10));
    OK(MPI_Type_dup(type, &dup));
    CHECK(value_of(dup, key) == 11 && value_of(type, key) == 10);
    OK(MPI_Type_free(&dup));
    CHECK(deleted == 11);
    OK(MPI_Type_delete_attr(type, key));
    CHECK(deleted == 21 && value_of(type, key) == -1);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_set_attr(MPI_DOUBLE, key, (void *)(intptr_t)5));
    CHECK(value_of(MPI_DOUBLE, key) == 5 && value_of(MPI_FLOAT, key) == -1);
    OK(MPI_Type_delete_attr(MPI_DOUBLE, key));
    CHECK(deleted == 26);
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Comm_free_keyval(&comm_key));
    OK(MPI_Finalize());
    return 0;
}
