/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The afterlife of a link: accepted packets are still written, and the peer's kernel has them all
 * before the socket is closed. A socket that is closed with bytes unread is reset, and a reset
 * drops undelivered bytes; so input is read and thrown away meanwhile.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/tcp/link.h"
#include "os/clock.h"

/* Not before the peer has read: if it writes to a closed socket, the answer is a reset, which drops
 * the bytes that it has not got yet. A host that is gone ends it earlier. */
static const uint64_t linger_ns = 600000000000u, close_ns = 120000000000u;

struct lingerer {
    struct tcp_sock sock;
    struct lingerer *next, **at; /* in tcp->lingers */
    struct out out;
    uint64_t began_ns, look_ns;
    struct alive alive; /* the peer's host */
};

static int count_of(int fd, unsigned long what)
{
    int count = 0;
    return ioctl(fd, what, &count) ? 0 : count;
}

static void linger_end(struct tcp *tcp, struct lingerer *linger)
{
    *linger->at = linger->next;
    if (linger->next)
        linger->next->at = linger->at;
    tcp->base.links--;
    free(linger->out.bytes);
    tcp_bury(tcp, &linger->sock);
}

/* Write, and throw away all input. Returns true once nothing is left to do. */
static bool linger_step(struct lingerer *linger)
{
    char waste[4096];
    ssize_t n = 1;
    for (int i = 0; i < 64 && n > 0; i++)
        n = recv(linger->sock.fd, waste, sizeof(waste), MSG_DONTWAIT);
    if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
        return true; /* nobody is there to read the rest */
    struct out *out = &linger->out;
    while (out->tail > out->head) {
        ssize_t put = send(linger->sock.fd, out->bytes + out->head, out->tail - out->head,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0)
            return errno != EAGAIN && errno != EINTR;
        out_drop(out, (size_t)put);
    }
    return !count_of(linger->sock.fd, SIOCOUTQ);
}

/* Copy the queued payloads, since their senders take them back now. */
static void keep_queue(struct tcp_link *link)
{
    for (struct tcp_packet *node = link->first; node; node = node->next) {
        if (!out_room(&link->out, WIRE_HEADER_LEN + node->data.len - node->gone, true))
            return;
        out_copy_rest(&link->out, node->header, &node->data, node->gone);
    }
}

void linger_start(struct tcp_link *link)
{
    struct tcp *tcp = link->tcp;
    keep_queue(link);
    bool idle = link->out.head == link->out.tail;
    if (idle && (!count_of(link->sock.fd, FIONREAD) || !count_of(link->sock.fd, SIOCOUTQ)))
        return; /* closing it loses nothing */
    struct lingerer *linger = malloc(sizeof(*linger));
    if (!linger)
        return;
    *linger = (struct lingerer){.sock = {.fd = link->sock.fd, .kind = SOCK_LINGER},
                                .next = tcp->lingers,
                                .at = &tcp->lingers,
                                .out = link->out,
                                .began_ns = os_now_ns(),
                                .alive = link->alive};
    link->sock.fd = -1;
    link->out = (struct out){0};
    if (linger->next)
        linger->next->at = &linger->next;
    tcp->lingers = linger;
    tcp->base.links++;
    tcp_want_tick(tcp, os_now_ns() + TCP_SOON_NS);
    if (linger_step(linger) || tcp_rewatch(tcp, &linger->sock, !idle))
        linger_end(tcp, linger);
}

void linger_event(struct tcp *tcp, struct tcp_sock *sock)
{
    struct lingerer *linger = (struct lingerer *)sock;
    if (linger_step(linger) ||
        (linger->out.head == linger->out.tail && tcp_rewatch(tcp, sock, false)))
        linger_end(tcp, linger);
}

static bool is_alone(struct lingerer *linger, uint64_t now_ns)
{
    if (now_ns < linger->look_ns)
        return false;
    linger->look_ns = now_ns + TCP_LOOK_NS;
    return !alive_look(&linger->alive, linger->sock.fd, now_ns);
}

void linger_tick(struct tcp *tcp, uint64_t now_ns)
{
    for (struct lingerer *linger = tcp->lingers, *next; linger; linger = next) {
        next = linger->next;
        if (linger_step(linger) || now_ns - linger->began_ns > linger_ns || is_alone(linger, now_ns))
            linger_end(tcp, linger);
    }
}

/* No event tells that the peer's kernel has it all: look, less and less often. */
uint64_t linger_next(const struct tcp *tcp, uint64_t now_ns)
{
    uint64_t soon_ns = TCP_NEVER;
    for (const struct lingerer *linger = tcp->lingers; linger; linger = linger->next) {
        uint64_t step_ns = (now_ns - linger->began_ns) / 8;
        step_ns = step_ns < TCP_SOON_NS ? TCP_SOON_NS : step_ns < TCP_LOOK_NS ? step_ns : TCP_LOOK_NS;
        if (now_ns + step_ns < soon_ns)
            soon_ns = now_ns + step_ns;
    }
    return soon_ns;
}

bool linger_all_out(const struct tcp *tcp)
{
    for (const struct lingerer *linger = tcp->lingers; linger; linger = linger->next)
        if (linger->out.tail > linger->out.head)
            return false;
    return true;
}

void linger_close(struct tcp *tcp)
{
    uint64_t end = os_now_ns() + close_ns;
    useconds_t nap_us = 500;
    for (uint64_t now = os_now_ns(); tcp->lingers && now < end; now = os_now_ns()) {
        linger_tick(tcp, now);
        if (tcp->lingers)
            usleep(nap_us);
        if (nap_us < 20000)
            nap_us += nap_us / 8;
    }
    while (tcp->lingers)
        linger_end(tcp, tcp->lingers);
}

void linger_forked(struct tcp *tcp)
{
    for (struct lingerer *linger = tcp->lingers; linger; linger = linger->next)
        tcp_close_copy(&linger->sock);
}
