/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators without a parent, of wrong groups and leaders: whoever calls is told, and nobody
 * waits for ever. For 4 ranks.
 */
#include <string.h>

#include "check.h"

static int me;
static MPI_Group world;

static MPI_Group pick(int count, const int *ranks)
{
    MPI_Group group;
    OK(MPI_Group_incl(world, count, ranks, &group));
    return group;
}

/* The text of an error names the function and the rank, and has these words. */
static void says(int code, const char *function, const char *words)
{
    char text[MPI_MAX_ERROR_STRING], rank[32];
    int len;
    OK(MPI_Error_string(code, text, &len));
    snprintf(rank, sizeof(rank), "rank %d", me);
    if (!strstr(text, function) || !strstr(text, words) || !strstr(text, rank))
        fprintf(stderr, "is: %s\nshould have: %s, %s, %s\n", text, function, words, rank);
    CHECK(strstr(text, function) && strstr(text, words) && strstr(text, rank));
}

/* One side's arguments. */
struct side {
    MPI_Group local, remote;
    int leader, remote_leader;
};

static int bind(const struct side *side, const char *text, MPI_Comm *inter)
{
    *inter = MPI_COMM_NULL;
    return MPI_Intercomm_create_from_groups(side->local, side->leader, side->remote,
                                            side->remote_leader, text, MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, inter);
}

static void fails(const struct side *side, const char *text, int error_class, const char *words)
{
    MPI_Comm inter;
    int code = bind(side, text, &inter);
    FAILS(error_class, code);
    CHECK(inter == MPI_COMM_NULL);
    says(code, "MPI_Intercomm_create_from_groups", words);
}

/* Ranks 0 to 2, and 2 and 3. Rank 2 is on the left or on the right, and maybe a leader of one or
 * both; nobody else need know that. */
static void overlap(void)
{
    static const struct {
        const char *text;
        int left_leader, right_leader, rank_2_is_left;
    } cases[] = {
        {"left", 0, 1, 1},         {"right", 0, 1, 0},        {"left, leads right", 0, 0, 1},
        {"right, leads it", 1, 0, 0}, {"left, leads it", 2, 1, 1}, {"right, leads left", 2, 1, 0},
        {"left, leads both", 2, 0, 1}, {"right, leads both", 2, 0, 0},
    };
    MPI_Group left = pick(3, (int[]){0, 1, 2}), right = pick(2, (int[]){2, 3});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int l = cases[i].left_leader, r = cases[i].right_leader;
        int is_left = me < 2 || (me == 2 && cases[i].rank_2_is_left);
        struct side side = {left, right, l, r};
        if (!is_left)
            side = (struct side){right, left, r, l};
        int leads = is_left ? me == l : me - 2 == r;
        if (!leads)
            side.remote = MPI_GROUP_NULL;
        fails(&side, cases[i].text, MPI_ERR_GROUP, "have a process in common");
    }
    for (int remote_leader = 0; remote_leader < 4; remote_leader += 3) {
        struct side all = {world, world, 0, remote_leader};
        fails(&all, remote_leader ? "twice" : "same", MPI_ERR_GROUP, "have a process in common");
    }
    OK(MPI_Group_free(&left));
    OK(MPI_Group_free(&right));
}

/* Ranks 0 and 1, and 2 and 3: each what is wrong on the left. */
static void leaders(struct side side)
{
    int is_left = me < 2;
    struct side wrong = side;
    if (is_left)
        wrong.remote_leader = 99;
    fails(&wrong, "no such remote leader", is_left ? MPI_ERR_RANK : MPI_ERR_OTHER,
          me == 0 ? "remote_leader 99: must be 0 to 1" : is_left ? "remote_leader" : "remote group");
    wrong = side;
    if (is_left)
        wrong.leader = me;
    fails(&wrong, "two local leaders", is_left ? MPI_ERR_RANK : MPI_ERR_OTHER,
          is_left ? "different local_leader" : "remote group");
    wrong = side;
    if (me == 1)
        wrong.leader = -1;
    fails(&wrong, "no such local leader", is_left ? MPI_ERR_RANK : MPI_ERR_OTHER,
          me == 1 ? "local_leader -1: must be 0 to 1" : is_left ? "local_leader" : "remote group");
    wrong = side;
    if (is_left)
        wrong.remote_leader = 1;
    fails(&wrong, "another remote leader", MPI_ERR_RANK, "remote_leader");
    wrong = side;
    wrong.remote = MPI_GROUP_NULL;
    if (is_left) /* which cannot be told on the right */
        fails(&wrong, "no remote group", MPI_ERR_GROUP, "remote_group");
}

static void good(const struct side *side, const char *text)
{
    MPI_Comm inter;
    int size = 0;
    OK(bind(side, text, &inter));
    OK(MPI_Comm_remote_size(inter, &size));
    CHECK(size == 2);
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
}

static void sides(void)
{
    MPI_Group left = pick(2, (int[]){0, 1}), right = pick(2, (int[]){2, 3});
    struct side side = {left, right, 0, 0};
    if (me >= 2)
        side = (struct side){right, left, 0, 0};
    good(&side, "before");
    leaders(side);
    for (int i = 0; i < 50; i++) { /* one text, and leaders that change */
        side.leader = me < 2 ? i % 2 : i / 2 % 2;
        side.remote_leader = me < 2 ? i / 2 % 2 : i % 2;
        good(&side, "after");
    }
    OK(MPI_Group_free(&left));
    OK(MPI_Group_free(&right));
}

static void no_member(void)
{
    MPI_Group some = pick(3, (int[]){0, 1, 2});
    MPI_Comm comm = MPI_COMM_NULL;
    int code = MPI_Comm_create_from_group(some, "some", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    if (me < 3) {
        OK(code);
        OK(MPI_Comm_free(&comm));
    } else {
        FAILS(MPI_ERR_GROUP, code);
        CHECK(comm == MPI_COMM_NULL);
        says(code, "MPI_Comm_create_from_group", "group: this process is no member of it");
        struct side side = {some, MPI_GROUP_EMPTY, 0, 0};
        fails(&side, "some", MPI_ERR_GROUP, "local_group: this process is no member of it");
    }
    OK(MPI_Group_free(&some));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    CHECK(check_size(MPI_COMM_WORLD) == 4);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    no_member();
    overlap();
    sides();
    OK(MPI_Group_free(&world));
    OK(MPI_Finalize());
    return 0;
}
