/* SPDX-License-Identifier: BSD-3-Clause */

/* The listening port; see listen.h. */
#include "channels/tcp/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/tcp/addr.h"
#include "channels/tcp/dial.h"
#include "channels/tcp/link.h"
#include "os/net/accept.h"
#include "os/calls.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/random.h"

enum {
    BACKLOG = 4096,
    ACCEPTS = 64,
    MUTE_MAX = 256,
    SAME_MAX = ADDR_MAX /* greeted, that say to be one process: it tries all addresses at once where
                         * nobody answers, and may prove itself over any of them */
};

/* A peer may begin to connect and then compute before it says its next word; should it come too
 * late, it tries again. A proven stranger waits for an older link to end. */
static const uint64_t patience_ns = 300000000000u, end_ns = 5000000000u;
/* So long without a descriptor, and callers are told that there will be none. */
static const uint64_t deaf_ns = 2000000000u;

enum stranger_phase {
    STRANGER_MUTE,
    STRANGER_GREETED,
    STRANGER_PROVEN
};

struct stranger {
    struct tcp_sock sock;
    struct stranger *next;
    enum stranger_phase phase;
    struct wire_talk talk;
    uint64_t deadline_ns;
    size_t got;
    uint8_t in[WIRE_HELLO_LEN];
};

static int bind_to(int fd, const union addr *addr, uint16_t *port)
{
    union addr bound;
    socklen_t len = sizeof(bound);
    if (bind(fd, &addr->any, addr_len(addr)) || listen(fd, BACKLOG) ||
        getsockname(fd, &bound.any, &len))
        return -errno;
    *port = ntohs(bound.v4.sin_port);
    return 0;
}

/* Returns a descriptor or -errno. */
static int open_port(const union addr *addr, uint16_t *port)
{
    int off = 0, fd = tcp_socket(addr->any.sa_family);
    if (fd < 0)
        return fd;
    int rc = 0;
    if (addr->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&addr->v6.sin6_addr) &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
        rc = -errno;
    if (!rc)
        rc = bind_to(fd, addr, port);
    if (rc) {
        close(fd);
        return rc;
    }
    return fd;
}

int listen_open(struct tcp *tcp, const union addr *only)
{
    union addr any;
    int fd;
    if (only) {
        fd = open_port(only, &tcp->port);
    } else {
        (void)addr_parse(&any, "::", 0);
        fd = open_port(&any, &tcp->port);
        if (fd < 0) { /* a host without IPv6 */
            (void)addr_parse(&any, "0.0.0.0", 0);
            fd = open_port(&any, &tcp->port);
        }
    }
    if (fd < 0)
        return fd;
    tcp->listener = (struct tcp_sock){.fd = fd, .kind = SOCK_LISTENER};
    tcp->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return tcp_watch(tcp, &tcp->listener, false);
}

static void stranger_drop(struct tcp *tcp, struct stranger *stranger)
{
    struct stranger **at = &tcp->strangers;
    while (*at != stranger)
        at = &(*at)->next;
    *at = stranger->next;
    if (!stranger->next)
        tcp->last_stranger = at;
    tcp->mute -= stranger->phase == STRANGER_MUTE;
    tcp->greeted -= stranger->phase == STRANGER_GREETED;
    tcp->proven -= stranger->phase == STRANGER_PROVEN;
    tcp->base.links--;
    tcp_bury(tcp, &stranger->sock);
}

void listen_close(struct tcp *tcp)
{
    while (tcp->strangers)
        stranger_drop(tcp, tcp->strangers);
    tcp_hang_up(tcp, &tcp->listener);
    if (tcp->spare >= 0)
        close(tcp->spare);
    tcp->spare = -1;
}

void listen_forked(struct tcp *tcp)
{
    for (struct stranger *stranger = tcp->strangers; stranger; stranger = stranger->next)
        tcp_close_copy(&stranger->sock);
    tcp_close_copy(&tcp->listener);
    if (tcp->spare >= 0)
        close(tcp->spare);
    tcp->spare = -1;
}

static struct stranger *find_oldest(struct tcp *tcp, enum stranger_phase phase)
{
    struct stranger *stranger = tcp->strangers;
    while (stranger && stranger->phase != phase)
        stranger = stranger->next;
    return stranger;
}

/* Hang up on the oldest in this phase, whose next word has not come. Returns whether there
 * was one. */
static bool drop_oldest(struct tcp *tcp, enum stranger_phase phase)
{
    int *count = phase == STRANGER_MUTE ? &tcp->mute : &tcp->greeted, before = *count;
    struct stranger *stranger;
    while ((stranger = find_oldest(tcp, phase)) && *count == before) {
        (void)listen_event(tcp, &stranger->sock);
        if (*count == before)
            stranger_drop(tcp, stranger);
    }
    return *count < before;
}

/* A quarter of the descriptors that the process may have. */
static int greeted_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max / 4 > INT_MAX)
        return INT_MAX;
    return limit.rlim_max < 32 ? 8 : (int)(limit.rlim_max / 4);
}

static int mute_max(void)
{
    int max = greeted_max();
    return max < MUTE_MAX ? max : MUTE_MAX;
}

/* Whether both say to be the same process. */
static bool is_same(const struct stranger *a, const struct stranger *b)
{
    return a->talk.hello.rank == b->talk.hello.rank &&
           !memcmp(&a->talk.hello.gid, &b->talk.hello.gid, sizeof(struct chan_gid));
}

/* One more is greeted: hang up on an older one if there are too many. */
static void keep_few(struct tcp *tcp, const struct stranger *newest)
{
    struct stranger *oldest = NULL;
    int same = 0;
    for (struct stranger *other = tcp->strangers; other; other = other->next)
        if (other != newest && other->phase == STRANGER_GREETED && is_same(other, newest) &&
            !same++)
            oldest = other;
    if (same < SAME_MAX)
        oldest = tcp->greeted > greeted_max() ? find_oldest(tcp, STRANGER_GREETED) : NULL;
    if (oldest && oldest != newest)
        stranger_drop(tcp, oldest);
}

/* Without a descriptor for the next stranger, look away for a while. */
static void set_deaf(struct tcp *tcp, bool deaf)
{
    struct epoll_event event = {.events = deaf ? 0u : (uint32_t)EPOLLIN,
                                .data.ptr = &tcp->listener};
    tcp->deaf = deaf && !epoll_ctl(tcp->epoll, EPOLL_CTL_MOD, tcp->listener.fd, &event);
    if (!deaf)
        (void)epoll_ctl(tcp->epoll, EPOLL_CTL_MOD, tcp->listener.fd, &event);
    else
        tcp_want_tick(tcp, os_now_ns() + TCP_SOON_NS);
}

static void admit(struct tcp *tcp, int fd)
{
    struct stranger *stranger = calloc(1, sizeof(*stranger));
    if (!stranger) {
        close(fd);
        return;
    }
    while (tcp->mute >= mute_max() && drop_oldest(tcp, STRANGER_MUTE))
        ;
    tcp_tune(fd);
    stranger->sock = (struct tcp_sock){.fd = fd, .kind = SOCK_STRANGER};
    stranger->deadline_ns = os_now_ns() + patience_ns;
    if (tcp_watch(tcp, &stranger->sock, false)) {
        close(fd);
        free(stranger);
        return;
    }
    *tcp->last_stranger = stranger;
    tcp->last_stranger = &stranger->next;
    tcp->mute++;
    tcp->calls++;
    tcp->base.links++;
    tcp_want_tick(tcp, stranger->deadline_ns);
}

/* Hang up on all who call, by the descriptor that is kept for that: they would wait for ever. */
static void refuse_all(struct tcp *tcp)
{
    if (tcp->spare < 0)
        return;
    close(tcp->spare);
    for (int fd; (fd = tcp_accept(tcp->listener.fd)) >= 0;)
        close(fd);
    tcp->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_short_of_files(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/* This process can accept nobody just now; for good, as it seems, once that has lasted. A caller
 * from another host that finds no listener asks this process to connect. */
static void accept_none(struct tcp *tcp, int error)
{
    bool has_few = is_short_of_files(error);
    uint64_t now_ns = os_now_ns(), since_ns = tcp->deaf_ns ? tcp->deaf_ns : now_ns;
    bool is_first = tcp->deaf_ns != TCP_NEVER && now_ns - since_ns > deaf_ns;
    if (is_first && has_few)
        os_log(OS_LOG_WARN, "tcp: there is no descriptor for a connection (%s), and callers are "
               "refused; `ulimit -n` may be too low", strerror(error));
    else if (is_first)
        os_log(OS_LOG_WARN, "tcp: no connection can be accepted: %s, and callers are refused; a filter of "
               "system calls must allow accept4", strerror(error));
    tcp->deaf_ns = is_first ? TCP_NEVER : since_ns;
    if (tcp->deaf_ns == TCP_NEVER && !has_few) {
        tcp_hang_up(tcp, &tcp->listener);
        return;
    }
    if (tcp->deaf_ns == TCP_NEVER)
        refuse_all(tcp);
    set_deaf(tcp, true);
}

void listen_accept(struct tcp *tcp)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = tcp_accept(tcp->listener.fd);
        if (fd >= 0) {
            tcp->deaf_ns = 0;
            admit(tcp, fd);
        } else if (fd == -EAGAIN || fd == -EBADF || fd == -ENOTSOCK || fd == -EINVAL) {
            tcp->deaf_ns = tcp->deaf_ns == TCP_NEVER ? TCP_NEVER : 0;
            tcp_check(tcp, -fd);
            return;
        } else if (is_short_of_files(-fd)) {
            if (!drop_oldest(tcp, STRANGER_MUTE) && !drop_oldest(tcp, STRANGER_GREETED))
                accept_none(tcp, -fd);
            return;
        } else if (os_is_refused(-fd)) {
            accept_none(tcp, -fd);
            return;
        } /* else this one has gone */
    }
}

/* ---- what a stranger says ---- */

static bool tell(const struct stranger *stranger, const uint8_t *bytes, size_t len)
{
    return send(stranger->sock.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

/* A HELLO that was overheard, and is said again, is told nothing. Returns 0 or -errno. */
static int take_once(struct tcp *tcp, const struct wire_hello *hello)
{
    const struct os_heard_sender sender = os_heard_sender(hello->gid.b, hello->rank);
    return os_heard_take(&tcp->heard, &sender, hello->number);
}

/* The secret of this process and the stranger; the device may have forgotten the other one meanwhile, and then
 * nothing that this process says is right. */
static const uint8_t *secret_of(const struct tcp *tcp, const struct stranger *stranger)
{
    const struct wire_hello *hello = &stranger->talk.hello;
    const uint8_t *secret = chan_secret(tcp->env, &hello->gid, hello->rank);
    return secret ? secret : tcp->env->secret;
}

/* HELLO is here. Returns whether to go on with this stranger. */
static bool challenge(struct tcp *tcp, struct stranger *stranger)
{
    const struct chan_env *env = tcp->env;
    const struct wire_hello *hello = &stranger->talk.hello;
    uint8_t bytes[WIRE_CHALLENGE_LEN];
    struct chan_gid gid;
    uint32_t rank;
    wire_hello_sender(stranger->in, &gid, &rank);
    const uint8_t *secret = chan_secret(env, &gid, rank);
    if (!secret || wire_hello_get(stranger->in, &stranger->talk, secret) ||
        memcmp(&hello->to_gid, &env->gid, sizeof(env->gid)) || hello->to_rank != env->rank ||
        take_once(tcp, hello) || os_random(stranger->talk.nonce, WIRE_NONCE_LEN))
        return false;
    wire_challenge_put(bytes, &stranger->talk, secret);
    stranger->phase = STRANGER_GREETED;
    stranger->got = 0;
    tcp->mute--;
    tcp->greeted++;
    keep_few(tcp, stranger);
    return tell(stranger, bytes, sizeof(bytes));
}

/* The device has said yes: the stranger's connection becomes the link that we are dialing, or a
 * fresh one. */
static int make_link(struct tcp *tcp, struct stranger *stranger, struct chan_peer *peer,
                     struct tcp_link *fresh)
{
    struct tcp_link *link = link_of(peer);
    uint8_t bytes[WIRE_ANSWER_LEN];
    if (link) {
        free(fresh);
    } else {
        link_init(fresh, tcp, peer);
        link = fresh;
    }
    if (link->dial) /* our own connects are not needed any more */
        dial_stop(link->dial);
    link->sock.fd = stranger->sock.fd;
    stranger->sock.fd = -1;
    wire_answer_put(bytes, &stranger->talk, CHAN_ACCEPT, secret_of(tcp, stranger));
    /* Should either fail, the connection is broken, and the link finds out by itself. */
    (void)tcp_rewatch(tcp, &link->sock, false);
    (void)!send(link->sock.fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
    stranger_drop(tcp, stranger);
    return link_open(link);
}

/* Ask the device about a proven stranger, unless an older link of the same peer must end
 * first: its last packets may still be on their way. One that has hung up may have found another
 * link meanwhile, and closed that, too: its call is not the one that is awaited now. */
static int ask(struct tcp *tcp, struct stranger *stranger)
{
    const struct wire_hello *hello = &stranger->talk.hello;
    uint8_t bytes[WIRE_ANSWER_LEN];
    if (link_find(tcp, &hello->gid, hello->rank))
        return 0;
    if (os_has_hung_up(stranger->sock.fd)) {
        stranger_drop(tcp, stranger);
        return 0;
    }
    struct tcp_link *fresh = link_alloc();
    if (!fresh) { /* before the device relies on it; the stranger comes again */
        stranger_drop(tcp, stranger);
        return 0;
    }
    struct chan_peer *peer = NULL;
    enum chan_answer answer =
        tcp->env->sink->asked(tcp->env->device, tcp->base.ops, &hello->gid, hello->rank, &peer);
    if (answer == CHAN_ACCEPT)
        return 1 + make_link(tcp, stranger, peer, fresh);
    free(fresh);
    wire_answer_put(bytes, &stranger->talk, answer, secret_of(tcp, stranger));
    (void)tell(stranger, bytes, sizeof(bytes));
    stranger_drop(tcp, stranger);
    return 1;
}

int listen_event(struct tcp *tcp, struct tcp_sock *sock)
{
    struct stranger *stranger = (struct stranger *)sock;
    size_t all = stranger->phase == STRANGER_MUTE      ? WIRE_HELLO_LEN
                 : stranger->phase == STRANGER_GREETED ? WIRE_PROOF_LEN
                                                       : 1;
    size_t from = stranger->phase == STRANGER_PROVEN ? 0 : stranger->got;
    ssize_t n = recv(sock->fd, stranger->in + from, all - from, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    bool going_on = n > 0 && stranger->phase != STRANGER_PROVEN; /* it waits for us */
    if (going_on) {
        stranger->got += (size_t)n;
        if (stranger->got < all)
            return 0;
        if (stranger->phase == STRANGER_MUTE)
            going_on = challenge(tcp, stranger);
        else
            going_on = !wire_proof_get(stranger->in, &stranger->talk, secret_of(tcp, stranger));
        if (going_on && stranger->phase == STRANGER_GREETED && !stranger->got)
            return 0; /* just challenged */
    }
    if (!going_on) {
        stranger_drop(tcp, stranger);
        return 0;
    }
    tcp->greeted--;
    stranger->phase = STRANGER_PROVEN; /* progress() asks about it before it ends */
    stranger->deadline_ns = os_now_ns() + end_ns;
    tcp_want_tick(tcp, stranger->deadline_ns);
    tcp->proven++;
    return 0;
}

bool listen_is_greeted(const struct tcp *tcp, const struct chan_peer *peer)
{
    const struct stranger *stranger = tcp->strangers;
    for (; stranger; stranger = stranger->next) {
        const struct wire_hello *hello = &stranger->talk.hello;
        if (stranger->phase != STRANGER_MUTE && hello->rank == peer->rank &&
            !memcmp(&hello->gid, &peer->gid, sizeof(peer->gid)))
            return true;
    }
    return false;
}

int listen_judge(struct tcp *tcp)
{
    int upcalls = 0;
    for (struct stranger *stranger = tcp->strangers, *next; stranger; stranger = next) {
        next = stranger->next;
        if (stranger->phase == STRANGER_PROVEN)
            upcalls += ask(tcp, stranger);
    }
    return upcalls;
}

int listen_tick(struct tcp *tcp, uint64_t now_ns)
{
    int upcalls = 0;
    if (tcp->deaf && tcp->listener.fd >= 0)
        set_deaf(tcp, false);
    for (struct stranger *stranger = tcp->strangers, *next; stranger; stranger = next) {
        next = stranger->next;
        if (now_ns < stranger->deadline_ns)
            continue;
        if (stranger->phase != STRANGER_PROVEN) {
            stranger_drop(tcp, stranger);
            continue;
        }
        /* A peer that asks again has no older link, even if ours looks alive. */
        const struct wire_hello *hello = &stranger->talk.hello;
        struct tcp_link *old = link_find(tcp, &hello->gid, hello->rank);
        stranger->deadline_ns = now_ns + end_ns;
        if (old && old->state != LINK_OVER)
            upcalls += link_lose(old, -ECONNRESET);
    }
    return upcalls;
}

uint64_t listen_next(const struct tcp *tcp, uint64_t now_ns)
{
    uint64_t next_ns = tcp->deaf ? now_ns + TCP_SOON_NS : TCP_NEVER;
    for (const struct stranger *stranger = tcp->strangers; stranger; stranger = stranger->next)
        if (stranger->deadline_ns < next_ns)
            next_ns = stranger->deadline_ns;
    return next_ns;
}
