/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of a daemon other than orders: streams, answers of the engines, signals of the system. */
#ifndef BNR_DAEMON_EVENTS_H
#define BNR_DAEMON_EVENTS_H

#include <stdint.h>

struct core_message;
struct daemon;

/* Make the words, the answers and the signals; the mesh is there. Returns 0 or -errno. */
int daemon_events_begin(struct daemon *d);

/* Hooks of the mesh (mesh.h). arg: the daemon. */
void daemon_stream(void *arg, const struct core_message *message);
void daemon_answer(void *arg, const struct core_message *message);
void daemon_lost(void *arg, uint32_t node);
void daemon_ranks_ended(void *arg, const struct core_message *message);
void daemon_moved(void *arg);
void daemon_look(void *arg);

#endif
