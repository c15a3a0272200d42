/* SPDX-License-Identifier: BSD-3-Clause */

/* The key-value space of a node; see keys.h. */
#include "bnr/core/tree/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "bnr/core/hash.h"
#include "bnr/core/tree/tree.h"

/* The name of an entry: group, owner, key, as bytes. */
struct id {
    uint64_t group;
    uint32_t owner;
    char key[KEYS_KEY_MAX];
} __attribute__((packed));

enum {
    ID_HEAD_LEN = 12
};

struct keys_entry {
    UT_hash_handle hh;
    struct keys_entry *prev, *next; /* those that were fetched, oldest first */
    struct bytes *value;
    bool is_fetched;
    uint32_t id_len;
    uint8_t id[];
};

/* Which get: id is the request of this node, or that of the node that asks. */
struct keys_wait_key {
    uint64_t id;
    uint32_t from, unused;
};

/* A get: of a process here (from is this node), or of another node. */
struct keys_wait {
    UT_hash_handle hh; /* in the order of coming */
    struct keys_wait_key key;
    uint32_t home;   /* the node that answers */
    uint64_t cookie; /* of a process here */
    uint64_t covers; /* the last get that its answer is for; 0: it has not been sent */
    int64_t sent_ns, retry_ns;
    unsigned flags;
    uint32_t id_len;
    uint8_t id[];
};

/* A key that has been asked of its node for later, or whose owner has ended without. */
struct keys_interest {
    UT_hash_handle hh;
    bool is_absent; /* its node has answered: it was not there */
    uint32_t id_len;
    uint8_t id[];
};

static uint32_t make_id(struct id *id, const struct keys_name *name)
{
    id->group = name->group;
    id->owner = name->owner;
    memcpy(id->key, name->key, name->len);
    return (uint32_t)(ID_HEAD_LEN + name->len);
}

static struct keys_entry *find(struct keys *k, const void *id, uint32_t len)
{
    struct keys_entry *entry;
    HASH_FIND(hh, k->entries, id, len, entry);
    return entry;
}

static void drop(struct keys *k, struct keys_entry *entry)
{
    HASH_DEL(k->entries, entry);
    if (entry->is_fetched) {
        k->cached_bytes -= entry->value->len;
        DL_DELETE(k->oldest, entry);
    } else {
        k->own_bytes -= entry->value->len;
    }
    bytes_unref(entry->value);
    free(entry);
}

/* Keep a value, in place of an older one. */
static int keep(struct keys *k, const void *id, uint32_t len, struct bytes *value, bool is_fetched)
{
    struct keys_entry *entry = find(k, id, len);
    if (entry && !entry->is_fetched && is_fetched)
        return 0; /* it lives here */
    if (entry)
        drop(k, entry);
    if (!(entry = malloc(sizeof(*entry) + len)))
        return -ENOMEM;
    entry->value = bytes_ref(value);
    entry->is_fetched = is_fetched;
    entry->id_len = len;
    memcpy(entry->id, id, len);
    HASH_ADD_KEYPTR(hh, k->entries, entry->id, len, entry);
    if (!is_fetched) {
        k->own_bytes += value->len;
        return 0;
    }
    DL_APPEND(k->oldest, entry);
    k->cached_bytes += value->len;
    while (k->cached_bytes > KEYS_CACHE_MAX && k->oldest != entry)
        drop(k, k->oldest);
    return 0;
}

/* ---- waiting gets ---- */

/* The answer is what the owner's node has when the question comes there, so it is for the gets that
 * had come when the question was first sent: for a later one the value may be too old. */
static void ask(const struct keys *k, struct keys_wait *wait, struct effects *effects)
{
    struct id id;
    if (!wait->covers)
        wait->covers = k->next_request - 1;
    memcpy(&id, wait->id, wait->id_len);
    struct core_message get = {.kind = MESSAGE_GET,
                               .origin = k->tree->self,
                               .to = wait->home,
                               .tag = id.owner,
                               .group = id.group,
                               .number = wait->key.id,
                               .flags = (uint8_t)wait->flags,
                               .data = bytes_create(id.key, wait->id_len - ID_HEAD_LEN)};
    effects_add(effects, EFFECT_SEND, wait->home, &get);
    bytes_unref(get.data);
}

static void forget(struct keys *k, struct keys_wait *wait)
{
    HASH_DEL(k->waits, wait);
    free(wait);
}

static struct keys_interest *find_interest(const struct keys *k, const void *id, uint32_t len)
{
    struct keys_interest *interest;
    HASH_FIND(hh, k->interests, id, len, interest);
    return interest;
}

static uint32_t owner_of(const struct keys_wait *wait)
{
    struct id id;
    memcpy(&id, wait->id, ID_HEAD_LEN);
    return id.owner;
}

/* Answer a wait that may go on. */
static void say(struct keys *k, const struct keys_wait *wait, enum message_status status,
                struct bytes *value, struct effects *effects)
{
    bool is_here = wait->key.from == k->tree->self;
    struct core_message message = {.kind = MESSAGE_VALUE,
                                   .origin = k->tree->self,
                                   .to = wait->key.from,
                                   .tag = is_here ? owner_of(wait) : 0,
                                   .number = is_here ? wait->cookie : wait->key.id,
                                   .status = (uint8_t)status,
                                   .data = value};
    if (is_here && wait->cookie == KEYS_NO_GETTER && status != STATUS_GOOD) {
        struct keys_interest *interest = find_interest(k, wait->id, wait->id_len);
        if (interest)
            interest->is_absent = true;
    }
    effects_add(effects, is_here ? EFFECT_VALUE : EFFECT_SEND, wait->key.from, &message);
}

static void answer(struct keys *k, struct keys_wait *wait, enum message_status status,
                   struct bytes *value, struct effects *effects)
{
    say(k, wait, status, value, effects);
    forget(k, wait);
}

static bool is_for(const struct keys_wait *wait, const void *id, uint32_t len)
{
    return wait->id_len == len && memcmp(wait->id, id, len) == 0;
}

/* Answer all gets of a key, but those that came after the last. */
static void answer_all(struct keys *k, const struct id *id, uint32_t len, uint64_t last,
                       enum message_status status, struct bytes *value, struct effects *effects)
{
    struct keys_wait *wait, *next;
    HASH_ITER(hh, k->waits, wait, next)
    {
        if (is_for(wait, id, len) && (wait->key.from != k->tree->self || wait->key.id <= last))
            answer(k, wait, status, value, effects);
    }
}

/* Ask for a key that gets here wait for, unless that has been asked and not been answered. */
static void ask_once(const struct keys *k, const struct id *id, uint32_t len,
                     struct effects *effects)
{
    struct keys_wait *first = NULL;
    for (struct keys_wait *wait = k->waits; wait; wait = wait->hh.next) {
        if (wait->flags || !is_for(wait, id, len))
            continue;
        if (wait->covers)
            return;
        if (!first)
            first = wait;
    }
    if (first)
        ask(k, first, effects);
}

static struct keys_wait *find_wait(const struct keys *k, uint32_t from, uint64_t id)
{
    struct keys_wait_key key = {id, from, 0};
    struct keys_wait *wait;
    HASH_FIND(hh, k->waits, &key, sizeof(key), wait);
    return wait;
}

static struct keys_wait *add_wait(struct keys *k, const struct id *id, uint32_t len,
                                  struct keys_wait_key key)
{
    if (HASH_COUNT(k->waits) >= KEYS_WAIT_MAX)
        return NULL;
    struct keys_wait *wait = calloc(1, sizeof(*wait) + len);
    if (!wait)
        return NULL;
    wait->key = key;
    wait->id_len = len;
    memcpy(wait->id, id, len);
    HASH_ADD(hh, k->waits, key, sizeof(key), wait);
    return wait;
}

/* ---- calls ---- */

void keys_init(struct keys *k, const struct tree *tree)
{
    *k = (struct keys){.tree = tree, .next_request = 1};
}

void keys_fini(struct keys *k)
{
    struct keys_entry *entry, *next;
    struct keys_wait *wait, *after;
    struct keys_interest *interest, *other;
    HASH_ITER(hh, k->entries, entry, next)
    {
        drop(k, entry);
    }
    HASH_ITER(hh, k->interests, interest, other)
    {
        HASH_DEL(k->interests, interest);
        free(interest);
    }
    HASH_ITER(hh, k->waits, wait, after)
    {
        forget(k, wait);
    }
    *k = (struct keys){0};
}

static bool is_allowed(const struct keys_name *name)
{
    return name->len > 0 && name->len <= KEYS_KEY_MAX;
}

int keys_put(struct keys *k, const struct keys_name *name, struct bytes *value, unsigned flags,
             struct effects *effects)
{
    struct id id;
    if (!is_allowed(name) || value->len > KEYS_VALUE_MAX)
        return -EMSGSIZE;
    uint32_t len = make_id(&id, name);
    struct keys_entry *entry = find(k, &id, len);
    if (entry && !entry->is_fetched && !(flags & KEYS_REPLACE))
        return KEYS_EXISTS;
    int rc = keep(k, &id, len, value, false);
    if (!rc)
        answer_all(k, &id, len, UINT64_MAX, STATUS_GOOD, value, effects);
    return rc;
}

/* Tell a process here that a key is not here: as its node says, or as far as is known. */
static void tell_absent(const struct keys *k, const struct keys_interest *interest, uint64_t cookie,
                        struct effects *effects)
{
    struct core_message message = {.kind = MESSAGE_VALUE,
                                   .origin = k->tree->self,
                                   .to = k->tree->self,
                                   .number = cookie,
                                   .status = interest->is_absent ? STATUS_ABSENT : STATUS_ASKED};
    effects_add(effects, EFFECT_VALUE, k->tree->self, &message);
}

/* Note that a key is wanted for later. Returns NULL without memory. */
static struct keys_interest *note_interest(struct keys *k, const struct id *id, uint32_t len)
{
    bool is_full = HASH_COUNT(k->interests) >= KEYS_WAIT_MAX;
    struct keys_interest *interest = is_full ? NULL : calloc(1, sizeof(*interest) + len);
    if (!interest)
        return NULL;
    interest->id_len = len;
    memcpy(interest->id, id, len);
    HASH_ADD_KEYPTR(hh, k->interests, interest->id, len, interest);
    return interest;
}

static void forget_interest(struct keys *k, const struct id *id, uint32_t len)
{
    struct keys_interest *interest = find_interest(k, id, len);
    if (!interest)
        return;
    HASH_DEL(k->interests, interest);
    free(interest);
}

/* Whether an entry answers a get: it lives here, or may be old, or there is nobody to ask. */
static bool will_do(const struct keys *k, const struct keys_entry *entry, uint32_t home,
                    unsigned flags)
{
    return entry && (!entry->is_fetched || (flags & KEYS_LATER) || tree_is_lost(k->tree, home));
}

static void ask_home(const struct keys *k, struct keys_wait *wait, const struct id *id,
                     struct effects *effects)
{
    wait->sent_ns = INT64_MIN; /* until the first tick that sees it */
    wait->retry_ns = KEYS_RETRY_NS;
    if (wait->flags)
        ask(k, wait, effects);
    else
        ask_once(k, id, wait->id_len, effects);
}

int keys_get(struct keys *k, const struct keys_name *name, struct keys_home home, uint64_t cookie,
             unsigned flags, struct effects *effects)
{
    struct id id;
    bool is_here = home.node == k->tree->self;
    if (!is_allowed(name))
        return -EMSGSIZE;
    uint32_t len = make_id(&id, name);
    struct keys_entry *entry = find(k, &id, len);
    bool is_known = will_do(k, entry, home.node, flags);
    if (!entry && !is_here && (flags & KEYS_LATER)) {
        struct keys_interest *before = find_interest(k, &id, len);
        struct keys_interest *interest = before ? before : note_interest(k, &id, len);
        if (interest)
            tell_absent(k, interest, cookie, effects);
        if (before || !interest)
            return interest ? 0 : -ENOMEM;
        cookie = KEYS_NO_GETTER;
    } else if (flags & KEYS_LATER) {
        flags = (flags & ~(unsigned)KEYS_LATER) | KEYS_NOWAIT;
    }
    struct keys_wait_key key = {k->next_request++, k->tree->self, 0};
    struct keys_wait *wait = add_wait(k, &id, len, key);
    if (!wait)
        return -ENOBUFS;
    wait->cookie = cookie;
    wait->home = home.node;
    wait->flags = flags & (KEYS_NOWAIT | KEYS_LATER);
    if (is_known)
        answer(k, wait, STATUS_GOOD, entry->value, effects);
    else if ((is_here && home.has_ended) || tree_is_lost(k->tree, home.node))
        answer(k, wait, STATUS_PROC_FAILED, NULL, effects);
    else if (is_here && (flags & KEYS_NOWAIT))
        answer(k, wait, STATUS_ABSENT, NULL, effects);
    else if (!is_here)
        ask_home(k, wait, &id, effects);
    return 0;
}

bool keys_knows(struct keys *k, const struct keys_name *name)
{
    struct id id;
    return is_allowed(name) && find(k, &id, make_id(&id, name));
}

void keys_cancel(struct keys *k, uint64_t cookie)
{
    struct keys_wait *wait, *next;
    HASH_ITER(hh, k->waits, wait, next)
    {
        if (wait->key.from == k->tree->self && wait->cookie == cookie) {
            forget(k, wait);
            return;
        }
    }
}

/* Another node wants a key that lives here. */
static int hear_get(struct keys *k, const struct core_message *message, bool has_ended,
                    struct effects *effects)
{
    struct id id;
    struct keys_name name = {message->group, message->tag, message->data ? message->data->at : NULL,
                             message->data ? message->data->len : 0};
    struct keys_wait *wait;
    if (!is_allowed(&name) || message->origin >= k->tree->count || message->origin == k->tree->self)
        return -EPROTO;
    uint32_t len = make_id(&id, &name);
    if ((wait = find_wait(k, message->origin, message->number))) {
        if (message->flags & KEYS_LATER)
            say(k, wait, STATUS_ABSENT, NULL, effects);
        return 0; /* it has been sent again, and still waits */
    }
    struct keys_wait_key key = {message->number, message->origin, 0};
    if (!(wait = add_wait(k, &id, len, key)))
        return -ENOBUFS;
    wait->home = k->tree->self;
    struct keys_entry *entry = find(k, &id, len);
    if (entry && !entry->is_fetched)
        answer(k, wait, STATUS_GOOD, entry->value, effects);
    else if (has_ended)
        answer(k, wait, STATUS_PROC_FAILED, NULL, effects);
    else if (message->flags & KEYS_NOWAIT)
        answer(k, wait, STATUS_ABSENT, NULL, effects);
    else if (message->flags & KEYS_LATER)
        say(k, wait, STATUS_ABSENT, NULL, effects);
    return 0;
}

static int hear_value(struct keys *k, const struct core_message *message, struct effects *effects)
{
    struct keys_wait *wait = find_wait(k, k->tree->self, message->number);
    struct bytes *value = message->data;
    if (message->status >= STATUS_ASKED || (message->status == STATUS_GOOD && !value))
        return -EPROTO;
    k->has_heard = true;
    if (!wait)
        return 0; /* answered before, or cancelled */
    if (message->origin != wait->home)
        return -EPROTO;
    if (message->status == STATUS_ABSENT) {
        wait->retry_ns = KEYS_KEPT_NS;
        if (wait->flags & KEYS_LATER)
            say(k, wait, STATUS_ABSENT, NULL, effects);
        else
            answer(k, wait, STATUS_ABSENT, NULL, effects);
        return 0;
    }
    struct id id;
    uint32_t len = wait->id_len;
    memcpy(&id, wait->id, len);
    int rc = message->status == STATUS_GOOD ? keep(k, &id, len, value, true) : 0;
    uint64_t last = message->status == STATUS_GOOD ? wait->covers : UINT64_MAX;
    if (message->status == STATUS_GOOD)
        forget_interest(k, &id, len);
    answer_all(k, &id, len, last, message->status, value, effects);
    ask_once(k, &id, len, effects);
    return rc;
}

int keys_message(struct keys *k, const struct core_message *message, bool has_ended,
                 struct effects *effects)
{
    return message->kind == MESSAGE_GET ? hear_get(k, message, has_ended, effects)
                                        : hear_value(k, message, effects);
}

void keys_pack(struct packing *p, const struct keys_name *name, const struct bytes *value)
{
    pack_u32(p, name->owner);
    pack_u32(p, (uint32_t)name->len);
    pack_u32(p, value->len);
    pack_raw(p, name->key, name->len);
    pack_raw(p, value->at, value->len);
}

int keys_collected(struct keys *k, uint64_t group, const struct bytes *entries)
{
    struct unpacking u = unpack_begin(entries);
    int rc = 0;
    while (!rc && u.left) {
        struct id id;
        struct keys_name name = {.group = group};
        name.owner = unpack_u32(&u);
        name.len = unpack_u32(&u);
        size_t len = unpack_u32(&u);
        name.key = unpack_raw(&u, name.len);
        const uint8_t *value = unpack_raw(&u, len);
        if (u.failed || !is_allowed(&name) || len > KEYS_VALUE_MAX)
            return -EPROTO;
        struct bytes *bytes = bytes_create(value, len);
        uint32_t id_len = make_id(&id, &name);
        rc = bytes ? keep(k, &id, id_len, bytes, true) : -ENOMEM;
        forget_interest(k, &id, id_len);
        bytes_unref(bytes);
    }
    return rc;
}

void keys_owner_ended(struct keys *k, uint64_t group, uint32_t owner, struct effects *effects)
{
    struct keys_wait *wait, *next;
    HASH_ITER(hh, k->waits, wait, next)
    {
        struct id id;
        memcpy(&id, wait->id, ID_HEAD_LEN);
        if (id.group == group && id.owner == owner)
            answer(k, wait, STATUS_PROC_FAILED, NULL, effects);
    }
}

void keys_node_lost(struct keys *k, uint32_t node, struct effects *effects)
{
    struct keys_wait *wait, *next;
    HASH_ITER(hh, k->waits, wait, next)
    {
        if (wait->key.from == node) {
            forget(k, wait);
        } else if (wait->home == node) {
            struct keys_entry *entry = find(k, wait->id, wait->id_len);
            answer(k, wait, entry ? STATUS_GOOD : STATUS_PROC_FAILED, entry ? entry->value : NULL,
                   effects);
        } else if (wait->retry_ns == KEYS_KEPT_NS) { /* its answer may have been lost with that node */
            wait->retry_ns = KEYS_RETRY_NS;
            wait->sent_ns = INT64_MIN;
        }
    }
}

void keys_tick(struct keys *k, int64_t now, struct effects *effects)
{
    if (k->has_heard)
        k->heard_ns = now;
    k->has_heard = false;
    for (struct keys_wait *wait = k->waits; wait; wait = wait->hh.next) {
        if (wait->home == k->tree->self)
            continue;
        if (wait->sent_ns == INT64_MIN)
            wait->sent_ns = now;
        int64_t since = k->heard_ns > wait->sent_ns ? k->heard_ns : wait->sent_ns;
        if (now - since < wait->retry_ns && now - wait->sent_ns < KEYS_RETRY_MAX_NS)
            continue;
        ask(k, wait, effects);
        wait->sent_ns = now;
        if (wait->retry_ns < KEYS_RETRY_MAX_NS)
            wait->retry_ns *= 2;
    }
}
