/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The last bytes of a stream, by their 64-bit offsets: bytes [tail, head) are kept. The memory
 * grows with the kept bytes, and shrinks when there are none.
 */
#ifndef BNR_BYTE_RING_H
#define BNR_BYTE_RING_H

#include <stddef.h>
#include <stdint.h>

struct byte_ring {
    uint8_t *at;
    size_t room; /* a power of two, or 0 */
    uint64_t head, tail;
};

void byte_ring_fini(struct byte_ring *r);

/* Append. Returns 0 or -ENOMEM, and then nothing has changed. */
int byte_ring_put(struct byte_ring *r, const void *data, size_t len);

/* Forget all bytes below an offset, which is at most head. */
void byte_ring_drop(struct byte_ring *r, uint64_t below);

/* Copy len bytes from an offset on; all of them are kept. */
void byte_ring_copy(const struct byte_ring *r, uint64_t from, uint8_t *to, size_t len);

#endif
