/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The loopback channel: messages of a process to itself.
 *
 * One link serves as both ends. send() may run no upcall, so a packet waits in
 * a queue until progress() hands it over. Small payloads are copied into the
 * queue. A large one with a cookie stays in place: arrived() is called with the sender's own
 * memory, or, if that is not contiguous, read() fills the place that the device names; so it is
 * copied once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/channel.h"
#include "include/channel_help.h"
#include "os/memory/pool.h"
#include "slots.h"

extern const struct chan_ops chan_loopback;
static const struct chan_onesided loopback_onesided;

enum {
    POOLED_LEN = 448,    /* bytes: payloads up to here use the pool */
    COPY_MAX = 16 << 10, /* bytes: up to here a copy beats waiting for sent() */
    EAGER_MAX = 64 << 10,
    DATA_MAX = 1 << 30,
    QUEUE_BYTES_MAX = 4 << 20,   /* bytes copied and not yet handed over */
    QUEUE_PACKETS_MAX = 16 << 10 /* what the device may queue before it must drain */
};

enum packet_memory {
    NODE_POOLED,
    NODE_HEAP,
    NODE_BORROWED
};

/* One packet that waits. Copied payloads follow the node; a borrowed one lies in
 * the sender's memory, and its node in the sender's request. */
struct loopback_packet {
    struct loopback_packet *next;
    enum packet_memory kind;
    struct chan_head head;
    struct chan_data data;
};

struct loopback_link {
    struct chan_link base;
    struct loopback *loopback;
};

struct loopback {
    struct chan base;
    const struct chan_env *env;
    int node_offset; /* from a cookie to its packet; negative: none */
    struct os_pool pool;
    struct loopback_link *link;
    bool opened; /* the device has been told */
    struct loopback_packet *first, **last;
    size_t packets, bytes; /* in the queue; bytes counts copies */
};

static struct loopback *loopback_of(struct chan *chan)
{
    return (struct loopback *)chan;
}

static int loopback_open(struct chan **chan, const struct chan_env *env, char *why, size_t size)
{
    struct loopback *self = calloc(1, sizeof(*self));
    if (!self) {
        snprintf(why, size, "no memory");
        return -ENOMEM;
    }
    self->base = (struct chan){.ops = &chan_loopback, .fd = -1};
    self->env = env;
    self->last = &self->first;
    self->node_offset =
        env->reserve(env->device, sizeof(struct loopback_packet), _Alignof(struct loopback_packet));
    os_pool_init(&self->pool, sizeof(struct loopback_packet) + POOLED_LEN, 64);
    *chan = &self->base;
    return 0;
}

static void node_free(struct loopback *self, struct loopback_packet *node)
{
    if (node->kind == NODE_POOLED)
        os_pool_put(&self->pool, node);
    else if (node->kind == NODE_HEAP)
        free(node);
}

static struct loopback_packet *queue_pop(struct loopback *self)
{
    struct loopback_packet *node = self->first;
    self->first = node->next;
    if (!self->first)
        self->last = &self->first;
    self->packets--;
    if (node->kind != NODE_BORROWED)
        self->bytes -= node->data.len;
    return node;
}

static void queue_drop(struct loopback *self)
{
    while (self->first)
        node_free(self, queue_pop(self));
}

static void loopback_close(struct chan *chan)
{
    struct loopback *self = loopback_of(chan);
    if (!self)
        return;
    queue_drop(self);
    os_pool_fini(&self->pool);
    free(self->link);
    free(self);
}

static int loopback_card(struct chan *chan, char params[CHAN_CARD_MAX])
{
    const struct chan_env *env = loopback_of(chan)->env;
    char id[2 * sizeof(env->gid.b) + 16];
    chan_hex_write(id, env->gid.b, sizeof(env->gid.b));
    snprintf(id + 2 * sizeof(env->gid.b), 16, ".%u", env->rank);
    params[0] = 0;
    return chan_params_add(params, CHAN_CARD_MAX, "id", id);
}

static struct chan_verdict loopback_match(const char *mine, const char *theirs)
{
    char a[64], b[64];
    if (chan_params_get(mine, "id", 0, a, sizeof(a)) || chan_params_get(theirs, "id", 0, b, sizeof(b)))
        return (struct chan_verdict){CHAN_NO, 0, "a card without an identity"};
    if (strcmp(a, b) || !a[0])
        return (struct chan_verdict){CHAN_NO, 0, "not the same process"};
    return (struct chan_verdict){CHAN_YES, 100, "the same process"};
}

static bool must_copy(const struct loopback *self, const struct chan_data *data)
{
    return !data->cookie || data->len <= COPY_MAX || self->node_offset < 0;
}

/* A node with a copy of the payload, or NULL without room. */
static struct loopback_packet *node_copy(struct loopback *self, const struct chan_data *data)
{
    if (self->bytes && self->bytes + data->len > QUEUE_BYTES_MAX)
        return NULL;
    bool pooled = data->len <= POOLED_LEN;
    struct loopback_packet *node =
        pooled ? os_pool_get(&self->pool) : malloc(sizeof(*node) + data->len);
    if (!node)
        return NULL;
    node->kind = pooled ? NODE_POOLED : NODE_HEAP;
    node->data = (struct chan_data){.base = node + 1, .len = data->len};
    if (data->len && data->base)
        memcpy(node + 1, data->base, data->len);
    else if (data->len)
        data->read(data, 0, node + 1, data->len);
    self->bytes += data->len;
    return node;
}

static int loopback_send(struct chan_link *link, const struct chan_head *head,
                         const struct chan_data *data)
{
    struct loopback *self = ((struct loopback_link *)link)->loopback;
    if (self->packets >= QUEUE_PACKETS_MAX)
        return CHAN_AGAIN;
    struct loopback_packet *node;
    if (must_copy(self, data)) {
        node = node_copy(self, data);
        if (!node)
            return CHAN_AGAIN;
    } else {
        node = (struct loopback_packet *)((char *)data->cookie + self->node_offset);
        node->kind = NODE_BORROWED;
        node->data = *data;
    }
    node->head = *head;
    node->next = NULL;
    *self->last = node;
    self->last = &node->next;
    self->packets++;
    return node->kind == NODE_BORROWED ? CHAN_PENDING : 0;
}

static int loopback_link(struct chan *chan, struct chan_peer *peer, const char *theirs,
                         struct chan_link **link)
{
    struct loopback *self = loopback_of(chan);
    char mine[CHAN_CARD_MAX];
    int rc = loopback_card(chan, mine);
    if (rc)
        return rc;
    if (loopback_match(mine, theirs).fit != CHAN_YES)
        return -EHOSTUNREACH;
    if (!self->link) {
        self->link = calloc(1, sizeof(*self->link));
        if (!self->link)
            return -ENOMEM;
        self->link->base = (struct chan_link){.send = loopback_send,
                                              .ops = &chan_loopback,
                                              .peer = peer,
                                              .eager_max = EAGER_MAX,
                                              .max_data = DATA_MAX};
        self->link->loopback = self;
        self->opened = false;
        self->base.links = 1;
    }
    *link = &self->link->base;
    return 0;
}

static void loopback_unlink(struct chan_link *link)
{
    struct loopback *self = ((struct loopback_link *)link)->loopback;
    queue_drop(self);
    self->link = NULL;
    self->base.links = 0;
    free(link);
}

/* Hand one packet to the device. Returns the number of upcalls. */
static int deliver(struct loopback *self, struct loopback_packet *node)
{
    const struct chan_sink *sink = self->env->sink;
    struct chan_peer *peer = self->link->base.peer;
    if (node->kind != NODE_BORROWED) {
        sink->arrived(peer, &node->head, node->data.base, node->data.len);
        node_free(self, node);
        return 1;
    }
    /* Once the payload has been handed over, the node's memory is the sender's. */
    struct chan_data data = node->data;
    if (data.base) {
        sink->arrived(peer, &node->head, data.base, data.len);
    } else {
        void *token = NULL;
        void *to = sink->place(peer, &node->head, data.len, &token);
        if (to) {
            data.read(&data, 0, to, data.len);
            sink->landed(peer, token);
        }
    }
    if (self->link)
        sink->sent(peer, data.cookie);
    return 2;
}

static int loopback_progress(struct chan *chan)
{
    struct loopback *self = loopback_of(chan);
    int upcalls = 0;
    if (self->link && !self->opened) {
        self->opened = true;
        self->env->sink->opened(&self->link->base);
        upcalls++;
    }
    /* What the upcalls send waits for the next call, so this one ends. */
    for (size_t left = self->packets; left && self->first; left--)
        upcalls += deliver(self, queue_pop(self));
    return upcalls;
}

static int loopback_arm(struct chan *chan, enum chan_sleep how)
{
    struct loopback *self = loopback_of(chan);
    return self->first || (self->link && !self->opened) ? CHAN_AGAIN : 0;
}

static void loopback_disarm(struct chan *chan)
{
    /* Nothing comes from outside, so nothing is armed. */
    (void)chan;
}

/* ---- one-sided: the peer's memory is ours ---- */

static int loopback_reg(struct chan *chan, void *base, size_t len, struct chan_region **region)
{
    static struct chan_region all = {&loopback_onesided};
    (void)chan, (void)base, (void)len;
    *region = &all;
    return 0;
}

static void loopback_dereg(struct chan_region *region)
{
    (void)region;
}

static void loopback_key(const struct chan_region *region, void *key)
{
    (void)region, (void)key;
}

static int loopback_get(struct chan_link *link, void *to, const struct chan_remote *from,
                        size_t len, void *cookie)
{
    (void)link, (void)cookie;
    memmove(to, (const void *)(uintptr_t)from->address, len);
    return 0;
}

static int loopback_put(struct chan_link *link, const void *from, const struct chan_remote *to,
                        size_t len, void *cookie)
{
    (void)link, (void)cookie;
    memmove((void *)(uintptr_t)to->address, from, len);
    return 0;
}

static int loopback_atomic(struct chan_link *link, enum chan_atomic what, const uint64_t operand[2],
                           const struct chan_remote *at, uint64_t *before, void *cookie)
{
    uint64_t *word = (uint64_t *)(uintptr_t)at->address;
    (void)link, (void)cookie;
    *before = *word; /* one thread at a time is here */
    if (what == CHAN_ATOMIC_ADD)
        *word += operand[0];
    else if (what == CHAN_ATOMIC_SWAP || *word == operand[1])
        *word = operand[0];
    return 0;
}

static int loopback_flush(struct chan_link *link)
{
    (void)link;
    return 0;
}

static const struct chan_onesided loopback_onesided = {.size = sizeof(struct chan_onesided),
                                                       .at_once = true,
                                                       .reg = loopback_reg,
                                                       .dereg = loopback_dereg,
                                                       .key = loopback_key,
                                                       .get = loopback_get,
                                                       .put = loopback_put,
                                                       .atomic = loopback_atomic,
                                                       .flush = loopback_flush};

const struct chan_ops chan_loopback = {
    .version = CHAN_VERSION,
    .size = sizeof(struct chan_ops),
    .name = "loopback",
    .open = loopback_open,
    .close = loopback_close,
    .card = loopback_card,
    .match = loopback_match,
    .link = loopback_link,
    .unlink = loopback_unlink,
    .progress = loopback_progress,
    .arm = loopback_arm,
    .disarm = loopback_disarm,
    .onesided = &loopback_onesided,
};
