/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread that goes through one script of a plan: what it has under way, and what it got. */
#ifndef TEST_SOAK_ACTOR_H
#define TEST_SOAK_ACTOR_H

#include <mpi.h>

#include "plan.h"

/* Bytes of a message in memory: one after the other, or each with a gap behind it. */
struct actor_area {
    uint8_t *bytes;
    size_t len;
    bool spread;
};

/* A receive, in the order of posting. */
struct actor_receipt {
    int source, tag; /* as asked for; MPI_ANY_SOURCE, MPI_ANY_TAG */
    struct actor_area area;
    int got_source, got_tag;
    size_t got_len;
    bool complete;
};

struct actor_pending {
    MPI_Request request;
    struct actor_receipt *receipt; /* NULL: a send */
    struct actor_area area;        /* of a send */
    bool persistent;
};

struct actor {
    const struct plan *plan;
    const struct plan_lane *lane;
    const struct plan_script *script;
    int era, phase, number; /* of the lane */
    int me;                 /* rank in the era */
    bool traced;            /* each step is told on stderr */
    MPI_Comm comm;
    MPI_Datatype spread; /* a byte with a gap behind it */
    uint64_t dice;       /* for choices that no other rank needs to know */
    struct actor_pending *pending;
    int pending_count;
    struct actor_receipt *receipts;
    int receipt_count;
    uint64_t messages, len; /* received and found good */
};

/* Run the script to its end. */
void actor_run(struct actor *actor);

/* Hold what arrived against the plan: each message of the lane to this rank has come once, in
 * order, with its envelope and its bytes. */
void actor_verify(struct actor *actor);

/* Say where in the plan something is wrong, and end the job. */
__attribute__((noreturn, format(printf, 2, 3))) void actor_fail(const struct actor *actor,
                                                                const char *format, ...);

#define ACTOR_OK(actor, call)                      \
    do {                                           \
        if ((call) != MPI_SUCCESS)                 \
            actor_fail(actor, "%s failed", #call); \
    } while (0)

/* Memory for a message; it holds what no message holds. */
struct actor_area actor_area(struct actor *actor, size_t len, bool spread);

/* The message's bytes, as they are sent. */
struct actor_area actor_filled(struct actor *actor, const struct plan_message *message,
                               uint64_t seed);

/* Overwrite the memory, and free it. */
void actor_area_drop(struct actor_area *area);

/* Fail unless the area begins with the len bytes of this seed and holds nothing else. */
void actor_expect(struct actor *actor, const struct actor_area *area, size_t len, uint64_t seed);

/* Fail unless these bytes of a message, of this seed, are in place. */
void actor_expect_part(struct actor *actor, const struct actor_area *area, size_t at, size_t len,
                       uint64_t seed);

MPI_Datatype actor_type(const struct actor *actor, const struct actor_area *area);

/* Remember what was started. */
void actor_started(struct actor *actor, struct actor_pending pending);

/* Pending operation at is complete, with this status. */
void actor_completed(struct actor *actor, int at, const MPI_Status *status);

/* Note what a receive has got. */
void actor_received(struct actor *actor, struct actor_receipt *receipt, const MPI_Status *status);

#endif
