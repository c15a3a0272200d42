/* SPDX-License-Identifier: BSD-3-Clause */

/* Tasks in the background of every call that makes progress; see task.h. */
#include "mpi/task.h"

#include <stddef.h>

#include "include/mpid.h"
#include "os/lock.h"

static struct os_lock lock = OS_LOCK_INIT; /* guards what follows */
static struct task *tasks;                 /* those that nobody advances just now */
static bool running;                       /* some thread advances the others */
static bool again; /* another has asked for that meanwhile: something may have come since */

/* Advance each of a list. Returns those that are not done, and in *moved whether one was. */
static struct task *advance(struct task *list, bool *moved)
{
    struct task *left = NULL, **end = &left;
    while (list) {
        struct task *task = list;
        list = task->next;
        if (task->advance(task)) {
            *moved = true;
        } else {
            *end = task;
            end = &task->next;
        }
    }
    *end = NULL;
    return left;
}

/* All tasks, for this thread to advance; NULL where there are none, or another does it. */
static struct task *begin(void)
{
    os_lock(&lock);
    struct task *list = running ? NULL : tasks;
    again = running;
    if (list) {
        running = true;
        tasks = NULL;
    }
    os_unlock(&lock);
    return list;
}

/* Put back those that are left. Returns whether they are to be advanced once more. */
static bool end(struct task *left)
{
    os_lock(&lock);
    struct task **last = &left;
    while (*last)
        last = &(*last)->next;
    *last = tasks; /* what was started meanwhile */
    tasks = left;
    running = false;
    bool once_more = again && tasks;
    if (!tasks)
        atomic_store_explicit(&mpid_background, NULL, memory_order_relaxed);
    os_unlock(&lock);
    return once_more;
}

static bool run(void)
{
    bool moved = false;
    struct task *list = begin();
    if (!list)
        return false;
    struct task *left = advance(list, &moved);
    return end(left) || moved;
}

void task_start(struct task *task)
{
    if (task->advance(task))
        return;
    os_lock(&lock);
    task->next = tasks;
    tasks = task;
    atomic_store_explicit(&mpid_background, run, memory_order_relaxed);
    os_unlock(&lock);
}
