/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two threads that take turns step by step, in every order that changes from one to the other at
 * most so many times: for code that is right only if no order of its atomic operations is wrong.
 *
 * A step ends before each atomic operation of sources that are compiled with steps_atomics.h.
 * Each operation is seen by the other thread at once: what processors put in another order is not
 * found so. A thread that has nothing to do until the other has gone on calls steps_idle().
 */
#ifndef TEST_STEPS_H
#define TEST_STEPS_H

struct steps {
    void (*begin)(void);     /* before each order, and ... */
    void (*thread[2])(void); /* ... then both of these, and ... */
    void (*end)(void);       /* ... after it */
    int changes;             /* at most, besides those at steps_idle() */
};

/* Run all orders. Returns how many there are; or -1 where steps_fail() was called in one of them,
 * which is then printed. */
long steps_run(const struct steps *steps);

/* The order is a bad one; does not return in a thread. */
void steps_fail(const char *why);

/* Called in a thread: a step ends. Elsewhere nothing happens. */
void steps_point(void);
/* The other thread must go on first. Fails where it is idle too, or has ended, for long. */
void steps_idle(void);

#endif
