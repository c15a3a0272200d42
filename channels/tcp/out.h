/* SPDX-License-Identifier: BSD-3-Clause */

/* A buffer of bytes that wait for a socket: bytes[head..tail). Zeroed, it is empty. */
#ifndef TCP_OUT_H
#define TCP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chan_data;

enum {
    OUT_LEN = 64 << 10
}; /* bytes, if it need not grow */

struct out {
    uint8_t *bytes;
    size_t room, head, tail;
};

/* Make room for len bytes more; past OUT_LEN only if it may grow. */
bool out_room(struct out *out, size_t len, bool grow);
/* Append a packet's bytes from gone on, as many as there is room for; returns them. */
size_t out_copy_rest(struct out *out, const uint8_t *header, const struct chan_data *data,
                     size_t gone);
/* Drop up to n bytes that have been written; returns how many. */
size_t out_drop(struct out *out, size_t n);
/* Give back memory that it has grown by. */
void out_trim(struct out *out);

#endif
