/* SPDX-License-Identifier: BSD-3-Clause */

/* The device's connections, in tests without a device. */
#ifndef TEST_MPI_UNIT_FAKE_VC_H
#define TEST_MPI_UNIT_FAKE_VC_H

#include <stdint.h>

/* How often the connection to a rank is held. */
int fake_vc_refs(uint32_t rank);

#endif
