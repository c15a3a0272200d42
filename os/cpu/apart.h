/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes of a job that have a processor each, and share one all the same, move apart; and a
 * thread that works beside another one leaves its processor, if another is spare.
 *
 * The system spreads running threads, not those that wait for each other: two ranks that pass
 * messages may stay on one processor for long while another does background work, and each message
 * then costs a switch between them, or a sleep. Nothing is bound: the thread keeps the processors
 * that it may use.
 */
#ifndef OS_APART_H
#define OS_APART_H

/* So many processes of the job share so many processors. Before this is said nothing moves. */
void os_apart_allow(int ranks, int cpus);

/* The calling thread shares its processor with a process that it waits for, or that waits for it.
 * If that repeats, it moves to another one; ever more rarely if the moves are in vain. Any thread;
 * costs a look at the clock. */
void os_apart_shared(void);

/* The calling thread begins to work beside the one that has run on this processor and goes on there:
 * the system may wake it on the same one. Then it moves to another, unless the processes of the job
 * need them all. */
void os_apart_leave(int cpu);

#endif
