/* SPDX-License-Identifier: BSD-3-Clause */

/* Communicators without a parent: processes meet by a text and a group. */
#include <string.h>

#include "check.h"

static int me, world_size;

static int turned(int member, void *arg)
{
    return world_size - 1 - member;
}

static int raised;

static void handler(MPI_Comm *comm, int *code, ...)
{
    raised++;
}

/* All, turned, many times with one text and with others. */
static void all(MPI_Group world)
{
    int range[][3] = {{world_size - 1, 0, -1}};
    MPI_Group group;
    MPI_Comm comm, kept[10];
    char text[64];
    OK(MPI_Group_range_incl(world, 1, range, &group));
    for (int i = 0; i < 20; i++) {
        OK(MPI_Comm_create_from_group(group, "org.example.same", MPI_INFO_NULL,
                                      MPI_ERRORS_RETURN, &comm));
        check_ring(comm, turned, NULL);
        OK(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof(text), "org.example.%d", i);
        OK(MPI_Comm_create_from_group(group, text, MPI_INFO_NULL, MPI_ERRORS_RETURN, &kept[i]));
    }
    for (int i = 9; i >= 0; i--) {
        check_ring(kept[i], turned, NULL);
        OK(MPI_Comm_free(&kept[i]));
    }
    OK(MPI_Group_free(&group));
}

/* A group that is no range, and members alone call. */
static void some(MPI_Group world)
{
    if (world_size < 4 || me == 2)
        return;
    int ranks[] = {3, 0, 1}, sum = 0;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_incl(world, 3, ranks, &group));
    if (me < 4) {
        OK(MPI_Comm_create_from_group(group, "some", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK(check_size(comm) == 3 && ranks[check_rank(comm)] == me);
        OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == 4);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
}

static void check_inter(MPI_Comm inter, int there)
{
    int got = -1;
    OK(MPI_Sendrecv(&me, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
    CHECK(got == there);
}

/* Two sides; rank 0 of each talks to the other's. */
static void sides(MPI_Group world)
{
    int half = world_size / 2, is_left = me < half;
    int left[][3] = {{0, half - 1, 1}}, right[][3] = {{half, world_size - 1, 1}};
    MPI_Group mine, other;
    MPI_Comm inter, again, merged;
    if (world_size < 2)
        return;
    OK(MPI_Group_range_incl(world, 1, is_left ? left : right, &mine));
    OK(MPI_Group_range_incl(world, 1, is_left ? right : left, &other));
    int last_here = 0, last_there = 0;
    OK(MPI_Group_size(mine, &last_here));
    OK(MPI_Group_size(other, &last_there));
    OK(MPI_Intercomm_create_from_groups(mine, --last_here, other, --last_there, "a", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &inter));
    OK(MPI_Intercomm_create_from_groups(mine, 0, me == 0 || me == half ? other : MPI_GROUP_NULL, 0,
                                        "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &again));
    int size = -1;
    OK(MPI_Comm_remote_size(inter, &size));
    CHECK(size == last_there + 1);
    if (me == 0 || me == half) {
        check_inter(inter, is_left ? half : 0);
        check_inter(again, is_left ? half : 0);
    }
    OK(MPI_Intercomm_merge(again, !is_left, &merged));
    CHECK(check_rank(merged) == me);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&again));
    OK(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, other, 0, "a", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &inter));
    CHECK(inter == MPI_COMM_NULL);
    OK(MPI_Intercomm_create_from_groups(mine, 0, MPI_GROUP_EMPTY, 0, "a", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &inter));
    CHECK(inter == MPI_COMM_NULL);
    FAILS(MPI_ERR_GROUP,
          MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_NULL, 0, "a",
                                           MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create_from_groups(mine, 99, other, 0, "a", MPI_INFO_NULL,
                                                         MPI_ERRORS_RETURN, &inter));
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&other));
}

static void session_handler(MPI_Session *session, int *code, ...)
{
    CHECK(!"called");
}

static void arguments(MPI_Group world)
{
    MPI_Errhandler other;
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Errhandler mine, got;
    MPI_Info info, used;
    char text[MPI_MAX_STRINGTAG_LEN + 1], value[8];
    int flag = 0, len = sizeof(value);
    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, mine, &comm));
    CHECK(comm == MPI_COMM_NULL);
    memset(text, 'x', sizeof(text));
    text[MPI_MAX_STRINGTAG_LEN] = 0;
    FAILS(MPI_ERR_ARG, MPI_Comm_create_from_group(world, text, MPI_INFO_NULL, mine, &comm));
    CHECK(raised == 1);
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_from_group(MPI_GROUP_NULL, "", MPI_INFO_NULL, mine,
                                                    &comm));
    CHECK(raised == 2);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Session_create_errhandler(session_handler, &other));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_create_from_group(world, "", MPI_INFO_NULL, other, &comm));
    OK(MPI_Errhandler_free(&other));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    text[MPI_MAX_STRINGTAG_LEN - 1] = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    OK(MPI_Comm_create_from_group(world, text, info, mine, &comm));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Comm_get_info(comm, &used));
    OK(MPI_Info_get_string(used, "mpi_assert_exact_length", &len, value, &flag));
    CHECK(flag && !strcmp(value, "true"));
    OK(MPI_Info_free(&used));
    FAILS(MPI_ERR_TAG, MPI_Send(NULL, 0, MPI_INT, 0, -5, comm));
    CHECK(raised == 3);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Group world;
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    world_size = check_size(MPI_COMM_WORLD);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    all(world);
    some(world);
    sides(world);
    arguments(world);
    OK(MPI_Group_free(&world));
    OK(MPI_Finalize());
    return 0;
}
