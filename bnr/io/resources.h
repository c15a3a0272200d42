/* SPDX-License-Identifier: BSD-3-Clause */

/* The limits of resources that ranks on other machines get from mpiexec. */
#ifndef BNR_RESOURCES_H
#define BNR_RESOURCES_H

#include <stdint.h>

#include "bnr/wire/launch_message.h"

/* The soft limits that this process was started with, and setting them as far as the hard ones allow. */
void resources_get(uint64_t limits[LAUNCH_LIMITS]);
void resources_set(const uint64_t limits[LAUNCH_LIMITS]);

#endif
