/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ofi channel: fabrics that libfabric knows, through endpoints of reliable datagrams. It is a
 * module of its own, libvireo-channel-ofi.so, since loading libfabric takes long: a process loads
 * it if the host has a fabric, or VIREO_CHANNELS asks for it.
 */
#include "channels/ofi/link.h"

#include <errno.h>
#include <rdma/fi_eq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/channel_help.h"
#include "os/random.h"

enum {
    ENTRIES = 32, /* completions read at once */
    READS = 4,    /* and so often in one progress() */
    SCORE = 50,
    SCORE_MEMORY = 40, /* below our own shared memory */
    SCORE_SOCKETS = 10 /* below our own tcp */
};

static struct ofi *ofi_of(struct chan *chan)
{
    return (struct ofi *)chan;
}

/* ---- cards ---- */

static int score_of(const char *provider)
{
    static const char *const sockets[] = {"tcp", "udp", "sockets", "net"};
    for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
        if (!strncmp(provider, sockets[i], strlen(sockets[i])))
            return SCORE_SOCKETS;
    return ofi_fabric_is_memory(provider) ? SCORE_MEMORY : SCORE;
}

static int write_card(struct ofi *ofi)
{
    char *card = ofi->card, text[32];
    uint64_t number;
    if (os_random(&number, sizeof(number)))
        return -ENODEV;
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)number);
    return chan_params_add(card, CHAN_CARD_MAX, "prov", ofi->info->fabric_attr->prov_name) ||
                   chan_params_add(card, CHAN_CARD_MAX, "host", ofi->env->host_id) ||
                   chan_params_add(card, CHAN_CARD_MAX, "n", text) ||
                   chan_params_add_bytes(card, CHAN_CARD_MAX, "at", ofi->address, ofi->address_len)
               ? -ENOSPC
               : 0;
}

static int ofi_card(struct chan *chan, char params[CHAN_CARD_MAX])
{
    memcpy(params, ofi_of(chan)->card, CHAN_CARD_MAX);
    return 0;
}

struct card {
    char provider[64], host[256], number[32];
    uint8_t address[OFI_ADDRESS_MAX];
    int address_len;
};

static bool read_card(const char *text, struct card *card)
{
    if (chan_params_get(text, "prov", 0, card->provider, sizeof(card->provider)) ||
        chan_params_get(text, "host", 0, card->host, sizeof(card->host)) ||
        chan_params_get(text, "n", 0, card->number, sizeof(card->number)))
        return false;
    card->address_len = chan_params_get_bytes(text, "at", card->address, sizeof(card->address));
    return card->address_len > 0;
}

static struct chan_verdict ofi_match(const char *mine, const char *theirs)
{
    struct card a, b;
    if (!read_card(mine, &a) || !read_card(theirs, &b))
        return (struct chan_verdict){CHAN_NO, 0, "a card without provider or address"};
    if (strcmp(a.provider, b.provider) || a.address_len != b.address_len)
        return (struct chan_verdict){CHAN_NO, 0, "another provider"};
    if (!strcmp(a.number, b.number))
        return (struct chan_verdict){CHAN_NO, 0, "the same process"};
    if (ofi_fabric_is_memory(a.provider) && strcmp(a.host, b.host))
        return (struct chan_verdict){CHAN_NO, 0, "other host"};
    return (struct chan_verdict){CHAN_MAYBE, score_of(a.provider), "the same provider"};
}

/* ---- open and close ---- */

static void ofi_close(struct chan *chan)
{
    struct ofi *ofi = ofi_of(chan);
    if (!ofi)
        return;
    ofi_link_close(ofi);
    ofi_stranger_close(ofi);
    ofi_fabric_close(ofi);
    ofi_sleep_close(ofi);
    free(ofi);
}

static int ofi_open(struct chan **chan, const struct chan_env *env, char *why, size_t size)
{
    if (!chan_env_fits(env)) {
        snprintf(why, size, "it is made for another version of the library");
        return -EINVAL;
    }
    struct ofi *ofi = calloc(1, sizeof(*ofi));
    if (!ofi)
        return -ENOMEM;
    ofi->base.ops = &vireo_channel;
    ofi->env = env;
    ofi->epoll = ofi->timer = ofi->socket = -1;
    ofi->due_ns = UINT64_MAX;
    ofi->slot = env->endpoint_slot_register(env->device, "ofi");
    int rc = ofi->slot < 0 ? ofi->slot : ofi_fabric_open(ofi, why, size);
    if (!rc) {
        snprintf(why, size, "no descriptor to sleep on, or too long an address");
        rc = ofi_sleep_open(ofi);
    }
    if (!rc)
        rc = write_card(ofi);
    if (rc) {
        ofi_close(&ofi->base);
        return rc;
    }
    ofi->base.fd = ofi->epoll;
    *chan = &ofi->base;
    return 0;
}

/* ---- links ---- */

static int ofi_link(struct chan *chan, struct chan_peer *peer, const char *theirs,
                    struct chan_link **made)
{
    struct ofi *ofi = ofi_of(chan);
    struct ofi_link *link = chan_slot_get(peer, ofi->slot);
    struct card card;
    fi_addr_t to;
    if (!link) {
        if (!read_card(theirs, &card) || (size_t)card.address_len != ofi->address_len)
            return -EINVAL;
        if (ofi_places_reach(ofi, card.address, (size_t)card.address_len, &to))
            return -EHOSTUNREACH;
        link = ofi_link_make(ofi, peer, to);
        if (!link)
            return -ENOMEM;
        int rc = ofi_link_call(link);
        if (rc) {
            ofi_link_free(link);
            return rc;
        }
    }
    *made = &link->base;
    return 0;
}

static void ofi_unlink(struct chan_link *link)
{
    ofi_link_free((struct ofi_link *)link);
}

static void ofi_finish(struct chan_link *link)
{
    const struct ofi *ofi = ((struct ofi_link *)link)->ofi;
    ofi_link_finish((struct ofi_link *)link);
    if (ofi_fabric_is_memory(ofi->info->fabric_attr->prov_name))
        ofi_leftover_remove();
}

/* ---- progress ---- */

/* An operation has failed. */
static bool take_error(struct ofi *ofi, int *upcalls)
{
    struct fi_cq_err_entry entry = {0};
    ofi_enter(ofi);
    ssize_t count = fi_cq_readerr(ofi->cq, &entry, 0);
    ofi_leave(ofi);
    if (count != 1)
        return false;
    struct ofi_op *op = entry.op_context;
    if (!op) /* an injected message: its link is heard of when it sends again */
        return true;
    if (op->transfers) {
        *upcalls += ofi_memory_done(ofi, op, entry.err ? -entry.err : -EIO);
        return true;
    }
    if (op->link && !op->link->broken && entry.err != FI_ECANCELED)
        ofi_link_break(op->link, entry.err ? -entry.err : -EIO);
    ofi_fabric_done(ofi, op);
    return true;
}

static int take_completion(struct ofi *ofi, const struct fi_cq_msg_entry *entry)
{
    struct ofi_op *op = entry->op_context;
    if (op->transfers)
        return ofi_memory_done(ofi, op, 0);
    int upcalls = op->receives ? ofi_link_receive(ofi, op->bytes, entry->len) : 0;
    ofi_fabric_done(ofi, op);
    return upcalls;
}

/* Completions are lost, and with them what they were of. */
static void lose_queue(struct ofi *ofi, int error)
{
    char why[128];
    snprintf(why, sizeof(why), "provider %s has lost the completion queue: %s",
             ofi->info->fabric_attr->prov_name, fi_strerror(error));
    ofi->env->sink->broken(ofi->env->device, &vireo_channel, why);
}

/* Post buffers when there is nothing to read, as that delays no message; while there is, only when
 * they are needed. */
static void post_some(struct ofi *ofi, bool busy)
{
    if (ofi->idle_count >= (busy ? OFI_RECEIVES / 2 : OFI_BATCH) && !ofi_fabric_post(ofi))
        ofi->chores = true;
}

static int read_queue(struct ofi *ofi)
{
    struct fi_cq_msg_entry entries[ENTRIES];
    int upcalls = 0;
    ofi->more = false;
    for (int i = 0; i < READS; i++) {
        ofi_enter(ofi);
        ssize_t count = fi_cq_read(ofi->cq, entries, ENTRIES);
        ofi_leave(ofi);
        ofi->more = count == ENTRIES || count == -FI_EAVAIL;
        if (count == -FI_EAVAIL && take_error(ofi, &upcalls))
            continue;
        if (count < 0 && count != -FI_EAGAIN && count != -FI_EAVAIL && count != -FI_EINTR)
            lose_queue(ofi, (int)-count);
        post_some(ofi, count > 0);
        if (count <= 0)
            break;
        ofi->futile = ofi->looks = ofi->glances = 0;
        if (ofi->has_looked)
            ofi_fabric_surprised(ofi);
        for (ssize_t k = 0; k < count; k++)
            upcalls += take_completion(ofi, &entries[k]);
        if (count < ENTRIES) /* another look costs what a message does, with some providers */
            break;
    }
    return upcalls;
}

/* Returns the number of upcalls. */
static int do_chores(struct ofi *ofi)
{
    ofi->chores = false;
    int upcalls = ofi_memory_go_on(ofi) + ofi_stranger_welcome(ofi);
    bool has_posted = ofi_fabric_post(ofi), has_spoken = ofi_stranger_speak(ofi);
    bool all = has_posted && has_spoken;
    for (struct ofi_link *link = ofi->links; link; link = link->next)
        all &= ofi_link_speak(link);
    ofi->chores |= !all;
    return upcalls;
}

static int ofi_progress(struct chan *chan)
{
    struct ofi *ofi = ofi_of(chan);
    ofi->again = false;
    int moved = ofi_datagrams_come(ofi); /* nobody sleeps, or yields for long, in the middle of a long read */
    moved += read_queue(ofi);
    if (ofi->chores)
        moved += do_chores(ofi);
    return moved + ofi_link_end_some(ofi);
}

/* ---- ends ---- */

static bool ofi_is_out(struct chan *chan)
{
    struct ofi *ofi = ofi_of(chan);
    bool out = true;
    for (const struct ofi_op *op = ofi->sends; op; op = op->other)
        out &= op->kind != OFI_DATA && op->kind != OFI_LAST;
    for (struct ofi_link *link = ofi->links; link; link = link->next)
        out &= ofi_link_is_out(link);
    return out && ofi_sockets_are_out(ofi);
}

/* The provider's descriptors stay open: it tells nobody which they are, and closing its objects
 * would end the parent's. */
static void ofi_forked(struct chan *chan)
{
    ofi_sleep_close(ofi_of(chan));
}

static const struct chan_param params[] = {
    {"provider", "", "libfabric's name of the provider, as tcp;ofi_rxm; empty means its first one"},
    {"domain", "", "the provider's name of the domain, as fi_info tells; empty means the nearest adapter's"},
    {"address", "", "the address of this host to be used; empty means the provider's choice"},
    {"timeout_ms", "60000",
     "how long it may take until the fabric takes a first message, while no connection leads to the peer"},
    {"lend", "auto",
     "whether peers read long messages in this process's memory: yes, no, or auto, which is no where a stranger on the "
     "fabric could do so too"},
    {"stuck_ms", "10000",
     "how long a call into provider shm may take when a peer has ended, which may hold a lock of it"},
    {NULL, NULL, NULL}};

const struct chan_ops vireo_channel = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "ofi",
    .about = "fabrics that libfabric knows",
    .params = params,
    .open = ofi_open,
    .close = ofi_close,
    .card = ofi_card,
    .match = ofi_match,
    .link = ofi_link,
    .unlink = ofi_unlink,
    .finish = ofi_finish,
    .progress = ofi_progress,
    .arm = ofi_sleep_arm,
    .disarm = ofi_sleep_disarm,
    .is_out = ofi_is_out,
    .forked = ofi_forked,
    .onesided = &ofi_onesided,
};
