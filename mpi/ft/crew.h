/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Crews: the members of a communicator as fault tolerance sees them, both groups of an
 * intercommunicator in one order that all members share; who of them is gone; and the notices that
 * they send each other. A crew is made when it is first needed, and may outlive its communicator, as
 * others may still ask about an agreement.
 *
 * crew_enter() takes the lock that guards all crews. It comes before the device's lock, and before that
 * of the list of communicators. What crew_later() is given runs once the lock is given back.
 */
#ifndef MPI_CREW_H
#define MPI_CREW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/comm/group.h"

struct accord;
struct comm;
struct deed;

struct crew {
    struct crew *next;
    uint32_t context;
    struct comm *comm;   /* NULL: it is freed */
    struct group *group[2]; /* in their common order; the second may be NULL */
    uint32_t rank, size; /* over both */
    uint64_t *failed;    /* bits: members that have failed */
    uint64_t *gone;      /* and those that have ended in any way */
    uint64_t *told;      /* revoke.c's: the members that have been told */
    uint32_t seen;       /* of the device's list of processes that have failed */
    bool revoked;
    bool leaves;         /* this process is in MPI_Finalize, ... */
    bool left;           /* ... and has heard that a member has needed the others no more */
    uint32_t begun, done;    /* accord.c's: agreements that this process has begun, and those that are over */
    struct accord *accords;  /* the engines, the oldest first */
    struct deed *deeds;      /* agreements of this process that are not complete, in their order */
};

/* What a notice is about: the upper byte of its word. The rest is the kind's. */
enum crew_kind {
    CREW_REVOKE = 1,
    CREW_ACCORD = 2
};
enum { CREW_KIND_SHIFT = 56 };

/* What the kinds do; locked. */
struct crew_ops {
    void (*arrived)(struct crew *crew, uint32_t from, const struct mpid_notice *notice);
    void (*lost)(struct crew *crew); /* some member is gone that was not before, or crew->left is new */
    void (*leave)(struct crew *crew); /* crew->leaves is set; NULL: that is nothing to this kind */
    /* The member that this process has to wait for before it leaves the others; its own rank: none. Where leave is. */
    uint32_t (*awaited)(const struct crew *crew);
    void (*free)(struct crew *crew); /* NULL: nothing is to be given back */
    bool (*is_needed)(const struct crew *crew); /* though its communicator is freed; NULL: never */
};
/* When the library is loaded. */
void crew_add_kind(enum crew_kind kind, const struct crew_ops *ops);

void crew_enter(void);
void crew_leave(void);

/* A thing to be done with no lock held, once. It belongs to its run function then. */
struct crew_task {
    struct crew_task *next;
    void (*run)(struct crew_task *task);
};
void crew_later(struct crew_task *task);

/* The crew of a communicator, made if need be; NULL: no memory. */
struct crew *crew_of(struct comm *comm);
/* The rank of a process, or -1. */
int64_t crew_rank(const struct crew *crew, const struct process *process);
/* Learn of more members that are gone. */
void crew_update(struct crew *crew);
/* Send a notice to a member. */
void crew_send(struct crew *crew, uint32_t to, enum crew_kind kind, uint64_t word, const void *data,
               size_t len);

static inline uint32_t crew_words(const struct crew *crew)
{
    return (crew->size + 63) / 64;
}

static inline bool crew_bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static inline void crew_set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

#endif
