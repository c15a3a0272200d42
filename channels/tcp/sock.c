/* SPDX-License-Identifier: BSD-3-Clause */

/* The sockets of the tcp channel, and the epoll set that watches them; see tcp.h. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "channels/tcp/tcp.h"
#include "os/net/accept.h"

enum { SYNS = 64 }; /* a connect is given up by us, not by the kernel */

static int control(struct tcp *tcp, int op, struct tcp_sock *sock, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = sock};
    return epoll_ctl(tcp->epoll, op, sock->fd, &event) ? -errno : 0;
}

int tcp_watch(struct tcp *tcp, struct tcp_sock *sock, bool output)
{
    return control(tcp, EPOLL_CTL_ADD, sock, EPOLLIN | (output ? (uint32_t)EPOLLOUT : 0u));
}

int tcp_rewatch(struct tcp *tcp, struct tcp_sock *sock, bool output)
{
    return control(tcp, EPOLL_CTL_MOD, sock, EPOLLIN | (output ? (uint32_t)EPOLLOUT : 0u));
}

int tcp_ignore(struct tcp *tcp, struct tcp_sock *sock)
{
    return control(tcp, EPOLL_CTL_MOD, sock, 0);
}

void tcp_unwatch(struct tcp *tcp, struct tcp_sock *sock)
{
    (void)control(tcp, EPOLL_CTL_DEL, sock, 0);
}

void tcp_hang_up(struct tcp *tcp, struct tcp_sock *sock)
{
    if (sock->fd < 0)
        return;
    tcp_unwatch(tcp, sock); /* close() alone does not where a child has it too */
    close(sock->fd);
    sock->fd = -1;
}

void tcp_close_copy(struct tcp_sock *sock)
{
    if (sock->fd >= 0)
        close(sock->fd);
    sock->fd = -1;
}

void tcp_bury(struct tcp *tcp, struct tcp_sock *sock)
{
    tcp_hang_up(tcp, sock);
    sock->kind = SOCK_DEAD;
    if (!tcp->inside) {
        free(sock);
        return;
    }
    sock->dead_next = tcp->dead;
    tcp->dead = sock;
}

void tcp_check(struct tcp *tcp, int error)
{
    if (error == EBADF || error == ENOTSOCK || error == EINVAL)
        tcp->env->sink->broken(tcp->env->device, tcp->base.ops,
                               "this program has closed descriptors that are not its own");
}

void tcp_want_tick(struct tcp *tcp, uint64_t at_ns)
{
    if (at_ns == TCP_NEVER || (tcp->tick_ns && tcp->tick_ns <= at_ns))
        return;
    if (!at_ns)
        at_ns = 1; /* 0 would stop the timer */
    struct itimerspec once = {
        .it_value = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)}};
    if (!timerfd_settime(tcp->tick.fd, TFD_TIMER_ABSTIME, &once, NULL))
        tcp->tick_ns = at_ns;
}

/* Where the soft limit of descriptors is reached, go to the hard one. */
static bool may_try_again(void)
{
    struct rlimit limit;
    if ((errno != EMFILE) || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return !setrlimit(RLIMIT_NOFILE, &limit);
}

int tcp_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 && may_try_again())
        fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
}

int tcp_accept(int listener)
{
    int fd = os_accept(listener);
    if (fd < 0 && may_try_again())
        fd = os_accept(listener);
    return fd < 0 ? -errno : fd;
}

/* None of these is needed for correctness: if the system refuses one, go without. */
void tcp_tune(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},   {IPPROTO_TCP, TCP_SYNCNT, SYNS},
        {SOL_SOCKET, SO_KEEPALIVE, 1},   {IPPROTO_TCP, TCP_KEEPIDLE, 10},
        {IPPROTO_TCP, TCP_KEEPINTVL, 2}, {IPPROTO_TCP, TCP_KEEPCNT, 5},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                         sizeof(options[i].value));
}
