/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rules by which two processes let an idle connection go, without I/O.
 *
 * Either of the two may begin: the one that has too many connections says ASK, and sends no message
 * any more. The other one says YES, and then sends nothing at all; or NO, if anything goes on in
 * the connection. The first one answers YES by END, and is as before the first contact; or by NO,
 * if something goes on by now: a message is to be sent, or one has come before the answer and is
 * not received. When END comes, the other one is as before the first contact, too.
 *
 * So all that either has sent has been received when a link ends, nothing is under way, and a
 * message that has waited meanwhile goes over the same link or over the next one. If both say ASK
 * at once, that of the higher rank counts, and the other is void.
 */
#ifndef MPID_LEAVE_H
#define MPID_LEAVE_H

#include <stdbool.h>

#include "mpid/conn/vc.h"

/* The numbers on the wire. */
enum leave_step {
    LEAVE_NONE, /* never sent */
    LEAVE_ASK,
    LEAVE_YES,
    LEAVE_NO,
    LEAVE_END,
    LEAVE_STEPS
};

/* The answer to a step of the peer: say goes out first, then event happens. */
struct leave_turn {
    enum leave_step say; /* LEAVE_NONE: nothing */
    enum vc_event event; /* VC_EVENTS: none */
};

/* The peer has said step. is_idle: nothing goes on in the connection, and nothing is to be sent;
 * outranks: this process does the peer. Returns false where the peer breaks the rules. */
bool leave_heard(enum vc_state state, enum leave_step step, bool is_idle, bool outranks,
                 struct leave_turn *turn);
/* The same where what turn says cannot be sent just now: what is done instead. */
void leave_put_off(enum vc_state state, struct leave_turn *turn);

#endif
