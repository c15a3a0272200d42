/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon reaches mpiexec, tells it of its machine, and learns where other nodes are. */
#ifndef BNR_DAEMON_REACH_H
#define BNR_DAEMON_REACH_H

#include "bnr/core/bytes.h"

struct daemon;
struct launch_order;

/* Reach mpiexec in the order's time; in_fd, out_fd: see daemon_run(). Returns 0 or -errno. */
int daemon_join(struct daemon *d, const struct launch_order *order, int in_fd, int out_fd);

/* Hooks of the mesh (mesh.h): a node has a link, or says something first. arg: the daemon. */
void daemon_linked(void *arg, uint32_t node);
void daemon_contact(void *arg, uint32_t node, struct unpacking u);

/* Where other nodes are: numbers and addresses. */
void daemon_learn(struct daemon *d, struct unpacking u);

#endif
