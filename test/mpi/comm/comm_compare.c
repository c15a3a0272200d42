/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Comm_compare in all its results, and what new communicators do not inherit. */
#include <stdint.h>
#include <string.h>

#include "check.h"

static int me, size;

static void check_result(MPI_Comm a, MPI_Comm b, int expect)
{
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    CHECK(result == expect);
    OK(MPI_Comm_compare(b, a, &result));
    CHECK(result == expect);
}

static void results(void)
{
    MPI_Comm same, turned, parts, inter, twin, back;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &same));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &turned));
    OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &parts));
    check_result(same, same, MPI_IDENT);
    check_result(same, MPI_COMM_WORLD, MPI_CONGRUENT);
    check_result(same, turned, size > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    check_result(same, parts, size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    check_result(same, MPI_COMM_SELF, size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    if (size > 1) {
        OK(MPI_Intercomm_create(parts, 0, same, 1 - me % 2, 0, &inter));
        OK(MPI_Comm_dup(inter, &twin));
        OK(MPI_Comm_split(inter, 0, -me, &back));
        check_result(inter, inter, MPI_IDENT);
        check_result(inter, twin, MPI_CONGRUENT);
        check_result(inter, back, size > 2 ? MPI_SIMILAR : MPI_CONGRUENT);
        check_result(inter, parts, MPI_UNEQUAL);
        OK(MPI_Comm_free(&back));
        OK(MPI_Comm_split(inter, me < 2 ? 0 : 1 + me % 2, 0, &back));
        CHECK((back != MPI_COMM_NULL) == (me < 2));
        if (back != MPI_COMM_NULL) {
            check_result(inter, back, size > 2 ? MPI_UNEQUAL : MPI_CONGRUENT);
            OK(MPI_Comm_free(&back));
        }
        OK(MPI_Comm_free(&twin));
        OK(MPI_Comm_free(&inter));
    }
    OK(MPI_Comm_free(&same));
    OK(MPI_Comm_free(&turned));
    OK(MPI_Comm_free(&parts));
}

static int calls;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    calls++;
    *flag = 1;
    *(void **)out = in;
    return *(int *)extra;
}

/* Whether a new communicator has nothing of the old one but its error handler. Frees it. */
static void check_bare(MPI_Comm comm, int keyval)
{
    MPI_Errhandler errhandler;
    MPI_Info info;
    char text[MPI_MAX_OBJECT_NAME];
    void *value;
    int flag = 1, len = sizeof(text);
    OK(MPI_Comm_get_errhandler(comm, &errhandler));
    CHECK(errhandler == MPI_ERRORS_RETURN);
    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    CHECK(!flag && calls == 0);
    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_get_string(info, "mpi_assert_no_any_source", &len, text, &flag));
    CHECK(flag && !strcmp(text, "false"));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_name(comm, text, &len));
    CHECK(len == 0 && !text[0]);
    OK(MPI_Comm_free(&comm));
}

static void inherited(void)
{
    int keyval, code, result = MPI_SUCCESS, rank = me, len = 0, flag = 0;
    char text[MPI_MAX_OBJECT_NAME];
    void *value = NULL;
    MPI_Comm comm, new;
    MPI_Group group;
    MPI_Info info;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, &result));
    OK(MPI_Comm_set_attr(comm, keyval, &me));
    OK(MPI_Comm_set_name(comm, "the old one"));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    OK(MPI_Comm_set_info(comm, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_split(comm, 0, 0, &new));
    check_bare(new, keyval);
    OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &new));
    check_bare(new, keyval);
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Comm_create(comm, group, &new));
    check_bare(new, keyval);
    OK(MPI_Comm_create_group(comm, group, 3, &new));
    check_bare(new, keyval);
    OK(MPI_Group_free(&group));
    /* A duplicate has the attributes, but neither name nor hints. */
    OK(MPI_Comm_dup(comm, &new));
    OK(MPI_Comm_get_name(new, text, &len));
    CHECK(len == 0 && calls == 1);
    OK(MPI_Comm_get_attr(new, keyval, &value, &flag));
    CHECK(flag && value == &me);
    OK(MPI_Comm_delete_attr(new, keyval));
    calls = 0;
    check_bare(new, keyval);
    /* What a callback returns comes back as it is: also a code of the user's. */
    OK(MPI_Add_error_class(&code));
    result = code;
    CHECK(MPI_Comm_dup(comm, &new) == code);
    result = MPI_SUCCESS;
    OK(MPI_Remove_error_class(code));
    OK(MPI_Barrier(comm));
    CHECK(rank == check_rank(comm));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Comm_free(&comm));
}

/* Made and freed, over and over. */
static void many(void)
{
    enum { ROUNDS = 3000 };
    MPI_Comm comm;
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Comm_dup(i % 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comm));
        OK(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    results();
    inherited();
    many();
    OK(MPI_Finalize());
    return 0;
}
