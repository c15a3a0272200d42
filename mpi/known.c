/* SPDX-License-Identifier: BSD-3-Clause */

/* A vector clock, for mpiexec --check; see known.h. */
#include "mpi/known.h"

#include <stddef.h>

#include "os/lock.h"

bool known_is_kept;

static int me;
static struct known now;
static struct os_lock lock = OS_LOCK_INIT; /* guards now */
static void (*_Atomic learn_any)(void);

void known_begin(int rank)
{
    me = rank;
    known_is_kept = true;
}

int known_rank(void)
{
    return me;
}

static unsigned slot_of(int rank)
{
    return (unsigned)rank % KNOWN_SLOTS;
}

uint32_t known_step(void)
{
    os_lock_slow(&lock);
    uint32_t step = ++now.step[slot_of(me)];
    os_unlock_slow(&lock);
    return step;
}

struct known known_now(void)
{
    os_lock_slow(&lock);
    struct known copy = now;
    os_unlock_slow(&lock);
    return copy;
}

void known_join(struct known *to, const struct known *from)
{
    for (int i = 0; i < KNOWN_SLOTS; i++)
        if (to->step[i] < from->step[i])
            to->step[i] = from->step[i];
}

void known_learn(const struct known *theirs)
{
    os_lock_slow(&lock);
    known_join(&now, theirs);
    os_unlock_slow(&lock);
}

bool known_says(const struct known *known, int rank, uint32_t step)
{
    return known->step[slot_of(rank)] >= step;
}

void known_any(void)
{
    void (*learn)(void) = learn_any;
    if (learn)
        learn();
}

void known_on_any(void (*learn)(void))
{
    learn_any = learn;
}
