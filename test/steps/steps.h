/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two or three threads that take turns step by step, in every order that changes from one to another at
 * most so many times: for code that is right only if no order of its atomic operations is wrong.
 *
 * A step ends before each atomic operation of sources that are compiled with steps_atomics.h.
 * A thread that has nothing to do until another has gone on calls steps_idle(): the next one's turn comes.
 *
 * Atomic stores may be late: the thread goes on, its later stores wait behind the late one, and no other thread sees
 * any of them, until a full fence, an atomic read-modify-write, a heavy fence of any thread, a call of steps_idle()
 * or the thread's end. A load of memory_order_seq_cst waits for stores of that order, and those before them. So a
 * store that may pass a later load, on any processor that we know, is found to do so. Plain stores are seen at once;
 * a load that passes an earlier load, and stores that pass each other, are not found.
 */
#ifndef TEST_STEPS_H
#define TEST_STEPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { STEPS_THREADS = 3 };

struct steps {
    void (*begin)(void);                 /* before each order, and ... */
    void (*thread[STEPS_THREADS])(void); /* ... then all of these, the last of which may be NULL, and ... */
    void (*end)(void);                   /* ... after it */
    int changes;             /* at most, besides those at steps_idle() */
    int delays;              /* stores that are late, at most */
};

/* Run all orders. Returns how many there are; or -1 where steps_fail() was called in one of them,
 * which is then printed. */
long steps_run(const struct steps *steps);

/* The order is a bad one; does not return in a thread. */
void steps_fail(const char *why);

/* The number of the calling thread; -1 elsewhere. */
int steps_self(void);

/* Called in a thread: a step ends. Elsewhere nothing happens. */
void steps_point(void);
/* Memory as this thread sees it. */
void steps_load(const volatile void *from, void *to, size_t len);
void steps_load_total(void); /* before one of memory_order_seq_cst */
void steps_store(volatile void *to, const void *from, size_t len, memory_order order);
/* All late stores of this thread, or of all, are seen from now on. */
void steps_fence(void);
void steps_heavy_fence(void);
/* Whether a kernel is played that has no heavy fence: it is one of its caller alone. */
extern bool steps_light;
int steps_register(void);
/* Another thread must go on first. Fails where all others are idle too, or have ended, for long. */
void steps_idle(void);

#endif
