/* SPDX-License-Identifier: BSD-3-Clause */

/* The beginning of a job as bytes; see launch_message.h. */
#include "bnr/wire/launch_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/wire/field.h"
#include "bnr/wire/wish_message.h"

enum {
    TEXT_MAX = 1 << 20,
    APP_LEN_MIN = 24, /* of a program, packed */
    HOSTS_MAX = 1 << 18,
};

static const uint8_t order_magic[8] = "Vorder1\n";

/* ---- fields ---- */

#define NUMBER(type, member, least, most) {FIELD_U32, offsetof(type, member), 0, least, most}
#define TEXT(type, member, most)          {FIELD_TEXT, offsetof(type, member), 0, 0, most}

static const struct wire_field order_fields[] = {
    NUMBER(struct launch_order, self, 1, HOSTS_MAX),
    NUMBER(struct launch_order, count, 2, HOSTS_MAX),
    NUMBER(struct launch_order, radix, 1, UINT32_MAX),
    {FIELD_U64, offsetof(struct launch_order, liveness_ns), 1, 0, 0},
    {FIELD_U64, offsetof(struct launch_order, limit_ns), 1, 0, 0},
    {FIELD_BYTES, offsetof(struct launch_order, job), 16, 0, 0},
    {FIELD_BYTES, offsetof(struct launch_order, secret), 16, 0, 0},
    {.kind = FIELD_FLAG, .at = offsetof(struct launch_order, is_piped)},
    {.kind = FIELD_FLAG, .at = offsetof(struct launch_order, tells_machine)},
};

static const struct wire_field launch_fields[] = {
    NUMBER(struct launch_message, world_size, 1, LAUNCH_RANKS_MAX),
    NUMBER(struct launch_message, app_count, 1, LAUNCH_RANKS_MAX),
    NUMBER(struct launch_message, host_count, 1, HOSTS_MAX),
    NUMBER(struct launch_message, universe_size, 0, UINT32_MAX),
    NUMBER(struct launch_message, umask, 0, UINT32_MAX),
    NUMBER(struct launch_message, flags, 0, UINT32_MAX),
    NUMBER(struct launch_message, hold_ms, 0, UINT32_MAX),
    TEXT(struct launch_message, outer, TEXT_MAX),
    {FIELD_U64, offsetof(struct launch_message, limits), LAUNCH_LIMITS, 0, 0},
    {FIELD_U64, offsetof(struct launch_message, blocked), 1, 0, 0},
    {FIELD_U64, offsetof(struct launch_message, ignored), 1, 0, 0},
};

static const struct wire_field host_fields[] = {
    NUMBER(struct launch_host, node, 0, UINT32_MAX),
    NUMBER(struct launch_host, cpus, 1, UINT32_MAX),
    TEXT(struct launch_host, id, LAUNCH_ID_MAX),
    TEXT(struct launch_host, name, LAUNCH_ID_MAX),
};

static const struct wire_field app_fields[] = {
    TEXT(struct launch_app, name, TEXT_MAX),
    TEXT(struct launch_app, wdir, TEXT_MAX),
    {FIELD_SOME, offsetof(struct launch_app, path), 0, 0, TEXT_MAX},
    {.kind = FIELD_FLAG, .at = offsetof(struct launch_app, in_session)},
};

/* A number for each rank, as runs: u32 how many, u32 number. */
static void pack_runs(struct packing *p, const uint32_t *of, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t n = 1;
        while (i + n < count && of[i + n] == of[i])
            n++;
        pack_u32(p, n);
        pack_u32(p, of[i]);
        i += n;
    }
}

static uint32_t *unpack_runs(struct unpacking *u, uint32_t count, uint32_t below)
{
    uint32_t *of = malloc(count * sizeof(*of));
    for (uint32_t i = 0; of && i < count && !u->failed;) {
        uint32_t n = unpack_u32(u), value = unpack_u32(u);
        if (u->failed || !n || n > count - i || value >= below) {
            u->failed = true;
            break;
        }
        while (n--)
            of[i++] = value;
    }
    return of;
}

/* ---- the order ---- */

void order_pack(struct packing *p, const struct launch_order *order)
{
    pack_raw(p, order_magic, sizeof(order_magic));
    pack_u32(p, 0); /* the length comes at the end */
    fields_pack(p, FIELDS(order_fields), order);
}

struct bytes *order_end(struct packing *p)
{
    struct bytes *all = pack_end(p);
    struct packing len = {0};
    pack_u32(&len, all ? all->len - ORDER_PREFIX_LEN : 0);
    struct bytes *word = pack_end(&len);
    if (all && word)
        memcpy(all->at + sizeof(order_magic), word->at, word->len);
    bytes_unref(word);
    return all;
}

int order_len(const uint8_t prefix[ORDER_PREFIX_LEN], size_t *len)
{
    struct unpacking u = {.at = prefix + sizeof(order_magic), .left = 4};
    *len = unpack_u32(&u);
    return memcmp(prefix, order_magic, sizeof(order_magic)) || *len > ORDER_LEN_MAX ? -EPROTO : 0;
}

int order_unpack(const uint8_t *body, size_t len, struct launch_order *order)
{
    struct unpacking u = {.at = body, .left = len};
    fields_unpack(&u, FIELDS(order_fields), order);
    if (u.failed || order->self >= order->count || order->liveness_ns < 1000000 ||
        order->liveness_ns > INT64_MAX / 4 || order->limit_ns > INT64_MAX / 4)
        return -EPROTO;
    order->addresses = u;
    return 0;
}

/* ---- the launch ---- */

static void pack_apps(struct packing *p, const struct launch_message *m)
{
    struct texts texts = {0};
    for (uint32_t i = 0; i < m->app_count; i++)
        p->failed |= texts_add(&texts, m->apps[i].argv) || texts_add(&texts, m->apps[i].environment);
    texts_pack(p, &texts);
    for (uint32_t i = 0; i < m->app_count; i++) {
        fields_pack(p, FIELDS(app_fields), &m->apps[i]);
        texts_pack_list(p, &texts, m->apps[i].argv);
        texts_pack_list(p, &texts, m->apps[i].environment);
    }
    texts_fini(&texts);
}

static void unpack_apps(struct unpacking *u, struct launch_message *m)
{
    texts_unpack(u, &m->texts);
    u->failed |= m->app_count > u->left / APP_LEN_MIN;
    m->apps = u->failed ? NULL : calloc(m->app_count, sizeof(*m->apps));
    for (uint32_t i = 0; m->apps && i < m->app_count && !u->failed; i++) {
        fields_unpack(u, FIELDS(app_fields), &m->apps[i]);
        m->apps[i].argv = texts_unpack_list(u, &m->texts, 1);
        m->apps[i].environment = texts_unpack_list(u, &m->texts, 0);
    }
}

void launch_pack(struct packing *p, const struct launch_message *m)
{
    fields_pack(p, FIELDS(launch_fields), m);
    for (uint32_t i = 0; i < m->host_count; i++)
        fields_pack(p, FIELDS(host_fields), &m->hosts[i]);
    pack_runs(p, m->app_of, m->world_size);
    pack_runs(p, m->host_of, m->world_size);
    pack_apps(p, m);
    wish_pack(p, &m->wish);
}

/* Unpack so many structs of a size into new memory; NULL: there is none. */
static void *unpack_all(struct unpacking *u, uint32_t count, size_t size, const struct wire_field *fields,
                        size_t field_count)
{
    uint8_t *all = calloc(count, size);
    for (uint32_t i = 0; all && i < count && !u->failed; i++)
        fields_unpack(u, fields, field_count, all + i * size);
    return all;
}

int launch_unpack(struct unpacking u, struct launch_message *m)
{
    *m = (struct launch_message){0};
    fields_unpack(&u, FIELDS(launch_fields), m);
    if (u.failed || m->host_count > m->world_size) {
        launch_fini(m);
        return -EPROTO;
    }
    m->hosts = unpack_all(&u, m->host_count, sizeof(*m->hosts), FIELDS(host_fields));
    m->app_of = unpack_runs(&u, m->world_size, m->app_count);
    m->host_of = unpack_runs(&u, m->world_size, m->host_count);
    unpack_apps(&u, m);
    wish_unpack(&u, &m->wish);
    m->contacts = u;
    bool is_short = !m->hosts || !m->app_of || !m->host_of || (!m->apps && !u.failed);
    if (!is_short && !u.failed)
        return 0;
    launch_fini(m);
    return is_short ? -ENOMEM : -EPROTO;
}

void launch_fini(struct launch_message *m)
{
    for (uint32_t i = 0; m->hosts && i < m->host_count; i++)
        fields_release(FIELDS(host_fields), &m->hosts[i]);
    for (uint32_t i = 0; m->apps && i < m->app_count; i++) {
        fields_release(FIELDS(app_fields), &m->apps[i]);
        free(m->apps[i].argv);
        free(m->apps[i].environment);
    }
    texts_fini(&m->texts);
    free(m->hosts);
    free(m->apps);
    free(m->app_of);
    free(m->host_of);
    fields_release(FIELDS(launch_fields), m);
    wish_fini(&m->wish);
    *m = (struct launch_message){0};
}

/* ---- records ---- */

struct bytes *record_pack(const struct record *r)
{
    struct packing p = {0};
    pack_u32(&p, r->kind);
    pack_u32(&p, r->rank);
    pack_u32(&p, r->len);
    if (r->len)
        pack_raw(&p, r->at, r->len);
    return pack_end(&p);
}

bool record_next(struct unpacking *u, struct record *r)
{
    if (!u->left || u->failed)
        return false;
    r->kind = unpack_u32(u);
    r->rank = unpack_u32(u);
    r->len = unpack_u32(u);
    r->at = unpack_raw(u, r->len);
    return !u->failed;
}
