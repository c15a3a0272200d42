/* SPDX-License-Identifier: BSD-3-Clause */

/* Protocols of two. What both sides must know follows from the message's seed. */
#include "pair.h"

#include <sched.h>
#include <string.h>

#include "dice.h"

enum {
    ROUNDS = 4,
    ASIDE = 5, /* from a message's tag to one that no message of the plan has */
    PARTS = 16 /* at most, at one end; lengths are multiples of it */
};

static int type_count(const struct actor_area *area)
{
    return (int)area->len;
}

static void good(struct actor *a, size_t len)
{
    a->messages++;
    a->len += len;
}

/* ---- rounds ---- */

static int rounds_of(const struct plan_message *message)
{
    return 1 + (int)(message->seed % ROUNDS);
}

/* New bytes for the next round, in the same memory. */
static void refill(struct actor *a, const struct plan_message *message, struct actor_area *area,
                   int round)
{
    struct actor_area fresh = actor_filled(a, message, message->seed + (uint64_t)round);
    memcpy(area->bytes, fresh.bytes, area->len * (area->spread ? 2 : 1));
    actor_area_drop(&fresh);
}

void pair_rounds_send(struct actor *a, const struct plan_message *message)
{
    MPI_Request request;
    struct actor_area area = actor_filled(a, message, message->seed);
    MPI_Datatype type = actor_type(a, &area);
    bool synchronous = dice_chance(&a->dice, 50);
    ACTOR_OK(a, (synchronous ? MPI_Ssend_init : MPI_Send_init)(area.bytes, type_count(&area), type,
                                                               message->to, message->tag, a->comm,
                                                               &request));
    for (int round = 0; round < rounds_of(message); round++) {
        refill(a, message, &area, round);
        ACTOR_OK(a, MPI_Start(&request));
        ACTOR_OK(a, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    ACTOR_OK(a, MPI_Request_free(&request));
    actor_area_drop(&area);
}

void pair_rounds_recv(struct actor *a, const struct plan_message *message)
{
    MPI_Request request;
    struct actor_area area = actor_area(a, message->len, message->recv_spread);
    ACTOR_OK(a, MPI_Recv_init(area.bytes, type_count(&area), actor_type(a, &area), message->from,
                              message->tag, a->comm, &request));
    for (int round = 0; round < rounds_of(message); round++) {
        ACTOR_OK(a, MPI_Start(&request));
        ACTOR_OK(a, MPI_Wait(&request, MPI_STATUS_IGNORE));
        actor_expect(a, &area, message->len, message->seed + (uint64_t)round);
        good(a, message->len);
    }
    ACTOR_OK(a, MPI_Request_free(&request));
    actor_area_drop(&area);
}

/* ---- partitioned ---- */

/* The message as it is cut: a length that any number of parts divides. */
static struct plan_message cut(const struct plan_message *message)
{
    struct plan_message whole = *message;
    whole.len = (message->len / PARTS + 1) * PARTS;
    whole.send_spread = whole.recv_spread = false;
    return whole;
}

static int parts_of(uint64_t seed)
{
    return 1 << seed % 5;
}

void pair_part_send(struct actor *a, const struct plan_message *message)
{
    MPI_Request request;
    struct plan_message whole = cut(message);
    struct actor_area area = actor_filled(a, &whole, whole.seed);
    int parts = parts_of(message->seed >> 8);
    ACTOR_OK(a, MPI_Psend_init(area.bytes, parts, (MPI_Count)whole.len / parts, MPI_BYTE,
                               message->to, message->tag, a->comm, MPI_INFO_NULL, &request));
    for (int round = 0; round < rounds_of(message); round++) {
        refill(a, &whole, &area, round);
        ACTOR_OK(a, MPI_Start(&request));
        int first = dice_below(&a->dice, parts);
        for (int i = 0; i < parts; i++)
            ACTOR_OK(a, MPI_Pready((first + 5 * i) % parts, request));
        ACTOR_OK(a, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    ACTOR_OK(a, MPI_Request_free(&request));
    actor_area_drop(&area);
}

/* A part that has arrived is there whole. */
static void look_at_parts(struct actor *a, MPI_Request request, const struct actor_area *area,
                          int parts, uint64_t seed)
{
    for (int i = 0; i < 2 * parts; i++) {
        int flag = 0, part = dice_below(&a->dice, parts);
        ACTOR_OK(a, MPI_Parrived(request, part, &flag));
        size_t len = area->len / (size_t)parts;
        if (flag)
            actor_expect_part(a, area, (size_t)part * len, len, seed);
        else
            sched_yield();
    }
}

void pair_part_recv(struct actor *a, const struct plan_message *message)
{
    MPI_Request request;
    struct plan_message whole = cut(message);
    struct actor_area area = actor_area(a, whole.len, false);
    int parts = parts_of(message->seed >> 16);
    ACTOR_OK(a, MPI_Precv_init(area.bytes, parts, (MPI_Count)whole.len / parts, MPI_BYTE,
                               message->from, message->tag, a->comm, MPI_INFO_NULL, &request));
    for (int round = 0; round < rounds_of(message); round++) {
        uint64_t seed = whole.seed + (uint64_t)round;
        ACTOR_OK(a, MPI_Start(&request));
        look_at_parts(a, request, &area, parts, seed);
        ACTOR_OK(a, MPI_Wait(&request, MPI_STATUS_IGNORE));
        actor_expect(a, &area, whole.len, seed);
        good(a, whole.len);
    }
    ACTOR_OK(a, MPI_Request_free(&request));
    actor_area_drop(&area);
}

/* ---- cancelled ---- */

void pair_cancel_send(struct actor *a, const struct plan_message *message)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = -1;
    struct actor_area area = actor_filled(a, message, message->seed);
    bool synchronous = dice_chance(&a->dice, 50);
    ACTOR_OK(a, (synchronous ? MPI_Issend : MPI_Isend)(area.bytes, type_count(&area),
                                                       actor_type(a, &area), message->to,
                                                       message->tag, a->comm, &request));
    ACTOR_OK(a, MPI_Cancel(&request));
    ACTOR_OK(a, MPI_Wait(&request, &status));
    ACTOR_OK(a, MPI_Test_cancelled(&status, &cancelled));
    ACTOR_OK(a, MPI_Send(&cancelled, 1, MPI_INT, message->to, message->tag + ASIDE, a->comm));
    actor_area_drop(&area);
}

void pair_cancel_recv(struct actor *a, const struct plan_message *message)
{
    int cancelled = -1;
    struct actor_area area = actor_area(a, message->len, message->recv_spread);
    ACTOR_OK(a, MPI_Recv(&cancelled, 1, MPI_INT, message->from, message->tag + ASIDE, a->comm,
                         MPI_STATUS_IGNORE));
    if (!cancelled) {
        ACTOR_OK(a, MPI_Recv(area.bytes, type_count(&area), actor_type(a, &area), message->from,
                             message->tag, a->comm, MPI_STATUS_IGNORE));
        actor_expect(a, &area, message->len, message->seed);
    }
    good(a, cancelled ? 0 : message->len);
    actor_area_drop(&area);
}

/* ---- exchange ---- */

static void exchange(struct actor *a, const struct plan_message *message, int with, uint64_t mine,
                     uint64_t theirs)
{
    MPI_Request request = MPI_REQUEST_NULL;
    struct actor_area out = actor_filled(a, message, mine);
    struct actor_area in = actor_area(a, message->len, message->recv_spread);
    MPI_Datatype out_type = actor_type(a, &out), in_type = actor_type(a, &in);
    int tag = message->tag + ASIDE, count = (int)message->len;
    switch (dice_below(&a->dice, 3)) {
    case 0:
        ACTOR_OK(a, MPI_Sendrecv(out.bytes, count, out_type, with, tag, in.bytes, count, in_type,
                                 with, tag, a->comm, MPI_STATUS_IGNORE));
        actor_expect(a, &in, message->len, theirs);
        break;
    case 1:
        ACTOR_OK(a, MPI_Isendrecv(out.bytes, count, out_type, with, tag, in.bytes, count, in_type,
                                  with, tag, a->comm, &request));
        ACTOR_OK(a, MPI_Wait(&request, MPI_STATUS_IGNORE));
        actor_expect(a, &in, message->len, theirs);
        break;
    default:
        ACTOR_OK(a, MPI_Sendrecv_replace(out.bytes, count, out_type, with, tag, with, tag, a->comm,
                                         MPI_STATUS_IGNORE));
        actor_expect(a, &out, message->len, theirs);
    }
    good(a, message->len);
    actor_area_drop(&out);
    actor_area_drop(&in);
}

void pair_exchange_lead(struct actor *a, const struct plan_message *message)
{
    exchange(a, message, message->to, message->seed, message->seed + 1);
}

void pair_exchange_follow(struct actor *a, const struct plan_message *message)
{
    exchange(a, message, message->from, message->seed + 1, message->seed);
}
