/* SPDX-License-Identifier: BSD-3-Clause */

/* Matching of messages with receives; see match.h. */
#include "mpid/ground/match.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static enum match_class class_of(const struct mpid_envelope *env)
{
    return (enum match_class)((env->rank == MPID_ANY) | (env->tag == MPID_ANY) << 1);
}

static struct mpid_envelope key_of(const struct mpid_envelope *env, enum match_class class)
{
    return (struct mpid_envelope){env->context, class & 1 ? MPID_ANY : env->rank,
                                  class & 2 ? MPID_ANY : env->tag};
}

/* The numbers of one communicator differ in the lowest bits. */
static inline uint32_t lane_of(const struct mpid_envelope *env)
{
    return env->context / MPID_CONTEXT_STEP & (MATCH_LANES - 1);
}

/* ---- tables ---- */

/* Tags that differ in these bits only share a run of buckets, in some order. */
enum { RUN_BITS = 6, RUN_MASK = (1 << RUN_BITS) - 1, FIRST_BITS = RUN_BITS };

static inline size_t count_of(const struct match_table *table)
{
    return (size_t)1 << (64 - table->shift);
}

static inline struct mpid_place **bucket_of(const struct match_table *table,
                                            const struct mpid_envelope *key)
{
    uint32_t tag = (uint32_t)key->tag;
    uint64_t a = ((uint64_t)key->context << 32 | (uint32_t)key->rank) * 0x9e3779b97f4a7c15u;
    a ^= (uint64_t)(tag >> RUN_BITS) * 0xc2b2ae3d27d4eb4fu;
    a = (a ^ a >> 29) * 0xbf58476d1ce4e5b9u;
    return &table->buckets[a >> table->shift ^ (tag & RUN_MASK)];
}

static inline bool same(const struct mpid_envelope *a, const struct mpid_envelope *b)
{
    return a->tag == b->tag && a->rank == b->rank && a->context == b->context;
}

static inline struct mpid_place *find_in(struct mpid_place **bucket,
                                         const struct mpid_envelope *key)
{
    struct mpid_place *place = *bucket;
    while (place && !same(&place->env, key))
        place = place->chain;
    return place;
}

static inline struct mpid_place *find(const struct match_table *table,
                                      const struct mpid_envelope *key)
{
    return find_in(bucket_of(table, key), key);
}

static int table_init(struct match_table *table)
{
    *table = (struct match_table){.shift = 64 - FIRST_BITS};
    table->buckets = calloc(count_of(table), sizeof(struct mpid_place *));
    return table->buckets ? 0 : -ENOMEM;
}

static void table_fini(struct match_table *table)
{
    free(table->buckets);
    table->buckets = NULL;
}

static inline void lead(struct mpid_place *place, struct mpid_place **bucket)
{
    place->at = bucket;
    place->chain = *bucket;
    if (*bucket)
        (*bucket)->at = &place->chain;
    *bucket = place;
}

/* Spread the keys over twice as many buckets. Without memory the table goes on as it is, slower. */
static __attribute__((noinline)) void grow(struct match_table *table)
{
    size_t count = count_of(table);
    struct match_table larger = {.shift = table->shift - 1, .keys = table->keys};
    larger.buckets = calloc(count * 2, sizeof(struct mpid_place *));
    if (!larger.buckets)
        return;
    for (size_t i = 0; i < count; i++) {
        for (struct mpid_place *place = table->buckets[i], *next; place; place = next) {
            next = place->chain;
            lead(place, bucket_of(&larger, &place->env));
        }
    }
    free(table->buckets);
    *table = larger;
}

/* Give a place with a key to the last of that key. */
static inline void insert(struct match_table *table, struct mpid_place *place)
{
    struct mpid_place **bucket = bucket_of(table, &place->env);
    struct mpid_place *oldest = find_in(bucket, &place->env);
    if (oldest) {
        place->next = oldest;
        place->prev = oldest->prev;
        place->prev->next = oldest->prev = place;
        place->at = NULL;
        return;
    }
    place->next = place->prev = place;
    lead(place, bucket);
    if (++table->keys > count_of(table) / 2)
        grow(table);
}

/* If it was the oldest, the next one of its key follows it. */
static inline void take_out(struct match_table *table, struct mpid_place *place)
{
    struct mpid_place *next = place->next, *leader = place->chain;
    place->next = NULL;
    if (next != place) {
        next->prev = place->prev;
        place->prev->next = next;
        if (!place->at)
            return;
        next->at = place->at;
        next->chain = leader;
        leader = next;
        if (next->chain)
            next->chain->at = &next->chain;
    } else {
        table->keys--;
        if (leader)
            leader->at = place->at;
    }
    *place->at = leader;
}

/* ---- posted receives ---- */

static inline struct mpid_request *request_at(struct mpid_place *place)
{
    return place ? (struct mpid_request *)((char *)place - offsetof(struct mpid_request, place))
                 : NULL;
}

static inline void post(struct match *match, struct mpid_request *request)
{
    request->order = ++match->order;
    insert(&match->posted, &request->place);
    match->posted_count[lane_of(&request->place.env)][class_of(&request->place.env)]++;
    match->posted_total++;
    if (match->posted_total > match->posted_most)
        match->posted_most = match->posted_total;
}

static inline void unpost(struct match *match, struct mpid_request *request)
{
    take_out(&match->posted, &request->place);
    match->posted_count[lane_of(&request->place.env)][class_of(&request->place.env)]--;
    match->posted_total--;
}

static inline void stand_alone(struct match *match, struct mpid_request *request)
{
    match->alone = request;
    match->posted_total = 1;
    if (!match->posted_most)
        match->posted_most = 1;
    request->place.next = &request->place;
}

static inline void forget_alone(struct match *match)
{
    match->alone->place.next = NULL;
    match->alone = NULL;
    match->posted_total = 0;
}

bool match_unpost(struct match *match, struct mpid_request *request)
{
    if (!request->place.next)
        return false;
    if (request == match->alone)
        forget_alone(match);
    else
        unpost(match, request);
    return true;
}

void match_each_posted(const struct match *match,
                       void (*each)(const struct mpid_request *request, void *arg), void *arg)
{
    if (match->alone)
        each(match->alone, arg);
    for (size_t i = 0; i < count_of(&match->posted); i++) {
        for (struct mpid_place *first = match->posted.buckets[i]; first; first = first->chain) {
            struct mpid_place *place = first;
            do
                each(request_at(place), arg);
            while ((place = place->next) != first);
        }
    }
}

struct pick {
    bool (*fits)(const struct mpid_request *request, void *arg);
    void *arg;
    struct mpid_request *picked;
};

static void pick_one(const struct mpid_request *posted, void *arg)
{
    struct pick *pick = arg;
    struct mpid_request *request = (struct mpid_request *)(uintptr_t)posted;
    if (!pick->fits(request, pick->arg))
        return;
    request->next = pick->picked;
    pick->picked = request;
}

struct mpid_request *match_unpost_all(struct match *match,
                                      bool (*fits)(const struct mpid_request *request, void *arg),
                                      void *arg)
{
    struct pick pick = {fits, arg, NULL};
    match_each_posted(match, pick_one, &pick);
    for (struct mpid_request *request = pick.picked; request; request = request->next)
        (void)match_unpost(match, request);
    return pick.picked;
}

/* ---- unexpected messages ---- */

static inline struct mpid_place *place_of(struct unexpected *u, enum match_class class)
{
    return class == MATCH_EXACT ? &u->exact : &u->wild[class - 1];
}

static inline struct unexpected *unexpected_at(struct mpid_place *place, enum match_class class)
{
    size_t offset = class == MATCH_EXACT
                        ? offsetof(struct unexpected, exact)
                        : offsetof(struct unexpected, wild) + (class - 1) * sizeof(*place);
    return place ? (struct unexpected *)((char *)place - offset) : NULL;
}

static inline void index_one(struct match *match, struct unexpected *u, enum match_class class)
{
    struct mpid_place *place = place_of(u, class);
    place->env = key_of(&u->exact.env, class);
    insert(&match->arrived, place);
}

/* For each class with a bit in indexed, but the exact one. */
static __attribute__((noinline)) void index_wild(struct match *match, struct unexpected *u,
                                                 uint8_t indexed)
{
    for (int class = MATCH_EXACT + 1; class < MATCH_CLASSES; class++)
        if (indexed & 1u << class)
            index_one(match, u, (enum match_class)class);
}

static __attribute__((noinline)) void take_wild(struct match *match, struct unexpected *u,
                                                uint8_t indexed)
{
    for (int class = MATCH_EXACT + 1; class < MATCH_CLASSES; class++)
        if (indexed & 1u << class)
            take_out(&match->arrived, place_of(u, (enum match_class)class));
}

void match_take(struct match *match, struct unexpected *u)
{
    uint8_t indexed = match->indexed[lane_of(&u->exact.env)];
    take_out(&match->arrived, &u->exact);
    if (indexed != 1u << MATCH_EXACT)
        take_wild(match, u, indexed);
    *(u->prev ? &u->prev->next : &match->first) = u->next;
    *(u->next ? &u->next->prev : &match->last) = u->prev;
    match->arrived_total--;
    u->taken = true;
}

void match_forget(struct match *match, struct unexpected *u)
{
    os_pool_put(&match->pool, u);
}

/* Index the messages of a lane for a class that is asked for there for the first time. */
static __attribute__((noinline)) void index_class(struct match *match, uint32_t lane,
                                                  enum match_class class)
{
    for (struct unexpected *u = match->first; u; u = u->next)
        if (lane_of(&u->exact.env) == lane)
            index_one(match, u, class);
    match->indexed[lane] |= (uint8_t)(1u << class);
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
    uint32_t lane = lane_of(want);
    if (__builtin_expect(!(match->indexed[lane] & 1u << class), 0))
        index_class(match, lane, class);
    return unexpected_at(find(&match->arrived, want), class);
}

static __attribute__((noinline)) struct unexpected *add(struct match *match,
                                                        const struct mpid_envelope *env)
{
    struct unexpected *u = os_pool_get(&match->pool);
    if (!u)
        return NULL;
    u->exact.env = *env;
    u->peer_id = 0;
    u->vc = NULL;
    u->data = NULL;
    u->total = u->peer_addr = 0;
    u->has_key = false;
    u->claimed = NULL;
    u->arriving = u->taken = u->lost = false;
    index_one(match, u, MATCH_EXACT);
    uint8_t indexed = match->indexed[lane_of(env)];
    if (indexed != 1u << MATCH_EXACT)
        index_wild(match, u, indexed);
    u->next = NULL;
    u->prev = match->last;
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
    struct unexpected *u = match_peek(match, &request->place.env);
    if (u) {
        match_take(match, u);
        return u;
    }
    if (!match->posted_total) {
        stand_alone(match, request);
        return NULL;
    }
    struct mpid_request *alone = match->alone;
    if (alone) { /* not any more */
        forget_alone(match);
        post(match, alone);
    }
    post(match, request);
    return NULL;
}

/* The oldest receive in the table that accepts the message. */
static __attribute__((noinline)) struct mpid_request *oldest(struct match *match,
                                                             const struct mpid_envelope *env)
{
    struct mpid_request *best = NULL;
    const uint32_t *count = match->posted_count[lane_of(env)];
    for (int i = 0; i < MATCH_CLASSES; i++) {
        if (!count[i])
            continue;
        struct mpid_envelope key = key_of(env, (enum match_class)i);
        struct mpid_request *head = request_at(find(&match->posted, &key));
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
    if (__builtin_expect(request && accepts(&request->place.env, env), 1)) {
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
    *match = (struct match){0};
    memset(match->indexed, 1 << MATCH_EXACT, sizeof(match->indexed));
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
