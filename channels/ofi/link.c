/* SPDX-License-Identifier: BSD-3-Clause */

/* One peer of the ofi channel: the call, packets out, packets in, the end; see ofi.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ofi/link.h"
#include "include/channel_help.h"
#include "os/random.h"

/* A process that ends well says LAST before, so its link is over when that is here, however long the network has
 * held it; a fabric that loses it is given up. Of one that was killed, messages may still be on their way: its link
 * is over after some time without news, which counts in trips to it and back, as the call took. A peer that
 * computes answers a call late, hence a limit. */
static const uint64_t last_ns = 60000000000, quiet_ns = 100000000, quiet_most_ns = 3000000000;
enum { QUIET_TRIPS = 8 };
/* Until HELLO is said again, and then twice as long each time, up to a limit: a peer that computes finds few of
 * them. */
static const uint64_t again_ns = 1000000000, again_most_ns = 64000000000;

/* ---- words to say ---- */

uint64_t ofi_link_name(struct ofi *ofi)
{
    uint32_t random = 0;
    if (++ofi->names == 0)
        ofi->names = 1;
    (void)os_random(&random, sizeof(random)); /* else proofs alone protect us */
    return (uint64_t)random << 32 | ofi->names;
}

/* The body of a frame of this kind. Returns its length. */
static uint32_t body_of(struct ofi *ofi, uint32_t kind, const struct ofi_talk *talk,
                        uint64_t name, struct ofi_hello *body)
{
    const uint8_t *secret = ofi_secret(ofi, talk);
    struct ofi_challenge challenge = {.from = name};
    struct ofi_proof proof;
    struct ofi_welcome welcome = {name};
    switch (kind) {
    case OFI_HELLO:
        *body = (struct ofi_hello){.gid = ofi->env->gid, .rank = ofi->env->rank,
                                   .address_len = (uint32_t)ofi->address_len, .from = name,
                                   .number = ++ofi->hellos};
        memcpy(body->nonce, talk->caller_nonce, OFI_NONCE);
        memcpy(body->address, ofi->address, ofi->address_len);
        body->proof = ofi_wire_hello_proof(secret, body, &talk->callee, talk->callee_rank);
        return (uint32_t)(offsetof(struct ofi_hello, address) + ofi->address_len);
    case OFI_CHALLENGE:
        memcpy(challenge.nonce, talk->callee_nonce, OFI_NONCE);
        challenge.proof = ofi_wire_proof(secret, talk, false);
        memcpy(body, &challenge, sizeof(challenge));
        return sizeof(challenge);
    case OFI_PROOF:
        proof.proof = ofi_wire_proof(secret, talk, true);
        memcpy(body, &proof, sizeof(proof));
        return sizeof(proof);
    case OFI_WELCOME: memcpy(body, &welcome, sizeof(welcome)); return sizeof(welcome);
    default: return 0;
    }
}

int ofi_link_say(struct ofi *ofi, struct ofi_say *say, struct ofi_link *link,
                 const struct ofi_talk *talk, uint64_t name)
{
    for (uint32_t kind = OFI_HELLO; kind < OFI_KINDS && say->kinds; kind++) {
        struct ofi_hello body;
        if (!(say->kinds & 1u << kind))
            continue;
        struct ofi_message message;
        message.frame = (struct ofi_frame){.to = kind == OFI_HELLO ? 0 : say->theirs,
                                           .kind = (uint16_t)kind,
                                           .len = body_of(ofi, kind, talk, name, &body),
                                           .number = kind == OFI_LAST && link ? link->out : 0,
                                           .value = kind == OFI_REFUSED ? say->answer : 0};
        struct chan_data data = {.base = &body, .len = message.frame.len};
        if (link && link->state == OFI_OPEN)
            message.frame.credit = (uint16_t)link->owed;
        int rc = ofi_fabric_put(ofi, say->to, &message, &data, link);
        if (rc) {
            ofi->chores = true;
            return rc;
        }
        if (message.frame.credit)
            link->owed = 0;
        if (kind == OFI_LAST && link) {
            link->told = link->out;
            link->has_told = true;
        }
        say->kinds &= ~(1u << kind);
    }
    return 0;
}

void ofi_link_break(struct ofi_link *link, int rc)
{
    link->broken = rc;
    link->ofi->watched = true;
}

/* Whether not even the first word of a call could be said yet. */
static bool is_unheard(const struct ofi_link *link)
{
    return link->state == OFI_CALLING && !link->again_ns && link->say.kinds & 1u << OFI_HELLO;
}

/* Whether HELLO is said again, in time. */
static bool calls_again(const struct ofi_link *link)
{
    return link->state == OFI_CALLING && link->again_ns && !link->ended && !link->broken;
}

bool ofi_link_speak(struct ofi_link *link)
{
    if (!link->say.kinds || link->state == OFI_OVER || link->ended || link->broken)
        return true;
    bool begins = is_unheard(link);
    if (begins && !link->tried) {
        link->since_ns = chan_now_ns();
        link->tried = true;
    }
    int rc = ofi_link_say(link->ofi, &link->say, link, &link->talk, link->name);
    if (rc < 0)
        ofi_link_break(link, rc);
    if (link->state == OFI_OPEN && link->say.kinds && !link->unsaid_ns) {
        link->unsaid_ns = chan_now_ns();
        link->ofi->watched = true;
    }
    if (!link->say.kinds)
        link->unsaid_ns = 0;
    if (begins && !is_unheard(link)) {
        link->again_ns = chan_now_ns() + link->again_step_ns;
        link->ofi->watched = true;
    }
    return rc <= 0;
}

static void say(struct ofi_link *link, enum ofi_kind kind)
{
    link->say.kinds |= 1u << kind;
    (void)ofi_link_speak(link);
}

/* ---- packets ---- */

static int link_send(struct chan_link *base, const struct chan_head *head,
                     const struct chan_data *data)
{
    struct ofi_link *link = (struct ofi_link *)base;
    if (link->state != OFI_OPEN || !link->credit || link->say.kinds || link->ended ||
        link->broken)
        return CHAN_AGAIN;
    struct ofi_message message;
    message.frame = (struct ofi_frame){.to = link->say.theirs,
                                       .kind = OFI_DATA,
                                       .credit = (uint16_t)link->owed,
                                       .len = (uint32_t)data->len,
                                       .number = link->out,
                                       .head = *head};
    int rc = ofi_fabric_put(link->ofi, link->say.to, &message, data, link);
    if (rc < 0) {
        ofi_link_break(link, rc);
        link->ofi->chores = true;
    }
    if (rc)
        return CHAN_AGAIN;
    link->out++;
    link->credit--;
    link->owed = 0;
    return 0;
}

static int take_data(struct ofi_link *link, const struct ofi_frame *frame, const void *body)
{
    if (frame->number != link->in) {
        ofi_link_break(link, -EPROTO);
        return 0;
    }
    link->in++;
    link->has_last = false; /* it goes on after all */
    if (++link->owed >= OFI_WINDOW / 2)
        say(link, OFI_CREDIT);
    link->ofi->env->sink->arrived(link->base.peer, &frame->head, body, frame->len);
    return 1;
}

/* ---- the call ---- */

/* The callee has told who it is. */
static int take_challenge(struct ofi_link *link, const void *body)
{
    struct ofi_challenge challenge;
    struct ofi *ofi = link->ofi;
    memcpy(&challenge, body, sizeof(challenge));
    memcpy(link->talk.callee_nonce, challenge.nonce, OFI_NONCE);
    uint64_t right = ofi_wire_proof(ofi_secret(ofi, &link->talk), &link->talk, false);
    if (!chan_equal_secret(&right, &challenge.proof, sizeof(right))) {
        link->state = OFI_OVER;
        ofi->env->sink->refused(&link->base, CHAN_ACCEPT, "what answers is not of this job");
        return 1;
    }
    link->say.theirs = challenge.from;
    say(link, OFI_PROOF);
    return 0;
}

static void set_quiet(struct ofi_link *link, uint64_t trip_ns)
{
    uint64_t quiet = quiet_ns + QUIET_TRIPS * trip_ns;
    link->quiet_ns = quiet < quiet_most_ns ? quiet : quiet_most_ns;
}

static int open_link(struct ofi_link *link, uint64_t theirs)
{
    link->say.theirs = theirs;
    set_quiet(link, (chan_now_ns() - link->begun_ns) / 2); /* four messages */
    link->state = OFI_OPEN;
    link->say.kinds = 0; /* a HELLO that was to be said again */
    ofi_alive_begin(link);
    ofi_stranger_is_linked(link->ofi, link);
    ofi_fabric_opened(link->ofi, link->say.to);
    link->ofi->env->sink->opened(&link->base);
    return 1;
}

int ofi_link_accept(struct ofi_link *link, const struct ofi_say *with, uint64_t met_ns)
{
    set_quiet(link, chan_now_ns() - met_ns);
    link->say = *with;
    link->say.kinds = 1u << OFI_WELCOME;
    link->since_ns = chan_now_ns();
    link->broken = 0; /* a call of this process's own: the peer's has come through */
    link->state = OFI_OPEN;
    ofi_alive_begin(link);
    (void)ofi_link_speak(link);
    ofi_fabric_opened(link->ofi, link->say.to);
    link->ofi->env->sink->opened(&link->base);
    return 1;
}

int ofi_link_take(struct ofi_link *link, const struct ofi_frame *frame, const void *body)
{
    const struct chan_sink *sink = link->ofi->env->sink;
    struct ofi_welcome welcome;
    bool open = link->state == OFI_OPEN, calling = link->state == OFI_CALLING;
    if (!open || link->ended)
        link->since_ns = chan_now_ns();
    if (open && frame->credit > OFI_WINDOW - link->credit)
        ofi_link_break(link, -EPROTO);
    else if (open)
        link->credit += frame->credit;
    if (link->broken)
        return 0;
    if (frame->kind == OFI_DATA && open)
        return take_data(link, frame, body);
    if (frame->kind == OFI_LAST && open) {
        if (frame->number != link->in)
            ofi_link_break(link, -EPROTO);
        link->has_last = true;
        link->ofi->watched |= link->ended;
        return 0;
    }
    if (frame->kind == OFI_CHALLENGE && calling)
        return take_challenge(link, body);
    if (frame->kind == OFI_WELCOME && calling) {
        memcpy(&welcome, body, sizeof(welcome));
        return open_link(link, welcome.from);
    }
    if (frame->kind == OFI_REFUSED && calling) {
        link->state = OFI_OVER;
        sink->refused(&link->base, (enum chan_answer)frame->value, "the peer says no");
        return 1;
    }
    if (frame->kind == OFI_BYE && open) {
        link->state = OFI_OVER;
        sink->lost(&link->base, -ECONNRESET);
        return 1;
    }
    return 0; /* of a call that another one has crossed */
}

int ofi_link_receive(struct ofi *ofi, const void *message, size_t len)
{
    struct ofi_hello hello;
    const void *body;
    const struct ofi_frame *frame = ofi_wire_read(message, len, &body);
    if (!frame)
        return 0; /* of a stranger: a peer that breaks the rules goes unheard */
    if (frame->kind == OFI_HELLO) {
        memset(&hello, 0, sizeof(hello));
        memcpy(&hello, body, frame->len);
        ofi_stranger_meet(ofi, &hello);
        return 0;
    }
    struct ofi_link *link = ofi_link_find(ofi, frame->to);
    return link ? ofi_link_take(link, frame, body) : ofi_stranger_take(ofi, frame, body);
}

/* ---- life ---- */

struct ofi_link *ofi_link_find(struct ofi *ofi, uint64_t name)
{
    struct ofi_link *link;
    HASH_FIND(hh, ofi->named, &name, sizeof(name), link);
    if (link)
        return link;
    for (link = ofi->links; link && link->called_as != name;) /* a frame of a call */
        link = link->next;
    return link;
}

struct ofi_link *ofi_link_of(struct ofi *ofi, const struct chan_gid *gid, uint32_t rank)
{
    struct ofi_link *link = ofi->links;
    while (link && (link->base.peer->rank != rank || memcmp(&link->base.peer->gid, gid, sizeof(*gid))))
        link = link->next;
    return link;
}

int ofi_link_begin(struct ofi_link *link, struct ofi *ofi, struct chan_peer *peer, fi_addr_t to)
{
    link->base = (struct chan_link){.send = link_send,
                                    .ops = ofi->base.ops,
                                    .peer = peer,
                                    .eager_max = ofi->data_max,
                                    .max_data = ofi->data_max};
    link->ofi = ofi;
    link->say.to = to;
    link->name = ofi_link_name(ofi);
    link->credit = OFI_WINDOW;
    link->quiet_ns = quiet_ns;
    link->begun_ns = link->since_ns = chan_now_ns();
    link->next = ofi->links;
    ofi->links = link;
    ofi->watched = true;
    ofi->base.links++;
    link->last_word = ofi_stranger_make();
    HASH_ADD(hh, ofi->named, name, sizeof(link->name), link);
    int rc = chan_slot_set(ofi->env, peer, ofi->slot, link);
    return rc || (link->last_word && os_hash_has(hh, link)) ? rc : -ENOMEM;
}

struct ofi_link *ofi_link_make(struct ofi *ofi, struct chan_peer *peer, fi_addr_t to)
{
    struct ofi_link *link = calloc(1, sizeof(*link));
    if (link && ofi_link_begin(link, ofi, peer, to)) {
        ofi_link_free(link);
        return NULL;
    }
    return link;
}

int ofi_link_call(struct ofi_link *link)
{
    const struct chan_env *env = link->ofi->env;
    link->talk = (struct ofi_talk){.caller = env->gid,
                                   .callee = link->base.peer->gid,
                                   .caller_rank = env->rank,
                                   .callee_rank = link->base.peer->rank};
    int rc = os_random(link->talk.caller_nonce, OFI_NONCE);
    link->say.kinds = 1u << OFI_HELLO;
    link->again_step_ns = again_ns;
    link->ofi->chores = true; /* progress() says it */
    return rc;
}

static bool is_standing(const struct ofi_link *link)
{
    return link->state == OFI_OPEN && !link->ended && !link->broken;
}

/* What a peer that is gone has not acknowledged does not have to get out any more: no provider would tell. */
static void forget_sends(struct ofi_link *link)
{
    struct ofi *ofi = link->ofi;
    for (struct ofi_op *op = ofi->sends; op && link->flying; op = op->other) {
        if (op->link != link)
            continue;
        op->link = NULL;
        if (!is_standing(link))
            op->kind = 0;
    }
}

/* Tell the peer of the end, if it knows the link. */
static void say_bye(struct ofi_link *link)
{
    struct ofi_say bye = link->say;
    bool is_known = link->state == OFI_CALLING && bye.theirs && !link->ended && !link->broken;
    if (is_known)
        bye.kinds = 0;
    bye.kinds |= 1u << OFI_BYE;
    if (link->last_word && (is_known || is_standing(link)))
        ofi_stranger_tell(link->ofi, link->last_word, &bye);
    else
        free(link->last_word);
    link->last_word = NULL;
}

static void bury(struct ofi_link *link)
{
    link->ofi->base.links--;
    free(link);
}

void ofi_link_free(struct ofi_link *link)
{
    struct ofi *ofi = link->ofi;
    struct ofi_link **at = &ofi->links;
    say_bye(link);
    ofi->chores = true; /* the same process may wait to be let in */
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    if (os_hash_has(hh, link))
        HASH_DEL(ofi->named, link);
    forget_sends(link);
    (void)chan_slot_set(ofi->env, link->base.peer, ofi->slot, NULL);
    if (!link->transfers) {
        bury(link);
        return;
    }
    ofi_memory_stop(link);
    link->leaving = true;
    link->since_ns = chan_now_ns();
    link->next = ofi->leaving;
    ofi->leaving = link;
    ofi->watched = true;
}

void ofi_link_leave(struct ofi_link *link)
{
    struct ofi_link **at = &link->ofi->leaving;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    bury(link);
}

void ofi_link_close(struct ofi *ofi)
{
    while (ofi->links)
        ofi_link_free(ofi->links);
    while (ofi->leaving)
        ofi_link_leave(ofi->leaving);
}

void ofi_link_finish(struct ofi_link *link)
{
    if (!link->ended)
        link->since_ns = chan_now_ns();
    link->ended = true;
    link->ofi->watched = true;
}

/* The same where its process has ended. */
static uint64_t end_of(const struct ofi_link *link)
{
    const struct chan_env *env = link->ofi->env;
    if (link->has_last)
        return 0;
    if (!env->ended_well(env->device, link->base.peer))
        return link->since_ns + link->quiet_ns;
    /* One that we call may have let us in, and be out of reach since. */
    return link->since_ns + (link->state == OFI_OPEN ? last_ns : link->say.theirs ? quiet_most_ns : link->quiet_ns);
}

/* When a link is over if nothing comes; UINT64_MAX: that has no time. */
static uint64_t deadline(const struct ofi_link *link)
{
    if (link->state == OFI_OVER)
        return UINT64_MAX;
    if (link->broken)
        return 0;
    if (link->ended)
        return end_of(link);
    /* A peer that computes has taken the first word all the same. */
    return is_unheard(link) ? link->since_ns + link->ofi->timeout_ns : ofi_alive_limit(link);
}

/* When memory that operations of an unlinked one use is given back, though the fabric has told nothing of them. Where
 * the process has ended, nothing has come for quiet_ns already; where the fabric has lost it, nothing can. */
static uint64_t leave_at(const struct ofi_link *link)
{
    bool is_gone = link->ended || (link->broken && link->broken != -EPROTO);
    return link->since_ns + (is_gone ? quiet_ns : last_ns);
}

uint64_t ofi_link_deadline(struct ofi *ofi)
{
    if (!ofi->watched)
        return ofi->due_ns;
    ofi->due_ns = UINT64_MAX;
    for (const struct ofi_link *link = ofi->leaving; link; link = link->next)
        if (leave_at(link) < ofi->due_ns)
            ofi->due_ns = leave_at(link);
    for (const struct ofi_link *link = ofi->links; link; link = link->next) {
        uint64_t at_ns = deadline(link);
        if (calls_again(link) && link->again_ns < at_ns)
            at_ns = link->again_ns;
        if (ofi_alive_asks(link) && link->ask_ns < at_ns)
            at_ns = link->ask_ns;
        if (at_ns < ofi->due_ns)
            ofi->due_ns = at_ns;
    }
    ofi->watched = false;
    return ofi->due_ns;
}

/* Say HELLO again if the last one was long ago: the peer, or the fabric, may have had no memory for
 * it. */
static void call_again(struct ofi *ofi, uint64_t now_ns)
{
    for (struct ofi_link *link = ofi->links; link; link = link->next) {
        if (!calls_again(link) || now_ns < link->again_ns)
            continue;
        if (link->again_step_ns < again_most_ns)
            link->again_step_ns *= 2;
        link->again_ns = now_ns + link->again_step_ns;
        say(link, OFI_HELLO);
    }
}

/* See whether the processes of other jobs live whose time has come. */
static void ask_others(struct ofi *ofi, uint64_t now_ns)
{
    ofi_alive_hear(ofi);
    for (struct ofi_link *link = ofi->links; link; link = link->next) {
        if (!ofi_alive_asks(link) || now_ns < link->ask_ns)
            continue;
        ofi_alive_begin(link);
        if (ofi_alive_has_ended(link))
            ofi_link_finish(link);
        else
            say(link, OFI_CREDIT);
    }
}

/* Tell the end of one, after which the list may be another. */
static bool end_one(struct ofi *ofi, uint64_t now_ns)
{
    const struct chan_sink *sink = ofi->env->sink;
    for (struct ofi_link *link = ofi->links; link; link = link->next) {
        if (now_ns < deadline(link) || ofi_alive_goes_on(link, now_ns))
            continue;
        bool open = link->state == OFI_OPEN;
        int rc = link->broken ? link->broken : -ECONNRESET;
        link->state = OFI_OVER;
        if (open)
            sink->lost(&link->base, rc);
        else
            sink->refused(&link->base, CHAN_ACCEPT,
                          link->ended    ? "its process has ended"
                          : link->broken ? fi_strerror(-link->broken)
                                         : "the fabric does not reach it");
        return true;
    }
    return false;
}

/* Returns the number of upcalls. */
static int let_leave(struct ofi *ofi, uint64_t now_ns)
{
    int upcalls = 0;
    struct ofi_link *link = ofi->leaving;
    while (link) {
        bool late = now_ns >= leave_at(link);
        upcalls += late ? ofi_memory_give_up(link) : 0;
        link = late ? ofi->leaving : link->next; /* an upcall may change the list */
    }
    return upcalls;
}

int ofi_link_end_some(struct ofi *ofi)
{
    int upcalls = 0;
    if (ofi_link_deadline(ofi) == UINT64_MAX)
        return 0;
    uint64_t now_ns = chan_now_ns();
    if (now_ns < ofi->due_ns)
        return 0;
    ofi->watched = true;
    call_again(ofi, now_ns);
    ask_others(ofi, now_ns);
    while (end_one(ofi, now_ns))
        upcalls++;
    return upcalls + let_leave(ofi, now_ns);
}

bool ofi_link_is_out(struct ofi_link *link)
{
    if (!is_standing(link))
        return true;
    if (link->injected || !link->has_told || link->told != link->out)
        say(link, OFI_LAST);
    return !link->injected && !link->flying && !link->say.kinds;
}
