/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes of a job that have a processor each, and share one all the same, move apart.
 *
 * The system spreads what runs, not what waits for each other: two ranks that pass messages may stay
 * on one processor for long while another does background work, and each message then costs a switch
 * between them, or a sleep. Nothing is bound: the thread keeps the processors that it may use.
 */
#ifndef OS_APART_H
#define OS_APART_H

#include <stdbool.h>

/* Whether there is a processor for each. At first there is not, and nothing moves. */
void os_apart_allow(bool allow);

/* The calling thread shares its processor with a process that it waits for, or that waits for it.
 * Where that is so again and again, it moves to another one; ever more rarely where that is in
 * vain. Any thread; costs a look at the clock. */
void os_apart_shared(void);

#endif
