/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Telling mpiexec what this process waits for, when it asks (BNR_Set_asked()).
 *
 * Nothing is kept for it while nobody asks. Then every thread that waits comes by hang_tell()
 * within one sleep, and says what it waits for and since when, and in which MPI function, which it
 * finds on its own stack. A process that has one thread answers at once; one that may
 * have several gives the others some time to come by. Where no thread waits,
 * hang_poll() answers for the one that makes progress.
 *
 * The answer's form is that of diagnose/hang_text.h. Guarded by the device's lock.
 */
#ifndef MPID_HANG_H
#define MPID_HANG_H

#include "include/mpid.h"

struct wait;

/* Say what the calling thread waits for; unlocked. tell may be NULL. */
void hang_tell(const struct wait *wait, mpid_tell_fn tell, void *arg);

/* The calling thread makes progress; locked. */
void hang_poll(void);
/* The same if it does not wait, but looks. */
void hang_tell_poll(void);

/* The connections that are not closed yet. */
void hang_tell_closes(void *arg, struct mpid_wait_report *report);

#endif
