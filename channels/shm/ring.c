/* SPDX-License-Identifier: BSD-3-Clause */

/* The producer's slow side of a ring; see ring.h. */
#include "channels/shm/ring.h"

#include <errno.h>

int shm_ring_refresh(struct shm_ring_out *out, const struct shm_ring_credit *credit)
{
    uint32_t received = atomic_load_explicit(&credit->received, memory_order_acquire);
    /* Not behind its last word, and not ahead of the sent packets. */
    uint32_t flying = out->limit - SHM_RING_SLOTS;
    if (received - flying > out->sent - flying)
        return -EPROTO;
    out->limit = received + SHM_RING_SLOTS;
    return 0;
}
