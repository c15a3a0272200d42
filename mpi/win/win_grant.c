/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Locks on behalf of origins; see win_grant.h.
 *
 * A lock that cannot be given at once waits in a list; the first one there has a ticket of the window's
 * queue, and progress looks whether its turn has come. Those that pass others wait in a list of their own.
 */
#include "mpi/win/win_grant.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/request/request.h"
#include "mpi/win/win.h"
#include "mpi/win/win_queue.h"
#include "mpi/win/win_server.h"
#include "mpi/win/win_sync.h"
#include "os/log.h"

static bool is_exclusive(const struct win_head *head)
{
    return !head->op;
}

void win_grant_back(struct win_server *server, struct win_origin *origin)
{
    struct win *win = server->win;
    bool exclusive = origin->locked == WIN_EXCLUSIVE;
    if (exclusive)
        atomic_store_explicit(&win_server_queue(win)->behalf, 0, memory_order_relaxed);
    if (origin->locked)
        win_wake(win, win_queue_leave(win_server_queue(win), (uint32_t)win->near_me, exclusive));
    origin->locked = WIN_UNLOCKED;
}

/* This process has the lock: on behalf of an origin. */
static void give_lock(struct win_server *server, const struct due *due)
{
    struct win *win = server->win;
    struct win_origin *origin = win_server_origin(server, due->rank); /* it is there */
    origin->locked = is_exclusive(&due->head) ? WIN_EXCLUSIVE : WIN_SHARED;
    if (is_exclusive(&due->head))
        atomic_store_explicit(&win_server_queue(win)->behalf, (uint32_t)due->rank + 1,
                              memory_order_relaxed);
    origin->waits = false;
    if (due->head.ask == WIN_EPOCH && !win_has_failed(win, due->rank))
        server->run_epoch(server, origin, due);
    else if (win_has_failed(win, due->rank) ||
        !win_server_answer_word(server, due->rank, due->head.tag, MPI_SUCCESS))
        win_grant_back(server, origin);
}

static bool is_turn(void *arg)
{
    const struct win_server *server = arg;
    struct win_queue *queue;
    if (atomic_load_explicit(&server->ends, memory_order_relaxed))
        return true;
    queue = win_server_queue(server->win);
    return (atomic_load(&server->passes) && win_queue_may_pass(queue)) ||
           (atomic_load(&server->has_ticket) &&
            win_queue_is_turn(queue, server->ticket, server->exclusive));
}

static void turn_sleeps(void *arg, bool begins)
{
    const struct win_server *server = arg;
    win_queue_sleeps(win_server_queue(server->win), begins);
}

static const struct mpid_shared_wait watch_turn = {.is_done = is_turn, .sleeps = turn_sleeps};

static void on_turn(struct mpid_request *dev);

/* Nobody waits for a lock any more: the origins are told. */
static void refuse_locks(struct win_server *server, struct due **list)
{
    while (*list) {
        struct due *due = *list;
        *list = due->next;
        win_server_origin(server, due->rank)->waits = false; /* it is there */
        win_server_answer_nothing(server, due->rank, due->head.tag);
        free(due);
    }
}

static void refuse_all(struct win_server *server, const char *why)
{
    struct win *win = server->win;
    if (!server->waiting && !server->passing)
        return; /* they were given since the look for their turn began */
    os_log(OS_LOG_WARN, "windows: %s, so a lock is refused", why);
    if (atomic_exchange(&server->has_ticket, false))
        win_wake(win, win_queue_give_up(win_server_queue(win), (uint32_t)win->near_me, server->ticket));
    if (atomic_exchange(&server->passes, false))
        win_queue_passes(win_server_queue(win), false);
    refuse_locks(server, &server->waiting);
    refuse_locks(server, &server->passing);
}

/* Look for turns, while locks wait. */
static void look_for_turn(struct win_server *server)
{
    struct win *win = server->win;
    if (server->looks || !(server->waiting || server->passing))
        return;
    struct request *request = request_begin(server->comm);
    if (!request) {
        refuse_all(server, "there is no memory to wait for a turn");
        return;
    }
    win_server_use(server);
    server->looks = true;
    server->look = (struct mpid_look){.how = &watch_turn, .arg = server, .request = &request->dev};
    request->state = server;
    (void)mpid_when_done(&request->dev, on_turn);
    mpid_look(&server->look);
    win_bury(win, win_server_queue(win));
}

/* The first lock that waits takes a ticket. */
static void join(struct win_server *server)
{
    struct win *win = server->win;
    if (!server->waiting || atomic_load(&server->has_ticket))
        return;
    server->exclusive = is_exclusive(&server->waiting->head);
    server->ticket = win_queue_join(win_server_queue(win), (uint32_t)win->near_me);
    atomic_store(&server->has_ticket, true);
}

static void give_first(struct win_server *server, struct due **list)
{
    struct due *due = *list;
    *list = due->next;
    give_lock(server, due);
    free(due);
}

/* The turn of the first lock that waits may have come. */
static void take_turn(struct win_server *server)
{
    struct win *win = server->win;
    int wake;
    if (!atomic_load(&server->has_ticket) ||
        !win_queue_is_turn(win_server_queue(win), server->ticket, server->exclusive))
        return;
    bool has = win_queue_enter(win_server_queue(win), (uint32_t)win->near_me, server->exclusive, &wake);
    win_wake(win, wake);
    if (!has)
        return;
    atomic_store(&server->has_ticket, false);
    give_first(server, &server->waiting);
    join(server);
}

/* Give as many locks as can be had to those that pass others. */
static void pass(struct win_server *server)
{
    struct win *win = server->win;
    int wake;
    bool has = true;
    while (has && server->passing) {
        has = win_queue_take(win_server_queue(win), (uint32_t)win->near_me, false, &wake);
        win_wake(win, wake);
        if (has)
            give_first(server, &server->passing);
    }
    bool waits = server->passing;
    if (atomic_exchange(&server->passes, waits) != waits)
        win_queue_passes(win_server_queue(win), waits);
}

static void on_turn(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_server *server = request->state;
    (void)p2p_end(request);
    server->looks = false;
    if (atomic_load(&server->ends)) {
        refuse_all(server, "the window is freed");
    } else {
        pass(server);
        take_turn(server);
        look_for_turn(server);
    }
    win_server_end_use(server);
}

static void append(struct due **list, struct due *due)
{
    while (*list)
        list = &(*list)->next;
    *list = due;
}

void win_grant_ask(const struct win_question *q)
{
    struct win_server *server = q->server;
    bool again = q->origin->locked || q->origin->waits, has;
    int wake = WIN_QUEUE_NOBODY;
    struct due *due = again ? NULL : malloc(sizeof(*due) + q->head.len);
    if (again)
        os_log(OS_LOG_WARN, "windows: rank %d asks for a lock that it has", q->origin->rank);
    if (!due) {
        win_server_answer_nothing(server, q->origin->rank, q->head.tag);
        return;
    }
    *due = (struct due){NULL, q->origin->rank, q->head};
    memcpy(due->inner, q->data, q->head.len);
    q->origin->waits = true;
    has = !server->waiting && !server->passing &&
          win_queue_try(win_server_queue(q->win), (uint32_t)q->win->near_me, is_exclusive(&q->head), &wake);
    win_wake(q->win, wake);
    if (has) {
        give_lock(server, due);
        free(due);
        return;
    }
    append(q->head.op == WIN_HOW_PASSING ? &server->passing : &server->waiting, due);
    if (q->head.op == WIN_HOW_PASSING)
        pass(server);
    else
        join(server);
    look_for_turn(server);
}

/* ---- locks of the dead ---- */

static bool has_died(void *arg)
{
    const struct win_server *server = arg;
    return win_failures() != server->failures ||
           atomic_load_explicit(&server->ends, memory_order_relaxed);
}

/* A death is no word in memory: who sleeps is woken by it anyway. */
static void death_sleeps(void *arg, bool begins)
{
    (void)arg, (void)begins;
}

static const struct mpid_shared_wait watch_death = {.is_done = has_died, .sleeps = death_sleeps};

static void on_death(struct mpid_request *dev);

/* Drops the look's reference where no memory is left for it. */
void win_grant_watch(struct win_server *server)
{
    struct request *request = request_begin(server->comm);
    if (!request) {
        win_server_unref(server);
        return;
    }
    server->death =
        (struct mpid_look){.how = &watch_death, .arg = server, .request = &request->dev};
    request->state = server;
    (void)mpid_when_done(&request->dev, on_death);
    mpid_look(&server->death);
}

static void on_death(struct mpid_request *dev)
{
    struct request *request = request_of(dev);
    struct win_server *server = request->state;
    (void)p2p_end(request);
    if (atomic_load(&server->ends)) {
        win_server_unref(server);
        return;
    }
    os_lock(&server->lock); /* the window is there until the server is closed */
    server->failures = win_failures();
    if (!server->closed)
        win_bury(server->win, win_server_queue(server->win));
    for (struct win_origin *origin = server->origins; origin && !server->closed;
         origin = origin->hh.next)
        if (origin->locked && win_has_failed(server->win, origin->rank)) {
            win_tell_dead(server->win, origin->rank, server->win->rank);
            win_grant_back(server, origin);
        }
    os_unlock(&server->lock);
    win_grant_watch(server);
}
