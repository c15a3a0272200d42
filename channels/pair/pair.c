/* SPDX-License-Identifier: BSD-3-Clause */

/* The pair channel's operations; see pair.h. */
#include "channels/pair/pair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "include/channel_help.h"

enum {
    BATCH = 32,      /* packets of one link before others have their turn */
    EVENTS = 16,
    SOON = 8,        /* turns until the next look at the sockets: while links are being made, ... */
    SELDOM = 512     /* ... and otherwise */
};

/* ---- open and close ---- */

static int pair_open(struct chan **chan, const struct chan_env *env, char *why, size_t size)
{
    struct pairs *pair = chan_env_fits(env) ? calloc(1, sizeof(*pair)) : NULL;
    if (!pair) {
        snprintf(why, size, "no memory");
        return -ENOMEM;
    }
    pair->base = (struct chan){.ops = &chan_pair, .fd = -1};
    pair->env = env;
    pair->door = (struct pair_sock){PAIR_DOOR, -1};
    int rc = env->secret_with ? 0 : pair_listen(pair); /* there is no other group to wait for */
    if (rc < 0) {
        snprintf(why, size, "no socket: %s", strerror(-rc));
        free(pair);
        return -ENODEV;
    }
    *chan = &pair->base;
    return 0;
}

static void pair_close(struct chan *chan)
{
    struct pairs *pair = (struct pairs *)chan;
    if (!pair)
        return;
    pair_free_strangers(pair, true);
    while (pair->links) {
        struct pair_link *link = pair->links;
        pair->links = link->next;
        pair_link_drop(link);
        free(link);
    }
    pair_close_door(pair);
    if (pair->base.fd >= 0)
        close(pair->base.fd);
    free(pair);
}

static int pair_serve(struct chan *chan)
{
    return pair_listen((struct pairs *)chan);
}

/* ---- cards ---- */

static int pair_card(struct chan *chan, char params[CHAN_CARD_MAX])
{
    const struct pairs *pair = (struct pairs *)chan;
    char user[16];
    params[0] = 0;
    snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
    int rc = chan_params_add(params, CHAN_CARD_MAX, "host", pair->env->host_id);
    if (!rc)
        rc = chan_params_add(params, CHAN_CARD_MAX, "user", user);
    if (!rc && pair->door.fd >= 0)
        rc = chan_params_add_bytes(params, CHAN_CARD_MAX, "at", pair->name, sizeof(pair->name));
    return rc;
}

static struct chan_verdict pair_match(const char *mine, const char *theirs)
{
    uint8_t a[PAIR_NAME], b[PAIR_NAME];
    if (!chan_params_agree(mine, theirs, "host"))
        return (struct chan_verdict){CHAN_NO, 0, "other host"};
    if (!chan_params_agree(mine, theirs, "user"))
        return (struct chan_verdict){CHAN_NO, 0, "other user"};
    if (chan_params_get_bytes(mine, "at", a, sizeof(a)) != PAIR_NAME ||
        chan_params_get_bytes(theirs, "at", b, sizeof(b)) != PAIR_NAME)
        return (struct chan_verdict){CHAN_NO, 0, "it is for processes of other jobs"};
    if (!memcmp(a, b, sizeof(a)))
        return (struct chan_verdict){CHAN_NO, 0, "the same process"};
    return (struct chan_verdict){CHAN_MAYBE, 60, "same host and user"};
}

/* ---- links ---- */

static int pair_link(struct chan *chan, struct chan_peer *peer, const char *theirs, struct chan_link **made)
{
    struct pairs *pair = (struct pairs *)chan;
    struct pair_link *link = pair_link_find(pair, &peer->gid, peer->rank);
    uint8_t name[PAIR_NAME];
    if (link) {
        *made = &link->base;
        return 0;
    }
    if (chan_params_get_bytes(theirs, "at", name, sizeof(name)) != PAIR_NAME)
        return -EINVAL;
    link = pair_link_make(pair, peer);
    if (!link)
        return -ENOMEM;
    int rc = pair_call(link, name);
    if (rc == -ECONNREFUSED) { /* then progress() tells */
        link->gone = pair->looks = true;
        rc = 0;
    }
    if (rc)
        link->base.ops->unlink(&link->base);
    else
        *made = &link->base;
    return rc;
}

static void sweep(struct pairs *pair)
{
    pair->has_dead = false;
    pair_free_strangers(pair, false);
    for (struct pair_link **at = &pair->links; *at;) {
        struct pair_link *link = *at;
        if (link->state == PAIR_DEAD) {
            *at = link->next;
            pair_link_drop(link);
            free(link);
        } else {
            at = &link->next;
        }
    }
}

/* The peer reads what is left in its own mapping. */
static void pair_unlink(struct chan_link *base)
{
    struct pair_link *link = (struct pair_link *)base;
    struct pairs *pair = link->pair;
    pair->forming -= link->state < PAIR_OPEN;
    link->state = PAIR_DEAD;
    if (link->sock.fd >= 0)
        close(link->sock.fd);
    link->sock.fd = -1;
    pair->base.links--;
    pair->has_dead = true;
    if (!pair->is_busy) /* otherwise a packet of it may be in use */
        sweep(pair);
}

static void pair_finish(struct chan_link *base)
{
    struct pair_link *link = (struct pair_link *)base;
    link->is_last = true;
    link->pair->looks = true;
}

static enum chan_stage pair_stage(const struct chan_link *base)
{
    return ((const struct pair_link *)base)->state == PAIR_HELLO ? CHAN_STAGE_TAKEN : CHAN_STAGE_SAID;
}

/* ---- progress ---- */

static int receive(struct pair_link *link)
{
    const struct chan_sink *sink = link->pair->env->sink;
    struct chan_head head;
    const void *data;
    size_t len;
    int upcalls = 0;
    while (link->state == PAIR_OPEN && upcalls < BATCH) {
        int64_t size = pair_ring_peek(&link->in, &head, &data, &len);
        if (size < 0)
            link->broken = (int)size;
        if (size <= 0)
            break;
        sink->arrived(link->base.peer, &head, data, len);
        pair_ring_pop(&link->in, size);
        upcalls++;
    }
    if (link->state == PAIR_OPEN && pair_ring_tell(&link->in, false))
        pair_link_wake(link);
    return upcalls;
}

/* Tell the device of a link that is over. */
static int end(struct pair_link *link)
{
    bool is_read = link->gone && !pair_ring_has(&link->in);
    if (!is_read && !link->broken)
        return 0;
    link->state = PAIR_OVER;
    link->pair->env->sink->lost(&link->base, link->broken ? link->broken : -ECONNRESET);
    return 1;
}

static int look_at_sockets(struct pairs *pair)
{
    struct epoll_event events[EVENTS];
    int upcalls = 0, count = epoll_wait(pair->base.fd, events, EVENTS, 0);
    pair->looks = count == EVENTS;
    for (int i = 0; i < count; i++)
        upcalls += pair_sock_event(pair, events[i].data.ptr);
    return upcalls + pair_look_at_strangers(pair);
}

/* From now on a peer that writes sends a byte, too. */
static void fall_asleep(struct pairs *pair)
{
    for (struct pair_link *link = pair->links; link; link = link->next) {
        if (link->state != PAIR_OPEN)
            continue;
        atomic_store_explicit(&link->in.ring->asleep, 1, memory_order_relaxed);
        if (link->starved)
            atomic_store_explicit(&link->out.ring->starved, 1, memory_order_relaxed);
        if (pair_ring_tell(&link->in, true))
            pair_link_wake(link);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

static int pair_progress(struct chan *chan)
{
    struct pairs *pair = (struct pairs *)chan;
    uint32_t each = pair->forming || pair->strangers ? SOON : SELDOM;
    int upcalls = 0;
    pair->is_busy = true;
    if (pair->base.fd >= 0 && (pair->looks || ++pair->turn % each == 0))
        upcalls += look_at_sockets(pair);
    if (pair->is_armed) /* another thread sleeps: its byte may have been taken here */
        fall_asleep(pair);
    for (struct pair_link *link = pair->links; link; link = link->next) {
        if ((link->is_last && !link->gone) || (link->gone && link->state < PAIR_OPEN))
            upcalls += pair_link_look(link);
        if (link->state == PAIR_OPEN)
            upcalls += receive(link);
        if (link->state == PAIR_OPEN && (link->gone || link->broken))
            upcalls += end(link);
    }
    pair->is_busy = false;
    if (pair->has_dead)
        sweep(pair);
    return upcalls;
}

/* ---- sleep ---- */

static bool has_news(struct pairs *pair)
{
    if (pair->looks)
        return true;
    for (struct pair_link *link = pair->links; link; link = link->next) {
        if (link->state != PAIR_OPEN)
            continue;
        if (link->gone || link->broken || link->is_last || pair_ring_has(&link->in) ||
            (link->starved && pair_ring_has_room(&link->out)))
            return true;
    }
    return false;
}

static int pair_arm(struct chan *chan, enum chan_sleep how)
{
    struct pairs *pair = (struct pairs *)chan;
    (void)how;
    pair->is_armed = pair->base.fd >= 0; /* without one this is a mere look */
    if (pair->is_armed)
        fall_asleep(pair);
    return has_news(pair) ? CHAN_AGAIN : 0;
}

static void pair_disarm(struct chan *chan)
{
    struct pairs *pair = (struct pairs *)chan;
    pair->looks |= pair->is_armed;
    pair->is_armed = false;
    for (struct pair_link *link = pair->links; link; link = link->next)
        if (link->state == PAIR_OPEN)
            atomic_store_explicit(&link->in.ring->asleep, 0, memory_order_relaxed);
}

static void pair_forked(struct chan *chan)
{
    struct pairs *pair = (struct pairs *)chan;
    for (const struct pair_link *link = pair->links; link; link = link->next)
        if (link->sock.fd >= 0)
            close(link->sock.fd);
    for (const struct pair_stranger *stranger = pair->strangers; stranger; stranger = stranger->next)
        if (stranger->sock.fd >= 0)
            close(stranger->sock.fd);
    if (pair->door.fd >= 0)
        close(pair->door.fd);
    if (pair->base.fd >= 0)
        close(pair->base.fd);
}

const struct chan_ops chan_pair = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "pair",
    .about = "memory that two processes of two jobs of one user share",
    .open = pair_open,
    .close = pair_close,
    .card = pair_card,
    .match = pair_match,
    .link = pair_link,
    .unlink = pair_unlink,
    .finish = pair_finish,
    .progress = pair_progress,
    .arm = pair_arm,
    .disarm = pair_disarm,
    .forked = pair_forked,
    .stage = pair_stage,
    .serve = pair_serve,
};
