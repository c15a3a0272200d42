/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory for the processes of one host whose launcher gives none: the first of them makes it, and hands its
 * descriptor to the others over an abstract socket, whose name only processes with the job's secret can tell
 * beforehand. Both sides check the other's user. */
#ifndef BNR_HOST_MEMORY_H
#define BNR_HOST_MEMORY_H

#include <stdint.h>

/* Collective over the count processes of this host, index 0 to count - 1. size: bytes of the memory. Waits for the
 * others limit_ms at most. Returns a close-on-exec descriptor, or -errno with the failed step in *step. */
int host_memory_share(const unsigned char secret[16], int host, int index, int count, uint64_t size, int limit_ms,
                     const char **step);

#endif
