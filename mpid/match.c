/* SPDX-License-Identifier: BSD-3-Clause */

/* Matching of messages with receives; see match.h. */
#include "mpid/match.h"

#include <errno.h>
#include <stdlib.h>

static enum match_class class_of(const struct mpid_envelope *env)
{
    return (enum match_class)((env->rank == MPID_ANY) | (env->tag == MPID_ANY) << 1);
}

static struct mpid_envelope key_of(const struct mpid_envelope *env, enum match_class class)
{
    return (struct mpid_envelope){env->context, class & 1 ? MPID_ANY : env->rank,
                                  class & 2 ? MPID_ANY : env->tag};
}

/* ---- tables of queues ---- */

enum { FIRST_BITS = 6 };

static inline uint64_t hash(const struct mpid_envelope *key)
{
    uint64_t a = ((uint64_t)key->context << 32 | (uint32_t)key->rank) * 0x9e3779b97f4a7c15u;
    a ^= (uint64_t)(uint32_t)key->tag * 0xc2b2ae3d27d4eb4fu;
    return (a ^ a >> 29) * 0xbf58476d1ce4e5b9u;
}

static inline bool same(const struct mpid_envelope *a, const struct mpid_envelope *b)
{
    return a->tag == b->tag && a->rank == b->rank && a->context == b->context;
}

static inline struct match_queue *find(const struct match_table *table,
                                       const struct mpid_envelope *key)
{
    struct match_queue *queue = table->buckets[hash(key) >> table->shift];
    while (queue && !same(&queue->key, key))
        queue = queue->chain;
    return queue;
}

static int table_init(struct match_table *table)
{
    *table = (struct match_table){.shift = 64 - FIRST_BITS};
    os_pool_init(&table->pool, sizeof(struct match_queue), 16);
    table->buckets = calloc((size_t)1 << FIRST_BITS, sizeof(struct match_queue *));
    return table->buckets ? 0 : -ENOMEM;
}

static void table_fini(struct match_table *table)
{
    free(table->buckets);
    table->buckets = NULL;
    os_pool_fini(&table->pool);
}

/* Drop empty queues, then spread the rest over twice as many buckets where they
 * are still too many. Without memory the table goes on as it is, slower. */
static __attribute__((noinline)) void sweep(struct match_table *table)
{
    size_t count = (size_t)1 << (64 - table->shift);
    bool grow = table->queues - table->empty > count;
    struct match_queue **to = grow ? calloc(count * 2, sizeof(*to)) : NULL;
    if (grow && !to)
        return;
    uint32_t shift = table->shift - (grow ? 1 : 0);
    for (size_t i = 0; i < count; i++) {
        struct match_queue *queue = table->buckets[i];
        table->buckets[i] = NULL;
        while (queue) {
            struct match_queue *next = queue->chain;
            if (queue->head) {
                struct match_queue **bucket =
                    (grow ? to : table->buckets) + (hash(&queue->key) >> shift);
                queue->chain = *bucket;
                *bucket = queue;
            } else {
                os_pool_put(&table->pool, queue);
                table->queues--;
            }
            queue = next;
        }
    }
    table->empty = 0;
    if (grow) {
        free(table->buckets);
        table->buckets = to;
        table->shift = shift;
    }
}

static __attribute__((noinline)) struct match_queue *make(struct match_table *table,
                                                          const struct mpid_envelope *key)
{
    if (table->queues > (uint32_t)2 << (64 - table->shift))
        sweep(table);
    struct match_queue *queue = os_pool_get(&table->pool);
    if (!queue)
        return NULL;
    struct match_queue **bucket = &table->buckets[hash(key) >> table->shift];
    *queue = (struct match_queue){.chain = *bucket, .key = *key};
    *bucket = queue;
    table->queues++;
    table->empty++;
    return queue;
}

static inline struct match_queue *find_or_make(struct match_table *table,
                                               const struct mpid_envelope *key)
{
    struct match_queue *queue = find(table, key);
    return queue ? queue : make(table, key);
}

/* ---- posted receives ---- */

static inline void post(struct match *match, struct mpid_request *request,
                        struct match_queue *queue)
{
    struct mpid_request *tail = queue->tail;
    request->order = ++match->order;
    request->queue = queue;
    request->next = NULL;
    request->prev = tail;
    if (tail) {
        tail->next = request;
    } else {
        queue->head = request;
        match->posted.empty--;
    }
    queue->tail = request;
    match->posted_count[class_of(&queue->key)]++;
    match->posted_total++;
    if (match->posted_total > match->posted_most)
        match->posted_most = match->posted_total;
}

static inline void unpost(struct match *match, struct mpid_request *request)
{
    struct match_queue *queue = request->queue;
    struct mpid_request *next = request->next, *prev = request->prev;
    if (prev)
        prev->next = next;
    else
        queue->head = next;
    if (next)
        next->prev = prev;
    else
        queue->tail = prev;
    match->posted.empty += !queue->head;
    match->posted_count[class_of(&queue->key)]--;
    match->posted_total--;
    request->queue = NULL;
}

/* Marks a request that stands alone as posted. */
static struct match_queue no_queue;

static inline void forget_alone(struct match *match)
{
    match->alone->queue = NULL;
    match->alone = NULL;
    match->posted_total = 0;
}

bool match_unpost(struct match *match, struct mpid_request *request)
{
    if (!request->queue)
        return false;
    if (request == match->alone)
        forget_alone(match);
    else
        unpost(match, request);
    return true;
}

/* The second receive comes: both go into queues. Returns false when memory is out. */
static __attribute__((noinline)) bool join(struct match *match)
{
    struct mpid_request *first = match->alone;
    struct match_queue *queue = find_or_make(&match->posted, &first->from);
    if (!queue)
        return false;
    forget_alone(match);
    post(match, first, queue);
    return true;
}

/* ---- unexpected messages ---- */

static inline void enqueue(struct match *match, struct unexpected *u, enum match_class class,
                           struct match_queue *queue)
{
    struct unexpected *tail = queue->tail;
    u->link[class] = (struct unexpected_link){NULL, tail, queue};
    if (tail) {
        tail->link[class].next = u;
    } else {
        queue->head = u;
        match->arrived.empty--;
    }
    queue->tail = u;
}

static inline void dequeue(struct match *match, struct unexpected *u, enum match_class class)
{
    struct unexpected_link link = u->link[class];
    if (!link.queue)
        return;
    if (link.prev)
        link.prev->link[class].next = link.next;
    else
        link.queue->head = link.next;
    if (link.next)
        link.next->link[class].prev = link.prev;
    else
        link.queue->tail = link.prev;
    match->arrived.empty += !link.queue->head;
    u->link[class].queue = NULL;
}

void match_take(struct match *match, struct unexpected *u)
{
    for (int class = 0; class < MATCH_CLASSES; class++)
        dequeue(match, u, (enum match_class)class);
    *(u->prev ? &u->prev->next : &match->first) = u->next;
    *(u->next ? &u->next->prev : &match->last) = u->prev;
    match->arrived_total--;
    u->taken = true;
}

void match_forget(struct match *match, struct unexpected *u)
{
    os_pool_put(&match->pool, u);
}

/* Put what has arrived into the queues of a class that is asked for the first
 * time. Returns false when memory is out: then nothing is indexed. */
static __attribute__((noinline)) bool index_class(struct match *match, enum match_class class)
{
    for (struct unexpected *u = match->first; u; u = u->next) {
        struct mpid_envelope key = key_of(&u->env, class);
        struct match_queue *queue = find_or_make(&match->arrived, &key);
        if (!queue) {
            for (struct unexpected *v = match->first; v != u; v = v->next)
                dequeue(match, v, class);
            return false;
        }
        enqueue(match, u, class, queue);
    }
    match->indexed |= 1u << class;
    return true;
}

static inline bool accepts(const struct mpid_envelope *want, const struct mpid_envelope *env)
{
    return env->context == want->context && (want->rank == MPID_ANY || want->rank == env->rank) &&
           (want->tag == MPID_ANY || want->tag == env->tag);
}

struct unexpected *match_peek(struct match *match, const struct mpid_envelope *want)
{
    if (!match->arrived_total)
        return NULL;
    enum match_class class = class_of(want);
    if (!(match->indexed & 1u << class) && !index_class(match, class)) {
        struct unexpected *u = match->first;
        while (u && !accepts(want, &u->env))
            u = u->next;
        return u;
    }
    struct match_queue *queue = find(&match->arrived, want);
    return queue ? queue->head : NULL;
}

static __attribute__((noinline)) struct unexpected *add(struct match *match,
                                                        const struct mpid_envelope *env)
{
    struct unexpected *u = os_pool_get(&match->pool);
    if (!u)
        return NULL;
    *u = (struct unexpected){.env = *env, .prev = match->last};
    for (int i = 0; i < MATCH_CLASSES; i++) {
        enum match_class class = (enum match_class)i;
        if (!(match->indexed & 1u << class))
            continue;
        struct mpid_envelope key = key_of(env, class);
        struct match_queue *queue = find_or_make(&match->arrived, &key);
        if (!queue) {
            while (--i >= 0)
                dequeue(match, u, (enum match_class)i);
            os_pool_put(&match->pool, u);
            return NULL;
        }
        enqueue(match, u, class, queue);
    }
    *(match->last ? &match->last->next : &match->first) = u;
    match->last = u;
    match->arrived_total++;
    match->arrived_ever++;
    if (match->arrived_total > match->arrived_most)
        match->arrived_most = match->arrived_total;
    return u;
}

/* ---- the two sides ---- */

struct unexpected *match_recv_foa(struct match *match, struct mpid_request *request)
{
    struct unexpected *u = match_peek(match, &request->from);
    if (u) {
        match_take(match, u);
        request->queue = NULL;
        return u;
    }
    if (!match->posted_total) {
        match->alone = request;
        match->posted_total = 1;
        if (!match->posted_most)
            match->posted_most = 1;
        request->queue = &no_queue;
        return NULL;
    }
    request->queue = NULL; /* where memory is out: the caller sees that it is not posted */
    if (match->alone && !join(match))
        return NULL;
    struct match_queue *queue = find_or_make(&match->posted, &request->from);
    if (queue)
        post(match, request, queue);
    return NULL;
}

/* The oldest receive in the queues that accepts the message. */
static __attribute__((noinline)) struct mpid_request *oldest(struct match *match,
                                                             const struct mpid_envelope *env)
{
    struct mpid_request *best = NULL;
    uint32_t left = match->posted_total;
    for (int i = 0; left && i < MATCH_CLASSES; i++) {
        uint32_t count = match->posted_count[i];
        if (!count)
            continue;
        left -= count;
        struct mpid_envelope key = key_of(env, (enum match_class)i);
        struct match_queue *queue = find(&match->posted, &key);
        struct mpid_request *head = queue ? queue->head : NULL;
        if (head && (!best || head->order < best->order))
            best = head;
    }
    if (best)
        unpost(match, best);
    return best;
}

struct mpid_request *match_wire_foa(struct match *match, const struct mpid_envelope *env,
                                    struct unexpected **unexpected)
{
    struct mpid_request *request = match->alone;
    if (__builtin_expect(request && accepts(&request->from, env), 1)) {
        forget_alone(match);
        return request;
    }
    if (!request && match->posted_total) {
        request = oldest(match, env);
        if (request)
            return request;
    }
    *unexpected = add(match, env);
    return NULL;
}

/* ---- life ---- */

int match_init(struct match *match)
{
    *match = (struct match){.indexed = 1u << MATCH_EXACT};
    os_pool_init(&match->pool, sizeof(struct unexpected), 16);
    if (table_init(&match->posted) || table_init(&match->arrived)) {
        match_fini(match);
        return -ENOMEM;
    }
    return 0;
}

void match_fini(struct match *match)
{
    for (struct unexpected *u = match->first; u; u = u->next)
        if (u->data != u->inline_data)
            free(u->data);
    match->first = match->last = NULL;
    table_fini(&match->posted);
    table_fini(&match->arrived);
    os_pool_fini(&match->pool);
}
