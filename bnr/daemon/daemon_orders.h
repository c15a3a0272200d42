/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders of mpiexec, at a daemon: they come as xcasts (bnr/wire/launch_tags.h). */
#ifndef BNR_DAEMON_ORDERS_H
#define BNR_DAEMON_ORDERS_H

#include "bnr/core/bytes.h"

struct core_message;

/* A hook of the mesh (mesh.h). arg: the daemon. */
void daemon_deliver(void *arg, const struct core_message *message, struct unpacking u);

#endif
