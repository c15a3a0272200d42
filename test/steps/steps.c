/* SPDX-License-Identifier: BSD-3-Clause */

/* Two threads in every order; see steps.h. */
#include "test/steps/steps.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 4096 }; /* of both: by then they wait for ever */

static const struct steps *now;
static sem_t turn[2], done;
static bool ended[2];
static __thread int self = -1;

/* At each point where both could go on: whether the turn changes. */
static bool changes[STEPS_MAX];
static int step_count, point_count, planned, change_count;
static const char *failure;

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
    sem_post(&done); /* the other thread stays where it is: the process ends soon */
    for (;;)
        sem_wait(&turn[self]);
}

static void count_step(void)
{
    if (++step_count == STEPS_MAX)
        steps_fail("both threads wait for ever");
}

void steps_point(void)
{
    if (self < 0)
        return;
    count_step();
    if (ended[!self])
        return;
    int at = point_count++;
    if (at >= planned)
        changes[at] = false;
    if (!changes[at])
        return;
    change_count++;
    switch_to(!self);
}

void steps_idle(void)
{
    if (self < 0)
        return;
    count_step();
    if (!ended[!self])
        switch_to(!self);
}

static void *run_thread(void *arg)
{
    self = arg != NULL;
    sem_wait(&turn[self]);
    now->thread[self]();
    ended[self] = true;
    if (ended[!self])
        sem_post(&done);
    else
        switch_to(!self);
    return NULL;
}

/* Returns whether both threads have ended. */
static bool run_once(void)
{
    pthread_t id[2];
    step_count = point_count = change_count = 0;
    ended[0] = ended[1] = false;
    now->begin();
    pthread_create(&id[0], NULL, run_thread, NULL);
    pthread_create(&id[1], NULL, run_thread, &id);
    sem_post(&turn[0]);
    sem_wait(&done);
    if (failure)
        return false;
    pthread_join(id[0], NULL);
    pthread_join(id[1], NULL);
    now->end();
    return !failure;
}

/* The next order: as the last one up to the last point where the turn may change as well. */
static bool plan_next(void)
{
    int used = change_count;
    for (int i = point_count - 1; i >= 0; i--) {
        used -= changes[i];
        if (!changes[i] && used < now->changes) {
            changes[i] = true;
            planned = i + 1;
            return true;
        }
    }
    return false;
}

static void print_order(void)
{
    printf("# after %d steps of both: %s; the turn changed after step", step_count, failure);
    for (int i = 0; i < point_count; i++)
        if (changes[i])
            printf(" %d", i);
    printf("\n");
}

long steps_run(const struct steps *steps)
{
    long orders = 0;
    now = steps;
    planned = 0;
    failure = NULL;
    sem_init(&turn[0], 0, 0);
    sem_init(&turn[1], 0, 0);
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
