/* SPDX-License-Identifier: BSD-3-Clause */

/* The tcp channel: its operations; see tcp.h. */
#include "channels/tcp/tcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "channels/tcp/dial.h"
#include "channels/tcp/link.h"
#include "channels/tcp/listen.h"
#include "os/clock.h"
#include "include/channel_help.h"
#include "os/random.h"
#include "os/settings.h"
#include "slots.h"

extern const struct chan_ops chan_tcp;

enum {
    EVENTS = 32,   /* taken by one progress() */
    HOT_TURNS = 8, /* progress() asks epoll at least so often */
    PUT_OFF = 16,  /* times that the timer waits for other events */
    SCORE = 20
};

static struct tcp *tcp_of(struct chan *chan)
{
    return (struct tcp *)chan;
}

/* ---- open and close ---- */

/* If all ranks are on this host, nobody need call from elsewhere: leave the first address that is
 * for this host alone, if there is one. */
static void keep_loopback(struct addr_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (addr_is_loopback(&list->addr[i])) {
            list->addr[0] = list->addr[i];
            list->count = 1;
        }
}

/* The addresses to publish. Returns 0 or -errno with a sentence in why. */
static int choose_addresses(const struct chan_env *env, bool is_for_all, struct addr_list *list, char *why,
                            size_t size)
{
    const char *wanted = os_setting_text(OS_SETTING_TCP_ADDRESSES);
    char bad[ADDR_TEXT_LEN];
    int rc = *wanted ? addr_of_text(list, wanted, bad) : addr_of_host(list);
    if (!rc && !*wanted && !is_for_all && env->ranks == env->local_ranks)
        keep_loopback(list);
    if (rc && *wanted && *bad)
        snprintf(why, size,
                 "tcp_addresses holds '%s', which is no address, and no interface or network of this "
                 "host; ip addr lists them", bad);
    else if (rc)
        snprintf(why, size, "the addresses of this host cannot be read, by a netlink socket: %s",
                 strerror(-rc));
    else if (!list->count)
        snprintf(why, size, "this host has no address%s", *wanted ? " beside those left out" : "");
    return rc ? rc : list->count ? 0 : -ENODEV;
}

static int write_card(struct tcp *tcp, const struct addr_list *list)
{
    char text[ADDR_TEXT_LEN];
    tcp->card[0] = 0;
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)tcp->nonce);
    int rc = chan_params_add(tcp->card, CHAN_CARD_MAX, "n", text);
    snprintf(text, sizeof(text), "%u", tcp->port);
    if (!rc)
        rc = chan_params_add(tcp->card, CHAN_CARD_MAX, "p", text);
    if (!rc)
        rc = chan_params_add(tcp->card, CHAN_CARD_MAX, "host", tcp->env->host_id);
    if (rc)
        return rc;
    for (int i = 0; i < list->count; i++) { /* as many as find room */
        addr_print(&list->addr[i], text);
        (void)chan_params_add(tcp->card, CHAN_CARD_MAX, "a", text);
    }
    return 0;
}

static int start_listening(struct tcp *tcp, const struct addr_list *list)
{
    int rc = listen_open(tcp, list->count == 1 ? &list->addr[0] : NULL);
    return rc ? rc : write_card(tcp, list);
}

/* The peer does not listen, as all its peers share memory with it: it has to call this process, which
 * listens from now on. Returns -EAGAIN, or -errno if it cannot. */
static int await_call(struct tcp *tcp)
{
    struct addr_list list;
    char why[256];
    if (tcp->port)
        return -EAGAIN;
    int rc = choose_addresses(tcp->env, false, &list, why, sizeof(why));
    if (!rc)
        rc = start_listening(tcp, &list);
    if (!rc)
        rc = tcp->env->card_changed(tcp->env->device);
    return rc ? rc : -EAGAIN;
}

/* A listener of ranks of one host, at its loopback address, reaches processes of other jobs on that host
 * alone. */
static int tcp_serve(struct chan *chan)
{
    struct tcp *tcp = tcp_of(chan);
    struct addr_list list;
    char why[256];
    if (tcp->port)
        return 0;
    int rc = choose_addresses(tcp->env, true, &list, why, sizeof(why));
    if (!rc)
        rc = start_listening(tcp, &list);
    return rc ? rc : 1;
}

static int open_epoll(struct tcp *tcp, const char **step)
{
    *step = "epoll_create1()";
    tcp->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (tcp->epoll < 0)
        return -errno;
    *step = "timerfd_create()";
    tcp->tick.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (tcp->tick.fd < 0)
        return -errno;
    return tcp_watch(tcp, &tcp->tick, false);
}

static void tcp_close(struct chan *chan)
{
    struct tcp *tcp = tcp_of(chan);
    if (!tcp)
        return;
    listen_close(tcp);
    linger_close(tcp);
    tcp_hang_up(tcp, &tcp->tick);
    if (tcp->epoll >= 0)
        close(tcp->epoll);
    os_pool_fini(&tcp->buffers);
    os_heard_fini(&tcp->heard);
    free(tcp);
}

/* The descriptors alone: the epoll set is the parent's, and memory is as it was. */
static void tcp_forked(struct chan *chan)
{
    struct tcp *tcp = tcp_of(chan);
    listen_forked(tcp);
    dial_forked(tcp);
    link_forked(tcp);
    linger_forked(tcp);
    tcp_close_copy(&tcp->tick);
    close(tcp->epoll);
}

static int tcp_open(struct chan **chan, const struct chan_env *env, char *why, size_t size)
{
    struct addr_list list;
    int rc = choose_addresses(env, false, &list, why, size);
    if (rc)
        return rc;
    struct tcp *tcp = calloc(1, sizeof(*tcp));
    if (!tcp) {
        snprintf(why, size, "no memory");
        return -ENOMEM;
    }
    tcp->base.ops = &chan_tcp;
    tcp->env = env;
    tcp->hellos = os_now_ns(); /* above those of an earlier channel of this process */
    os_pool_init(&tcp->buffers, LINK_IN_LEN, 4);
    tcp->epoll = tcp->listener.fd = tcp->spare = -1;
    tcp->last_dirty = &tcp->dirty;
    tcp->last_stranger = &tcp->strangers;
    tcp->tick = (struct tcp_sock){.fd = -1, .kind = SOCK_TICK};
    const char *step = "getrandom()";
    rc = os_random(&tcp->nonce, sizeof(tcp->nonce));
    if (!rc)
        rc = open_epoll(tcp, &step);
    if (!rc) {
        step = "bind() and listen()";
        rc = env->served ? write_card(tcp, &list) : start_listening(tcp, &list);
    }
    if (rc) {
        snprintf(why, size, "no port can be opened, by %s: %s", step, strerror(-rc));
        tcp_close(&tcp->base);
        return rc == -ENOMEM ? rc : -ENODEV;
    }
    tcp->node_offset =
        env->reserve(env->device, sizeof(struct tcp_packet), _Alignof(struct tcp_packet));
    tcp->base.fd = tcp->epoll;
    *chan = &tcp->base;
    return 0;
}

/* ---- cards ---- */

static int tcp_card(struct chan *chan, char params[CHAN_CARD_MAX])
{
    memcpy(params, tcp_of(chan)->card, CHAN_CARD_MAX);
    return 0;
}

static unsigned families(const struct addr_list *list)
{
    unsigned mask = 0;
    for (int i = 0; i < list->count; i++)
        mask |= list->addr[i].any.sa_family == AF_INET ? 1u : 2u;
    return mask;
}

static struct chan_verdict tcp_match(const char *mine, const char *theirs)
{
    struct addr_list a, b;
    char me[24], them[24];
    if (addr_of_card(&a, mine) || addr_of_card(&b, theirs) ||
        chan_params_get(mine, "n", 0, me, sizeof(me)) ||
        chan_params_get(theirs, "n", 0, them, sizeof(them)))
        return (struct chan_verdict){CHAN_NO, 0, "a card without port, address or number"};
    if (!strcmp(me, them))
        return (struct chan_verdict){CHAN_NO, 0, "the same process"};
    if (!(families(&a) & families(&b)))
        return (struct chan_verdict){CHAN_NO, 0, "one has IPv4 alone, the other IPv6 alone"};
    return (struct chan_verdict){CHAN_MAYBE, SCORE, "both have addresses"};
}

/* ---- links ---- */

static int tcp_link(struct chan *chan, struct chan_peer *peer, const char *theirs,
                    struct chan_link **link)
{
    struct tcp *tcp = tcp_of(chan);
    struct tcp_link *made = link_of(peer);
    if (made) {
        *link = &made->base;
        return 0;
    }
    struct addr_list list;
    char host[256];
    int rc = addr_of_card(&list, theirs);
    if (rc)
        return rc;
    if (!list.addr[0].v4.sin_port)
        return await_call(tcp);
    bool same_host =
        !chan_params_get(theirs, "host", 0, host, sizeof(host)) && !strcmp(host, tcp->env->host_id);
    addr_sort(&list, same_host);
    made = link_create(tcp, peer);
    if (!made)
        return -ENOMEM;
    rc = dial_start(tcp, made, &list, same_host);
    if (rc) {
        link_destroy(made);
        return rc;
    }
    *link = &made->base;
    return 0;
}

static struct tcp_link *link_from(struct chan_link *link)
{
    return (struct tcp_link *)((char *)link - offsetof(struct tcp_link, base));
}

static enum chan_stage tcp_stage(const struct chan_link *base)
{
    const struct tcp_link *link =
        (const struct tcp_link *)((const char *)base - offsetof(struct tcp_link, base));
    return link->dial ? dial_stage(link->dial) : CHAN_STAGE_SAID;
}

static void tcp_finish(struct chan_link *link)
{
    link_finish(link_from(link));
}

static void tcp_unlink(struct chan_link *link)
{
    link_destroy(link_from(link));
}

/* ---- progress and sleep ---- */

static int on_tick(struct tcp *tcp)
{
    uint64_t times, now = os_now_ns();
    if (read(tcp->tick.fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
        return 0;
    tcp->tick_ns = 0;
    int upcalls = dial_tick(tcp, now) + listen_tick(tcp, now) + link_tick(tcp, now);
    linger_tick(tcp, now);
    tcp_want_tick(tcp, dial_next(tcp));
    tcp_want_tick(tcp, listen_next(tcp, now));
    tcp_want_tick(tcp, link_next(tcp));
    tcp_want_tick(tcp, linger_next(tcp, now));
    return upcalls;
}

/* The timer, beside so many events: it waits for those. A process that has not run for a while first hears what has
 * come meanwhile, before it holds anything for late. */
static int on_timer(struct tcp *tcp, int events)
{
    if (events > 1 && tcp->put_off < PUT_OFF) {
        tcp->put_off++;
        return 0;
    }
    tcp->put_off = 0;
    return on_tick(tcp);
}

/* One of count. */
static int on_event(struct tcp *tcp, const struct epoll_event *event, int count)
{
    struct tcp_sock *sock = event->data.ptr;
    uint32_t events = event->events;
    switch (sock->kind) {
    case SOCK_LINK:
        return link_event((struct tcp_link *)sock, events & ~(uint32_t)EPOLLOUT, events & EPOLLOUT);
    case SOCK_LISTENER: listen_accept(tcp); break;
    case SOCK_TICK: return on_timer(tcp, count);
    case SOCK_STRANGER: return listen_event(tcp, sock);
    case SOCK_ATTEMPT: return dial_event(tcp, sock);
    case SOCK_LINGER: linger_event(tcp, sock); break;
    case SOCK_DEAD: break;
    }
    return 0;
}

static void free_dead(struct tcp *tcp)
{
    while (tcp->dead) {
        struct tcp_sock *sock = tcp->dead;
        tcp->dead = sock->dead_next;
        free(sock);
    }
}

static int tcp_progress(struct chan *chan)
{
    struct tcp *tcp = tcp_of(chan);
    struct epoll_event events[EVENTS];
    int upcalls = 0;
    tcp->inside = true;
    tcp->turn++;
    if (tcp->dirty)
        upcalls += link_work(tcp);
    if (tcp->heat)
        upcalls += link_poll(tcp);
    if (!tcp->heat || !(tcp->turn % HOT_TURNS)) {
        int count = epoll_wait(tcp->epoll, events, EVENTS, 0);
        if (count < 0 && tcp->base.links)
            tcp_check(tcp, errno);
        for (int i = 0; i < count; i++)
            upcalls += on_event(tcp, &events[i], count);
    }
    if (tcp->proven)
        upcalls += listen_judge(tcp);
    if (tcp->dirty)
        upcalls += link_work(tcp);
    tcp->inside = false;
    if (tcp->dead)
        free_dead(tcp);
    return upcalls;
}

static int tcp_arm(struct chan *chan, enum chan_sleep how)
{
    struct tcp *tcp = tcp_of(chan);
    if (tcp->heat)
        link_cool(tcp);
    tcp->armed = true;
    /* The epoll set knows of all but the packets that wait for progress() here. */
    return how != CHAN_SLEEP_FD || tcp->dirty ? CHAN_AGAIN : 0;
}

static void tcp_disarm(struct chan *chan)
{
    tcp_of(chan)->armed = false;
}

const struct chan_ops chan_tcp = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "tcp",
    .open = tcp_open,
    .close = tcp_close,
    .is_out = link_all_out,
    .card = tcp_card,
    .match = tcp_match,
    .link = tcp_link,
    .unlink = tcp_unlink,
    .finish = tcp_finish,
    .progress = tcp_progress,
    .arm = tcp_arm,
    .disarm = tcp_disarm,
    .forked = tcp_forked,
    .stage = tcp_stage,
    .serve = tcp_serve,
    .scarce = true,
    .turns = true,
};
