/* SPDX-License-Identifier: BSD-3-Clause */

/* The adapter of a process: the nearest of those that a provider offers. */
#ifndef OFI_NEAR_H
#define OFI_NEAR_H

#include <rdma/fabric.h>
#include <sched.h>

/* The offer in found that a process on these processors takes, among those of the first one's provider,
 * fabric, and format of addresses. The nearest adapter comes first, by the kernel's distance between its
 * memory node and the nearest one of the processors. Among equally near ones, index says which, so that
 * the processes of a host share them. Where no place is known, the provider's order holds; an adapter
 * whose line is down comes last. root is "/sys".
 *
 * Blocks while it reads files of the kernel; it reads none for an adapter that is not on a PCI bus. */
struct fi_info *ofi_near_choose(struct fi_info *found, const char *root, const cpu_set_t *cpus,
                                unsigned index);

#endif
