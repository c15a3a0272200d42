/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One-sided operations of the ofi channel. Memory is registered for as long as one message takes: the
 * providers for which that is dear keep a cache of their own, which sees when memory goes away.
 *
 * A provider over sockets serves every caller that names the key of a registration. So our keys are
 * hashes with a key of this process, which nobody guesses, and only the peer is told. Where the
 * provider chooses the keys, or takes short ones, peers read nothing unless the user says that the
 * fabric keeps strangers out.
 */
#include <errno.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ofi/link.h"
#include "os/keyed_hash.h"
#include "os/random.h"

enum {
    KEY_LEN = sizeof(uint64_t), /* of a key that cannot be guessed */
    KEY_TRIES = 4,              /* where another registration has the same one */
    /* Bytes of a get that are read at once. Over sockets, the peer writes them at once, and of more the first
     * are no longer in its cache when they are taken. */
    READ_LEN = 512 << 10,
    READ_LEN_MEMORY = 8 << 20, /* over memory that is shared: one copy, and nothing else is done meanwhile */
    READS = 2                  /* of a get at a time */
};

struct ofi_region {
    struct chan_region base;
    struct ofi *ofi;
    struct fid_mr *mr;
    struct ofi_key key;
};

/* Whether no stranger can name the key of a registration. */
static bool hides_keys(const struct fi_info *info)
{
    return ofi_fabric_is_memory(info->fabric_attr->prov_name) || /* the kernel lets in this user alone */
           (!(info->domain_attr->mr_mode & FI_MR_PROV_KEY) && info->domain_attr->mr_key_size >= KEY_LEN);
}

/* One that was never used here, cut to what the provider takes. */
static uint64_t next_key(struct ofi *ofi)
{
    size_t len = ofi->info->domain_attr->mr_key_size;
    uint64_t number = ++ofi->keys, key = os_keyed_hash(ofi->key_secret, &number, sizeof(number));
    return len && len < KEY_LEN ? number & (((uint64_t)1 << 8 * len) - 1) : key;
}

int ofi_memory_register(struct ofi *ofi, void *base, size_t len, uint64_t access,
                        struct fid_mr **mr)
{
    uint64_t mode = (uint64_t)ofi->info->domain_attr->mr_mode;
    int rc = -FI_ENOKEY;
    for (int i = 0; rc == -FI_ENOKEY && i < KEY_TRIES; i++) {
        uint64_t wanted = mode & FI_MR_PROV_KEY ? 0 : next_key(ofi);
        rc = fi_mr_reg(ofi->domain, base, len, access, 0, wanted, 0, mr, NULL);
    }
    if (!rc && mode & FI_MR_ENDPOINT) {
        rc = fi_mr_bind(*mr, &ofi->ep->fid, 0);
        rc = rc ? rc : fi_mr_enable(*mr);
        if (rc)
            (void)fi_close(&(*mr)->fid);
    }
    return rc;
}

static int region_make(struct chan *chan, void *base, size_t len, struct chan_region **made)
{
    struct ofi *ofi = (struct ofi *)chan;
    if (!ofi->lends)
        return -ENOTSUP; /* the peer streams instead */
    struct ofi_region *region = calloc(1, sizeof(*region));
    if (!region)
        return -ENOMEM;
    int rc = ofi_memory_register(ofi, base, len, FI_REMOTE_READ | FI_REMOTE_WRITE, &region->mr);
    if (rc) {
        free(region);
        return rc;
    }
    region->base.ops = &ofi_onesided;
    region->key.key = fi_mr_key(region->mr);
    if (!(ofi->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR))
        region->key.base = (uintptr_t)base; /* addresses count from there */
    ofi->bulk++;
    region->ofi = ofi;
    *made = &region->base;
    return 0;
}

static void region_end(struct chan_region *base)
{
    struct ofi_region *region = (struct ofi_region *)base;
    region->ofi->bulk--;
    (void)fi_close(&region->mr->fid);
    free(region);
}

static void region_key(const struct chan_region *base, void *key)
{
    memcpy(key, &((const struct ofi_region *)base)->key, sizeof(struct ofi_key));
}

/* What the user says of lending. Returns 0 or -EINVAL. */
static int read_lend(struct ofi *ofi, const char *text)
{
    bool is_auto = !strcmp(text, "auto"), yes = !strcmp(text, "yes");
    if (!is_auto && !yes && strcmp(text, "no"))
        return -EINVAL;
    ofi->lends = ofi->info->caps & FI_RMA && (yes || (is_auto && hides_keys(ofi->info)));
    return 0;
}

int ofi_memory_open(struct ofi *ofi, const char *lend, char *why, size_t size)
{
    bool is_memory = ofi_fabric_is_memory(ofi->info->fabric_attr->prov_name);
    if (read_lend(ofi, lend)) {
        snprintf(why, size, "ofi.lend is \"%.20s\", and may be auto, yes or no", lend);
        return -EINVAL;
    }
    int rc = os_random(ofi->key_secret, sizeof(ofi->key_secret));
    if (rc) {
        snprintf(why, size, "the kernel gives no random bytes: %s", strerror(-rc));
        return rc;
    }
    ofi->read_len = is_memory ? READ_LEN_MEMORY : READ_LEN;
    for (int i = 0; i < OFI_TRANSFERS; i++) {
        struct ofi_transfer *transfer = &ofi->transfers[i];
        transfer->op.transfers = true;
        transfer->op.to = FI_ADDR_UNSPEC;
        transfer->next = ofi->idle_transfers;
        ofi->idle_transfers = transfer;
    }
    return 0;
}

/* An idle one, or NULL. */
static struct ofi_transfer *take(struct ofi *ofi)
{
    struct ofi_transfer *transfer = ofi->idle_transfers;
    if (transfer) {
        ofi->idle_transfers = transfer->next;
        ofi->bulk++;
    }
    return transfer;
}

static void put_back(struct ofi *ofi, struct ofi_transfer *transfer)
{
    ofi->bulk--;
    if (transfer->mr)
        (void)fi_close(&transfer->mr->fid);
    transfer->mr = NULL;
    transfer->op.link = NULL;
    transfer->op.to = FI_ADDR_UNSPEC;
    transfer->before = NULL;
    transfer->whole = NULL;
    transfer->next = ofi->idle_transfers;
    ofi->idle_transfers = transfer;
}

/* An operation of a link is over: the memory here is no longer in use. */
static void tell(struct ofi_link *link, void *cookie, int rc)
{
    const struct chan_sink *sink = link->ofi->env->sink;
    struct chan_peer *peer = link->base.peer;
    link->transfers--;
    if (link->leaving && !link->transfers)
        ofi_link_leave(link);
    sink->done(peer, cookie, rc);
}

/* Returns the number of upcalls. */
static int end(struct ofi *ofi, struct ofi_transfer *transfer, int rc)
{
    struct ofi_link *link = transfer->op.link;
    void *cookie = transfer->cookie;
    put_back(ofi, transfer);
    if (link)
        tell(link, cookie, rc);
    return link != NULL;
}

/* Read the next part of a get. */
static ssize_t read_next(struct ofi *ofi, struct ofi_transfer *read)
{
    struct ofi_transfer *whole = read->whole;
    size_t len = whole->left < ofi->read_len ? whole->left : ofi->read_len;
    ofi_enter(ofi);
    ssize_t rc = fi_read(ofi->ep, whole->to, len, whole->mr ? fi_mr_desc(whole->mr) : NULL,
                         whole->op.link->say.to, whole->from, whole->key, &read->op.context);
    ofi_sockets_push(ofi);
    ofi_leave(ofi);
    if (rc)
        return rc;
    read->op.to = whole->op.link->say.to;
    whole->to += len;
    whole->from += len;
    whole->left -= len;
    return 0;
}

/* A read is over: it is used for the next part, and the get is over with the last one. Returns the
 * number of upcalls. */
static int go_on(struct ofi *ofi, struct ofi_transfer *read)
{
    struct ofi_transfer *whole = read->whole;
    if (whole->left && whole->op.link) {
        ssize_t rc = read_next(ofi, read);
        if (rc == -FI_EAGAIN) {
            read->next = ofi->behind;
            ofi->behind = read;
            ofi->chores = true;
        }
        if (!rc || rc == -FI_EAGAIN)
            return 0;
        whole->rc = (int)rc;
        whole->left = 0;
    }
    if (read != whole)
        put_back(ofi, read);
    return --whole->reads ? 0 : end(ofi, whole, whole->rc);
}

int ofi_memory_go_on(struct ofi *ofi)
{
    struct ofi_transfer *behind = ofi->behind;
    int upcalls = 0;
    ofi->behind = NULL;
    while (behind) {
        struct ofi_transfer *read = behind;
        behind = read->next;
        upcalls += go_on(ofi, read);
    }
    return upcalls;
}

void ofi_memory_stop(struct ofi_link *link)
{
    struct ofi *ofi = link->ofi;
    for (int i = 0; i < OFI_TRANSFERS; i++) {
        struct ofi_transfer *transfer = &ofi->transfers[i];
        if (transfer->op.link != link)
            continue;
        transfer->left = 0;
        transfer->rc = transfer->whole ? -ECONNRESET : 0;
    }
    ofi->chores = true; /* some may be behind */
}

int ofi_memory_give_up(struct ofi_link *link)
{
    struct ofi *ofi = link->ofi;
    int upcalls = 0, left = link->transfers;
    for (int i = 0; i < OFI_TRANSFERS && left; i++) {
        struct ofi_transfer *transfer = &ofi->transfers[i];
        if (transfer->op.link != link)
            continue;
        if (transfer->mr)
            (void)fi_close(&transfer->mr->fid); /* which ends what an adapter still does */
        transfer->mr = NULL;
        transfer->op.link = NULL; /* it is not used again before its completion comes, if ever */
        transfer->before = NULL;
        left--;
        upcalls++;
        tell(link, transfer->cookie, -ECONNRESET);
    }
    return upcalls;
}

int ofi_memory_done(struct ofi *ofi, struct ofi_op *op, int rc)
{
    struct ofi_transfer *transfer = (struct ofi_transfer *)op, *whole = transfer->whole;
    if (whole && rc) {
        whole->rc = rc;
        whole->left = 0;
    }
    if (whole)
        return go_on(ofi, transfer);
    if (op->link && transfer->before)
        *transfer->before = transfer->word[2];
    return end(ofi, transfer, rc);
}

/* The operation has been begun, or not. */
static int outcome(struct ofi *ofi, struct ofi_transfer *transfer, struct ofi_link *link,
                   ssize_t rc)
{
    if (!rc) {
        transfer->op.link = link;
        transfer->op.to = link->say.to;
        link->transfers++;
        return CHAN_PENDING;
    }
    put_back(ofi, transfer);
    return rc == -FI_EAGAIN ? CHAN_AGAIN : CHAN_UNABLE;
}

/* A transfer between here, or its own words, and there; or NULL. */
static struct ofi_transfer *begin(struct ofi_link *link, void *here, size_t len, uint64_t access)
{
    struct ofi *ofi = link->ofi;
    if (link->state != OFI_OPEN || link->broken || link->ended)
        return NULL;
    struct ofi_transfer *transfer = take(ofi);
    if (!transfer)
        return NULL;
    if (!here) {
        here = transfer->word;
        len = sizeof(transfer->word);
    }
    if (ofi->info->domain_attr->mr_mode & FI_MR_LOCAL &&
        ofi_memory_register(ofi, here, len, access, &transfer->mr)) {
        transfer->mr = NULL;
        put_back(ofi, transfer);
        return NULL;
    }
    return transfer;
}

static int memory_get(struct chan_link *base, void *to, const struct chan_remote *from, size_t len,
                      void *cookie)
{
    struct ofi_link *link = (struct ofi_link *)base;
    struct ofi *ofi = link->ofi;
    struct ofi_transfer *whole = begin(link, to, len, FI_READ);
    struct ofi_key key;
    if (!whole)
        return CHAN_AGAIN;
    memcpy(&key, from->key, sizeof(key));
    whole->cookie = cookie;
    whole->op.link = link;
    whole->whole = whole;
    whole->reads = 1;
    whole->rc = 0;
    whole->to = to;
    whole->from = from->address - key.base;
    whole->key = key.key;
    whole->left = len;
    int rc = outcome(ofi, whole, link, read_next(ofi, whole));
    while (rc == CHAN_PENDING && whole->left && whole->reads < READS && ofi->idle_transfers) {
        struct ofi_transfer *read = take(ofi);
        read->whole = whole;
        whole->reads++;
        (void)go_on(ofi, read); /* no upcall, since the first one is under way */
    }
    return rc;
}

static int memory_put(struct chan_link *base, const void *from, const struct chan_remote *to,
                      size_t len, void *cookie)
{
    struct ofi_link *link = (struct ofi_link *)base;
    struct ofi_transfer *transfer = begin(link, (void *)from, len, FI_WRITE);
    struct ofi_key key;
    if (!transfer)
        return CHAN_AGAIN;
    memcpy(&key, to->key, sizeof(key));
    transfer->cookie = cookie;
    void *desc = transfer->mr ? fi_mr_desc(transfer->mr) : NULL;
    struct iovec part = {(void *)from, len};
    struct fi_rma_iov there = {to->address - key.base, len, key.key};
    struct fi_msg_rma message = {.msg_iov = &part, .desc = &desc, .iov_count = 1,
                                 .addr = link->say.to, .rma_iov = &there, .rma_iov_count = 1,
                                 .context = &transfer->op.context};
    ofi_enter(link->ofi);
    ssize_t rc = fi_writemsg(link->ofi->ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    ofi_sockets_push(link->ofi);
    ofi_leave(link->ofi);
    return outcome(link->ofi, transfer, link, rc);
}

/* Whether the provider does this to words of 64 bits. */
static bool has_atomic(struct ofi *ofi, enum fi_op op)
{
    size_t count = 0;
    return ofi->info->caps & FI_ATOMIC &&
           !(op == FI_CSWAP ? fi_compare_atomicvalid(ofi->ep, FI_UINT64, op, &count)
                            : fi_fetch_atomicvalid(ofi->ep, FI_UINT64, op, &count)) &&
           count;
}

static int memory_atomic(struct chan_link *base, enum chan_atomic what, const uint64_t operand[2],
                         const struct chan_remote *at, uint64_t *before, void *cookie)
{
    static const enum fi_op ops[] = {[CHAN_ATOMIC_ADD] = FI_SUM,
                                     [CHAN_ATOMIC_SWAP] = FI_ATOMIC_WRITE,
                                     [CHAN_ATOMIC_COMPARE] = FI_CSWAP};
    struct ofi_link *link = (struct ofi_link *)base;
    struct fid_ep *ep = link->ofi->ep;
    struct ofi_key key;
    ssize_t rc;
    if (!has_atomic(link->ofi, ops[what]))
        return CHAN_UNABLE;
    struct ofi_transfer *transfer = begin(link, NULL, 0, FI_READ | FI_WRITE);
    if (!transfer)
        return CHAN_AGAIN;
    memcpy(&key, at->key, sizeof(key));
    memcpy(transfer->word, operand, 2 * sizeof(*operand));
    transfer->cookie = cookie;
    transfer->before = before;
    uint64_t *word = transfer->word, there = at->address - key.base;
    void *desc = transfer->mr ? fi_mr_desc(transfer->mr) : NULL, *context = &transfer->op.context;
    ofi_enter(link->ofi);
    if (what == CHAN_ATOMIC_COMPARE)
        rc = fi_compare_atomic(ep, &word[0], 1, desc, &word[1], desc, &word[2], desc, link->say.to,
                               there, key.key, FI_UINT64, ops[what], context);
    else
        rc = fi_fetch_atomic(ep, &word[0], 1, desc, &word[2], desc, link->say.to, there, key.key,
                             FI_UINT64, ops[what], context);
    ofi_leave(link->ofi);
    return outcome(link->ofi, transfer, link, rc);
}

static int memory_flush(struct chan_link *link)
{
    return ((struct ofi_link *)link)->transfers ? CHAN_AGAIN : 0;
}

const struct chan_onesided ofi_onesided = {.size = sizeof(struct chan_onesided),
                                           .key_len = sizeof(struct ofi_key),
                                           .reg = region_make,
                                           .dereg = region_end,
                                           .key = region_key,
                                           .get = memory_get,
                                           .put = memory_put,
                                           .atomic = memory_atomic,
                                           .flush = memory_flush};
