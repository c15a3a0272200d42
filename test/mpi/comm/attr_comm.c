/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of communicators: values, copy and delete callbacks and their order, errors. */
#include <limits.h>
#include <stdint.h>

#include "check.h"

enum { KEYS = 5 };

static int keys[KEYS], deleted[64], deleted_count, fail_copy, fail_delete;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    CHECK(comm != MPI_COMM_NULL && keyval == keys[(intptr_t)extra]);
    *(void **)out = (char *)in + 100;
    *flag = (intptr_t)extra != 3; /* key 3 is not passed on */
    return fail_copy ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(comm != MPI_COMM_NULL && keyval == keys[(intptr_t)extra]);
    deleted[deleted_count++] = (int)(intptr_t)value;
    return fail_delete ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static intptr_t value_of(MPI_Comm comm, int key)
{
    void *value = NULL;
    int flag = -1;
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    return flag ? (intptr_t)value : -1;
}

static void set_and_copy(MPI_Comm comm)
{
    MPI_Comm dup;
    for (int i = 0; i < KEYS; i++) {
        CHECK(value_of(comm, keys[i]) == -1);
        OK(MPI_Comm_set_attr(comm, keys[i], (void *)(intptr_t)i));
    }
    for (int i = 0; i < KEYS; i++)
        CHECK(value_of(comm, keys[i]) == i);
    deleted_count = 0;
    OK(MPI_Comm_set_attr(comm, keys[1], (void *)(intptr_t)11)); /* now the latest */
    CHECK(deleted_count == 1 && deleted[0] == 1 && value_of(comm, keys[1]) == 11);
    OK(MPI_Comm_dup(comm, &dup));
    CHECK(value_of(dup, keys[0]) == 100 && value_of(dup, keys[1]) == 111);
    CHECK(value_of(dup, keys[3]) == -1 && value_of(dup, keys[4]) == 104);
    deleted_count = 0;
    OK(MPI_Comm_free(&dup));
    CHECK(deleted_count == 4 && deleted[0] == 111 && deleted[1] == 104);
    CHECK(deleted[2] == 102 && deleted[3] == 100);
    OK(MPI_Comm_delete_attr(comm, keys[0]));
    CHECK(value_of(comm, keys[0]) == -1);
}

static void errors(MPI_Comm comm)
{
    MPI_Comm dup, before = comm;
    void *value;
    int flag, key = keys[2];
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    fail_copy = 1;
    FAILS(MPI_ERR_OTHER, MPI_Comm_dup(comm, &dup));
    fail_copy = 0;
    fail_delete = 1;
    FAILS(MPI_ERR_OTHER, MPI_Comm_set_attr(comm, keys[2], NULL));
    CHECK(value_of(comm, keys[2]) == 2);
    FAILS(MPI_ERR_OTHER, MPI_Comm_free(&comm));
    CHECK(comm == before);
    fail_delete = 0;
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &value, &flag));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(comm, 123456, NULL));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(comm, MPI_TAG_UB, NULL));
    /* A key that was freed lives as long as attributes under it. */
    OK(MPI_Comm_free_keyval(&keys[2]));
    CHECK(keys[2] == MPI_KEYVAL_INVALID);
    keys[2] = key;
    OK(MPI_Comm_free_keyval(&keys[2]));
    keys[2] = key;
    deleted_count = 0;
    OK(MPI_Comm_free(&comm));
    CHECK(deleted_count == 4);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&keys[2]));
}

static void ready_made(void)
{
    int plain, dup_key, none;
    MPI_Comm comm, copy_of;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
    OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &plain, NULL));
    CHECK(plain != none && plain != dup_key && none != dup_key);
    OK(MPI_Comm_set_attr(comm, none, &none));
    OK(MPI_Comm_set_attr(comm, dup_key, &dup_key));
    OK(MPI_Attr_put(comm, plain, &plain));
    OK(MPI_Comm_dup(comm, &copy_of));
    CHECK(value_of(copy_of, none) == -1);
    CHECK(value_of(copy_of, dup_key) == (intptr_t)&dup_key);
    CHECK(value_of(copy_of, plain) == (intptr_t)&plain);
    OK(MPI_Attr_delete(copy_of, plain));
    CHECK(value_of(copy_of, plain) == -1 && value_of(comm, plain) == (intptr_t)&plain);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&copy_of));
    OK(MPI_Keyval_free(&plain));
    OK(MPI_Comm_free_keyval(&none));
    OK(MPI_Comm_free_keyval(&dup_key));
}

static int int_attr(int key)
{
    int *value = NULL, flag = -1;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
    return flag ? *value : INT_MIN;
}

static void predefined(void)
{
    int code;
    CHECK(int_attr(MPI_TAG_UB) >= 32767);
    CHECK(int_attr(MPI_WTIME_IS_GLOBAL) == 1);
    CHECK(int_attr(MPI_IO) == MPI_ANY_SOURCE && int_attr(MPI_HOST) == MPI_PROC_NULL);
    CHECK(int_attr(MPI_LASTUSEDCODE) == MPI_ERR_LASTCODE);
    OK(MPI_Add_error_class(&code));
    CHECK(int_attr(MPI_LASTUSEDCODE) == code && code > MPI_ERR_LASTCODE);
    OK(MPI_Remove_error_class(code));
    CHECK(int_attr(MPI_APPNUM) == 0 || int_attr(MPI_APPNUM) == INT_MIN);
    CHECK(int_attr(MPI_UNIVERSE_SIZE) == INT_MIN ||
          int_attr(MPI_UNIVERSE_SIZE) >= check_size(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    OK(MPI_Init(&argc, &argv));
    for (int i = 0; i < KEYS; i++)
        OK(MPI_Comm_create_keyval(copy, delete, &keys[i], (void *)(intptr_t)i));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    set_and_copy(comm);
    errors(comm);
    ready_made();
    predefined();
    OK(MPI_Finalize());
    return 0;
}
