/* SPDX-License-Identifier: BSD-3-Clause */

/* Intercommunicators: made, duplicated, split, shrunk, merged, and messages over each. The left
 * half of the world is one side, the rest the other. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int me, world_size, left_size;

static int is_left(void)
{
    return me < left_size;
}

/* Everyone to everyone of the other side; expect(i): the world rank of remote member i. */
static void talk(MPI_Comm inter, int (*expect)(int))
{
    int size = -1;
    OK(MPI_Comm_remote_size(inter, &size));
    int *in = malloc((size_t)size * sizeof(*in));
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof(MPI_Request));
    for (int i = 0; i < size; i++) {
        in[i] = -1;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, i, 4, inter, &requests[i]));
        OK(MPI_Isend(&me, 1, MPI_INT, i, 4, inter, &requests[size + i]));
    }
    OK(MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < size; i++)
        CHECK(in[i] == expect(i));
    free(requests);
    free(in);
}

static int opposite(int i)
{
    return is_left() ? left_size + i : i;
}

static int opposite_turned(int i)
{
    return is_left() ? world_size - 1 - i : left_size - 1 - i;
}

static int first_opposite(int i)
{
    CHECK(i == 0);
    return opposite(0);
}

static void check_result(MPI_Comm a, MPI_Comm b, int expect)
{
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    CHECK(result == expect);
}

/* What the new one says of itself. */
static void ask(MPI_Comm inter, MPI_Comm local)
{
    int flag = -1, result = -1;
    MPI_Group group, other;
    MPI_Comm none;
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag == 1);
    OK(MPI_Comm_test_inter(local, &flag));
    CHECK(flag == 0);
    CHECK(check_size(inter) == check_size(local) && check_rank(inter) == check_rank(local));
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Comm_group(local, &other));
    OK(MPI_Group_compare(group, other, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&other));
    OK(MPI_Comm_remote_group(inter, &other));
    OK(MPI_Group_compare(group, other, &result));
    CHECK(result == MPI_UNEQUAL);
    check_result(inter, local, MPI_UNEQUAL);
    check_result(inter, inter, MPI_IDENT);
    FAILS(MPI_ERR_COMM, MPI_Comm_create_group(inter, group, 0, &none));
    FAILS(MPI_ERR_RANK, MPI_Send(NULL, 0, MPI_INT, world_size, 0, inter));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&other));
    OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(local, &flag));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(local, 0, &none));
}

static int copies;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void duplicate(MPI_Comm inter)
{
    MPI_Comm dup, again;
    MPI_Errhandler errhandler;
    int keyval, flag = 0;
    void *value = NULL;
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(inter, keyval, &copies));
    OK(MPI_Comm_dup(inter, &dup));
    CHECK(copies == 1);
    copies = 0;
    OK(MPI_Comm_get_attr(dup, keyval, &value, &flag));
    CHECK(flag && value == &copies);
    OK(MPI_Comm_get_errhandler(dup, &errhandler));
    CHECK(errhandler == MPI_ERRORS_RETURN);
    check_result(inter, dup, MPI_CONGRUENT);
    OK(MPI_Comm_delete_attr(inter, keyval));
    OK(MPI_Comm_dup(inter, &again));
    /* The same tags on both, and one is freed before the other is used. */
    talk(dup, opposite);
    OK(MPI_Comm_free(&dup));
    talk(again, opposite);
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free_keyval(&keyval));
}

static void split(MPI_Comm inter)
{
    MPI_Comm part;
    int result;
    /* All, turned. */
    OK(MPI_Comm_split(inter, 7, -me, &part));
    talk(part, opposite_turned);
    result = check_size(inter) == 1 && left_size * 2 == world_size ? MPI_CONGRUENT : MPI_SIMILAR;
    check_result(inter, part, world_size == 2 ? MPI_CONGRUENT : result);
    OK(MPI_Comm_free(&part));
    /* A color that only one side has. */
    OK(MPI_Comm_split(inter, is_left(), 0, &part));
    CHECK(part == MPI_COMM_NULL);
    /* The first of each side, and nobody else. */
    OK(MPI_Comm_split(inter, check_rank(inter) ? MPI_UNDEFINED : 3, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (check_rank(inter) != 0));
    if (part == MPI_COMM_NULL)
        return;
    talk(part, first_opposite);
    OK(MPI_Comm_free(&part));
}

static void split_type(MPI_Comm inter)
{
    MPI_Comm part;
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    talk(part, opposite); /* the tests run on one host */
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
}

static void create(MPI_Comm inter)
{
    MPI_Comm part;
    MPI_Group group, first;
    int zero = 0;
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Comm_create(inter, group, &part));
    check_result(inter, part, MPI_CONGRUENT);
    talk(part, opposite);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_create(inter, is_left() ? group : MPI_GROUP_EMPTY, &part));
    CHECK(part == MPI_COMM_NULL);
    OK(MPI_Group_incl(group, 1, &zero, &first));
    OK(MPI_Comm_create(inter, first, &part));
    CHECK((part == MPI_COMM_NULL) == (check_rank(inter) != 0));
    if (part != MPI_COMM_NULL) {
        talk(part, first_opposite);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&group));
}

static int straight(int member, void *arg)
{
    return member;
}

static int right_first(int member, void *arg)
{
    int right_size = world_size - left_size;
    return member < right_size ? left_size + member : member - right_size;
}

static void merge(MPI_Comm inter)
{
    MPI_Comm all;
    OK(MPI_Intercomm_merge(inter, !is_left(), &all));
    check_ring(all, straight, NULL);
    check_result(all, MPI_COMM_WORLD, MPI_CONGRUENT);
    OK(MPI_Comm_free(&all));
    OK(MPI_Intercomm_merge(inter, is_left(), &all));
    check_ring(all, right_first, NULL);
    OK(MPI_Barrier(all));
    OK(MPI_Comm_free(&all));
    for (int high = 0; high < 2; high++) {
        int first = -1, sum = 0;
        OK(MPI_Intercomm_merge(inter, high, &all));
        first = me;
        OK(MPI_Bcast(&first, 1, MPI_INT, 0, all));
        CHECK(first == 0 || first == left_size);
        OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all));
        CHECK(sum == world_size * (world_size - 1) / 2);
        OK(MPI_Comm_free(&all));
    }
}

/* An intercommunicator as the one that leaders meet in. */
static void nested(MPI_Comm inter, MPI_Comm local)
{
    MPI_Comm made, self;
    MPI_Request request;
    int got = -1, there = check_rank(inter);
    int leads = there < check_size(inter), remote = -1;
    OK(MPI_Comm_remote_size(inter, &remote));
    leads = there < remote;
    if (leads) { /* pairs, while a message of the user's with the same tag is under way */
        OK(MPI_Isend(&me, 1, MPI_INT, there, 11, inter, &request));
        OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, inter, there, 11, &made));
        OK(MPI_Recv(&got, 1, MPI_INT, there, 11, inter, MPI_STATUS_IGNORE));
        CHECK(got == opposite(there));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(check_size(made) == 1);
        OK(MPI_Sendrecv(&me, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, made, MPI_STATUS_IGNORE));
        CHECK(got == opposite(there));
        OK(MPI_Intercomm_merge(made, is_left(), &self));
        CHECK(check_size(self) == 2 && check_rank(self) == is_left());
        OK(MPI_Comm_free(&self));
        OK(MPI_Comm_free(&made));
    }
    /* The last of each side leads. */
    int last_there = is_left() ? world_size - left_size - 1 : left_size - 1;
    OK(MPI_Intercomm_create(local, check_size(local) - 1, inter, last_there, 2, &made));
    check_result(made, inter, MPI_CONGRUENT);
    talk(made, opposite);
    OK(MPI_Comm_free(&made));
}

static void wrong(MPI_Comm local)
{
    MPI_Comm none;
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(local, 99, MPI_COMM_WORLD, 0, 0, &none));
    FAILS(MPI_ERR_TAG, MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &none));
    FAILS(MPI_ERR_ARG, MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, 0, NULL));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 0, &none));
    if (check_rank(local) == 0) {
        FAILS(MPI_ERR_COMM, MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 0, &none));
        FAILS(MPI_ERR_RANK, MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, world_size, 0, &none));
    }
}

/* Each side gets what the other side's data come to. */
static void collect(MPI_Comm inter)
{
    int mine = check_rank(MPI_COMM_WORLD) + 1, sum = -1, wanted = 0;
    int from = is_left() ? left_size : 0, to = is_left() ? world_size : left_size;
    for (int i = from; i < to; i++)
        wanted += i + 1;
    OK(MPI_Barrier(inter));
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK(sum == wanted);
}

int main(int argc, char **argv)
{
    MPI_Comm local, inter;
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    world_size = check_size(MPI_COMM_WORLD);
    left_size = world_size / 2;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_split(MPI_COMM_WORLD, is_left(), 0, &local));
    OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, is_left() ? left_size : 0, 5, &inter));
    ask(inter, local);
    talk(inter, opposite);
    collect(inter);
    duplicate(inter);
    split(inter);
    split_type(inter);
    create(inter);
    merge(inter);
    nested(inter, local);
    wrong(local);
    OK(MPI_Comm_free(&local));
    duplicate(inter); /* without the local communicator */
    merge(inter);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Finalize());
    return 0;
}
