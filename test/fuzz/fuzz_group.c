/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups that another process describes: any bytes. What comes out is a group whose members are
 * processes, or nothing.
 *
 * usage: fuzz_group FILE...
 */
#include "mpi/comm/group.h"
#include "test/fuzz/main.h"

enum { LOOKED_AT = 300 };

static void check_members(const struct group *group)
{
    int step = group->size > LOOKED_AT ? group->size / LOOKED_AT : 1;
    for (int64_t i = 0; i < group->size; i += step) {
        struct process process = group_process(group, (int)i), again;
        int rank = group_find(group, &process);
        require(rank >= 0 && rank < group->size, "a member is not found");
        require(group->ranks || rank == i, "a range has a process twice");
        again = group_process(group, rank);
        require(!group_order(&process, &again), "another process is found");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct mpid_gid world = {{'w'}};
    size_t left = len, back_len;
    struct group *group = group_unpack(bytes, &left);
    require(left == (group ? len : 0), "a length that is neither");
    if (!group)
        return 0;
    require(group->size >= 0, "a negative size");
    check_members(group);
    void *back = group_pack(group, &back_len);
    require(back != NULL, "no memory");
    struct group *same = group_unpack(back, &back_len);
    require(same && group_compare(group, same) == MPI_IDENT, "it does not come back");
    struct group *range = group_create_range(&world, 5, 3, 1000);
    struct group *common = group_intersection(range, group);
    require(common && common->size <= 1000, "more in common than there is");
    require(group_overlap(range, group) == (common->size > 0), "in common, or not");
    check_members(common);
    group_unref(common);
    group_unref(range);
    group_unref(same);
    group_unref(group);
    free(back);
    return 0;
}
