/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A stream of blocks of bytes from one node to another, in order, each taken once. It is routed
 * along the tree, which may lose messages when nodes or links are lost; so the sender keeps each
 * block until the receiver has taken it.
 *
 * A sender that gets no credit for a while asks what the receiver has taken: the question, block 0
 * without data, comes after all blocks that were said before it. Blocks that the answer lacks were
 * lost, and the sender says them again. So it says nothing twice to a receiver that stands still, for
 * as long as it may, and nothing heaps up on the way.
 *
 * The receiver gives credit for a block when it is done with it, which may be long after it came.
 * The sender has at most a window of bytes under way: that bounds the memory of all nodes between.
 */
#ifndef BNR_STREAM_H
#define BNR_STREAM_H

#include "bnr/core/tree/message.h"

#define STREAM_RETRY_NS     1000000000LL /* after that the sender asks, then after twice that, ... */
#define STREAM_RETRY_MAX_NS 30000000000LL

/* Where the blocks come from. */
struct stream_out {
    uint32_t self, to, tag;
    size_t window, bytes;  /* bytes: kept */
    struct bytes **blocks; /* taken + 1 ... last */
    size_t count, room;
    uint64_t taken; /* the last block that the receiver is done with */
    uint64_t asked, asked_last; /* asked: number of the last question; the last block before it */
    int64_t retry_ns, due_ns;
};

void stream_out_init(struct stream_out *s, uint32_t self, uint32_t to, uint32_t tag, size_t window);
void stream_out_fini(struct stream_out *s);

/* Whether a further block fits into the window. One block always does. */
bool stream_out_has_room(const struct stream_out *s);
/* Nothing is kept: all was taken. */
bool stream_out_is_empty(const struct stream_out *s);

/* Send a block; takes a reference. Effects: SEND. Returns 0 or -ENOMEM. */
int stream_out_put(struct stream_out *s, struct bytes *block, int64_t now, struct effects *effects);

/* A CREDIT has come. Effects: SEND of what it says is missing. */
void stream_out_credit(struct stream_out *s, const struct core_message *credit, int64_t now,
                       struct effects *effects);

/* Time has passed, or (is_new) there is a new way: ask, if it is time to. */
void stream_out_tick(struct stream_out *s, bool is_new, int64_t now, struct effects *effects);

/* The receiving end. */
struct stream_in {
    uint64_t taken, credited;
};

enum stream_outcome {
    STREAM_OLD = 1 /* the block has been taken before, or comes too early */
};

/* A block has come. Returns 0 if it is the next one; STREAM_OLD if it is not, or is a question:
 * give credit anew. */
int stream_in_take(struct stream_in *s, const struct core_message *block);

/* The CREDIT for all blocks up to done, which answers where the block was a question. */
struct core_message stream_in_credit(struct stream_in *s, const struct core_message *block,
                                     uint64_t done);

#endif
