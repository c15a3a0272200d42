/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Messages between daemons as bytes, version 1. Numbers are in network byte order. This module
 * turns values into bytes and back, checks them, and does no I/O.
 *
 *    0  len      4  bytes of the frame after the hash, at most FRAME_BODY_MAX
 *    4  magic    3  "Vnd"
 *    7  version  1  1
 *    8  sequence 8  of the frame on its link and direction, from 1
 *   16  hash     8  keyed, of bytes 0 to 15 and of all after 24
 *   24  kind     1  enum message_kind
 *   25  mode     1
 *   26  status   1
 *   27  flags    1
 *   28  origin   4
 *   32  to       4
 *   36  tag      4
 *   40  group    8
 *   48  number   8
 *   56  other    8
 *   64  data
 *
 * The key belongs to one link and one direction: hello.h makes it out of the job's secret and the
 * random words of both ends. So a frame that was overheard is good neither on another link, nor
 * in the other direction, nor twice.
 */
#ifndef BNR_FRAME_H
#define BNR_FRAME_H

#include "bnr/core/tree/message.h"

enum {
    FRAME_VERSION = 1,
    FRAME_PREFIX_LEN = 24, /* up to the hash, with it */
    FRAME_HEAD_LEN = 64,
    FRAME_BODY_MAX = FRAME_HEAD_LEN - FRAME_PREFIX_LEN + MESSAGE_DATA_MAX
};

/* One direction of one link. */
struct frame_link {
    uint8_t key[16];
    uint64_t sequence; /* of the last frame */
};

void frame_link_init(struct frame_link *link, const uint8_t key[16]);

/* The next frame. NULL: no memory. */
struct bytes *frame_pack(struct frame_link *link, const struct core_message *message);

/* How long the frame is that begins with these bytes. Returns 0 or -EPROTO. */
int frame_len(const uint8_t prefix[FRAME_PREFIX_LEN], size_t *len);

/* Take the next frame apart; len is what frame_len() says. message->data has a reference for the
 * caller. Returns 0, -EPROTO (not ours, changed, or not next in order), -ENOMEM. */
int frame_unpack(struct frame_link *link, const uint8_t *frame, size_t len,
                 struct core_message *message);

#endif
