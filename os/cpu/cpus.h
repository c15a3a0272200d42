/* SPDX-License-Identifier: BSD-3-Clause */

/* The number of processors that this process may use, and the asymmetric memory fence. */
#ifndef OS_CPUS_H
#define OS_CPUS_H

/* Return how many processors this process can use: its affinity mask, limited by the quota of its
 * control group (rounded up). At least 1. */
int os_cpus_usable(void);

/* Whether the kernel refuses to tell the affinity mask of this process: 0, or -errno. hwloc asks for it again and again
 * then, and never ends. */
int os_affinity_refused(void);

/* Let os_heavy_fence() in any process order our plain stores and loads. Returns 0, or -errno where
 * the kernel has no such call. */
int os_heavy_fence_register(void);
/* Order our stores before, and loads after, against every registered process. */
void os_heavy_fence(void);

#endif
