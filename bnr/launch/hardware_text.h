/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hardware of a host as text, from the program vireo-hardware to the daemon. The daemon is one
 * file without libraries, since that starts faster, so it cannot load hwloc itself.
 */
#ifndef BNR_HARDWARE_TEXT_H
#define BNR_HARDWARE_TEXT_H

#include <stdio.h>

#include "bnr/launch/hardware.h"

/* Name of the program; it lies beside vireod. Its argument: as device of hardware_read(). */
#define HARDWARE_PROGRAM "vireo-hardware"

/* Write what hardware_read() returned (rc, why) or, where that is 0, what it has read. */
void hardware_put(const struct hardware *h, int rc, const char *why, FILE *to);

/* Read that again. Returns as hardware_read() did, or -EPROTO. */
int hardware_get(struct hardware *h, FILE *from, char why[512]);

#endif
