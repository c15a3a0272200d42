/* SPDX-License-Identifier: BSD-3-Clause */

/* The cases of the conformance suite, and their runner; see conform.h. */
#include "test/channels/conform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "test/channels/conform_ended.h"
#include "test/channels/conform_onesided.h"
#include "test/channels/conform_sleep.h"
#include "test/channels/fake.h"

enum {
    CASE_LIMIT_MS = 40000,
    SILENT_MS = 1500,
    WAIT_MS = 15000
};

/* What a case needs of the channel, or of the runner. */
enum {
    NEEDS_DEATH = 1u << 0,
    NEEDS_SECRET = 1u << 1,
    NEEDS_HOSTILE = 1u << 2,
    NEEDS_ONESIDED = 1u << 3,
    KILLS_LAST = 1u << 4, /* the highest rank ends by SIGKILL */
    SELF_TOO = 1u << 5,   /* also for a channel that joins no processes, in one process */
    NEEDS_ATOMIC = 1u << 6
};

struct conform_case {
    const char *name;
    int procs;
    unsigned flags;
    void (*run)(struct fake *fake, const struct conform_traits *traits);
    const char *claim;
};

/* ---- cards ---- */

static void check_match(struct fake *fake, const char *mine, const char *theirs)
{
    struct chan_verdict a = fake->ops->match(mine, theirs);
    struct chan_verdict b = fake->ops->match(theirs, mine);
    struct chan_verdict again = fake->ops->match(mine, theirs);
    FAKE_CHECK(fake, a.fit == b.fit && a.score == b.score, "match() of '%.60s' is not symmetric",
               theirs);
    FAKE_CHECK(fake, a.fit == again.fit && a.score == again.score, "match() is not pure");
    FAKE_CHECK(fake, a.why && a.why[0], "match() gives no reason");
    FAKE_CHECK(fake, a.fit == CHAN_NO || a.score > 0, "match() says yes with score %d", a.score);
}

static void case_cards(struct fake *fake, const struct conform_traits *traits)
{
    const char *mine = fake->world->card[fake->rank];
    const char *theirs = fake->world->card[fake_other(fake)];
    FAKE_CHECK(fake, mine[0] && strlen(mine) < CHAN_CARD_MAX, "the card is %zu bytes long",
               strlen(mine));
    for (const char *c = mine; *c; c++)
        FAKE_CHECK(fake, *c > ' ' && *c < 127 && !strchr(";()", *c), "the card holds byte %d", *c);
    check_match(fake, mine, theirs);
    FAKE_CHECK(fake, fake->ops->match(mine, theirs).fit != CHAN_NO, "the cards do not match: %s",
               fake->ops->match(mine, theirs).why);
    char copy[CHAN_CARD_MAX];
    FAKE_CHECK(fake, !fake->ops->card(fake->chan, copy) && !strcmp(copy, mine),
               "card() changes from call to call");
}

static void case_hostile_cards(struct fake *fake, const struct conform_traits *traits)
{
    static const char *const words[] = {"",
                                        "=",
                                        ",",
                                        "a",
                                        "a=",
                                        "=,=,=",
                                        "p=99999999999999999999",
                                        "p=-1,a=%",
                                        "a=%00,p=%0",
                                        "a=1.2.3.4.5,p=1",
                                        "a=::::::,p=0",
                                        "id=,n=,h=",
                                        "size=18446744073709551615,offset=-1"};
    const char *mine = fake->world->card[fake->rank];
    char card[CHAN_CARD_MAX];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        check_match(fake, mine, words[i]);
    size_t len = strlen(mine);
    for (size_t n = 0; n < len; n++) { /* cut, and with one byte changed */
        snprintf(card, sizeof(card), "%.*s", (int)n, mine);
        check_match(fake, mine, card);
        snprintf(card, sizeof(card), "%s", mine);
        for (int byte = 1; byte < 128; byte += 9) {
            card[n] = (char)byte;
            check_match(fake, mine, card);
        }
    }
    unsigned seed = 12345;
    for (int round = 0; round < 3000; round++) {
        size_t n = (size_t)rand_r(&seed) % (CHAN_CARD_MAX - 1);
        for (size_t i = 0; i < n; i++)
            card[i] = (char)(1 + rand_r(&seed) % 255);
        card[n] = 0;
        check_match(fake, mine, card);
    }
}

/* Cards that no living peer wrote: link() fails, or the link is refused; nothing hangs. */
static void case_dead_card(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    char *card = fake->world->card[fake_other(fake)];
    if (fake->rank == 1) {
        fake->ops->close(fake->chan); /* the card outlives its writer */
        fake_barrier_still(fake);
        fake_barrier_still(fake);
        _exit(0);
    }
    fake_barrier_still(fake);
    struct chan_link *link = NULL;
    int rc = fake->ops->link(fake->chan, &peer->base, card, &link);
    FAKE_CHECK(fake, rc <= 0, "link() returned %d", rc);
    if (!rc && traits->notices_death) {
        peer->link = link;
        fake_until(fake, &peer->refused, 1, WAIT_MS, "refused() of a card whose writer has gone");
    } else if (!rc) {
        peer->link = link;
        fake_run(fake, 200);
        if (peer->link) /* else it was refused */
            fake_unlink(peer);
    }
    FAKE_CHECK(fake, !fake->chan->links, "%d links are left", fake->chan->links);
    fake_barrier_still(fake);
    fake->ops->close(fake->chan);
    _exit(0);
}

/* ---- packets ---- */

static const size_t sizes[] = {0,     1,     7,     8,     24,    40,    41,    48,    56,   57,
                               64,    100,   255,   256,   1000,  1024,  4000,  4096,  5000, 8192,
                               16000, 16384, 20000, 32768, 65512, 65536, 70000, 100000};

static void send_sizes(struct fake_peer *peer, unsigned form)
{
    size_t max = fake_largest(peer), eager = peer->link->eager_max;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i] <= max)
            fake_send(peer, sizes[i], form);
    const size_t more[] = {eager, eager + 1, max / 2, max - 1, max};
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        if (more[i] <= max)
            fake_send(peer, more[i], form);
}

static void both_ways(struct fake *fake, unsigned form)
{
    struct fake_peer *peer = fake_join(fake);
    for (int round = 0; round < 3; round++)
        send_sizes(peer, form);
    fake_until_packets(fake, peer, peer->out, WAIT_MS); /* both send the same count */
    fake_until_idle(fake, WAIT_MS);
    FAKE_CHECK(fake, fake->placed == fake->landed, "%d places, %d landed", fake->placed,
               fake->landed);
}

static void case_exchange(struct fake *fake, const struct conform_traits *traits)
{
    both_ways(fake, FAKE_PLAIN);
}

static void case_pieces(struct fake *fake, const struct conform_traits *traits)
{
    both_ways(fake, FAKE_PIECES);
}

static void case_cookies(struct fake *fake, const struct conform_traits *traits)
{
    both_ways(fake, FAKE_COOKIE);
}

static void case_cookie_pieces(struct fake *fake, const struct conform_traits *traits)
{
    both_ways(fake, FAKE_COOKIE | FAKE_PIECES);
}

static void case_mixture(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = fake_join(fake);
    unsigned seed = 99;
    size_t max = fake_largest(peer) < 300000 ? fake_largest(peer) : 300000;
    for (int i = 0; i < 3000; i++) {
        size_t len = (size_t)rand_r(&seed);
        len = i % 10 ? len % 200 : len % (max + 1);
        fake_send(peer, len > max ? max : len, (unsigned)rand_r(&seed) & 7);
        if (!(rand_r(&seed) % 20))
            fake_step(fake, UINT64_MAX, "nothing");
    }
    fake_until_packets(fake, peer, 3000, WAIT_MS);
    fake_until_idle(fake, WAIT_MS);
}

static void case_coalesced(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = fake_join(fake);
    for (int i = 0; i < 20000; i++)
        fake_send(peer, 8, FAKE_MORE);
    fake_until_packets(fake, peer, 20000, WAIT_MS);
}

/* A receiver that does nothing stops the sender after bounded memory; then all arrives. */
static void case_pressure(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = fake_join(fake);
    size_t len = fake_largest(peer) < 10000 ? fake_largest(peer) : 10000;
    fake_barrier_still(fake);
    if (fake->rank == 0) {
        int taken = 0;
        while (taken < 100000 && fake_send(peer, len, FAKE_TRY))
            taken++;
        FAKE_CHECK(fake, taken < 100000, "send() took %d packets that nobody receives", taken);
        for (int i = 0; i < 50; i++) /* a moment later, still the same */
            fake_send(peer, 8, FAKE_TRY);
        atomic_store(&fake->world->word[0], peer->out);
    }
    fake_barrier_still(fake);
    if (fake->rank == 1 || fake->procs == 1)
        fake_until_packets(fake, peer, atomic_load(&fake->world->word[0]), WAIT_MS);
    fake_barrier(fake);
    if (fake->rank == 0)
        fake_send(peer, len, FAKE_PLAIN);
    if (fake->rank == 1 || fake->procs == 1)
        fake_until_packets(fake, peer, atomic_load(&fake->world->word[0]) + 1, WAIT_MS);
}

/* Many payloads pending at once, both ways, neither side receiving before it has sent. */
static void case_pending(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = fake_join(fake);
    for (int i = 0; i < 24; i++)
        fake_send(peer, fake_largest(peer) / 4, i % 3 == 2 ? FAKE_COOKIE | FAKE_PIECES : FAKE_COOKIE);
    fake_until_packets(fake, peer, 24, WAIT_MS);
    fake_until_idle(fake, WAIT_MS);
}

static void echo(struct fake *fake, struct fake_peer *peer, size_t len)
{
    if (peer->out < 200)
        FAKE_CHECK(fake, fake_send(peer, len % 500, FAKE_TRY), "no room for an answer");
}

static void case_send_in_upcall(struct fake *fake, const struct conform_traits *traits)
{
    fake->arrived = echo;
    struct fake_peer *peer = fake_join(fake);
    if (fake->rank == 0)
        fake_send(peer, 33, FAKE_PLAIN);
    fake_until_packets(fake, peer, fake->procs == 1 ? 200 : 199, WAIT_MS);
}

static void unlink_now(struct fake *fake, struct fake_peer *peer, size_t len)
{
    if (peer->in == 3)
        fake_unlink(peer);
}

static void case_unlink_in_upcall(struct fake *fake, const struct conform_traits *traits)
{
    fake->peer[fake_other(fake)].may_lose = true;
    struct fake_peer *peer = fake_join(fake);
    if (fake->rank == 1 || fake->procs == 1)
        fake->arrived = unlink_now;
    for (int i = 0; fake->rank == 0 && i < 10; i++)
        fake_send(peer, 100, FAKE_TRY);
    if (fake->rank == 1 || fake->procs == 1)
        fake_until_packets(fake, peer, 3, WAIT_MS);
    fake_run(fake, 50);
    FAKE_CHECK(fake, fake->rank != 1 || peer->in == 3, "upcalls after unlink()");
}

/* ---- links ---- */

/* Data may be sent while the peer does not move at all, and arrives. */
static void case_early(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    if (fake->rank == 0) {
        fake_link(fake, 1);
        for (int i = 0; i < 10; i++) {
            fake_send(peer, 100, FAKE_TRY);
            fake_run(fake, 10);
        }
        atomic_store(&fake->world->word[0], peer->out);
    }
    fake_barrier_still(fake);
    if (fake->rank == 0)
        while (peer->out < 20)
            fake_send(peer, 50, FAKE_PLAIN);
    fake_until_packets(fake, peer, fake->rank ? 20 : 0, WAIT_MS);
}

static void settle(struct fake *fake, struct fake_peer *peer)
{
    peer->may_lose = true;
    fake_barrier(fake);
    if (peer->link)
        fake_unlink(peer);
    fake_barrier_still(fake);
    peer->may_lose = false;
    peer->in = peer->out = 0;
}

/* A link that is begun by the ranks of the mask, packets both ways, and the end of it. */
static void one_life(struct fake *fake, int round, unsigned starters)
{
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    int opened = peer->opened;
    if (starters & 1u << fake->rank) {
        if (starters == 3 && round % 4 == fake->rank + 1)
            usleep(300);
        fake_link(fake, fake_other(fake));
        fake_send(peer, 8, FAKE_TRY);
    }
    fake_until(fake, &peer->opened, opened + 1, WAIT_MS, "opened()");
    while (peer->out < 5)
        fake_send(peer, (size_t)round, FAKE_PLAIN);
    fake_until_packets(fake, peer, 5, WAIT_MS);
    FAKE_CHECK(fake, peer->opened == opened + 1, "%d links in round %d", peer->opened - opened,
               round);
    struct chan_link *same = peer->link;
    FAKE_CHECK(fake, fake_link(fake, fake_other(fake))->link == same, "link() made another link");
    settle(fake, peer);
}

static void case_relink(struct fake *fake, const struct conform_traits *traits)
{
    for (int round = 0; round < 40; round++)
        one_life(fake, round, fake->procs == 1 ? 1 : 1u << round % 2);
}

static void case_crossing(struct fake *fake, const struct conform_traits *traits)
{
    for (int round = 0; round < 100; round++) {
        fake_barrier_still(fake);
        one_life(fake, round, 3);
    }
}

/* Rank 1 is away, with all that its link takes. */
static void case_shares(struct fake *fake, const struct conform_traits *traits)
{
    int other = fake->rank == 0 ? 1 : 0;
    struct fake_peer *away = &fake->peer[other], *there = &fake->peer[fake->rank == 0 ? 2 : 0];
    const uint64_t sends = 200;
    if (fake->rank == 0)
        fake_link(fake, 1);
    if (fake->rank == 2)
        fake_link(fake, 0);
    if (fake->rank < 2)
        fake_until(fake, &away->opened, 1, WAIT_MS, "opened()");
    if (fake->rank != 1)
        fake_until(fake, &there->opened, 1, WAIT_MS, "opened()");
    fake_barrier(fake);
    if (fake->rank == 0) {
        size_t len = fake_largest(away) < 16000 ? fake_largest(away) : 16000;
        for (int vain = 0; vain < 1000; vain = fake_send(away, len, FAKE_TRY) ? 0 : vain + 1)
            fake_step(fake, UINT64_MAX, "nothing");
        while (there->out < sends)
            fake_send(there, len, FAKE_PLAIN);
        atomic_store(&fake->world->word[0], away->out);
        while (!atomic_load(&fake->world->flag[0]))
            fake_step(fake, UINT64_MAX, "nothing");
    } else if (fake->rank == 2) {
        fake_until_packets(fake, there, sends, WAIT_MS);
        atomic_store(&fake->world->flag[0], 1);
    }
    fake_barrier_still(fake);
    if (fake->rank == 1)
        fake_until_packets(fake, away, atomic_load(&fake->world->word[0]), WAIT_MS);
    (void)traits;
}

/* What has been taken goes out although unlink() follows at once. */
static void case_unlink_flushes(struct fake *fake, const struct conform_traits *traits)
{
    fake->peer[fake_other(fake)].may_lose = true;
    struct fake_peer *peer = fake_join(fake);
    if (fake->rank == 0) {
        int i = 0;
        while (i < 300 && fake_send(peer, 3000, FAKE_TRY | (i % 2 ? FAKE_MORE : 0)))
            i++;
        atomic_store(&fake->world->word[0], peer->out);
        fake_unlink(peer);
    }
    fake_barrier(fake);
    if (fake->rank == 1)
        fake_until_packets(fake, peer, atomic_load(&fake->world->word[0]), WAIT_MS);
}

static void refuse_with(struct fake *fake, enum chan_answer answer)
{
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    int refused = peer->refused;
    fake->refuse = fake->rank == 1 ? (int)answer : 0;
    fake_barrier_still(fake);
    if (fake->rank == 0) {
        fake_link(fake, 1);
        for (size_t len = 0; len < 30000; len += 3000)
            fake_send(peer, len, FAKE_TRY);
        fake_until(fake, &peer->refused, refused + 1, WAIT_MS, "refused()");
        FAKE_CHECK(fake, peer->answer == answer && !peer->out, "refused with %d, not %d; %d lost",
                   (int)peer->answer, (int)answer, (int)peer->out);
    }
    fake_barrier(fake);
    fake->refuse = 0;
    fake_barrier(fake);
}

static void case_refused(struct fake *fake, const struct conform_traits *traits)
{
    for (int round = 0; round < 5; round++) {
        refuse_with(fake, CHAN_REFUSE_UNKNOWN);
        refuse_with(fake, CHAN_REFUSE_CLOSED);
        refuse_with(fake, CHAN_REFUSE_FAILED);
    }
    one_life(fake, 1, 1); /* and it can be asked again */
}

/* All to all, everybody linking at once, with random sizes and directions. */
static void case_all_to_all(struct fake *fake, const struct conform_traits *traits)
{
    const int each = 400;
    unsigned seed = (unsigned)fake->rank * 7 + 1;
    for (int i = 0; i < fake->procs; i++)
        if (i != fake->rank)
            fake_link(fake, i);
    for (int i = 0; i < fake->procs; i++)
        if (i != fake->rank)
            fake_until(fake, &fake->peer[i].opened, 1, WAIT_MS, "opened()");
    for (int n = 0; n < each; n++)
        for (int i = 0; i < fake->procs; i++)
            if (i != fake->rank)
                fake_send(&fake->peer[i], (size_t)rand_r(&seed) % (n % 16 ? 300 : 50000),
                          (unsigned)rand_r(&seed) & 7);
    for (int i = 0; i < fake->procs; i++)
        if (i != fake->rank)
            fake_until_packets(fake, &fake->peer[i], each, WAIT_MS);
    fake_until_idle(fake, WAIT_MS);
}

/* ---- faults ---- */

static void case_wrong_secret(struct fake *fake, const struct conform_traits *traits)
{
    struct fake_peer *peer = &fake->peer[fake_other(fake)];
    for (int round = 0; round < 2; round++) { /* the impostor links, then is linked to */
        if (fake->rank != round) {
            fake_link(fake, fake_other(fake));
            if (traits->tells_nothing)
                fake_run(fake, SILENT_MS);
            else
                fake_until(fake, &peer->refused, 1, WAIT_MS, "refused()");
            FAKE_CHECK(fake, !peer->answer, "an impostor was given answer %d", (int)peer->answer);
        }
        fake_barrier(fake);
        if (traits->tells_nothing && peer->link)
            fake_unlink(peer);
        FAKE_CHECK(fake, !peer->asked && !peer->opened, "an impostor was let in");
    }
}

static void case_hostile(struct fake *fake, const struct conform_traits *traits)
{
    const unsigned rounds = 60;
    if (fake->rank == 2) {
        for (unsigned round = 0; round < rounds; round++)
            traits->hostile(fake->world->card[round % 2], round);
        atomic_store(&fake->world->flag[0], 1);
        return;
    }
    struct fake_peer *peer = fake_join(fake);
    if (fake->rank == 0) {
        while (!atomic_load(&fake->world->flag[0]) || peer->out < 100) {
            fake_send(peer, 2000, FAKE_MORE);
            fake_step(fake, UINT64_MAX, "nothing");
        }
        atomic_store(&fake->world->word[0], peer->out);
    }
    uint64_t deadline = os_now_ns() + 2ull * WAIT_MS * 1000000;
    while (fake->rank == 1 &&
           (!atomic_load(&fake->world->word[0]) || peer->in < atomic_load(&fake->world->word[0])))
        fake_step(fake, deadline, "all packets among the garbage");
    FAKE_CHECK(fake, peer->asked <= 1, "garbage was taken for a peer");
}

static const struct conform_case cases[] = {
    {"cards", 2, SELF_TOO, case_cards, "cards are short, plain, and match both ways alike"},
    {"hostile_cards", 2, SELF_TOO, case_hostile_cards, "match() survives any string"},
    {"dead_card", 2, 0, case_dead_card, "a card whose writer has gone ends in refused()"},
    {"exchange", 2, SELF_TOO, case_exchange, "packets of every size arrive whole and in order"},
    {"pieces", 2, SELF_TOO, case_pieces, "payloads that are read piece by piece arrive"},
    {"cookies", 2, SELF_TOO, case_cookies, "pending payloads are freed once, when they are gone"},
    {"cookie_pieces", 2, SELF_TOO, case_cookie_pieces, "pending payloads may be in pieces"},
    {"mixture", 2, SELF_TOO, case_mixture, "packets of all forms keep their order"},
    {"coalesced", 2, SELF_TOO, case_coalesced, "packets with CHAN_MORE arrive by themselves"},
    {"pressure", 2, SELF_TOO, case_pressure, "a slow receiver stops the sender"},
    {"shares", 3, 0, case_shares, "a receiver that is away holds up no other"},
    {"pending", 2, SELF_TOO, case_pending, "both sides may have much pending at once"},
    {"send_in_upcall", 2, SELF_TOO, case_send_in_upcall, "upcalls may send"},
    {"unlink_in_upcall", 2, SELF_TOO, case_unlink_in_upcall, "upcalls may unlink"},
    {"early", 2, 0, case_early, "a link may be begun while the peer is away"},
    {"relink", 2, SELF_TOO, case_relink, "a link may end and begin again"},
    {"crossing", 2, 0, case_crossing, "links that cross become one"},
    {"unlink_flushes", 2, 0, case_unlink_flushes, "what was taken arrives after unlink()"},
    {"refused", 2, 0, case_refused, "a refusal has a reason, and packets come back"},
    {"all_to_all", 4, 0, case_all_to_all, "four processes link and talk at once"},
    {"killed", 2, KILLS_LAST, case_killed, "the death of a peer hangs nobody"},
    {"ended", 3, 0, case_ended, "what a process has sent before its end arrives, amid a stream"},
    {"ended_early", 2, 0, case_ended_early, "the same of one that was not known"},
    {"ended_mute", 2, 0, case_ended_mute, "who has ended without an answer is refused"},
    {"ended_held", 2, 0, case_ended_held, "a child that holds all descriptors delays no end"},
    {"wrong_secret", 2, NEEDS_SECRET, case_wrong_secret, "who lacks the secret is not let in"},
    {"hostile", 3, NEEDS_HOSTILE, case_hostile, "garbage from outside changes nothing"},
    {"sleep", 2, SELF_TOO, case_sleep, "no wake-up is lost"},
    {"forked", 2, 0, case_forked, "a forked child keeps no descriptor"},
    {"sleep_stream", 2, 0, case_sleep_stream, "bulk data moves between sleepers"},
    {"sleep_accept", 2, 0, case_sleep_accept, "a stranger wakes a sleeper"},
    {"sleep_rearmed", 2, 0, case_sleep_rearmed, "a sleeper hears of news that another saw"},
    {"onesided", 2, SELF_TOO | NEEDS_ONESIDED, case_onesided, "get and put move every byte"},
    {"onesided_unlink", 2, NEEDS_ONESIDED, case_onesided_unlink, "memory is in use until done(), unlinked or not"},
    {"atomic", 3, SELF_TOO | NEEDS_ATOMIC, case_atomic, "atomic operations lose nothing"},
};

/* ---- runner ---- */

static bool is_offered(const struct conform_case *c, const struct chan_ops *ops,
                       const struct conform_traits *traits)
{
    return (traits->joins_processes || c->flags & SELF_TOO) &&
           !(c->flags & NEEDS_SECRET && !traits->checks_secret) &&
           !(c->flags & NEEDS_HOSTILE && !traits->hostile) &&
           !(c->flags & NEEDS_ONESIDED && !ops->onesided) &&
           !(c->flags & NEEDS_ATOMIC && !(ops->onesided && ops->onesided->atomic));
}

/* Be in the network namespace that process rank of a case is to be in. */
static void enter_net(const struct conform_traits *traits, int rank)
{
    if (!traits->net_count)
        return;
    const char *path = traits->nets[rank % traits->net_count];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET)) {
        printf("# rank %d cannot be in the network %s: %s\n", rank, path, strerror(errno));
        exit(1);
    }
    close(fd);
}

static void run_child(const struct conform_case *c, struct fake_world *world, int rank, int procs,
                      const struct chan_ops *ops, const struct conform_traits *traits)
{
    static struct fake fake;
    enter_net(traits, rank);
    bool right = !(c->run == case_wrong_secret && rank == 1);
    fake_start(&fake, world, ops, rank, procs, right);
    c->run(&fake, traits);
    fake_finish(&fake);
    exit(0); /* with the checks that sanitizers run at exit */
}

/* Wait for pid until end_ns, kill it then. Returns its status, or -1 after a kill. */
static int await_child(pid_t pid, uint64_t end_ns)
{
    int status;
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return status;
        if (os_now_ns() > end_ns) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        usleep(1000);
    }
}

enum verdict {
    PASSED,
    SKIPPED,
    FAILED
};

static enum verdict judge(const struct conform_case *c, const struct fake_world *world,
                          const int *status, int procs)
{
    enum verdict verdict = PASSED;
    for (int i = 0; i < procs; i++) {
        int s = status[i];
        if (s >= 0 && WIFEXITED(s) && !WEXITSTATUS(s))
            continue;
        if (c->flags & KILLS_LAST && i == procs - 1 && s >= 0 && WIFSIGNALED(s) &&
            WTERMSIG(s) == SIGKILL)
            continue;
        if (s >= 0 && WIFEXITED(s) && WEXITSTATUS(s) == FAKE_SKIP && verdict == PASSED) {
            verdict = SKIPPED;
            continue;
        }
        verdict = FAILED;
        char how[40] = "took too long";
        if (s >= 0 && WIFSIGNALED(s))
            snprintf(how, sizeof(how), "signal %d", WTERMSIG(s));
        else if (s >= 0)
            snprintf(how, sizeof(how), "status %d", WEXITSTATUS(s));
        printf("# rank %d: %s %s\n", i, how, world->why[i]);
    }
    return verdict;
}

static enum verdict run_case(const struct conform_case *c, const struct chan_ops *ops,
                             const struct conform_traits *traits, char why[256])
{
    int procs = traits->joins_processes ? c->procs : 1;
    struct fake_world *world = fake_world_create();
    if (!world)
        return FAILED;
    pid_t pid[FAKE_PROCS];
    int status[FAKE_PROCS];
    fflush(NULL);
    for (int i = 0; i < procs; i++) {
        pid[i] = fork();
        if (!pid[i])
            run_child(c, world, i, procs, ops, traits);
    }
    uint64_t end = os_now_ns() + (uint64_t)fake_patience * CASE_LIMIT_MS * 1000000u;
    bool failed = false;
    for (int i = 0; i < procs; i++) {
        status[i] = await_child(pid[i], end);
        failed |= status[i] < 0 || (WIFEXITED(status[i]) && WEXITSTATUS(status[i]));
        if (failed && end > os_now_ns() + 1000000000u)
            end = os_now_ns() + 1000000000u; /* the others would only wait for it */
    }
    enum verdict verdict = judge(c, world, status, procs);
    snprintf(why, 256, "%s", world->why[0]);
    fake_world_destroy(world);
    return verdict;
}

int conform_run(const struct chan_ops *ops, const struct conform_traits *traits, const char *only)
{
    int count = (int)(sizeof(cases) / sizeof(cases[0])), failures = 0, number = 0;
    fake_patience = traits->patience > 1 ? traits->patience : 1;
    if (!only)
        printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        const struct conform_case *c = &cases[i];
        if (only && strcmp(only, c->name))
            continue;
        number++;
        if (!is_offered(c, ops, traits)) {
            printf("ok %d - %s: %s # SKIP not offered\n", number, c->name, c->claim);
            continue;
        }
        char why[256];
        uint64_t start = os_now_ns();
        enum verdict verdict = run_case(c, ops, traits, why);
        failures += verdict == FAILED;
        printf("%s %d - %s: %s", verdict == FAILED ? "not ok" : "ok", number, c->name, c->claim);
        if (verdict == SKIPPED)
            printf(" # SKIP %s\n", why);
        else
            printf(" (%lu ms)\n", (unsigned long)((os_now_ns() - start) / 1000000u));
        fflush(stdout);
    }
    if (only)
        printf("1..%d\n", number);
    return number ? failures : 1;
}
