/* SPDX-License-Identifier: BSD-3-Clause */

/* Our connects; see dial.h. */
#include "channels/tcp/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/tcp/link.h"
#include "channels/tcp/listen.h"
#include "os/clock.h"
#include "os/random.h"
#include "os/settings.h"

enum {
    ROUNDS = 4, /* of all addresses, where someone has hung up without a word */
    WAVES = 3,  /* of a round: as many more connects to each address, while nothing answers */
    CROWD = 8,  /* dials at once */
    CROWD_MOST = 128
};

static const uint64_t stagger_ns = 40000000u, pause_ns = 60000000u;
/* Until the next address, once somebody listens: it may be the peer, which is busy. */
static const uint64_t met_ns = 300000000u;
/* For the connection of a peer that is on its way. */
static const uint64_t come_ns = 3000000000u;
/* Until the second wave, and twice that until the next: where a packet got lost, the kernel says it
 * again after a second only, and takes the network for a slow one from then on. */
static const uint64_t wave_ns = 250000000u;

enum attempt_phase {
    ATTEMPT_CONNECTING,
    ATTEMPT_GREETED,
    ATTEMPT_PROVED
};

/* One address. */
struct attempt {
    struct tcp_sock sock;
    struct dial *dial;
    struct attempt *next, **at; /* in dial->attempts */
    enum attempt_phase phase;
    struct wire_talk talk;
    struct alive alive; /* the peer's host, since it has been greeted */
    uint64_t began_ns;
    size_t got;
    uint8_t in[WIRE_CHALLENGE_LEN];
};

struct dial {
    struct dial *next, **at; /* in tcp->dials */
    struct tcp *tcp;
    struct tcp_link *link;
    struct attempt *attempts;
    struct attempt *proved; /* of them; the others wait, unwatched, for its end */
    struct addr_list list;
    int tried; /* of list, in this round */
    int denied; /* of those tried: the host says that nobody listens */
    int round, wave;
    bool same_host; /* as the peer */
    enum chan_stage stage;
    bool hung_up; /* someone was there and hung up: it may have been busy */
    int error;    /* of the last attempt that failed */
    uint64_t next_ns, deadline_ns, look_ns;
    uint64_t held_ns; /* since then the peer's connection may come first; 0: this one has begun */
    uint64_t calls;   /* that had come by then, of any process */
};

static void attempt_end(struct attempt *attempt)
{
    struct tcp *tcp = attempt->dial->tcp;
    *attempt->at = attempt->next;
    if (attempt->next)
        attempt->next->at = attempt->at;
    tcp_bury(tcp, &attempt->sock);
}

static void end_all(struct dial *dial)
{
    while (dial->attempts)
        attempt_end(dial->attempts);
}

/* This attempt goes on alone. The peer may have hung up on it, for want of room, and kept
 * others. */
static void prefer(struct attempt *proved)
{
    struct dial *dial = proved->dial;
    dial->proved = proved;
    for (struct attempt *attempt = dial->attempts, *next; attempt; attempt = next) {
        next = attempt->next;
        if (attempt->phase == ATTEMPT_CONNECTING)
            attempt_end(attempt);
        else if (attempt != proved)
            tcp_unwatch(dial->tcp, &attempt->sock);
    }
}

/* It has failed: any other may do. */
static void prefer_none(struct dial *dial)
{
    dial->proved = NULL;
    for (struct attempt *attempt = dial->attempts, *next; attempt; attempt = next) {
        next = attempt->next;
        if (tcp_watch(dial->tcp, &attempt->sock, false))
            attempt_end(attempt);
    }
}

/* Whether somebody listens: the peer may be computing, and answers when it comes back. Its host
 * is looked after meanwhile. */
static bool is_met(const struct dial *dial)
{
    const struct attempt *attempt = dial->attempts;
    while (attempt && attempt->phase == ATTEMPT_CONNECTING)
        attempt = attempt->next;
    return attempt;
}

static int count_dials(const struct tcp *tcp)
{
    int count = 0;
    for (const struct dial *dial = tcp->dials; dial && count < CROWD_MOST; dial = dial->next)
        count++;
    return count;
}

/* As much, or more where connects of this process take long, or are many: these keep a network, or
 * the processes, busy, and more of them would not be faster. */
static uint64_t at_least(const struct dial *dial, uint64_t ns)
{
    uint64_t usual_ns = 4 * dial->tcp->connect_ns;
    uint64_t crowd_ns = ns * (uint64_t)count_dials(dial->tcp) / CROWD;
    ns = ns > crowd_ns ? ns : crowd_ns;
    return ns > usual_ns ? ns : usual_ns;
}

/* How long to give the attempts that are under way. */
static uint64_t patience(const struct dial *dial)
{
    if (dial->tried == dial->list.count)
        return at_least(dial, wave_ns << dial->wave);
    return at_least(dial, is_met(dial) ? met_ns : stagger_ns);
}

/* Begin to connect to the next address. Returns 0 or -errno. */
static int attempt_start(struct dial *dial)
{
    const union addr *to = &dial->list.addr[dial->tried++];
    struct attempt *attempt = calloc(1, sizeof(*attempt));
    if (!attempt)
        return -ENOMEM;
    int fd = tcp_socket(to->any.sa_family);
    if (fd < 0) {
        free(attempt);
        return fd;
    }
    tcp_tune(fd);
    attempt->sock = (struct tcp_sock){.fd = fd, .kind = SOCK_ATTEMPT};
    attempt->dial = dial;
    int rc = connect(fd, &to->any, addr_len(to)) && errno != EINPROGRESS ? -errno : 0;
    if (!rc)
        rc = tcp_watch(dial->tcp, &attempt->sock, true);
    if (rc) {
        close(fd);
        free(attempt);
        return rc;
    }
    attempt->next = dial->attempts;
    attempt->at = &dial->attempts;
    if (attempt->next)
        attempt->next->at = &attempt->next;
    dial->attempts = attempt;
    attempt->began_ns = os_now_ns();
    dial->next_ns = attempt->began_ns + patience(dial);
    return 0;
}

static void note_failure(struct dial *dial, int error)
{
    dial->error = error;
    dial->denied += error == ECONNREFUSED;
}

/* Try addresses until one is under way. Returns whether one is. */
static bool start_next(struct dial *dial)
{
    dial->held_ns = 0;
    while (dial->tried < dial->list.count) {
        int rc = attempt_start(dial);
        if (!rc)
            return true;
        note_failure(dial, -rc);
    }
    return dial->attempts;
}

/* Whether all is under way that there is to try, as long as no attempt fails. */
static bool only_waits(const struct dial *dial)
{
    return dial->attempts && dial->tried == dial->list.count &&
           (dial->wave >= WAVES || is_met(dial));
}

/* When dial_tick() has something to do about it. */
static uint64_t due(const struct dial *dial)
{
    uint64_t next_ns = only_waits(dial) ? TCP_NEVER : dial->next_ns;
    uint64_t end_ns = is_met(dial) ? dial->look_ns : dial->deadline_ns;
    return next_ns < end_ns ? next_ns : end_ns;
}

/* Whether an attempt has come through that this process has not seen to yet, as it was busy. */
static bool has_come_through(const struct dial *dial)
{
    const struct attempt *attempt = dial->attempts;
    for (; attempt; attempt = attempt->next) {
        struct pollfd fd = {.fd = attempt->sock.fd, .events = POLLOUT};
        if (attempt->phase == ATTEMPT_CONNECTING && poll(&fd, 1, 0) == 1)
            return true;
    }
    return false;
}

/* Whether the peer's connection is on its way, for which this dial has not begun yet, or may well be: others call this
 * process, too, and where so many connect at once each of them takes long. */
static bool lets_come(const struct dial *dial)
{
    if (!dial->held_ns)
        return false;
    uint64_t held_ns = os_now_ns() - dial->held_ns;
    if (listen_is_greeted(dial->tcp, dial->link->base.peer))
        return held_ns < come_ns;
    return dial->tcp->calls != dial->calls && held_ns < at_least(dial, 2 * stagger_ns);
}

/* The time has come for the next address, or for all once more. Returns whether any attempt is
 * under way. */
static bool go_on(struct dial *dial)
{
    if (only_waits(dial))
        return true;
    if (has_come_through(dial) || lets_come(dial)) {
        dial->next_ns = os_now_ns() + stagger_ns;
        return true;
    }
    if (dial->attempts && dial->tried == dial->list.count) {
        dial->tried = dial->denied = 0;
        dial->wave++;
    }
    return start_next(dial);
}

/* Where an address is remembered that has led to a peer. */
static union addr *place_of(struct tcp *tcp, const union addr *addr)
{
    return &tcp->good[addr_hash(addr) % TCP_GOOD];
}

/* The addresses that have led to other processes of that host go first. */
static void prefer_good(struct tcp *tcp, struct addr_list *list)
{
    int good = 0;
    for (int i = 0; i < list->count; i++) {
        union addr addr = list->addr[i];
        if (!addr_is_same(place_of(tcp, &addr), &addr))
            continue;
        memmove(&list->addr[good + 1], &list->addr[good], (size_t)(i - good) * sizeof(addr));
        list->addr[good++] = addr;
    }
}

/* Remember the address that an attempt has reached the peer by. */
static void note_good(struct attempt *attempt)
{
    union addr addr;
    socklen_t len = sizeof(addr);
    if (!getpeername(attempt->sock.fd, &addr.any, &len))
        *place_of(attempt->dial->tcp, &addr) = addr;
}

/* Of two connections that cross the device keeps the one of the higher process: the other end's, if
 * it is that. */
static bool is_lower(const struct tcp *tcp, const struct chan_peer *peer)
{
    int order = memcmp(&tcp->env->gid, &peer->gid, sizeof(peer->gid));
    return order ? order < 0 : tcp->env->rank < peer->rank;
}

int dial_start(struct tcp *tcp, struct tcp_link *link, const struct addr_list *addresses,
               bool same_host)
{
    struct dial *dial = calloc(1, sizeof(*dial));
    if (!dial)
        return -ENOMEM;
    dial->tcp = tcp;
    dial->link = link;
    dial->list = *addresses;
    prefer_good(tcp, &dial->list);
    dial->same_host = same_host;
    dial->deadline_ns =
        os_now_ns() + (uint64_t)os_setting(OS_SETTING_CONNECT_TIMEOUT_MS) * 1000000u;
    dial->next = tcp->dials;
    dial->at = &tcp->dials;
    if (dial->next)
        dial->next->at = &dial->next;
    tcp->dials = dial;
    link->dial = dial;
    dial->stage = CHAN_STAGE_NOWHERE;
    if (count_dials(tcp) > CROWD && is_lower(tcp, link->base.peer)) {
        uint64_t now_ns = os_now_ns(); /* the peer may well connect, too */
        dial->next_ns = now_ns + 2 * stagger_ns;
        dial->held_ns = now_ns;
        dial->calls = tcp->calls;
    } else {
        start_next(dial); /* should none start, the tick tells the device */
    }
    tcp_want_tick(tcp, due(dial));
    return 0;
}

enum chan_stage dial_stage(const struct dial *dial)
{
    return dial->stage;
}

void dial_stop(struct dial *dial)
{
    end_all(dial);
    *dial->at = dial->next;
    if (dial->next)
        dial->next->at = dial->at;
    dial->link->dial = NULL;
    free(dial);
}

void dial_forked(struct tcp *tcp)
{
    for (struct dial *dial = tcp->dials; dial; dial = dial->next)
        for (struct attempt *attempt = dial->attempts; attempt; attempt = attempt->next)
            tcp_close_copy(&attempt->sock);
}

/* A port that nobody listens at any more was the peer's all the same, if it is on this host: it
 * has ended, or closed its descriptors. From another host a firewall may have said so. */
static bool is_certain(const struct dial *dial)
{
    return dial->same_host && dial->list.count && dial->denied == dial->list.count;
}

/* A process that does not know another group has no secret with it, and so hangs up without a word. */
static enum chan_answer answer_of(const struct dial *dial)
{
    bool is_own = !memcmp(&dial->link->base.peer->gid, &dial->tcp->env->gid, sizeof(struct chan_gid));
    return is_certain(dial) ? CHAN_REFUSE_UNABLE : dial->hung_up && !is_own ? CHAN_REFUSE_UNKNOWN : CHAN_ACCEPT;
}

static int give_up(struct dial *dial, const char *what)
{
    enum chan_answer answer = answer_of(dial);
    struct tcp_link *link = dial->link;
    char why[240], address[ADDR_TEXT_LEN] = "";
    if (dial->list.count)
        addr_print(&dial->list.addr[0], address);
    snprintf(why, sizeof(why), "%s at port %u of %s%s: %s", what,
             ntohs(dial->list.addr[0].v4.sin_port), address,
             dial->list.count > 1 ? " and its other addresses" : "",
             dial->error == EMFILE ? "no descriptor is left; `ulimit -n` is too low"
             : dial->error         ? strerror(dial->error)
                                   : "no answer");
    dial_stop(dial);
    return link_refuse(link, answer, why);
}

/* No attempt is left: go around again, or tell the device. */
static int round_over(struct dial *dial)
{
    if (!dial->hung_up || ++dial->round >= ROUNDS)
        return give_up(dial, dial->hung_up ? "whoever listens hangs up, as where `ulimit -n` is too low,"
                                           : "nobody answers");
    dial->hung_up = false;
    dial->tried = dial->denied = dial->wave = 0;
    dial->next_ns = os_now_ns() + (pause_ns << dial->round);
    tcp_want_tick(dial->tcp, due(dial));
    return 0;
}

static int attempt_failed(struct attempt *attempt, int error)
{
    struct dial *dial = attempt->dial;
    note_failure(dial, error);
    dial->hung_up |= attempt->phase != ATTEMPT_CONNECTING && error != EPROTO;
    bool was_proved = attempt == dial->proved;
    attempt_end(attempt);
    if (was_proved)
        prefer_none(dial);
    if (!start_next(dial))
        return round_over(dial);
    tcp_want_tick(dial->tcp, due(dial)); /* of those that are left, none may be met */
    return 0;
}

/* The secret of this process and the peer. */
static const uint8_t *secret_of(const struct attempt *attempt)
{
    const struct chan_env *env = attempt->dial->tcp->env;
    const struct chan_peer *peer = attempt->dial->link->base.peer;
    const uint8_t *secret = chan_secret(env, &peer->gid, peer->rank);
    return secret ? secret : env->secret;
}

static int greet(struct attempt *attempt)
{
    struct dial *dial = attempt->dial;
    const struct chan_env *env = dial->tcp->env;
    const struct chan_peer *peer = dial->link->base.peer;
    uint8_t hello[WIRE_HELLO_LEN];
    int error = 0;
    socklen_t len = sizeof(error);
    if (getsockopt(attempt->sock.fd, SOL_SOCKET, SO_ERROR, &error, &len) || error)
        return attempt_failed(attempt, error ? error : errno);
    attempt->talk.hello = (struct wire_hello){.gid = env->gid,
                                              .to_gid = peer->gid,
                                              .rank = env->rank,
                                              .to_rank = peer->rank,
                                              .number = ++dial->tcp->hellos};
    int rc = os_random(attempt->talk.hello.nonce, WIRE_HELLO_NONCE_LEN);
    if (rc)
        return attempt_failed(attempt, -rc);
    wire_hello_put(hello, &attempt->talk, secret_of(attempt));
    attempt->phase = ATTEMPT_GREETED;
    uint64_t now_ns = os_now_ns(), *usual_ns = &dial->tcp->connect_ns;
    *usual_ns = (3 * *usual_ns + now_ns - attempt->began_ns) / 4;
    dial->next_ns = now_ns + patience(dial);
    if (dial->stage == CHAN_STAGE_NOWHERE)
        dial->stage = CHAN_STAGE_TAKEN;
    tcp_want_tick(dial->tcp, due(dial));
    if (send(attempt->sock.fd, hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
        return attempt_failed(attempt, ECONNRESET);
    rc = tcp_rewatch(dial->tcp, &attempt->sock, false);
    return rc ? attempt_failed(attempt, -rc) : 0;
}

/* The peer is the right one: prove that we are. */
static int prove(struct attempt *attempt)
{
    struct dial *dial = attempt->dial;
    uint8_t proof[WIRE_PROOF_LEN];
    if (wire_challenge_get(attempt->in, &attempt->talk, secret_of(attempt)))
        return attempt_failed(attempt, EPROTO);
    prefer(attempt);
    dial->tried = dial->list.count;
    wire_proof_put(proof, &attempt->talk, secret_of(attempt));
    attempt->phase = ATTEMPT_PROVED;
    dial->stage = CHAN_STAGE_SAID;
    attempt->got = 0;
    if (send(attempt->sock.fd, proof, sizeof(proof), MSG_NOSIGNAL) != sizeof(proof))
        return attempt_failed(attempt, ECONNRESET);
    return 0;
}

static int conclude(struct attempt *attempt)
{
    static const char *const whys[] = {
        [CHAN_REFUSE_CROSSING] = "the peer's own connection takes precedence",
        [CHAN_REFUSE_UNKNOWN] = "the peer does not know this group",
        [CHAN_REFUSE_CLOSED] = "the peer is finalizing",
        [CHAN_REFUSE_UNABLE] = "the peer cannot answer",
        [CHAN_REFUSE_FAILED] = "the peer holds this process for lost"};
    struct dial *dial = attempt->dial;
    struct tcp_link *link = dial->link;
    enum chan_answer answer;
    if (wire_answer_get(attempt->in, &attempt->talk, &answer, secret_of(attempt)))
        return attempt_failed(attempt, EPROTO);
    if (answer != CHAN_ACCEPT) {
        dial_stop(dial);
        return link_refuse(link, answer, whys[answer]);
    }
    note_good(attempt);
    link->sock.fd = attempt->sock.fd;
    int rc = tcp_rewatch(dial->tcp, &link->sock, false);
    if (rc) {
        link->sock.fd = -1;
        return attempt_failed(attempt, -rc);
    }
    attempt->sock.fd = -1;
    dial_stop(dial);
    return link_open(link);
}

int dial_event(struct tcp *tcp, struct tcp_sock *sock)
{
    struct attempt *attempt = (struct attempt *)sock;
    const struct attempt *proved = attempt->dial->proved;
    if (proved && proved != attempt) /* an event from before */
        return 0;
    if (attempt->phase == ATTEMPT_CONNECTING)
        return greet(attempt);
    size_t all = attempt->phase == ATTEMPT_GREETED ? WIRE_CHALLENGE_LEN : WIRE_ANSWER_LEN;
    ssize_t n = recv(sock->fd, attempt->in + attempt->got, all - attempt->got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return attempt_failed(attempt, n < 0 ? errno : ECONNRESET);
    attempt->got += (size_t)n;
    if (attempt->got < all)
        return 0;
    return attempt->phase == ATTEMPT_GREETED ? prove(attempt) : conclude(attempt);
}

/* One whose host is gone, among those that have been greeted, or NULL. */
static struct attempt *find_lost(struct dial *dial, uint64_t now_ns)
{
    if (now_ns < dial->look_ns)
        return NULL;
    dial->look_ns = now_ns + TCP_LOOK_NS;
    struct attempt *attempt = dial->attempts;
    while (attempt && (attempt->phase == ATTEMPT_CONNECTING ||
                       alive_look(&attempt->alive, attempt->sock.fd, now_ns)))
        attempt = attempt->next;
    return attempt;
}

int dial_tick(struct tcp *tcp, uint64_t now_ns)
{
    for (struct dial *dial = tcp->dials, *next; dial; dial = next) {
        next = dial->next;
        int upcalls = 0;
        struct attempt *lost = find_lost(dial, now_ns);
        if (lost)
            upcalls = attempt_failed(lost, ETIMEDOUT);
        else if (now_ns >= dial->deadline_ns && !is_met(dial))
            upcalls = give_up(dial, "no connection in time");
        else if (now_ns >= dial->next_ns && !go_on(dial))
            upcalls = round_over(dial);
        if (upcalls)
            return upcalls; /* the upcall may have ended other dials: the next tick sees them */
    }
    return 0;
}

uint64_t dial_next(const struct tcp *tcp)
{
    uint64_t next_ns = TCP_NEVER;
    for (const struct dial *dial = tcp->dials; dial; dial = dial->next) {
        uint64_t at_ns = due(dial);
        if (at_ns < next_ns)
            next_ns = at_ns;
    }
    return next_ns;
}
