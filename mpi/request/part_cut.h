/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How a partitioned message is cut into chunks, which are messages of their own: the sender
 * decides, and says so in a few words. Pure.
 */
#ifndef MPI_PART_CUT_H
#define MPI_PART_CUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PART_CHUNKS = 64,         /* at most so many */
    PART_CHUNK_LEN = 64 << 10 /* unless they have so many bytes */
};

struct part_cut {
    int chunks;
    int32_t tag;        /* of the first one; that of the next is one higher */
    uint64_t chunk_len; /* bytes; the last one may be shorter */
    uint64_t total;     /* bytes */
};

/* The words in which it is said. */
enum { PART_CUT_WORDS = 4 };

/* Put the fewest partitions into each chunk that make few chunks, or long ones. Fills in all but
 * the tag; returns how many partitions are in each but the last. */
int part_cut_make(struct part_cut *cut, int partitions, uint64_t partition_len);

void part_cut_say(const struct part_cut *cut, int64_t words[PART_CUT_WORDS]);
/* Take over what a peer has said, which is not trusted. Returns whether a sender could say it. */
bool part_cut_hear(struct part_cut *cut, const int64_t words[PART_CUT_WORDS]);

/* The chunks [*first, *end) that hold bytes [start, start + len) of the message; all of them if
 * these are no bytes of it. */
void part_cut_find(const struct part_cut *cut, uint64_t start, uint64_t len, int *first, int *end);

#endif
