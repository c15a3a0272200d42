/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who calls over a fabric and has not proven anything yet; and who is to be told one last thing. They
 * are few, and the oldest goes first: a caller that is real calls again.
 */
#include <stdlib.h>
#include <string.h>

#include "channels/ofi/ofi.h"
#include "include/channel_help.h"
#include "os/random.h"

enum { STRANGERS = 256 };

struct ofi_stranger {
    struct ofi_stranger *next;
    struct ofi_say say;
    struct ofi_talk talk; /* the stranger is the caller */
    uint64_t name;        /* ours for it; 0: nothing is awaited of it */
    uint64_t met_ns;
};

static void forget(struct ofi *ofi, struct ofi_stranger *stranger)
{
    struct ofi_stranger **at = &ofi->strangers;
    while (*at != stranger)
        at = &(*at)->next;
    *at = stranger->next;
    ofi->stranger_count--;
    free(stranger);
}

/* A new one, the newest, or NULL. */
static struct ofi_stranger *add(struct ofi *ofi)
{
    struct ofi_stranger **at = &ofi->strangers, *stranger = calloc(1, sizeof(*stranger));
    if (!stranger)
        return NULL;
    if (ofi->stranger_count == STRANGERS)
        forget(ofi, ofi->strangers);
    while (*at)
        at = &(*at)->next;
    *at = stranger;
    ofi->stranger_count++;
    ofi->chores = true;
    return stranger;
}

void ofi_stranger_close(struct ofi *ofi)
{
    while (ofi->strangers)
        forget(ofi, ofi->strangers);
}

void ofi_stranger_tell(struct ofi *ofi, const struct ofi_say *say)
{
    struct ofi_stranger *stranger = add(ofi);
    if (!stranger)
        return;
    stranger->say = *say;
    (void)ofi_stranger_speak(ofi);
}

void ofi_stranger_meet(struct ofi *ofi, const struct ofi_hello *hello)
{
    fi_addr_t to;
    if (hello->address_len != ofi->address_len ||
        ofi_fabric_reach(ofi, hello->address, hello->address_len, &to))
        return;
    struct ofi_stranger *stranger = add(ofi);
    if (!stranger)
        return;
    stranger->say = (struct ofi_say){to, hello->from, 1u << OFI_CHALLENGE, 0};
    stranger->name = ofi_link_name(ofi);
    stranger->met_ns = chan_now_ns();
    stranger->talk = (struct ofi_talk){.caller = hello->gid,
                                       .callee = ofi->env->gid,
                                       .caller_rank = hello->rank,
                                       .callee_rank = ofi->env->rank};
    memcpy(stranger->talk.caller_nonce, hello->nonce, OFI_NONCE);
    if (os_random(stranger->talk.callee_nonce, OFI_NONCE))
        forget(ofi, stranger);
    else
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
            forget(ofi, stranger);
    }
    return all;
}

/* It is who it says. Returns the number of upcalls. */
static int welcome(struct ofi *ofi, const struct ofi_stranger *who)
{
    struct ofi_say say = who->say;
    struct ofi_talk talk = who->talk;
    struct chan_peer *peer = NULL;
    enum chan_answer answer = ofi->env->sink->asked(ofi->env->device, &vireo_channel, &talk.caller,
                                                    talk.caller_rank, &peer);
    struct ofi_link *link = NULL;
    if (!answer) {
        link = chan_slot_get(peer, ofi->slot); /* one that we have begun: they are one */
        if (!link)
            link = ofi_link_make(ofi, peer, say.to);
    }
    if (link && link->state == OFI_CALLING)
        return 1 + ofi_link_accept(link, &say, who->met_ns);
    say.kinds = 1u << OFI_REFUSED;
    say.answer = answer ? answer : CHAN_REFUSE_UNABLE;
    ofi_stranger_tell(ofi, &say);
    return 1;
}

int ofi_stranger_take(struct ofi *ofi, const struct ofi_frame *frame, const void *body)
{
    struct ofi_stranger *stranger = ofi->strangers;
    struct ofi_proof proof;
    while (stranger && stranger->name != frame->to)
        stranger = stranger->next;
    if (!stranger || frame->kind != OFI_PROOF)
        return 0;
    memcpy(&proof, body, sizeof(proof));
    uint64_t right = ofi_wire_proof(ofi->env->secret, &stranger->talk, true);
    bool good = chan_equal_secret(&right, &proof.proof, sizeof(right));
    struct ofi_stranger copy = *stranger;
    forget(ofi, stranger);
    return good ? welcome(ofi, &copy) : 0;
}
