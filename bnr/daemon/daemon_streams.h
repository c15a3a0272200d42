/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes at a daemon's door, and the streams of its ranks: their messages go to mpiexec's hub of streams. */
#ifndef BNR_DAEMON_STREAMS_H
#define BNR_DAEMON_STREAMS_H

struct daemon;
struct hub_message;

/* Make both parts. The mesh is there. Returns 0 or -ENOMEM. */
int daemon_streams_begin(struct daemon *d);

/* Pass on a message of the ranks' pipes. arg: the daemon. */
void daemon_pipes_say(void *arg, const struct hub_message *m);

void daemon_open_door(struct daemon *d);

#endif
