/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers that count once; see replay.h. */
#include "os/replay.h"

#include <errno.h>

int os_replay_take(struct os_replay *r, uint64_t number)
{
    if (!number)
        return -EPROTO;
    if (number > r->last) {
        uint64_t step = number - r->last;
        r->bits = (step < 64 ? r->bits << step : 0) | 1;
        r->last = number;
        return 0;
    }
    uint64_t age = r->last - number;
    if (age >= 64 || (r->bits >> age & 1))
        return -EPROTO;
    r->bits |= (uint64_t)1 << age;
    return 0;
}
