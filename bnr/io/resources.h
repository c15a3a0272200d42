/* SPDX-License-Identifier: BSD-3-Clause */

/* The limits of resources that ranks on other machines get from mpiexec. */
#ifndef BNR_RESOURCES_H
#define BNR_RESOURCES_H

#include <stdint.h>

enum {
    RESOURCES_COUNT = 8 /* of the limits, in the order in which daemons are told of them (LAUNCH_LIMITS) */
};

/* The soft limits that this process was started with, and setting them as far as the hard ones allow. */
void resources_get(uint64_t limits[RESOURCES_COUNT]);
void resources_set(const uint64_t limits[RESOURCES_COUNT]);

/* Take over mpiexec's limits, and have own ones as high as allowed. Returns 0, or -errno with a sentence in why: this
 * process may not have as many files as a daemon with so many ranks needs; each: of a rank. */
int resources_take(const uint64_t limits[RESOURCES_COUNT], uint32_t ranks, int each, char why[512]);

#endif
