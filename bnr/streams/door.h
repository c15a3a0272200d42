/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The door of a job on this host: a socket by which processes of the job's user get what they want,
 * a report (bnr/diagnose/ask.h), the list of the job's processes, or streams. mpiexec has one, and so has each daemon.
 *
 * A process that wants streams speaks with the hub in messages (bnr/wire/hub_frame.h): it is a
 * party. Where it sends a descriptor along, the door serves that as the end of a stream, so that
 * bytes flow though the process does something else, and what a dead process has written last is
 * not lost.
 *
 * Bytes from processes are checked; a process that breaks the rules is cut off.
 */
#ifndef BNR_DOOR_H
#define BNR_DOOR_H

#include <stdint.h>
#include <uv.h>

#include "bnr/core/stream/hub.h"
#include "bnr/host/door_address.h"

struct door;

struct door_hooks {
    /* A text is wished for (enum door_wish): fd is taken over, and answered; NULL: not at this
     * door. */
    void (*text)(void *arg, int wish, int fd);
    /* To the hub; m is valid during the call. */
    void (*say)(void *arg, uint64_t party, const struct hub_message *m);
    void (*gone)(void *arg, uint64_t party);
    void *arg;
};

/* Listen. Parties are numbered from HUB_TRUSTED on. NULL: this name is taken, or there is no
 * memory; the job goes on without. */
struct door *door_open(uv_loop_t *loop, enum door_kind kind, const struct door_hooks *hooks);

/* The hub sends a message to a party. */
void door_hear(struct door *d, uint64_t party, const struct hub_message *m);
/* It has broken the rules. */
void door_cut(struct door *d, uint64_t party);

/* Close everything; the loop must run once more. Accepts NULL. */
void door_close(struct door *d);

#endif
