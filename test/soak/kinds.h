/* SPDX-License-Identifier: BSD-3-Clause */

/* Every kind of operation that a plan may hold, one row each: its name, what the planner must know
 * of it, and the function that does it. To add a kind is to add a row. */
#ifndef TEST_SOAK_KINDS_H
#define TEST_SOAK_KINDS_H

#include "actor.h"

enum {
    SEND_STARTS = 1, /* returns whatever the receiver does */
    SEND_READY = 2,  /* the receive is posted already */
    SEND_PERSISTENT = 4,
    SEND_PAIRED = 8, /* sender and receiver follow a protocol of their own: recv is not used */
    RECV_STARTS = 1
};

struct send_row {
    const char *name;
    unsigned flags;
    int (*now)(const void *, int, MPI_Datatype, int, int, MPI_Comm);                  /* or */
    int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *); /* or */
    void (*send)(struct actor *, const struct plan_message *);                        /* with */
    void (*recv)(struct actor *, const struct plan_message *);
};

struct recv_row {
    const char *name;
    unsigned flags;
    void (*recv)(struct actor *, struct actor_receipt *);
};

/* Complete these requests in some order or other, each through actor_completed(). */
struct finish_row {
    const char *name;
    void (*finish)(struct actor *);
};

/* Be away from MPI, or do something to the process. */
struct pause_row {
    const char *name;
    void (*pause)(int after_ms, int ms);
};

extern const struct send_row send_rows[];
extern const struct recv_row recv_rows[];
extern const struct finish_row finish_rows[];
extern const struct pause_row pause_rows[];
extern const int send_row_count, recv_row_count, finish_row_count, pause_row_count;

#endif
