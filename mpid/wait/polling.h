/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a poll does that has found nothing: a call such as MPI_Test or MPI_Iprobe, which a program
 * makes in a loop while it waits. Such a poll is a step of a wait, and lets others run that share
 * the processor: the sender of what the program looks for may be one of them.
 *
 * Yields show whether others share the processor. While none lets another run, yields are rare, and
 * a poll costs a count. While they do, each vain poll yields; and when all sharers of the processor
 * seem to poll, a process that has polled in vain for a while sleeps, shortly, until something
 * comes. A program may also work between its polls: it then keeps the processor for a part of the
 * time that others had it, or it would not get on beside processes that compute, and it does not
 * sleep.
 *
 * A kernel that schedules each session or control group by itself (sched_autogroup_enabled, Slurm's
 * cgroups) lets no other rank run at a yield, if each is in one of its own, as under Hydra. Such yields
 * are deaf: others have the processor for long, but never because of a yield. Then a process that
 * polls in vain sleeps at once.
 */
#ifndef MPID_POLLING_H
#define MPID_POLLING_H

#include <stdbool.h>
#include <stdint.h>

/* What the thread has had of its processor so far. */
struct polling_use {
    uint64_t ran_ns;
    int64_t slept, preempted; /* how often */
};

/* The device's lock guards it. */
struct polling {
    int32_t left;       /* vain polls until one is a step */
    bool never;         /* no poll yields */
    uint32_t yields;    /* since something came */
    uint32_t handed;    /* of those, so many let another run */
    uint32_t unhanded;  /* the last so many of all did not */
    uint32_t tight;     /* the last so many steps found that all poll, this process too */
    uint64_t looked_ns; /* when the last step was over */
    uint64_t next_ns;   /* no yield before */
    uint64_t pause_ns;  /* from one yield to the next while others do not run; 0: they do */
    struct polling_use use; /* at the last vain yield */
    uint64_t used_ns;   /* when that was */
    uint64_t deaf_ns;   /* until then yields are taken for deaf; ... */
    uint64_t deaf_for_ns; /* ... it was for so long */
};

extern struct polling polling;

/* ranks share cpus processors. */
void polling_init(int ranks, int cpus);

/* Whether to yield at this step. */
bool polling_yields(struct polling *p, uint64_t now_ns);
/* A yield took so long. Returns whether to sleep besides. */
bool polling_yielded(struct polling *p, uint64_t now_ns, uint64_t took_ns);

/* The use after a yield that has let nobody run, before polling_yielded(). */
void polling_compare(struct polling *p, uint64_t now_ns, const struct polling_use *use);

/* Something came after vain polls; locked. */
void polling_found(void);
/* A poll was in vain, and is a step; unlocked. */
void polling_step(void);

/* A poll has looked, and found that something moved or nothing; locked. Returns whether it is a
 * step, unless its caller knows better. */
static inline bool polling_looked(bool moved)
{
    if (!moved)
        return __builtin_expect(--polling.left <= 0, 0);
    if (__builtin_expect(polling.yields != 0, 0))
        polling_found();
    return false;
}

#endif
