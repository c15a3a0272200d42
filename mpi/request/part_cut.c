/* SPDX-License-Identifier: BSD-3-Clause */

/* Cutting a partitioned message; see part_cut.h. */
#include "mpi/request/part_cut.h"

enum { WORD_TAG, WORD_CHUNKS, WORD_CHUNK_LEN, WORD_TOTAL };

int part_cut_make(struct part_cut *cut, int partitions, uint64_t partition_len)
{
    int64_t few = ((int64_t)partitions + PART_CHUNKS - 1) / PART_CHUNKS, enough = few;
    if (partition_len)
        enough = (int64_t)((PART_CHUNK_LEN - 1) / partition_len + 1);
    int group = (int)(enough < few ? enough : few);
    if (!group)
        group = 1;
    *cut = (struct part_cut){.chunks = partitions / group + (partitions % group != 0),
                             .chunk_len = partition_len * (uint64_t)group,
                             .total = partition_len * (uint64_t)partitions};
    return group;
}

void part_cut_say(const struct part_cut *cut, int64_t words[PART_CUT_WORDS])
{
    words[WORD_TAG] = cut->tag;
    words[WORD_CHUNKS] = cut->chunks;
    words[WORD_CHUNK_LEN] = (int64_t)cut->chunk_len;
    words[WORD_TOTAL] = (int64_t)cut->total;
}

bool part_cut_hear(struct part_cut *cut, const int64_t words[PART_CUT_WORDS])
{
    int64_t tag = words[WORD_TAG], chunks = words[WORD_CHUNKS];
    int64_t len = words[WORD_CHUNK_LEN], total = words[WORD_TOTAL];
    if (tag < 0 || tag > INT32_MAX || chunks < 0 || chunks > INT32_MAX - tag || len < 0 ||
        total < 0)
        return false;
    if (chunks > PART_CHUNKS && len < PART_CHUNK_LEN)
        return false;
    if (total ? !len || chunks != (total - 1) / len + 1 : chunks && len)
        return false;
    *cut = (struct part_cut){(int)chunks, (int32_t)tag, (uint64_t)len, (uint64_t)total};
    return true;
}

void part_cut_find(const struct part_cut *cut, uint64_t start, uint64_t len, int *first, int *end)
{
    *first = 0;
    *end = cut->chunks;
    if (!len || start >= cut->total)
        return;
    uint64_t last = len < cut->total - start ? start + len - 1 : cut->total - 1;
    *first = (int)(start / cut->chunk_len);
    *end = (int)(last / cut->chunk_len) + 1;
}
