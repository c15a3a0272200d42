/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Messages of a hub (bnr/core/stream/hub.h) as bytes, between a process and its daemon, and between a
 * daemon and mpiexec. Numbers are in network byte order. No I/O.
 *
 *     u32 length of all, u8 kind, u8 flags, u8 policy, u8 0, u32 id, stream, status, rank, tag,
 *     u64 off, head, taken, data
 *
 * A connection to a job's door begins with a request: "Vdoor", a NUL, u8 version, u8 request.
 */
#ifndef BNR_HUB_FRAME_H
#define BNR_HUB_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "bnr/core/stream/hub.h"

enum {
    HUB_FRAME_HEAD = 52,
    HUB_FRAME_MAX = HUB_FRAME_HEAD + HUB_DATA_MAX,
    DOOR_REQUEST_LEN = 8,
    DOOR_VERSION = 1
};

enum door_wish {
    DOOR_REPORT = 1, /* what the ranks wait for */
    DOOR_STREAMS,    /* messages of the hub, both ways */
    DOOR_PROCESSES,  /* a line for each rank: rank, process, host, program, between tabs */
    DOOR_JOB         /* the job's id, in hexadecimal digits */
};

void door_request_pack(uint8_t at[DOOR_REQUEST_LEN], enum door_wish wish);
/* Returns the wish, or -EPROTO. */
int door_request_unpack(const uint8_t at[DOOR_REQUEST_LEN]);

/* Write the head of a message; its data follows. */
void hub_frame_head(uint8_t at[HUB_FRAME_HEAD], const struct hub_message *m);

/* Read one message at the beginning of len bytes. Returns the bytes that it takes, 0 if there are
 * too few, or -EPROTO. Its data points into the bytes. */
ptrdiff_t hub_frame_unpack(const uint8_t *at, size_t len, struct hub_message *m);

#endif
