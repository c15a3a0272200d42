/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Point-to-point among processes that are all played by this one: a message is matched as MPI has
 * it, and delivered when the test says so. Until then a send may read its buffer, or have copied
 * it; which of the two is drawn by lot, as is the message that comes next. The processes of a
 * communicator are numbered by rank, or, where it has a group, from the group's first on.
 */
#ifndef FAKE_P2P_H
#define FAKE_P2P_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"

/* A number from 0 to below - 1. */
extern uint32_t (*fake_p2p_draw)(uint32_t below);

/* What errh_is_fatal() says. */
extern bool fake_p2p_is_fatal;
/* The error that the next receive to be delivered ends in, once; nothing arrives. */
extern enum mpid_error fake_p2p_error;

/* Deliver one message. Returns whether there was one with its receive. */
bool fake_p2p_deliver(void);
/* Whether no send or receive is left. */
bool fake_p2p_is_empty(void);

#endif
