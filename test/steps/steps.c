/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads in every order, and stores that are late; see steps.h. */
#include "test/steps/steps.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    STEPS_MAX = 4096, /* of all: by then they wait for ever */
    LATE_MAX = 64     /* stores of a thread that wait */
};

/* Kinds of points with two ways to go on: the turn changes or not, to the next thread or, where it changes anyhow, to
 * the one behind that; a store is late or not. */
enum { TURN, NEXT, DELAY, KINDS };

static const struct steps *now;
static sem_t turn[STEPS_THREADS], done;
static int thread_count;
static bool ended[STEPS_THREADS];
static __thread int self = -1;

/* At each such point: which way it is, and of which kind. */
static bool changes[STEPS_MAX];
static unsigned char kinds[STEPS_MAX];
static int step_count, point_count, planned, change_count[KINDS];
static const char *failure;

/* Stores of each thread that are late, in order. */
static struct late {
    volatile void *at;
    unsigned char bytes[8];
    size_t len;
    bool total; /* of memory_order_seq_cst */
} late[STEPS_THREADS][LATE_MAX];
static int late_count[STEPS_THREADS];
bool steps_light;

int steps_self(void)
{
    return self;
}

/* ---- late stores ---- */

static void arrive(int thread, int count)
{
    for (int i = 0; i < count; i++) {
        struct late *l = &late[thread][i];
        switch (l->len) {
        case 1: __atomic_store_n((volatile uint8_t *)l->at, *l->bytes, __ATOMIC_SEQ_CST); break;
        case 2: __atomic_store((volatile uint16_t *)l->at, (uint16_t *)(void *)l->bytes, __ATOMIC_SEQ_CST); break;
        case 4: __atomic_store((volatile uint32_t *)l->at, (uint32_t *)(void *)l->bytes, __ATOMIC_SEQ_CST); break;
        default: __atomic_store((volatile uint64_t *)l->at, (uint64_t *)(void *)l->bytes, __ATOMIC_SEQ_CST); break;
        }
    }
    late_count[thread] -= count;
    memmove(late[thread], late[thread] + count, (size_t)late_count[thread] * sizeof(late[thread][0]));
}

void steps_fence(void)
{
    if (self >= 0)
        arrive(self, late_count[self]);
}

void steps_heavy_fence(void)
{
    steps_point();
    steps_fence();
    for (int i = 0; !steps_light && self >= 0 && i < thread_count; i++)
        arrive(i, late_count[i]);
}

int steps_register(void)
{
    return steps_light ? -ENOSYS : 0;
}

/* Stores of that order, and those before them. */
void steps_load_total(void)
{
    int count = self < 0 ? 0 : late_count[self];
    while (count && !late[self][count - 1].total)
        count--;
    if (count)
        arrive(self, count);
}

void steps_load(const volatile void *from, void *to, size_t len)
{
    for (int i = self < 0 ? 0 : late_count[self]; i-- > 0;)
        if (late[self][i].at == from) {
            memcpy(to, late[self][i].bytes, len);
            return;
        }
    switch (len) {
    case 1: __atomic_load((const volatile uint8_t *)from, (uint8_t *)to, __ATOMIC_SEQ_CST); break;
    case 2: __atomic_load((const volatile uint16_t *)from, (uint16_t *)to, __ATOMIC_SEQ_CST); break;
    case 4: __atomic_load((const volatile uint32_t *)from, (uint32_t *)to, __ATOMIC_SEQ_CST); break;
    default: __atomic_load((const volatile uint64_t *)from, (uint64_t *)to, __ATOMIC_SEQ_CST); break;
    }
}

/* ---- turns ---- */

/* The first thread behind this one that has not ended; -1: there is none but the one whose turn it is. */
static int next_of(int thread)
{
    for (int i = 1; i <= thread_count; i++) {
        int next = (thread + i) % thread_count;
        if (!ended[next] && next != self)
            return next;
    }
    return -1;
}

static void switch_to(int other)
{
    int me = self;
    sem_post(&turn[other]);
    if (!ended[me])
        sem_wait(&turn[me]);
}

void steps_fail(const char *why)
{
    if (!failure)
        failure = why;
    if (self < 0)
        return;
    sem_post(&done); /* the other threads stay as they are: the process ends soon */
    for (;;)
        sem_wait(&turn[self]);
}

static void count_step(void)
{
    if (++step_count == STEPS_MAX)
        steps_fail("all threads wait for ever");
}

/* Which way it is at this point; the plain one if no order before this one has come so far. */
static bool choose(int kind)
{
    int at = point_count++;
    if (at >= planned)
        changes[at] = false;
    kinds[at] = (unsigned char)kind;
    change_count[kind] += changes[at];
    return changes[at];
}

/* The turn changes. A choice of this kind is made between the next thread and the one behind it. */
static void change_turn(int kind)
{
    int next = next_of(self), behind = next_of(next);
    switch_to(behind != next && choose(kind) ? behind : next);
}

void steps_point(void)
{
    if (self < 0)
        return;
    count_step();
    if (next_of(self) >= 0 && choose(TURN))
        change_turn(NEXT);
}

void steps_store(volatile void *to, const void *from, size_t len, memory_order order)
{
    bool waits = self >= 0 && (late_count[self] || (now->delays && next_of(self) >= 0 && choose(DELAY)));
    struct late store = {.at = to, .len = len, .total = order == memory_order_seq_cst};
    int thread = self < 0 ? 0 : self;
    memcpy(store.bytes, from, len);
    if (late_count[thread] == LATE_MAX)
        steps_fail("too many stores are late");
    late[thread][late_count[thread]++] = store;
    if (!waits)
        arrive(thread, late_count[thread]);
}

void steps_idle(void)
{
    if (self < 0)
        return;
    count_step();
    steps_fence();
    if (next_of(self) >= 0)
        change_turn(TURN); /* as any change that need not be */
}

static void *run_thread(void *arg)
{
    self = (int)(intptr_t)arg;
    sem_wait(&turn[self]);
    now->thread[self]();
    steps_point(); /* before the last late store is seen */
    steps_fence();
    ended[self] = true;
    if (next_of(self) >= 0)
        change_turn(NEXT);
    else
        sem_post(&done);
    return NULL;
}

/* Returns whether all threads have ended. */
static bool run_once(void)
{
    pthread_t id[STEPS_THREADS];
    step_count = point_count = 0;
    memset(change_count, 0, sizeof(change_count));
    memset(late_count, 0, sizeof(late_count));
    memset(ended, 0, sizeof(ended));
    now->begin();
    for (intptr_t i = 0; i < thread_count; i++)
        pthread_create(&id[i], NULL, run_thread, (void *)i);
    sem_post(&turn[0]);
    sem_wait(&done);
    if (failure)
        return false;
    for (int i = 0; i < thread_count; i++)
        pthread_join(id[i], NULL);
    now->end();
    return !failure;
}

/* The next order: as the last one up to the last point where it may go another way as well. */
static bool plan_next(void)
{
    const int most[KINDS] = {now->changes, STEPS_MAX, now->delays};
    for (int i = point_count - 1; i >= 0; i--) {
        change_count[kinds[i]] -= changes[i];
        if (!changes[i] && change_count[kinds[i]] < most[kinds[i]]) {
            changes[i] = true;
            planned = i + 1;
            return true;
        }
    }
    return false;
}

static void print_order(void)
{
    static const char marks[KINDS] = {' ', '+', '-'};
    printf("# after %d steps of all: %s; the turn changed (not to the next thread: +, a store was late: -) after point",
           step_count, failure);
    for (int i = 0; i < point_count; i++)
        if (changes[i])
            printf(" %c%d", marks[kinds[i]], i);
    printf("\n");
}

/* One thread runs at a time: on one processor a turn needs no other to wake up, which on a busy machine takes long. */
static void stay_here(void)
{
    cpu_set_t here;
    int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    (void)sched_setaffinity(0, sizeof(here), &here);
}

long steps_run(const struct steps *steps)
{
    long orders = 0;
    stay_here();
    now = steps;
    planned = 0;
    failure = NULL;
    thread_count = steps->thread[STEPS_THREADS - 1] ? STEPS_THREADS : STEPS_THREADS - 1;
    for (int i = 0; i < thread_count; i++)
        sem_init(&turn[i], 0, 0);
    sem_init(&done, 0, 0);
    do {
        orders++;
        if (!run_once()) {
            print_order();
            return -1;
        }
    } while (plan_next());
    return orders;
}
