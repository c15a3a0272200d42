/* SPDX-License-Identifier: BSD-3-Clause */

/* Kinds in which sender and receiver follow a protocol, and are both done when it returns. The
 * receiver checks what it got at once. */
#ifndef TEST_SOAK_PAIR_H
#define TEST_SOAK_PAIR_H

#include "actor.h"

/* Persistent requests, started several times. */
void pair_rounds_send(struct actor *actor, const struct plan_message *message);
void pair_rounds_recv(struct actor *actor, const struct plan_message *message);

/* Partitioned communication, cut in different ways at the two ends, in several rounds. */
void pair_part_send(struct actor *actor, const struct plan_message *message);
void pair_part_recv(struct actor *actor, const struct plan_message *message);

/* A send that is taken back; where it is too late for that, the message is received. */
void pair_cancel_send(struct actor *actor, const struct plan_message *message);
void pair_cancel_recv(struct actor *actor, const struct plan_message *message);

/* Both send and receive in one call. */
void pair_exchange_lead(struct actor *actor, const struct plan_message *message);
void pair_exchange_follow(struct actor *actor, const struct plan_message *message);

#endif
