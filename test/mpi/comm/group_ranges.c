/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Group_range_incl and _excl against the lists that they stand for. */
#include <stdlib.h>

#include "check.h"

static MPI_Group world;
static int size;

/* Whether the ranges as a list name only ranks that there are, each once. */
static int expand(int n, int ranges[][3], int *ranks)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int first = ranges[i][0], last = ranges[i][1], step = ranges[i][2];
        if (first != last && (first < last) != (step > 0))
            return -1;
        for (int r = first; step > 0 ? r <= last : r >= last; r += step) {
            for (int k = 0; k < count; k++)
                if (ranks[k] == r)
                    return -1;
            if (r < 0 || r >= size)
                return -1;
            ranks[count++] = r;
        }
    }
    return count;
}

static void check_ranges(int n, int ranges[][3])
{
    int ranks[64], result, count = expand(n, ranges, ranks);
    MPI_Group by_range, by_list;
    if (count < 0) {
        FAILS(MPI_ERR_RANK, MPI_Group_range_incl(world, n, ranges, &by_range));
        FAILS(MPI_ERR_RANK, MPI_Group_range_excl(world, n, ranges, &by_range));
        return;
    }
    OK(MPI_Group_range_incl(world, n, ranges, &by_range));
    OK(MPI_Group_incl(world, count, ranks, &by_list));
    OK(MPI_Group_compare(by_range, by_list, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&by_range));
    OK(MPI_Group_free(&by_list));
    OK(MPI_Group_range_excl(world, n, ranges, &by_range));
    OK(MPI_Group_excl(world, count, ranks, &by_list));
    OK(MPI_Group_compare(by_range, by_list, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&by_range));
    OK(MPI_Group_free(&by_list));
}

/* Ranges of ranges: a range of a range with a stride, and turned. */
static void nested(void)
{
    int turn[][3] = {{size - 1, 0, -1}}, every[][3] = {{0, size - 1, 2}}, two[2], got[2] = {-9, -9};
    MPI_Group turned, some;
    OK(MPI_Group_range_incl(world, 1, turn, &turned));
    OK(MPI_Group_range_incl(turned, 1, every, &some));
    two[0] = 0;
    two[1] = (size - 1) / 2;
    OK(MPI_Group_translate_ranks(some, 2, two, world, got));
    CHECK(got[0] == size - 1 && got[1] == size - 1 - 2 * ((size - 1) / 2));
    OK(MPI_Group_free(&turned));
    OK(MPI_Group_free(&some));
}

int main(int argc, char **argv)
{
    int zero[][3] = {{0, 0, 0}};
    MPI_Group made;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(world, &size));
    srand(17);
    for (int i = 0; i < 3000; i++) {
        int ranges[3][3], n = rand() % 4;
        for (int k = 0; k < n; k++) {
            ranges[k][0] = rand() % (size + 1) - (rand() % 20 == 0);
            ranges[k][1] = rand() % (size + 1);
            int turned = ranges[k][1] < ranges[k][0], wrong_way = !(rand() % 8);
            ranges[k][2] = (turned != wrong_way ? -1 : 1) * (1 + rand() % 3);
        }
        check_ranges(n, ranges);
    }
    nested();
    FAILS(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, zero, &made));
    OK(MPI_Group_free(&world));
    OK(MPI_Finalize());
    return 0;
}
