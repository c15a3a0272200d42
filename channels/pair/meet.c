/* SPDX-License-Identifier: BSD-3-Clause */

/* How two processes meet: the door, strangers, and our own calls; see pair.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "channels/pair/pair.h"
#include "include/channel_help.h"
#include "os/net/accept.h"
#include "os/random.h"
#include "os/memory/segment.h"

enum {
    BACKLOG = 512,
    STRANGERS = 64, /* more are hung up on, the oldest first */
    ACCEPTS = 16,   /* in one turn */
    WORD = 256      /* longer than any */
};

/* ---- sockets ---- */

static int watch(struct pairs *pair, struct pair_sock *sock)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = sock};
    return epoll_ctl(pair->base.fd, EPOLL_CTL_ADD, sock->fd, &event) ? -errno : 0;
}

/* The abstract address of a name. */
static socklen_t make_address(const uint8_t name[PAIR_NAME], struct sockaddr_un *address)
{
    static const char prefix[] = "vireo-pair-";
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path + 1, prefix, sizeof(prefix) - 1);
    chan_hex_write(address->sun_path + sizeof(prefix), name, PAIR_NAME);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) + 2 * (size_t)PAIR_NAME);
}

/* Whether the other end is a process of the same user: one that calls, or that has made the socket listen. */
static bool is_of_user(int fd)
{
    struct ucred other;
    socklen_t len = sizeof(other);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &len) && len == sizeof(other) && other.uid == geteuid();
}

/* Read a message, and the descriptor with it (-1: none). Returns its length; 0: the other end is closed; or -errno. */
static ssize_t read_word(int fd, uint8_t bytes[WORD], int *passed)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {bytes, WORD};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    *passed = -1;
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return -errno;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(passed, CMSG_DATA(head), sizeof(int));
    return n;
}

/* Say a word, with a descriptor unless it is -1. Returns 0 or -errno. */
static int say(int fd, const void *word, size_t len, int passed)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {(void *)(uintptr_t)word, len};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        control.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &passed, sizeof(int));
    }
    ssize_t n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n < 0 ? -errno : n == (ssize_t)len ? 0 : -EIO;
}

/* ---- segments ---- */

/* Map one that the peer has made, whose size must be fixed, as a shorter file would be our death. NULL: it is none of
 * ours. */
static void *map_theirs(int fd)
{
    struct stat is;
    int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);
    bool is_good = seals >= 0 && seals & F_SEAL_SHRINK && !fstat(fd, &is) && is.st_size == PAIR_SEGMENT;
    return is_good ? os_segment_map(fd, 0, PAIR_SEGMENT, 1) : NULL;
}

/* Make one; the descriptor is the caller's to close. Returns 0 or -errno. */
static int make_segment(int *fd, void **segment)
{
    *fd = os_segment_create("vireo-pair", PAIR_SEGMENT, PAIR_SEGMENT);
    if (*fd < 0)
        return *fd;
    int rc = os_segment_seal(*fd, OS_SEGMENT_WRITE);
    *segment = rc ? NULL : os_segment_map(*fd, 0, PAIR_SEGMENT, 1);
    if (*segment)
        return 0;
    rc = rc ? rc : -errno;
    close(*fd);
    return rc;
}

/* ---- the door ---- */

static int make_epoll(struct pairs *pair)
{
    if (pair->base.fd < 0)
        pair->base.fd = epoll_create1(EPOLL_CLOEXEC);
    return pair->base.fd < 0 ? -errno : 0;
}

int pair_listen(struct pairs *pair)
{
    struct sockaddr_un address;
    if (pair->door.fd >= 0)
        return 0;
    int rc = make_epoll(pair);
    if (!rc)
        rc = os_random(pair->name, sizeof(pair->name));
    if (rc)
        return rc;
    pair->door.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (pair->door.fd < 0)
        return -errno;
    socklen_t len = make_address(pair->name, &address);
    rc = bind(pair->door.fd, (struct sockaddr *)&address, len) || listen(pair->door.fd, BACKLOG) ? -errno
                                                                                                  : watch(pair, &pair->door);
    if (rc)
        pair_close_door(pair);
    return rc ? rc : 1;
}

void pair_close_door(struct pairs *pair)
{
    if (pair->door.fd >= 0)
        close(pair->door.fd);
    pair->door.fd = -1;
}

static void end_stranger(struct pairs *pair, struct pair_stranger *stranger)
{
    if (stranger->is_over)
        return;
    stranger->is_over = true;
    if (stranger->sock.fd >= 0)
        close(stranger->sock.fd);
    stranger->sock.fd = -1;
    if (stranger->segment)
        os_segment_unmap(stranger->segment, PAIR_SEGMENT);
    stranger->segment = NULL;
    pair->stranger_count--;
    pair->has_dead = true;
}

void pair_free_strangers(struct pairs *pair, bool all)
{
    for (struct pair_stranger **at = &pair->strangers; *at;) {
        struct pair_stranger *stranger = *at;
        if (all)
            end_stranger(pair, stranger);
        if (stranger->is_over) {
            *at = stranger->next;
            free(stranger);
        } else {
            at = &stranger->next;
        }
    }
}

/* Somebody has connected; takes the socket. */
static void meet(struct pairs *pair, int fd)
{
    struct pair_stranger *stranger = is_of_user(fd) ? calloc(1, sizeof(*stranger)) : NULL, *oldest = NULL;
    if (!stranger) {
        close(fd);
        return;
    }
    stranger->sock = (struct pair_sock){PAIR_STRANGER, fd};
    if (watch(pair, &stranger->sock)) {
        close(fd);
        free(stranger);
        return;
    }
    stranger->next = pair->strangers; /* the newest first */
    pair->strangers = stranger;
    if (++pair->stranger_count <= STRANGERS)
        return;
    for (struct pair_stranger *s = stranger; s; s = s->next)
        oldest = s->is_over ? oldest : s;
    end_stranger(pair, oldest);
}

static void open_door(struct pairs *pair)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = os_accept(pair->door.fd);
        if (fd < 0)
            return;
        meet(pair, fd);
    }
}

/* ---- strangers ---- */

static void refuse(struct pairs *pair, struct pair_stranger *stranger, enum chan_answer answer)
{
    struct pair_answer word;
    pair_talk_answer(answer, &word);
    (void)say(stranger->sock.fd, &word, sizeof(word), -1);
    end_stranger(pair, stranger);
}

/* The stranger becomes a link: ours, where the two cross and theirs survives. Returns the number of upcalls. */
static int take_in(struct pairs *pair, struct pair_stranger *stranger, struct chan_peer *peer)
{
    struct pair_link *link = pair_link_find(pair, &peer->gid, peer->rank);
    struct pair_answer word;
    if (link)
        pair_link_drop(link);
    else
        link = pair_link_make(pair, peer);
    if (!link) {
        refuse(pair, stranger, CHAN_REFUSE_UNABLE);
        return 1;
    }
    link->sock.fd = stranger->sock.fd;
    void *segment = stranger->segment;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &link->sock};
    (void)epoll_ctl(pair->base.fd, EPOLL_CTL_MOD, link->sock.fd, &event);
    stranger->sock.fd = -1;
    stranger->segment = NULL;
    end_stranger(pair, stranger);
    pair_talk_answer(CHAN_ACCEPT, &word);
    (void)say(link->sock.fd, &word, sizeof(word), -1); /* where that fails, the end comes next */
    pair_link_up(link, segment, false);
    return 2;
}

/* It has proven who it is. It waits while an older link is open. One that has hung up may have found another link
 * meanwhile, and closed that, too: its call is not the one that is awaited now. */
static int ask(struct pairs *pair, struct pair_stranger *stranger)
{
    const struct pair_hello *hello = &stranger->talk.hello;
    const struct pair_link *link = pair_link_find(pair, &hello->gid, hello->rank);
    struct chan_peer *peer = NULL;
    if (link && link->state >= PAIR_OPEN)
        return 0;
    if (os_has_hung_up(stranger->sock.fd)) {
        end_stranger(pair, stranger);
        return 0;
    }
    enum chan_answer answer =
        pair->env->sink->asked(pair->env->device, pair->base.ops, &hello->gid, hello->rank, &peer);
    if (answer == CHAN_ACCEPT)
        return take_in(pair, stranger, peer);
    refuse(pair, stranger, answer);
    return 1;
}

/* Take its word, and the descriptor with it. Returns the number of upcalls. */
static int hear_stranger(struct pairs *pair, struct pair_stranger *stranger, const uint8_t *bytes, size_t len, int passed)
{
    const struct chan_env *env = pair->env;
    struct pair_talk *talk = &stranger->talk;
    if (!stranger->was_greeted && !pair_talk_hear(talk, env, bytes, len)) {
        end_stranger(pair, stranger);
        return 0;
    }
    const uint8_t *secret = chan_secret(env, &talk->hello.gid, talk->hello.rank);
    if (!secret) {
        refuse(pair, stranger, CHAN_REFUSE_UNKNOWN);
    } else if (!stranger->was_greeted) {
        struct pair_challenge word;
        stranger->was_greeted = true;
        bool is_said = !os_random(talk->nonce, sizeof(talk->nonce));
        pair_talk_challenge(talk, secret, &word);
        if (!is_said || say(stranger->sock.fd, &word, sizeof(word), -1))
            end_stranger(pair, stranger);
    } else if (stranger->segment || !pair_talk_is_caller(talk, secret, bytes, len)) {
        end_stranger(pair, stranger);
    } else if (!(stranger->segment = map_theirs(passed))) {
        refuse(pair, stranger, CHAN_REFUSE_UNABLE);
        return 0;
    } else {
        return ask(pair, stranger);
    }
    return 0;
}

static int stranger_event(struct pairs *pair, struct pair_stranger *stranger)
{
    uint8_t bytes[WORD];
    int passed, upcalls = 0;
    while (!stranger->is_over && stranger->sock.fd >= 0) {
        ssize_t n = read_word(stranger->sock.fd, bytes, &passed);
        if (n == -EAGAIN || n == -EINTR)
            break;
        if (n <= 0) {
            end_stranger(pair, stranger);
            break;
        }
        upcalls += hear_stranger(pair, stranger, bytes, (size_t)n, passed);
        if (passed >= 0)
            close(passed); /* it is mapped, or of no use */
    }
    return upcalls;
}

int pair_look_at_strangers(struct pairs *pair)
{
    int upcalls = 0;
    for (struct pair_stranger *stranger = pair->strangers; stranger; stranger = stranger->next)
        if (!stranger->is_over && stranger->segment)
            upcalls += ask(pair, stranger);
    return upcalls;
}

/* ---- our calls ---- */

int pair_call(struct pair_link *link, const uint8_t name[PAIR_NAME])
{
    struct pairs *pair = link->pair;
    struct sockaddr_un address;
    int rc = make_epoll(pair);
    if (!rc)
        rc = os_random(link->talk.hello.nonce, sizeof(link->talk.hello.nonce));
    if (rc)
        return rc;
    link->sock.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->sock.fd < 0)
        return -errno;
    pair_talk_begin(&link->talk, pair->env, link->base.peer);
    socklen_t len = make_address(name, &address);
    if (connect(link->sock.fd, (struct sockaddr *)&address, len))
        return errno == EAGAIN ? -EBUSY : -errno;
    if (!is_of_user(link->sock.fd))
        return -EPERM;
    rc = say(link->sock.fd, &link->talk.hello, sizeof(link->talk.hello), -1);
    return rc ? rc : watch(pair, &link->sock);
}

/* The call is over without a link. */
static int end_call(struct pair_link *link, enum chan_answer answer, const char *why)
{
    link->state = PAIR_OVER;
    link->pair->env->sink->refused(&link->base, answer, why);
    return 1;
}

/* The owner is the right one: make the segment, and prove that this process is. */
static int prove(struct pair_link *link, const uint8_t *secret)
{
    struct pair_proof word;
    void *segment;
    int fd, rc = make_segment(&fd, &segment);
    if (rc)
        return end_call(link, CHAN_ACCEPT, "no memory can be shared with it");
    pair_talk_prove(&link->talk, secret, &word);
    rc = say(link->sock.fd, &word, sizeof(word), fd);
    close(fd);
    link->segment = segment;
    link->state = PAIR_SAID;
    return rc ? end_call(link, CHAN_ACCEPT, strerror(-rc)) : 0;
}

static int hear_owner(struct pair_link *link, const uint8_t *bytes, size_t len)
{
    static const char *const whys[CHAN_ANSWERS] = {
        [CHAN_REFUSE_CROSSING] = "the peer's own connection takes precedence",
        [CHAN_REFUSE_UNKNOWN] = "the peer does not know this process",
        [CHAN_REFUSE_CLOSED] = "the peer is finalizing",
        [CHAN_REFUSE_UNABLE] = "the peer cannot share memory",
        [CHAN_REFUSE_FAILED] = "the peer holds this process for lost"};
    const struct chan_peer *peer = link->base.peer;
    const uint8_t *secret = chan_secret(link->pair->env, &peer->gid, peer->rank);
    enum chan_answer answer = pair_talk_answer_of(bytes, len);
    if (answer < CHAN_ANSWERS && answer != CHAN_ACCEPT)
        return end_call(link, answer, whys[answer]);
    if (link->state == PAIR_HELLO && secret && pair_talk_is_owner(&link->talk, secret, bytes, len))
        return prove(link, secret);
    if (link->state != PAIR_SAID || answer != CHAN_ACCEPT)
        return end_call(link, CHAN_ACCEPT, "somebody else answers there");
    void *segment = link->segment;
    pair_link_up(link, segment, true);
    return 1;
}

/* A word of the peer's, or a byte that wakes, or its end. */
int pair_link_look(struct pair_link *link)
{
    uint8_t bytes[WORD];
    int passed, upcalls = 0;
    while (link->state <= PAIR_OPEN && !link->gone) {
        ssize_t n = read_word(link->sock.fd, bytes, &passed);
        if (passed >= 0)
            close(passed); /* it has none to give */
        if (n == -EINTR || (n == -EAGAIN && !link->is_last))
            break;
        if (n <= 0)
            link->gone = true;
        else if (link->state < PAIR_OPEN)
            upcalls += hear_owner(link, bytes, (size_t)n);
    }
    if (link->gone && link->sock.fd >= 0) /* it would be readable for ever */
        (void)epoll_ctl(link->pair->base.fd, EPOLL_CTL_DEL, link->sock.fd, NULL);
    if (link->gone && link->state < PAIR_OPEN)
        upcalls += end_call(link, CHAN_ACCEPT, "the peer has hung up");
    return upcalls;
}

int pair_sock_event(struct pairs *pair, struct pair_sock *sock)
{
    switch (sock->what) {
    case PAIR_DOOR: open_door(pair); return 0;
    case PAIR_STRANGER: return stranger_event(pair, (struct pair_stranger *)sock);
    case PAIR_LINK: break;
    }
    struct pair_link *link = (struct pair_link *)((char *)sock - offsetof(struct pair_link, sock));
    return pair_link_look(link);
}
