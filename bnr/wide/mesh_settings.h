/* SPDX-License-Identifier: BSD-3-Clause */

/* What a node needs to know to be one among others (mesh.h): its number, its job, and how messages spread. */
#ifndef BNR_MESH_SETTINGS_H
#define BNR_MESH_SETTINGS_H

#include <stdint.h>

#include "bnr/core/tree/xcast.h"

struct mesh_settings {
    uint32_t self, count, radix;
    int64_t liveness_ns;
    struct xcast_choice choice; /* the root's counts */
    uint8_t job[16], secret[16];
};

#endif
