/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Callers over a fabric. A caller's HELLO is right and new, so it is, or was, a process that knows
 * the job's secret. Each such process has one record at most, so none is ever given up for another
 * one. A caller whose older link is still open here waits for the end of that. Also the peers that
 * still need one last word.
 */
#include <stdlib.h>
#include <string.h>

#include "channels/ofi/link.h"
#include "include/channel_help.h"
#include "os/random.h"

static void take_out(struct ofi *ofi, const struct ofi_stranger *stranger)
{
    struct ofi_stranger **at = &ofi->strangers;
    while (*at != stranger)
        at = &(*at)->next;
    *at = stranger->next;
}

static void forget(struct ofi *ofi, struct ofi_stranger *stranger)
{
    take_out(ofi, stranger);
    free(stranger);
}

struct ofi_stranger *ofi_stranger_make(void)
{
    return calloc(1, sizeof(struct ofi_stranger));
}

/* It is the newest one. */
static void add(struct ofi *ofi, struct ofi_stranger *stranger)
{
    struct ofi_stranger **at = &ofi->strangers;
    while (*at)
        at = &(*at)->next;
    *at = stranger;
    ofi->chores = true;
}

void ofi_stranger_close(struct ofi *ofi)
{
    while (ofi->strangers)
        forget(ofi, ofi->strangers);
    os_heard_fini(&ofi->heard);
}

void ofi_stranger_tell(struct ofi *ofi, struct ofi_stranger *room, const struct ofi_say *say)
{
    *room = (struct ofi_stranger){.say = *say};
    add(ofi, room);
    (void)ofi_stranger_speak(ofi);
}

/* Whether the sender of this knows the secret, and sends it for the first time. */
static bool is_right(struct ofi *ofi, const struct ofi_hello *hello)
{
    const struct chan_env *env = ofi->env;
    const struct os_heard_sender sender = os_heard_sender(hello->gid.b, hello->rank);
    const uint8_t *secret = chan_secret(env, &hello->gid, hello->rank);
    if (!secret)
        return false;
    uint64_t right = ofi_wire_hello_proof(secret, hello, &env->gid, env->rank);
    return chan_equal_secret(&right, &hello->proof, sizeof(right)) &&
           hello->address_len == ofi->address_len && !os_heard_take(&ofi->heard, &sender, hello->number);
}

/* The call of this process, or NULL. */
static struct ofi_stranger *find_caller(struct ofi *ofi, const struct ofi_hello *hello)
{
    struct ofi_stranger *stranger = ofi->strangers;
    while (stranger && !(stranger->name && stranger->talk.caller_rank == hello->rank &&
                         !memcmp(&stranger->talk.caller, &hello->gid, sizeof(hello->gid))))
        stranger = stranger->next;
    return stranger;
}

/* Make a caller of the sender of a HELLO. Returns 0 or -errno. */
static int let_in(struct ofi *ofi, struct ofi_stranger *caller, const struct ofi_hello *hello)
{
    fi_addr_t to;
    int rc = ofi_places_reach(ofi, hello->address, hello->address_len, &to);
    if (rc)
        return rc;
    caller->say = (struct ofi_say){to, hello->from, 1u << OFI_CHALLENGE, 0};
    caller->name = ofi_link_name(ofi);
    caller->met_ns = chan_now_ns();
    caller->talk = (struct ofi_talk){.caller = hello->gid,
                                     .callee = ofi->env->gid,
                                     .caller_rank = hello->rank,
                                     .callee_rank = ofi->env->rank};
    memcpy(caller->talk.caller_nonce, hello->nonce, OFI_NONCE);
    return os_random(caller->talk.callee_nonce, OFI_NONCE);
}

void ofi_stranger_meet(struct ofi *ofi, const struct ofi_hello *hello)
{
    if (!is_right(ofi, hello))
        return;
    const struct ofi_link *link = ofi_link_of(ofi, &hello->gid, hello->rank);
    if (link && link->state == OFI_OPEN && link->say.theirs == hello->from)
        return; /* said once more, before the answer was there */
    struct ofi_stranger *caller = find_caller(ofi, hello);
    if (caller && caller->say.theirs == hello->from) {
        if (!caller->proven)
            caller->say.kinds |= 1u << OFI_CHALLENGE;
    } else {
        if (caller)
            forget(ofi, caller);
        caller = ofi_stranger_make(); /* NULL: it calls again */
        if (caller)
            add(ofi, caller);
        if (caller && let_in(ofi, caller, hello))
            forget(ofi, caller);
    }
    (void)ofi_stranger_speak(ofi);
}

bool ofi_stranger_speak(struct ofi *ofi)
{
    bool all = true;
    for (struct ofi_stranger *stranger = ofi->strangers, *next; stranger; stranger = next) {
        next = stranger->next;
        if (!stranger->say.kinds)
            continue;
        int rc = ofi_link_say(ofi, &stranger->say, NULL, &stranger->talk, stranger->name);
        if (rc > 0)
            all = false;
        else if (rc < 0 || !stranger->name)
            forget(ofi, stranger); /* one that is real calls again */
    }
    return all;
}

/* It is who it says, and is not in the list any more. spare: zeroed memory, for a link that is made here. Returns the
 * number of upcalls. */
static int welcome(struct ofi *ofi, struct ofi_stranger *who, struct ofi_link *spare)
{
    struct ofi_say say = who->say;
    struct chan_peer *peer = NULL;
    enum chan_answer answer = ofi->env->sink->asked(ofi->env->device, ofi->base.ops, &who->talk.caller,
                                                    who->talk.caller_rank, &peer);
    struct ofi_link *link = answer ? NULL : chan_slot_get(peer, ofi->slot); /* one that we have begun: they are one */
    int upcalls = 1;
    if (answer || link) {
        free(spare);
    } else if (ofi_link_begin(spare, ofi, peer, say.to)) {
        spare->state = OFI_OVER;
        ofi->env->sink->refused(&spare->base, CHAN_ACCEPT, "no memory for a link"); /* the device awaits it */
        upcalls++;
    } else {
        link = spare;
    }
    if (link && link->state == OFI_CALLING) {
        uint64_t met_ns = who->met_ns;
        link->called_as = who->name;
        free(who);
        return 1 + ofi_link_accept(link, &say, met_ns);
    }
    say.kinds = 1u << OFI_REFUSED;
    say.answer = answer ? answer : CHAN_REFUSE_UNABLE;
    ofi_stranger_tell(ofi, who, &say);
    return upcalls;
}

/* The open link to the process of a caller, or NULL. */
static const struct ofi_link *older_link(struct ofi *ofi, const struct ofi_stranger *caller)
{
    const struct ofi_link *link = ofi_link_of(ofi, &caller->talk.caller, caller->talk.caller_rank);
    return link && link->state == OFI_OPEN ? link : NULL;
}

int ofi_stranger_welcome(struct ofi *ofi)
{
    int upcalls = 0;
    struct ofi_stranger *caller = ofi->strangers;
    while (caller) {
        if (!caller->proven || older_link(ofi, caller)) {
            caller = caller->next;
            continue;
        }
        struct ofi_link *spare = calloc(1, sizeof(*spare)); /* before the device counts on a link */
        if (!spare) {
            ofi->chores = true;
            break;
        }
        take_out(ofi, caller);
        upcalls += welcome(ofi, caller, spare);
        caller = ofi->strangers; /* the upcall may have changed the list */
    }
    return upcalls;
}

void ofi_stranger_is_linked(struct ofi *ofi, const struct ofi_link *link)
{
    for (struct ofi_stranger *caller = ofi->strangers, *next; caller; caller = next) {
        next = caller->next;
        if (caller->name && caller->say.theirs == link->say.theirs && older_link(ofi, caller) == link)
            forget(ofi, caller);
    }
}

int ofi_stranger_take(struct ofi *ofi, const struct ofi_frame *frame, const void *body)
{
    struct ofi_stranger *caller = ofi->strangers;
    struct ofi_proof proof;
    while (caller && caller->name != frame->to)
        caller = caller->next;
    if (!caller)
        return 0;
    if (frame->kind == OFI_BYE)
        forget(ofi, caller);
    if (frame->kind != OFI_PROOF)
        return 0;
    memcpy(&proof, body, sizeof(proof));
    uint64_t right = ofi_wire_proof(ofi_secret(ofi, &caller->talk), &caller->talk, true);
    if (!chan_equal_secret(&right, &proof.proof, sizeof(right)))
        return 0;
    caller->proven = true;
    return ofi_stranger_welcome(ofi);
}
