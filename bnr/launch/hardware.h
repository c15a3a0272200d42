/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processors of this host that this process may use, as hwloc tells them. hwloc's library is
 * loaded at the first call. Processors that the control group or the affinity of this process
 * forbids are left out. With HWLOC_SYNTHETIC or HWLOC_XMLFILE in the environment hwloc describes
 * another machine; then nothing can be bound.
 */
#ifndef BNR_HARDWARE_H
#define BNR_HARDWARE_H

#include <stdbool.h>
#include <stdlib.h>

#include "bnr/core/place/placement.h"

struct hardware {
    struct placement_cpu *cpus;
    struct placement_machine machine; /* of these */
    bool is_own;                      /* it is this host */
};

/* Returns 0, or -errno with a sentence in why. device: NULL, or the device near which ranks run:
 * pci:BUSID, a name as the system has it (eth0), or gpu:N, ib:N, hfi:N or en:N, where N counts from
 * 0; the colon may be left out, and 0 too. */
int hardware_read(struct hardware *h, const char *device, char why[512]);

static inline void hardware_fini(struct hardware *h)
{
    free(h->cpus);
    *h = (struct hardware){0};
}

#endif
