/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A turn of progress: a look at the channels that are worth it, and, not in every turn, the work of
 * the rooms above. The device's lock guards it.
 */
#ifndef MPID_PROGRESS_H
#define MPID_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpid/ground/device.h"

struct wait;

/* What the rooms above do in turns and waits; start/rooms.c sets it before all else. */
struct progress_above {
    bool (*drain)(void);   /* some VCs have something to hand over; returns whether any of it moved */
    bool (*connect)(void); /* some wait for a card, or connect; returns whether anything happened */
    /* Until when a thread may sleep at most: as the two above need it, and MPI_Finalize. */
    uint64_t (*until_ns)(uint64_t now_ns, bool hears, uint64_t next_ns);
    void (*ended)(void);   /* device.ending is set */
    void (*judge)(void);   /* some VCs are not judged yet */
    void (*part)(void);    /* device.parting is set */
    void (*vanish)(void);  /* device.vanish_ns is set */
    void (*let_go)(void);  /* there are many links, and some may be idle */
    void (*say)(void);     /* mpiexec asks: this thread makes progress, ... */
    void (*say_looking)(void);                                             /* ... or looks, ... */
    void (*say_waiting)(const struct wait *wait, mpid_tell_fn tell, void *arg); /* ... or waits */
    mpid_tell_fn say_request; /* of a wait for a request */
};
extern const struct progress_above *progress_above;

/* One turn, locked. */
bool progress_turn(void);
/* Hear from the process manager, now and then. */
void progress_hear(void);
/* Look at every channel in the next turn. */
void progress_look(void);

/* The caller looks, and may do so seldom: without asking more often than in a wait, mpiexec's
 * question would not be heard in time. Locked. */
enum { LOOKS_PERIOD = 4 };
void progress_listen(void);
static inline void progress_looked(void)
{
    if (__builtin_expect(!(++device.looks % LOOKS_PERIOD), 0) || device_is_asked())
        progress_listen();
}

#endif
