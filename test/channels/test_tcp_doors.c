/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tcp channel among wrong addresses and unwelcome visitors: what a card
 * names may be refused, silent, or somebody else's, and the port may be crowded;
 * the link opens all the same, and soon.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/tcp/addr.h"
#include "channels/tcp/link.h"
#include "channels/tcp/wire.h"
#include "os/clock.h"
#include "include/channel_help.h"
#include "test/channels/cases.h"

extern const struct chan_ops chan_tcp;

enum {
    SOON_MS = 2000,
    LIMIT_S = 30,
    CROWD = 300,
    REPLAYS = 200,
    FEW_DESCRIPTORS = 32
};

static int port_of(const char *card)
{
    char text[16] = "";
    (void)chan_params_get(card, "p", 0, text, sizeof(text));
    return atoi(text);
}

/* A card of the same port and number with other addresses. */
static void change_addresses(struct fake *fake, const char *const *addresses)
{
    char *card = fake->world->card[1], number[32], port[16];
    FAKE_CHECK(fake, !chan_params_get(card, "n", 0, number, sizeof(number)), "no number");
    snprintf(port, sizeof(port), "%d", port_of(card));
    card[0] = 0;
    int rc = chan_params_add(card, CHAN_CARD_MAX, "n", number) ||
             chan_params_add(card, CHAN_CARD_MAX, "p", port) ||
             chan_params_add(card, CHAN_CARD_MAX, "host", "elsewhere");
    for (; *addresses && !rc; addresses++)
        rc = chan_params_add(card, CHAN_CARD_MAX, "a", *addresses);
    FAKE_CHECK(fake, !rc, "no room in the card");
}

static int listen_at(struct fake *fake, const char *address, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    FAKE_CHECK(fake,
               inet_pton(AF_INET, address, &at.sin_addr) == 1 && fd >= 0 &&
                   !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 5),
               "cannot listen at %s: %s", address, strerror(errno));
    return fd;
}

static int knock(struct fake *fake, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    FAKE_CHECK(fake, fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)),
               "cannot connect: %s", strerror(errno));
    return fd;
}

static void exchange(struct fake *fake)
{
    struct fake_peer *peer = &fake->peer[1 - fake->rank];
    if (fake->rank == 0)
        fake_link(fake, 1);
    fake_until(fake, &peer->opened, 1, SOON_MS, "opened()");
    fake_send(peer, 1000, FAKE_PLAIN);
    fake_until_packets(fake, peer, 1, SOON_MS);
}

/* The first address refuses, the second says nothing, the third talks nonsense. */
static void case_impostors(struct fake *fake)
{
    static const char *const addresses[] = {"127.0.0.5", "127.0.0.6", "127.0.0.7", "127.0.0.1",
                                            NULL};
    static const char nonsense[] = "220 smtp.example ESMTP, and more of it than 32 bytes\r\n";
    int port = port_of(fake->world->card[1]);
    if (fake->rank == 0) {
        int silent = listen_at(fake, addresses[1], port);
        int talker = listen_at(fake, addresses[2], port);
        pid_t pid = fork();
        if (!pid) {
            alarm(LIMIT_S);
            int fd = accept(talker, NULL, NULL);
            (void)!write(fd, nonsense, sizeof(nonsense));
            (void)!read(fd, &port, 1);
            _exit(0);
        }
        change_addresses(fake, addresses);
        exchange(fake);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(silent);
        close(talker);
    } else {
        exchange(fake);
    }
}

static void case_crowd(struct fake *fake)
{
    fake_barrier_still(fake);
    if (fake->rank == 0)
        for (int i = 0; i < CROWD; i++)
            (void)knock(fake, port_of(fake->world->card[1]));
    fake_barrier(fake);
    exchange(fake);
}

/* A silent stranger costs nothing: nobody is woken for it. */
static void case_silence(struct fake *fake)
{
    fake_barrier_still(fake);
    if (fake->rank == 0)
        (void)knock(fake, port_of(fake->world->card[1]));
    fake_barrier_still(fake);
    if (fake->rank == 1) {
        struct pollfd door = {.fd = fake->chan->fd, .events = POLLIN};
        int wakes = 0;
        fake_run(fake, 50);
        for (uint64_t end = os_now_ns() + 300000000u; os_now_ns() < end; fake_run(fake, 1))
            wakes += poll(&door, 1, 100) > 0;
        FAKE_CHECK(fake, wakes < 2, "%d times awake for a silent stranger", wakes);
    }
    fake_barrier(fake);
    exchange(fake);
}

/* A crowd where the listener may open few files. */
static void case_few_descriptors(struct fake *fake)
{
    struct rlimit limit = {FEW_DESCRIPTORS, FEW_DESCRIPTORS};
    if (fake->rank == 1)
        FAKE_CHECK(fake, !setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    case_crowd(fake);
}

static void case_v6(struct fake *fake)
{
    static const char *const addresses[] = {"::1", NULL};
    if (fake->rank == 0)
        change_addresses(fake, addresses);
    exchange(fake);
}

/* Say something and return how many bytes come back before the line is cut. */
static size_t say(int fd, const uint8_t *bytes, size_t len, uint8_t *back, size_t room)
{
    size_t got = 0;
    ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL) < 0 ? 0 : 1;
    while (n > 0 && got < room) {
        n = recv(fd, back + got, room - got, 0);
        got += n > 0 ? (size_t)n : 0;
    }
    return got;
}

/* A stranger with a right HELLO, overheard before it arrived, gets a challenge, and no further; one
 * without gets nothing. */
static void case_overheard(struct fake *fake)
{
    if (fake->rank == 0) {
        struct wire_talk talk = {
            .hello = {
                .gid = fake->world->gid, .to_gid = fake->world->gid, .rank = 0, .to_rank = 1, .number = 1}};
        uint8_t hello[WIRE_HELLO_LEN], back[WIRE_CHALLENGE_LEN + 1];
        uint8_t wrong[WIRE_PROOF_LEN] = "Vchn\1\3\0";
        int port = port_of(fake->world->card[1]), fd = knock(fake, port);
        wire_hello_put(hello, &talk, fake->env.secret);
        FAKE_CHECK(fake,
                   say(fd, hello, sizeof(hello), back, WIRE_CHALLENGE_LEN) == WIRE_CHALLENGE_LEN,
                   "no challenge for a right HELLO");
        FAKE_CHECK(fake, !say(fd, wrong, sizeof(wrong), back, sizeof(back)),
                   "an answer to a wrong PROOF");
        fd = knock(fake, port);
        hello[WIRE_HELLO_LEN - 1] ^= 1;
        FAKE_CHECK(fake, !say(fd, hello, sizeof(hello), back, sizeof(back)),
                   "an answer to a wrong HELLO");
    }
    fake_barrier(fake);
    FAKE_CHECK(fake, !fake->peer[0].asked, "the device was asked");
}

/* Put a right HELLO of rank 0 with this number into hello. */
static void overhear(struct fake *fake, uint64_t number, uint8_t hello[WIRE_HELLO_LEN])
{
    struct wire_talk talk = {.hello = {.gid = fake->world->gid,
                                       .to_gid = fake->world->gid,
                                       .rank = 0,
                                       .to_rank = 1,
                                       .number = number}};
    wire_hello_put(hello, &talk, fake->env.secret);
}

static bool is_cut(int fd)
{
    uint8_t byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

/* One HELLO, said again and again, is heard once, and keeps its true owner not out. */
static void case_replay(struct fake *fake)
{
    if (fake->rank == 0) {
        uint8_t hello[WIRE_HELLO_LEN], back[WIRE_CHALLENGE_LEN];
        size_t heard = sizeof(back);
        overhear(fake, 1, hello);
        for (int i = 0; i < REPLAYS; i++, heard = 0) {
            int fd = knock(fake, port_of(fake->world->card[1]));
            FAKE_CHECK(fake, say(fd, hello, sizeof(hello), back, sizeof(back)) == heard,
                       heard ? "HELLO %d has no challenge" : "HELLO %d is heard again", i);
            close(fd);
        }
    }
    fake_barrier(fake);
    exchange(fake);
}

/* A maker of many right HELLOs takes few descriptors, and keeps the process of that rank
 * not out. */
static void case_many(struct fake *fake)
{
    int fd[REPLAYS], open = 0;
    if (fake->rank == 0) {
        uint8_t hello[WIRE_HELLO_LEN], back[WIRE_CHALLENGE_LEN];
        for (int i = 0; i < REPLAYS; i++) {
            overhear(fake, 1 + (uint64_t)i, hello);
            fd[i] = knock(fake, port_of(fake->world->card[1]));
            FAKE_CHECK(fake, say(fd[i], hello, sizeof(hello), back, sizeof(back)) == sizeof(back),
                       "no challenge for HELLO %d", i);
        }
        for (int i = 0; i < REPLAYS; i++)
            open += !is_cut(fd[i]);
        FAKE_CHECK(fake, open > 0 && open <= ADDR_MAX, "%d of %d connections are kept", open, REPLAYS);
        FAKE_CHECK(fake, !is_cut(fd[REPLAYS - 1]), "the newest is not among them");
    }
    fake_barrier(fake);
    exchange(fake);
}

/* A process that nobody has answered for some time has tried all addresses by then. */
static void case_late(struct fake *fake)
{
    int fd[ADDR_MAX];
    fake_barrier_still(fake);
    if (fake->rank == 0) {
        uint8_t hello[WIRE_HELLO_LEN], back[WIRE_CHALLENGE_LEN];
        int port = port_of(fake->world->card[1]);
        for (int i = 0; i < ADDR_MAX; i++) {
            overhear(fake, 1 + (uint64_t)i, hello);
            fd[i] = knock(fake, port);
            FAKE_CHECK(fake, send(fd[i], hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello),
                       "send()");
        }
        fake_barrier_still(fake);
        for (int i = 0; i < ADDR_MAX; i++)
            FAKE_CHECK(fake, recv(fd[i], back, sizeof(back), MSG_WAITALL) == sizeof(back),
                       "no challenge over connection %d", i);
        for (int i = 0; i < ADDR_MAX; i++)
            FAKE_CHECK(fake, !is_cut(fd[i]), "connection %d is hung up, though greeted", i);
    } else {
        fake_barrier_still(fake);
    }
    fake_barrier(fake);
}

/* Its HELLO is there, though a crowd that came later is looked at before. */
static void case_hello_in_crowd(struct fake *fake)
{
    struct rlimit limit = {FEW_DESCRIPTORS, FEW_DESCRIPTORS};
    if (fake->rank == 1)
        FAKE_CHECK(fake, !setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    fake_barrier_still(fake);
    if (fake->rank == 0) {
        uint8_t hello[WIRE_HELLO_LEN], back[WIRE_CHALLENGE_LEN];
        int port = port_of(fake->world->card[1]), fd = knock(fake, port);
        overhear(fake, 1, hello);
        FAKE_CHECK(fake, send(fd, hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello), "send()");
        for (int i = 0; i < 2 * FEW_DESCRIPTORS; i++)
            (void)knock(fake, port);
        fake_barrier_still(fake);
        FAKE_CHECK(fake, recv(fd, back, sizeof(back), MSG_WAITALL) == sizeof(back),
                   "hung up on, though it had said HELLO");
    } else {
        fake_barrier_still(fake);
    }
    fake_barrier(fake);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* A peer that has no memory for a link hangs up before its device has said yes, and lets later
 * callers in. */
static void case_no_memory(struct fake *fake)
{
    struct fake_peer *peer = &fake->peer[1 - fake->rank];
    struct rlimit before, limit;
    struct block {
        struct block *next;
        char space[sizeof(struct tcp_link)];
    } *blocks = NULL, *block;
    FAKE_CHECK(fake, !getrlimit(RLIMIT_AS, &before), "getrlimit");
    if (fake->rank == 1) {
        limit = (struct rlimit){1 << 20, before.rlim_max};
        FAKE_CHECK(fake, !setrlimit(RLIMIT_AS, &limit), "setrlimit");
        while ((block = malloc(sizeof(*block)))) {
            block->next = blocks;
            blocks = block;
        }
    }
    fake_barrier_still(fake);
    if (fake->rank == 0) {
        fake_link(fake, 1);
        fake_until(fake, &peer->refused, 1, SOON_MS, "refused()");
    }
    fake_barrier(fake);
    FAKE_CHECK(fake, !peer->asked, "the device was asked");
    if (fake->rank == 1)
        FAKE_CHECK(fake, !setrlimit(RLIMIT_AS, &before), "setrlimit");
    while ((block = blocks)) {
        blocks = block->next;
        free(block);
    }
    fake_barrier_still(fake);
    exchange(fake);
}

/* Dial a port that nobody listens at. Returns what the device is told. */
static int dial_closed(struct fake *fake, const char *host)
{
    char *card = fake->world->card[1], port[16];
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    struct fake_peer *peer = &fake->peer[1];
    int refused = peer->refused, door = listen_at(fake, "127.0.0.1", 0);
    FAKE_CHECK(fake, !getsockname(door, (struct sockaddr *)&at, &len), "getsockname");
    close(door);
    snprintf(port, sizeof(port), "%d", ntohs(at.sin_port));
    card[0] = 0;
    int rc = chan_params_add(card, CHAN_CARD_MAX, "n", "1") ||
             chan_params_add(card, CHAN_CARD_MAX, "p", port) ||
             chan_params_add(card, CHAN_CARD_MAX, "host", host) ||
             chan_params_add(card, CHAN_CARD_MAX, "a", "127.0.0.1") ||
             chan_params_add(card, CHAN_CARD_MAX, "a", "127.0.0.2");
    FAKE_CHECK(fake, !rc, "no room in the card");
    fake_link(fake, 1);
    fake_until(fake, &peer->refused, refused + 1, SOON_MS, "refused()");
    return (int)peer->answer;
}

static void case_closed(struct fake *fake)
{
    if (fake->rank == 0) {
        char host[256];
        FAKE_CHECK(fake, !chan_params_get(fake->world->card[1], "host", 0, host, sizeof(host)),
                   "no host");
        int here = dial_closed(fake, host), elsewhere = dial_closed(fake, "elsewhere");
        FAKE_CHECK(fake, here == CHAN_REFUSE_UNABLE && elsewhere == CHAN_ACCEPT,
                   "answered with %d on this host, %d on another", here, elsewhere);
    }
    fake_barrier(fake);
}

static const char *without_v6(void)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at));
    if (fd >= 0)
        close(fd);
    return has ? NULL : "this host has no IPv6";
}

static const char *sanitized(void)
{
    return SANITIZED ? "a sanitizer ends where memory does" : NULL;
}

static const struct fake_case cases[] = {
    {"the right address is found among wrong ones", case_impostors, "VIREO_TCP_ADDRESSES",
     "127.0.0.1", NULL},
    {"a crowd of silent strangers keeps nobody out", case_crowd, NULL, NULL, NULL},
    {"one of them wakes nobody", case_silence, NULL, NULL, NULL},
    {"a crowd keeps nobody out where few files may be open, either", case_few_descriptors, NULL,
     NULL, NULL},
    {"a crowd keeps nobody out who has said HELLO", case_hello_in_crowd, NULL, NULL, NULL},
    {"who has tried all addresses may go on over any", case_late, NULL, NULL, NULL},
    {"a HELLO that is said again and again is heard once", case_replay, NULL, NULL, NULL},
    {"many HELLOs of one process take few descriptors", case_many, NULL, NULL, NULL},
    {"a HELLO that was overheard opens nothing", case_overheard, NULL, NULL, NULL},
    {"who has no memory for a link says so by hanging up", case_no_memory, NULL, NULL, sanitized},
    {"a closed port of this host is certain, of another is not", case_closed, NULL, NULL, NULL},
    {"an IPv6 address alone will do", case_v6, NULL, NULL, without_v6},
};

int main(void)
{
    return cases_run(&chan_tcp, cases, sizeof(cases) / sizeof(cases[0])) != 0;
}
