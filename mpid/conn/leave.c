/* SPDX-License-Identifier: BSD-3-Clause */

/* The rules by which two processes let an idle connection go; see leave.h. */
#include "mpid/conn/leave.h"

static bool asked(enum vc_state state, bool is_idle, bool outranks, struct leave_turn *turn)
{
    if (state == VC_LEAVING && outranks)
        return true; /* our own question counts */
    if (state != VC_OPEN && state != VC_LEAVING) {
        turn->say = LEAVE_NO;
        return state == VC_LOCAL_CLOSE; /* our CLOSE has crossed it */
    }
    turn->say = is_idle ? LEAVE_YES : LEAVE_NO;
    if (is_idle)
        turn->event = VC_YIELD;
    else if (state == VC_LEAVING)
        turn->event = VC_STAY;
    return true;
}

bool leave_heard(enum vc_state state, enum leave_step step, bool is_idle, bool outranks,
                 struct leave_turn *turn)
{
    *turn = (struct leave_turn){LEAVE_NONE, VC_EVENTS};
    switch (step) {
    case LEAVE_ASK: return asked(state, is_idle, outranks, turn);
    case LEAVE_YES:
        turn->say = is_idle ? LEAVE_END : LEAVE_NO;
        turn->event = is_idle ? VC_FORGET : VC_STAY;
        return state == VC_LEAVING;
    case LEAVE_NO:
        if (state == VC_LEAVING || state == VC_LEFT)
            turn->event = VC_STAY; /* otherwise it is void: the peer's CLOSE came first */
        return true;
    case LEAVE_END: turn->event = VC_FORGET; return state == VC_LEFT;
    default: return false;
    }
}

void leave_put_off(enum vc_state state, struct leave_turn *turn)
{
    turn->say = LEAVE_NO;
    turn->event = state == VC_LEAVING ? VC_STAY : VC_EVENTS;
}
