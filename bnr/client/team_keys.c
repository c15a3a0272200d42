/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The keys of groups. Those of the world are its back end's. Of a joint group each member has a copy of all: a fence
 * hands out the new ones. On the wire a key is u32 length of the key, u32 length of the value, and both.
 */
#include <stdlib.h>
#include <string.h>

#include "bnr/client/team.h"
#include "os/be.h"

enum { HEAD = 8, SPACE = 1 << 20 };

static struct team_key *find(const struct bnr_group *g, int owner, const char *key)
{
    struct team_key *k = g->keys;
    while (k && (k->owner != owner || strcmp(k->key, key) != 0))
        k = k->next;
    return k;
}

static int set(struct bnr_group *g, int owner, const char *key, const void *value, size_t len)
{
    struct team_key *k = find(g, owner, key);
    uint8_t *copy = malloc(len + 1);
    if (!copy)
        return BNR_ERR_NOMEM;
    if (!k && (k = calloc(1, sizeof(*k) + strlen(key) + 1)) != NULL) {
        k->owner = owner;
        strcpy(k->key, key);
        k->next = g->keys;
        g->keys = k;
    }
    if (!k) {
        free(copy);
        return BNR_ERR_NOMEM;
    }
    if (len)
        memcpy(copy, value, len);
    free(k->value);
    k->value = copy;
    k->len = len;
    return BNR_SUCCESS;
}

int team_keys_put(struct bnr_group *g, const char *key, const void *value, size_t len, bool replace)
{
    struct team_key *k = find(g, g->rank, key);
    if (k && !replace)
        return BNR_ERR_EXISTS;
    size_t bytes = g->key_bytes - (k ? k->len : 0) + len + (k ? 0 : strlen(key) + HEAD);
    if (bytes > SPACE)
        return BNR_ERR_NOMEM;
    int rc = set(g, g->rank, key, value, len);
    if (rc)
        return rc;
    g->key_bytes = bytes;
    find(g, g->rank, key)->news = TEAM_KEY_NEW;
    return BNR_SUCCESS;
}

/* Of a joint group. */
static int get(const struct bnr_group *g, int owner, const char *key, const void **value, size_t *len)
{
    const struct team_key *k = find(g, owner, key);
    if (!k)
        return BNR_ERR_NOT_FOUND;
    *value = k->value;
    *len = k->len;
    return BNR_SUCCESS;
}

int team_keys_look(struct bnr_group *g, int owner, const char *key, const void **value, size_t *len, unsigned flags)
{
    if (g->kind != TEAM_WORLD)
        return g->kind == TEAM_JOINT ? get(g, owner, key, value, len) : BNR_ERR_STATE;
    int rc = g->backend->ops->get(g->backend, owner, key, value, len, flags);
    return !rc && *len > BNR_MAX_VALUE ? BNR_ERR_PROTO : rc;
}

int team_keys_give(const void *value, size_t found, void *buf, size_t *len)
{
    size_t room = *len;
    *len = found;
    if (found > room)
        return BNR_ERR_TRUNC;
    if (found)
        memcpy(buf, value, found);
    return BNR_SUCCESS;
}

int team_keys_pack(struct bnr_group *g, uint8_t **bytes, size_t *len)
{
    *len = 0;
    for (const struct team_key *k = g->keys; k; k = k->next)
        if (k->news)
            *len += HEAD + strlen(k->key) + k->len;
    uint8_t *at = *bytes = malloc(*len + 1);
    if (!at)
        return BNR_ERR_NOMEM;
    for (struct team_key *k = g->keys; k; k = k->next) {
        size_t key_len = strlen(k->key);
        if (!k->news)
            continue;
        k->news = TEAM_KEY_SENT;
        os_be32_put(at, (uint32_t)key_len);
        os_be32_put(at + 4, (uint32_t)k->len);
        memcpy(at + HEAD, k->key, key_len);
        memcpy(at + HEAD + key_len, k->value, k->len);
        at += HEAD + key_len + k->len;
    }
    return BNR_SUCCESS;
}

/* Take the keys of one member. */
static int take(struct bnr_group *g, int owner, const uint8_t *at, size_t len)
{
    char key[BNR_MAX_KEY + 1];
    while (len) {
        uint32_t key_len = len < HEAD ? 0 : os_be32_get(at), value_len = len < HEAD ? 0 : os_be32_get(at + 4);
        if (!key_len || key_len > BNR_MAX_KEY || value_len > BNR_MAX_VALUE || len < HEAD + key_len + value_len ||
            memchr(at + HEAD, 0, key_len))
            return BNR_ERR_PROTO;
        memcpy(key, at + HEAD, key_len);
        key[key_len] = 0;
        int rc = owner == g->rank ? BNR_SUCCESS : set(g, owner, key, at + HEAD + key_len, value_len);
        if (rc)
            return rc;
        at += HEAD + key_len + value_len;
        len -= HEAD + key_len + value_len;
    }
    return BNR_SUCCESS;
}

int team_keys_take(struct bnr_group *g, const struct rally_bytes *all, size_t at)
{
    int owner, rc = BNR_SUCCESS;
    const uint8_t *bytes;
    size_t len;
    while (!rc && rally_next(all, &at, &owner, &bytes, &len))
        rc = owner < g->size ? take(g, owner, bytes, len) : BNR_ERR_PROTO;
    for (struct team_key *k = g->keys; k && !rc; k = k->next)
        k->news = k->news == TEAM_KEY_SENT ? TEAM_KEY_OLD : k->news;
    return rc;
}

void team_keys_drop(struct bnr_group *g)
{
    while (g->keys) {
        struct team_key *k = g->keys;
        g->keys = k->next;
        free(k->value);
        free(k);
    }
}
