/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that processes of one host share: what the device's files know of it. See include/mpid.h.
 */
#ifndef MPID_REGION_H
#define MPID_REGION_H

#include <stdint.h>

#include "include/channel.h"

enum { REGION_HEAD = 128 }; /* bytes before what the layer above uses */

/* The memory of a rank that its channels use. Returns as struct chan_env's memory() does. */
int region_channel_memory(const struct chan_gid *gid, uint32_t rank, int *fd, uint64_t *offset,
                          uint64_t *size);

/* This process is a child that was forked. */
void region_orphan(void);

#endif
