/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the roots of two groups tell each other to make one group of both. Each says it once, and both come to the same
 * group. Without I/O.
 *
 * On the wire, in network byte order: 8 bytes magic; u8 why, u8 relation, u16 length of the door's name, u32 parts; the
 * 16 bytes each of the sender's group, of the group that it wants (0: any), and of a random id; the door; then, for each part, 16
 * bytes of its id and u32 its size.
 */
#ifndef BNR_MEET_H
#define BNR_MEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/bnr.h"

enum {
    MEET_PARTS_MAX = 4096,
    MEET_DOOR_MAX = 1023,
    MEET_SIZE_MAX = 1 << 24 /* processes of a group */
};

enum meet_why {
    MEET_MERGE = 1,
    MEET_CONNECT
};

enum meet_relation {
    MEET_STRANGER,
    MEET_SPAWNER, /* its group has spawned the other one */
    MEET_SPAWNED
};

/* Processes that were started together. Their ranks in the group follow each other. */
struct meet_part {
    BNR_Gid gid;
    int size;
};

struct meet {
    enum meet_why why;
    enum meet_relation relation;
    BNR_Gid gid, wanted, proposal;
    int size; /* of all parts */
    int part_count;
    struct meet_part *part;       /* in the order of ranks */
    char door[MEET_DOOR_MAX + 1]; /* where the root can be called; "": nowhere */
};

size_t meet_len(const struct meet *m);
void meet_put(const struct meet *m, uint8_t *at);
/* Read one, from any source, with parts to be released by meet_fini(). Returns 0, BNR_ERR_PROTO or BNR_ERR_NOMEM. */
int meet_get(struct meet *m, const uint8_t *at, size_t len);
void meet_fini(struct meet *m);

/* What becomes of two: *gid, and whether other comes first. Returns 0, BNR_ERR_MISMATCH (they do not want each other), or
 * BNR_ERR_ARG (some process is in both). */
int meet_join(const struct meet *own, const struct meet *other, BNR_Gid *gid, bool *other_first);

#endif
