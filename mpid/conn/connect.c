/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From unbound to open: fetch the peer's card, choose, link, and after a failure try the next
 * channel; and the other side, being asked. Of two connections that cross, the one begun by the
 * higher (group id, rank) survives.
 *
 * A connection can often be made in one direction only. So a process without an answer asks the
 * peer, by the process manager, to dial it, and accepts it whichever of the two is higher; the
 * lower of two that cross, which is refused, dials again until it is let in or the other's
 * connection comes. A process whose every attempt has failed gives up where the peer says that it
 * cannot dial either. Where the process manager brings no such word, it gives up after as long as
 * the connect timeout, or at once if each attempt was answered by a no. A manager that brings words
 * and tells of deaths is waited for after a no, too: a process that has just died refuses as well.
 *
 * Nothing else here has a deadline: a peer that computes answers when it comes back to
 * MPI, and the end of its process is an event.
 */
#include "mpid/conn/connect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "mpid/conn/foreign.h"
#include "mpid/conn/opening.h"
#include "mpid/conn/ports.h"
#include "mpid/conn/vc.h"
#include "mpid/conn/words.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/wait/progress.h"
#include "os/clock.h"
#include "os/settings.h"
#include "os/settings_equal.h"

/* After a refusal as crossing, twice as long after each. */
static const uint64_t redial_ns = 20000000u;
enum { REDIAL_DOUBLES = 5 };

/* The word that a process sends its peer by BNR_Xcast(): one byte. */
enum {
    TOLD_TAG = 0x40000001,
    WORD_DIAL = 1,  /* nothing answers me there: dial me */
    WORD_STUCK = 2, /* the same, and I have tried all there is */
    WORD_FAILED = 3 /* I have given up; needs no answer */
};

/* So long all channels to a process of another job are tried anew; a single try may last longer. One that lives,
 * and does not know this process, is tried until it does, after pauses that are longer. */
static const uint64_t foreign_limit_ns = 2000000000u;
enum { UNKNOWN_DOUBLES = 9 };

/* Until a peer that nothing answers from is asked, and at most until it is asked again. */
static const uint64_t ask_first_ns = 250000000u, ask_last_ns = 8000000000u;

/* ---- our own attempts ---- */

/* The link is up: waiting packets may go. */
static void up(struct vc *vc)
{
    if (!vc->send_head && !vc->control_head)
        vc_let_go(vc);
    vc_mark_busy(vc);
    if (vc->foreign)
        vc_retire(vc);
}

/* The candidate that is tried now does not do. */
static void pass_over(struct opening *opening, const char *why)
{
    int index = opening->choice.candidate[opening->tried++];
    opening->choice.refused[index] = true;
    opening->choice.verdict[index].why = "tried, and it could not connect";
    opening_add_reason(opening, device.ops[index]->name, why);
}

/* Whether the peer has said that it finalizes; then nobody need answer for it. */
static bool has_finished(const struct vc *vc)
{
    return words_has(vc, "finished");
}

static void fail_finished(struct vc *vc)
{
    vc_fail(vc, MPID_LOST, "it has called MPI_Finalize");
}

static void fail_ended(struct vc *vc)
{
    vc_fail(vc, MPID_LOST, "its process has ended");
}

/* Whether the peer has left the only model that we could mean, and need not come back. */
static bool is_gone(const struct vc *vc)
{
    return !(device.used & MPID_SESSIONS) && words_has(vc, "over");
}

/* No candidate is left, and a link has taken messages whose sends are complete: no call could
 * tell of it any more, and the peer would wait for ever. */
static void check_nothing_taken(const struct vc *vc, const char *why)
{
    const struct control *control = vc->control_head;
    char name[128], text[600];
    while (control && packet_type(&control->head) != PACKET_EAGER)
        control = control->next;
    if (!control)
        return;
    vc_describe(vc, name, sizeof(name));
    snprintf(text, sizeof(text), "what was sent to %s cannot be brought there: %s", name,
             why ? why : "no memory");
    vc_note_lost(vc);
    device_abort(1, text);
}

/* Let the peer hear a word. Returns whether it can. */
static bool tell_peer(const struct vc *vc, int word)
{
    const int ranges[1][2] = {{(int)vc->peer.rank, (int)vc->peer.rank}};
    const BNR_Xcast_attr attr = {.size = sizeof(attr), .ranges = ranges, .range_count = 1};
    const uint8_t said = (uint8_t)word;
    BNR_Group group = device_group_of(&vc->peer.gid, vc->peer.rank);
    unsigned long long caps = 0;
    return group && !BNR_Query_caps(&caps) && (caps & BNR_CAP_XCAST) &&
           !BNR_Xcast(group, TOLD_TAG, &said, 1, &attr);
}

static void fail_unreachable(struct vc *vc)
{
    struct opening *opening = vc->opening;
    if (opening->was_asked)
        (void)tell_peer(vc, WORD_FAILED);
    for (int i = 0; i < device.port_count; i++)
        if (!opening->choice.refused[i])
            opening_add_reason(opening, device.ops[i]->name,
                               opening->choice.verdict[i].why ? opening->choice.verdict[i].why
                                                              : "loaded after the choice");
    const char *closed;
    for (int i = 0; (closed = ports_closed(i)) != NULL; i++)
        opening_add_reason(opening, "", closed);
    check_nothing_taken(vc, opening->refusals);
    /* One of another job was in reach when it was introduced, so it has gone. */
    vc_fail(vc, vc->foreign ? MPID_LOST : MPID_UNREACHABLE,
            opening->refusals ? opening->refusals : "there is no channel");
}

/* Whether a channel has been tried, without an answer, that may do in the other direction. */
static bool may_be_asked(const struct opening *opening)
{
    for (int i = 0; i < opening->tried; i++)
        if (opening->choice.verdict[opening->choice.candidate[i]].fit == CHAN_MAYBE)
            return true;
    return false;
}

/* Whether the peer may make the connection. If a no has answered each attempt, it has perhaps just died: a process manager
 * that brings words and tells of deaths brings either the peer's answer or news of its end. */
static bool may_call(const struct opening *opening)
{
    const unsigned long long wanted = BNR_CAP_XCAST | BNR_CAP_EVENTS;
    unsigned long long caps = 0;
    if (may_be_asked(opening))
        return true;
    return opening->tried && !opening->lacks_memory && !BNR_Query_caps(&caps) && (caps & wanted) == wanted;
}

/* The peer alone can make the connection: until it does, or says that it cannot, if the request
 * reaches it. */
static void await_call(struct vc *vc)
{
    struct opening *opening = vc->opening;
    uint64_t now_ns = os_now_ns();
    uint64_t limit_ns = (uint64_t)os_setting(OS_SETTING_CONNECT_TIMEOUT_MS) * 1000000u;
    opening->wait_ns = tell_peer(vc, WORD_STUCK) ? UINT64_MAX : now_ns + limit_ns;
    opening->ask_step_ns = ask_first_ns;
    opening->ask_ns = now_ns + ask_first_ns;
}

static bool renew_card(struct vc *vc);

/* The peer is of another job, and cannot be asked: try all channels again in a while, as it may have been about to
 * end, or to accept; or it has freed all communicators with this process, and may make another one. Returns whether
 * that is still to come. */
static bool try_all_later(struct vc *vc)
{
    struct opening *opening = vc->opening;
    uint64_t now_ns = os_now_ns();
    uint32_t most = opening->is_unknown ? UNKNOWN_DOUBLES : REDIAL_DOUBLES;
    if (opening->is_unknown)
        opening->began_ns = now_ns;
    if (now_ns - opening->began_ns > foreign_limit_ns)
        return false;
    uint32_t doubles = opening->crossings < most ? opening->crossings++ : most;
    vc_event(vc, VC_LINKED);
    opening->tried = 0;
    opening->is_unknown = false;
    free(opening->refusals);
    opening->refusals = NULL;
    opening->wait_ns = now_ns + (redial_ns << doubles);
    return true;
}

/* No candidate is left. */
static void give_up(struct vc *vc)
{
    if (has_finished(vc)) {
        fail_finished(vc);
    } else if (vc->foreign && !vc->refs) { /* nor does the peer, which has forgotten this process */
        vc_abandon(vc);
    } else if (vc->foreign && (may_be_asked(vc->opening) || vc->opening->is_unknown) && try_all_later(vc)) {
        return;
    } else if (!vc->foreign && !vc->opening->is_stuck && may_call(vc->opening)) {
        vc_event(vc, VC_LINKED);
        await_call(vc);
    } else if (vc->opening->lacks_memory) {
        vc_give_up_for_now(vc);
    } else if (!vc->opening->is_stuck || !renew_card(vc)) {
        fail_unreachable(vc);
    }
}

/* Begin a link over a channel. Returns 0 or -errno. */
static int begin(struct vc *vc, struct chan *chan)
{
    char params[CHAN_CARD_MAX];
    int rc = card_find(vc->opening->card, chan->ops->name, params);
    return rc ? rc : chan->ops->link(chan, &vc->peer, params, &vc->bound);
}

static void try_next(struct vc *vc)
{
    struct opening *opening = vc->opening;
    while (opening->tried < opening->choice.count) {
        int index = opening->choice.candidate[opening->tried];
        int rc = begin(vc, device.ports[index].chan);
        if (rc == -ENOMEM)
            rc = begin(vc, device.ports[index].chan);
        if (rc == -ESHUTDOWN) {
            fail_finished(vc);
            return;
        }
        if (rc) {
            opening->lacks_memory |= rc == -ENOMEM;
            pass_over(opening, rc == -EAGAIN ? "it listens nowhere, and was asked to connect"
                                             : strerror(-rc));
            continue;
        }
        progress_look();
        vc_event(vc, VC_LINKED);
        opening->looked = false;
        opening->ask_step_ns = ask_first_ns;
        opening->ask_ns = os_now_ns() + ask_first_ns;
        if (opening->choice.verdict[index].fit == CHAN_YES && vc_event(vc, VC_OPENED))
            up(vc);
        return;
    }
    give_up(vc);
}

/* Whether the peer has published another card since we have fetched it. If so, begin anew with that. */
static bool renew_card(struct vc *vc)
{
    struct opening *opening = vc->opening;
    char *card;
    if (!opening->card || opening_get_card(&vc->peer.gid, vc->peer.rank, &card))
        return false;
    if (!strcmp(card, opening->card)) {
        free(card);
        return false;
    }
    free(opening->card);
    opening->card = card;
    opening->tried = 0;
    opening->wait_ns = 0;
    opening->is_stuck = false;
    (void)bind_choose(device.card, card, device.ops, device.port_count, &opening->choice);
    try_next(vc);
    return true;
}

static int fetch_card(struct opening *opening)
{
    const struct chan_peer *peer = &opening->vc->peer;
    return opening->card ? 0 : opening_get_card(&peer->gid, peer->rank, &opening->card);
}

/* Whether settings that must be alike differ; then the VC has failed. */
static bool is_unequal(struct vc *vc)
{
    char theirs[CHAN_CARD_MAX], why[300];
    if (card_find(vc->opening->card, "equal", theirs))
        *theirs = 0;
    if (os_equal_check(theirs, why, sizeof(why)))
        return false;
    vc_fail(vc, MPID_UNREACHABLE, why);
    return true;
}

static bool bind_vc(struct vc *vc)
{
    if (vc_is_ended(vc)) {
        fail_ended(vc);
        return true;
    }
    struct opening *opening = opening_get(vc);
    int rc = opening ? fetch_card(opening) : 0;
    if (!opening || rc > 0)
        return !opening;
    if (rc == -ENOMEM) {
        vc_give_up_for_now(vc);
    } else if (rc < 0) {
        vc_fail(vc, MPID_LOST, "its card cannot be had");
    } else if (is_gone(vc)) {
        fail_finished(vc);
    } else if (is_unequal(vc)) {
        return true;
    } else if (bind_choose(device.card, opening->card, device.ops, device.port_count, &opening->choice)) {
        give_up(vc);
    } else {
        try_next(vc);
    }
    return true;
}

void connect_start(struct vc *vc)
{
    if (vc->state != VC_UNBOUND)
        return;
    vc_event(vc, VC_NEED);
    if (device.orphan)
        vc_fail(vc, MPID_LOST, "this is a forked child");
    else
        bind_vc(vc);
}

static bool suits(const char *card)
{
    struct bind_choice choice;
    return !bind_choose(device.card, card, device.ops, device.port_count, &choice);
}

bool connect_is_judged(struct vc *vc)
{
    if (vc->state != VC_UNBOUND || vc_is_ended(vc))
        return true;
    if (vc->foreign && vc->refs && device.foreign_count <= FOREIGN_WATCHED) {
        connect_start(vc);
        return true;
    }
    char *card;
    int rc = opening_get_card(&vc->peer.gid, vc->peer.rank, &card);
    bool suited = rc || suits(card);
    if (!rc)
        free(card);
    if (!suited)
        connect_start(vc);
    return rc <= 0;
}

void connect_introduced(struct vc *vc)
{
    struct opening *opening = vc->opening;
    if (vc->state != VC_CONNECTING || vc->bound || !opening->wait_ns)
        return;
    opening->crossings = 0;
    opening->wait_ns = os_now_ns();
}

enum connect_way connect_way_to(uint32_t rank)
{
    char *card;
    int rc = opening_get_card(&device.env.gid, rank, &card);
    if (rc)
        return CONNECT_UNKNOWN;
    bool way = suits(card);
    free(card);
    return way ? CONNECT_WAY : CONNECT_NO_WAY;
}

/* The time has come to dial again, or to wait no longer for the peer to do so. */
static void wait_over(struct vc *vc)
{
    vc->opening->wait_ns = 0;
    if (vc->opening->tried < vc->opening->choice.count)
        try_next(vc);
    else if (has_finished(vc))
        fail_finished(vc);
    else
        fail_unreachable(vc);
}

/* Whether no candidate is left, and the peer itself may yet call. */
static bool awaits_call(const struct vc *vc)
{
    const struct opening *opening = vc->opening;
    return !vc->bound && opening->wait_ns && opening->tried == opening->choice.count;
}

/* Whether nothing answers where our link leads. */
static bool is_nowhere(const struct chan_link *link)
{
    return link && link->ops->stage && link->ops->stage(link) == CHAN_STAGE_NOWHERE;
}

/* The time has come to ask the peer to dial, if that is still wanted. */
static void ask_peer(struct vc *vc, uint64_t now_ns)
{
    struct opening *opening = vc->opening;
    bool stuck = awaits_call(vc);
    if (!stuck && !is_nowhere(vc->bound))
        return;
    (void)tell_peer(vc, stuck ? WORD_STUCK : WORD_DIAL);
    if (opening->ask_step_ns < ask_last_ns)
        opening->ask_step_ns *= 2;
    opening->ask_ns = now_ns + opening->ask_step_ns;
}

/* Whether the peer need not, or cannot, answer any more. */
static bool has_left(const struct vc *vc)
{
    return is_gone(vc) || (awaits_call(vc) && has_finished(vc));
}

/* news: a key that was not there may be there by now. */
static bool poll_vc(struct vc *vc, bool news)
{
    struct opening *opening = vc->opening;
    if (vc->state == VC_BINDING)
        return news && bind_vc(vc);
    if (vc->state != VC_CONNECTING)
        return false;
    bool looks = news || !opening->looked;
    opening->looked = true;
    if (looks && has_left(vc)) { /* before it could answer */
        fail_finished(vc);
        return false;
    }
    uint64_t now_ns = os_now_ns();
    if (!vc->bound && opening->wait_ns && now_ns >= opening->wait_ns)
        wait_over(vc);
    else if (now_ns >= opening->ask_ns)
        ask_peer(vc, now_ns);
    return false;
}

/* Whether the peer seems to be of the world model alone, which has ended here. One that uses sessions has
 * said so, which may come after its call; it calls again. */
static bool is_closed_to(const struct vc *vc)
{
    return device.finalizing && vc->state == VC_UNBOUND && !words_has(vc, "sessions");
}

/* A process of our group tells us something by BNR_Xcast(). */
static void told(BNR_Group group, int from, int tag, const void *data, size_t len, void *arg)
{
    uint8_t word = data && len == 1 ? *(const uint8_t *)data : 0;
    bool is_peer = from >= 0 && (uint32_t)from != device.env.rank;
    (void)group, (void)tag, (void)arg;
    if (!is_peer || word < WORD_DIAL || word > WORD_FAILED)
        return;
    struct vc *vc = vc_get(&device.env.gid, (uint32_t)from);
    if (!vc)
        return;
    if (vc->state == VC_UNBOUND && word != WORD_FAILED && !is_closed_to(vc))
        connect_start(vc);
    if (vc->state == VC_FAILED && word != WORD_FAILED)
        (void)tell_peer(vc, WORD_FAILED);
    if (vc->state == VC_BINDING || vc->state == VC_CONNECTING) {
        vc->opening->was_asked |= word != WORD_FAILED;
        vc->opening->is_stuck = word != WORD_DIAL;
        if (vc->opening->is_stuck && vc->state == VC_CONNECTING && awaits_call(vc) &&
            !renew_card(vc))
            fail_unreachable(vc);
    } else {
        vc_check(vc);
    }
}

bool connect_poll(void)
{
    bool moved = false, news = device_take_news(&device.news_seen);
    struct opening *opening;
    opening_walk();
    while ((opening = opening_walk_next()) != NULL)
        moved |= poll_vc(opening->vc, news);
    return moved;
}

/* Long waits that no event ends look up ever more seldom. */
static uint64_t patience_ns(uint64_t began_ns, uint64_t now_ns, uint64_t next_ns)
{
    uint64_t look_ns = now_ns + (now_ns - began_ns) / 4;
    return look_ns < next_ns ? look_ns : next_ns;
}

static uint64_t openings_ns(uint64_t now_ns, bool hears, uint64_t next_ns)
{
    const struct opening *opening;
    DL_FOREACH(device.openings, opening)
    {
        if (!hears)
            next_ns = patience_ns(opening->began_ns, now_ns, next_ns);
        if (opening->vc->state != VC_CONNECTING)
            continue;
        if (!opening->vc->bound && opening->wait_ns && opening->wait_ns < next_ns)
            next_ns = opening->wait_ns;
        if (opening->ask_ns > now_ns && opening->ask_ns < next_ns) /* one that has passed asks nothing */
            next_ns = opening->ask_ns;
    }
    return next_ns;
}

uint64_t connect_until_ns(uint64_t now_ns, bool hears, uint64_t next_ns)
{
    if (device.binding)
        next_ns = openings_ns(now_ns, hears, next_ns);
    if (device.finalizing && !hears)
        next_ns = patience_ns(device.final_ns, now_ns, next_ns);
    return next_ns;
}

/* A link is read to its end, which connect_lost() hears of, or connect_refused(). Without one
 * nothing can come any more; of an unbound VC, vc_is_lost() and bind_vc() tell. */
void connect_ended(struct vc *vc)
{
    if (vc->bound && vc->bound->ops->finish)
        vc->bound->ops->finish(vc->bound);
    else if (vc->bound || vc->state == VC_BINDING || vc->state == VC_CONNECTING)
        fail_ended(vc);
}

/* A host that is lost ends no connection. What it has sent is here by now, or most likely lost. */
static const uint64_t vanish_after_ns = 300000000u;

void connect_vanished(struct vc *vc)
{
    vc->vanished = true;
    device.vanish_ns = os_now_ns() + vanish_after_ns;
    connect_ended(vc);
}

static void end_vanished(struct vc *vc, void *arg)
{
    (void)arg;
    if (!vc->vanished || (!vc->bound && !vc->accepted))
        return;
    vc_fail(vc, MPID_LOST, "its host is lost");
    vc_drop_link(vc); /* of one that was closed already */
}

void connect_end_vanished(void)
{
    if (os_now_ns() < device.vanish_ns)
        return;
    device.vanish_ns = 0;
    vc_each(end_vanished, NULL);
}

/* ---- upcalls ---- */

/* Whether our attempt survives if it crosses this process's. */
static bool outranks(const struct chan_gid *gid, uint32_t rank)
{
    int order = memcmp(gid, &device.env.gid, sizeof(*gid));
    return order ? order < 0 : rank < device.env.rank;
}

/* Whether the peer may have said yes to a link of ours. */
static bool relies_on(const struct chan_link *link)
{
    return !link->ops->stage || link->ops->stage(link) == CHAN_STAGE_SAID;
}

bool connect_may_be_abandoned(const struct vc *vc)
{
    bool forms = vc->state == VC_BINDING || vc->state == VC_CONNECTING;
    return vc->foreign && forms && !vc->send_head && !vc->control_head && !(vc->bound && relies_on(vc->bound));
}

static enum chan_answer answer_to(struct vc *vc, const struct chan_ops *ops)
{
    if (vc->state == VC_FAILED)
        return CHAN_REFUSE_FAILED;
    if (vc->foreign && !vc->refs && vc->state == VC_UNBOUND) /* it is being forgotten */
        return CHAN_REFUSE_UNKNOWN;
    if (vc->state >= VC_CLOSED || is_closed_to(vc))
        return CHAN_REFUSE_CLOSED;
    if (vc->state >= VC_ACCEPTING)
        return CHAN_REFUSE_CROSSING;
    if (vc->state == VC_CONNECTING && vc->bound) {
        if (relies_on(vc->bound) && outranks(&vc->peer.gid, vc->peer.rank))
            return CHAN_REFUSE_CROSSING;
        if (vc->bound->ops != ops) { /* else the channel makes one of the two */
            struct chan_link *ours = vc->bound;
            vc->bound = NULL;
            ours->ops->unlink(ours);
        }
    }
    return CHAN_ACCEPT;
}

enum chan_answer connect_asked(void *owner, const struct chan_ops *ops,
                               const struct chan_gid *gid, uint32_t rank,
                               struct chan_peer **peer)
{
    (void)owner;
    struct vc *vc = device_group_of(gid, rank) ? vc_get(gid, rank) : vc_find(gid, rank);
    if (!vc)
        return CHAN_REFUSE_UNKNOWN;
    enum chan_answer answer = answer_to(vc, ops);
    if (answer == CHAN_ACCEPT) {
        vc_event(vc, VC_ASKED);
        vc->accepted = true;
        *peer = &vc->peer;
    } else {
        vc_check(vc);
    }
    return answer;
}

void connect_opened(struct chan_link *link)
{
    struct vc *vc = (struct vc *)link->peer;
    vc->accepted = false;
    if (vc->state == VC_FAILED) { /* meanwhile: the peer is to hear of that */
        link->ops->unlink(link);
        vc_check(vc);
        return;
    }
    vc->bound = link;
    if (vc_event(vc, VC_OPENED))
        up(vc);
    opening_end(vc);
    if (vc_is_ended(vc))
        connect_ended(vc);
}

/* The link that the peer had begun is gone. */
static void drop_accepted(struct vc *vc)
{
    vc->accepted = false;
    if (vc->state == VC_ACCEPTING)
        vc_fail(vc, MPID_LOST, "its connection broke before it was open");
    vc_check(vc);
}

void connect_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    struct vc *vc = (struct vc *)link->peer;
    bool ours = vc->bound == link;
    link->ops->unlink(link);
    if (!ours) {
        drop_accepted(vc);
        return;
    }
    vc->bound = NULL;
    vc_refused(vc);
    struct opening *opening = opening_get(vc);
    if (!opening)
        return;
    if (vc_is_ended(vc)) {
        fail_ended(vc);
        return;
    }
    bool later = answer == CHAN_REFUSE_CLOSED && device.used & MPID_SESSIONS; /* is_closed_to() there */
    if (later || answer == CHAN_REFUSE_CROSSING) { /* its connection is on its way, or dials in vain */
        uint32_t doubles = opening->crossings < REDIAL_DOUBLES ? opening->crossings++ : REDIAL_DOUBLES;
        opening->wait_ns = os_now_ns() + (redial_ns << doubles);
        return;
    }
    if (answer == CHAN_REFUSE_CLOSED) {
        fail_finished(vc);
        return;
    }
    if (answer == CHAN_REFUSE_FAILED) {
        vc_fail(vc, MPID_LOST, "it has lost its connection to this process");
        return;
    }
    if (vc->foreign && answer == CHAN_REFUSE_UNKNOWN)
        opening->is_unknown = true;
    else if (answer != CHAN_ACCEPT) /* nor does the peer come over this channel */
        opening->choice.verdict[opening->choice.candidate[opening->tried]].fit = CHAN_NO;
    pass_over(opening, why);
    try_next(vc);
}

void connect_returned(struct chan_link *link, const struct chan_head *head, const void *data,
                      size_t len)
{
    struct vc *vc = (struct vc *)link->peer;
    if (vc->bound == link)
        vc_take_back(vc, head, data, len);
}

void connect_lost(struct chan_link *link, int rc)
{
    struct vc *vc = (struct vc *)link->peer;
    if (vc->bound != link) {
        link->ops->unlink(link);
        drop_accepted(vc);
        return;
    }
    vc_fail(vc, MPID_LOST, vc_is_ended(vc) ? "its process has ended" : strerror(-rc));
    if (vc->bound == link) { /* it had been closed: nothing failed */
        vc->bound = NULL;
        vc->last_ops = link->ops;
        link->ops->unlink(link);
        vc_check(vc);
    }
}

static int attach(void)
{
    return BNR_Xcast_register(device.group, TOLD_TAG, told, NULL);
}

const struct life connect_life = {.attach = attach};
