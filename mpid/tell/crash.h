/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A process that crashes in a call of MPI says in which, and from which line of the program.
 *
 * Signals that mean a crash get a handler where the program has none. It has a copy of the process
 * look at the stack and write a line to stderr, for the crashed thread may hold any lock; the
 * process waits for the copy for two seconds at most, and then ends by the signal as it would
 * without. Setting crash_lines turns that off.
 */
#ifndef MPID_CRASH_H
#define MPID_CRASH_H

void crash_init(void);
/* Take the handlers back; those that the program has set meanwhile stay. */
void crash_fini(void);

#endif
