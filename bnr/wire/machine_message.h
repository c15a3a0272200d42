/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processors of a host as bytes: what vireo-hardware tells a daemon, and a daemon mpiexec when a
 * placement depends on it. Of objects (core/place/placement.h) only the borders are told, which is all that a placement looks
 * at. Numbers are in network byte order. No I/O.
 *
 *     problem    u32 whether there is one, and its text: why the machine is not known
 *     own        u32 1: it is the host, 0: another machine that hwloc was told to describe
 *     lacks      u32, as in struct placement_machine
 *     count      u32 of hardware threads, in the machine's order; of each:
 *                u32 number as the system has it, u32 levels of which an object begins with it, and
 *                bit PLACEMENT_NODE: it is near the device that was asked for
 */
#ifndef BNR_MACHINE_MESSAGE_H
#define BNR_MACHINE_MESSAGE_H

#include "bnr/core/bytes.h"
#include "bnr/core/place/placement.h"

enum {
    MACHINE_CPUS_MAX = 1 << 16,
    MACHINE_TEXT_MAX = 512,
    MACHINE_MESSAGE_MAX = 20 + MACHINE_TEXT_MAX + 8 * MACHINE_CPUS_MAX /* bytes */
};

struct machine_told {
    char *problem;              /* in place of a machine; NULL: none */
    struct placement_cpu *cpus; /* the machine's */
    struct placement_machine machine;
    bool is_own; /* it is the host */
};

void machine_pack(struct packing *p, const struct machine_told *told);

/* Returns 0, -EPROTO, -ENOMEM. machine_fini() is right after all of them. */
int machine_unpack(struct unpacking u, struct machine_told *told);
void machine_fini(struct machine_told *told);

#endif
