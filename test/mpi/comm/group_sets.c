/* SPDX-License-Identifier: BSD-3-Clause */

/* Groups as sets: union, intersection, difference, translation, comparison, on all
 * subsets of the first processes and on many orders. */
#include "check.h"

static MPI_Group world;
static int size;

/* The group of the ranks whose bit is set, rising or falling. */
static MPI_Group subset(unsigned bits, int falling)
{
    int ranks[32], n = 0;
    MPI_Group group;
    for (int i = 0; i < size; i++) {
        int rank = falling ? size - 1 - i : i;
        if (bits >> rank & 1)
            ranks[n++] = rank;
    }
    OK(MPI_Group_incl(world, n, ranks, &group));
    return group;
}

/* The group's ranks in the world, as MPI_Group_translate_ranks gives them. */
static int members(MPI_Group group, int *ranks)
{
    int n = -1, own[32];
    OK(MPI_Group_size(group, &n));
    for (int i = 0; i < n; i++)
        own[i] = i;
    OK(MPI_Group_translate_ranks(group, n, own, world, ranks));
    return n;
}

static unsigned bits_of(MPI_Group group)
{
    int ranks[32], n = members(group, ranks);
    unsigned bits = 0;
    for (int i = 0; i < n; i++)
        bits |= 1u << ranks[i];
    return bits;
}

/* Members of the first group keep its order; those of the second follow in theirs. */
static void check_union_order(MPI_Group group, MPI_Group a, MPI_Group b)
{
    int got[32], first[32], second[32];
    int n = members(group, got), na = members(a, first), nb = members(b, second), at = na;
    for (int i = 0; i < na; i++)
        CHECK(got[i] == first[i]);
    for (int i = 0; i < nb; i++) {
        int in_a = 0;
        for (int k = 0; k < na; k++)
            in_a |= first[k] == second[i];
        if (!in_a)
            CHECK(at < n && got[at++] == second[i]);
    }
    CHECK(at == n);
}

static void check_pair(unsigned x, unsigned y, int falling)
{
    MPI_Group a = subset(x, falling), b = subset(y, 0), made;
    int result;
    OK(MPI_Group_union(a, b, &made));
    CHECK(bits_of(made) == (x | y));
    check_union_order(made, a, b);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_intersection(a, b, &made));
    CHECK(bits_of(made) == (x & y));
    CHECK((made == MPI_GROUP_EMPTY) == !(x & y));
    OK(MPI_Group_free(&made));
    OK(MPI_Group_difference(a, b, &made));
    CHECK(bits_of(made) == (x & ~y));
    OK(MPI_Group_free(&made));
    OK(MPI_Group_compare(a, b, &result));
    int same_order = !falling || __builtin_popcount(x) < 2;
    CHECK(result == (x != y ? MPI_UNEQUAL : same_order ? MPI_IDENT : MPI_SIMILAR));
    OK(MPI_Group_free(&a));
    OK(MPI_Group_free(&b));
}

static void translate(void)
{
    MPI_Group half = subset(0x55555555u, 1);
    int none[] = {MPI_PROC_NULL, 0}, to[2] = {-9, -9}, rank = -1, mine = check_rank(MPI_COMM_WORLD);
    OK(MPI_Group_translate_ranks(world, 2, none, half, to));
    CHECK(to[0] == MPI_PROC_NULL && to[1] == (size - 1) / 2);
    if (size > 1) {
        int one = 1;
        OK(MPI_Group_translate_ranks(world, 1, &one, half, to));
        CHECK(to[0] == MPI_UNDEFINED);
    }
    OK(MPI_Group_rank(half, &rank));
    CHECK(rank == (mine % 2 ? MPI_UNDEFINED : (size - 1) / 2 - mine / 2));
    OK(MPI_Group_free(&half));
}

static void wrong(void)
{
    MPI_Group made, null = MPI_GROUP_NULL;
    int twice[] = {0, 0}, beyond = size, n;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 2, twice, &made));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(world, 2, twice, &made));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, &beyond, &made));
    FAILS(MPI_ERR_ARG, MPI_Group_incl(world, -1, twice, &made));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &n));
    FAILS(MPI_ERR_GROUP, MPI_Group_size((MPI_Group)MPI_COMM_WORLD, &n));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&null));
    FAILS(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, &beyond, world, &n));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(world, &size));
    unsigned all = 1u << (size < 4 ? size : 4);
    for (unsigned x = 0; x < all; x++) {
        for (unsigned y = 0; y < all; y++) {
            check_pair(x, y, 0);
            check_pair(x, y, 1);
        }
    }
    translate();
    wrong();
    OK(MPI_Group_free(&world));
    CHECK(world == MPI_GROUP_NULL);
    OK(MPI_Finalize());
    return 0;
}
