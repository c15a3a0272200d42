/* SPDX-License-Identifier: BSD-3-Clause */

/* The beginning of a job as bytes; see launch_message.h. */
#include "bnr/wire/launch_message.h"
#include "bnr/wire/wish_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 1 << 20, /* an argument, a variable */
    LIST_MAX = 1 << 20, /* arguments, variables */
    APPS_MAX = 1 << 12,
    HOSTS_MAX = 1 << 18,
};

static const uint8_t order_magic[8] = "Vorder1\n";

/* ---- parts ---- */

void pack_text(struct packing *p, const char *text)
{
    size_t len = strlen(text);
    pack_u32(p, (uint32_t)len);
    pack_raw(p, text, len);
}

char *unpack_text(struct unpacking *u, size_t max)
{
    uint32_t len = unpack_u32(u);
    const uint8_t *at = len <= max ? unpack_raw(u, len) : NULL;
    if (!at || memchr(at, 0, len)) {
        u->failed = true;
        return NULL;
    }
    return strndup((const char *)at, len);
}

static void pack_list(struct packing *p, char *const *list)
{
    uint32_t count = 0;
    while (list[count])
        count++;
    pack_u32(p, count);
    for (uint32_t i = 0; i < count; i++)
        pack_text(p, list[i]);
}

static char **unpack_list(struct unpacking *u)
{
    uint32_t count = unpack_u32(u);
    if (count > LIST_MAX || count > u->left) {
        u->failed = true;
        return NULL;
    }
    char **list = calloc((size_t)count + 1, sizeof(*list));
    for (uint32_t i = 0; list && i < count && !u->failed; i++)
        if (!(list[i] = unpack_text(u, TEXT_MAX)))
            u->failed = true;
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

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
    pack_u32(p, order->self);
    pack_u32(p, order->count);
    pack_u32(p, order->radix);
    pack_u64(p, order->liveness_ns);
    pack_raw(p, order->job, sizeof(order->job));
    pack_raw(p, order->secret, sizeof(order->secret));
    pack_u32(p, order->is_piped);
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
    order->self = unpack_u32(&u);
    order->count = unpack_u32(&u);
    order->radix = unpack_u32(&u);
    order->liveness_ns = unpack_u64(&u);
    const uint8_t *job = unpack_raw(&u, sizeof(order->job));
    const uint8_t *secret = unpack_raw(&u, sizeof(order->secret));
    order->is_piped = unpack_u32(&u) != 0;
    if (u.failed || !order->self || order->self >= order->count || order->count > HOSTS_MAX ||
        !order->radix || order->liveness_ns < 1000000 || order->liveness_ns > INT64_MAX / 4)
        return -EPROTO;
    memcpy(order->job, job, sizeof(order->job));
    memcpy(order->secret, secret, sizeof(order->secret));
    order->addresses = u;
    return 0;
}

/* ---- the launch ---- */

void launch_pack(struct packing *p, const struct launch_message *m)
{
    pack_u32(p, m->world_size);
    pack_u32(p, m->app_count);
    pack_u32(p, m->host_count);
    pack_u32(p, m->universe_size);
    pack_u32(p, m->umask);
    pack_u32(p, m->flags);
    pack_u32(p, m->stdin_mode);
    pack_u32(p, m->stdin_rank);
    pack_text(p, m->outer);
    for (int i = 0; i < LAUNCH_LIMITS; i++)
        pack_u64(p, m->limits[i]);
    for (uint32_t i = 0; i < m->host_count; i++) {
        pack_u32(p, m->hosts[i].node);
        pack_u32(p, m->hosts[i].cpus);
        pack_text(p, m->hosts[i].id);
        pack_text(p, m->hosts[i].name);
    }
    pack_runs(p, m->app_of, m->world_size);
    pack_runs(p, m->host_of, m->world_size);
    for (uint32_t i = 0; i < m->app_count; i++) {
        pack_text(p, m->apps[i].name);
        pack_text(p, m->apps[i].wdir);
        pack_list(p, m->apps[i].argv);
        pack_list(p, m->apps[i].environment);
    }
    wish_pack(p, &m->wish);
}

static void unpack_hosts(struct unpacking *u, struct launch_message *m)
{
    m->hosts = calloc(m->host_count, sizeof(*m->hosts));
    for (uint32_t i = 0; m->hosts && i < m->host_count && !u->failed; i++) {
        struct launch_host *h = &m->hosts[i];
        h->node = unpack_u32(u);
        h->cpus = unpack_u32(u);
        h->id = unpack_text(u, LAUNCH_ID_MAX);
        h->name = unpack_text(u, LAUNCH_ID_MAX);
        u->failed |= !h->id || !h->name || !h->cpus;
    }
}

static void unpack_apps(struct unpacking *u, struct launch_message *m)
{
    m->apps = calloc(m->app_count, sizeof(*m->apps));
    for (uint32_t i = 0; m->apps && i < m->app_count && !u->failed; i++) {
        struct launch_app *a = &m->apps[i];
        a->name = unpack_text(u, TEXT_MAX);
        a->wdir = unpack_text(u, TEXT_MAX);
        a->argv = unpack_list(u);
        a->environment = unpack_list(u);
        u->failed |= !a->name || !a->wdir || !a->argv || !a->argv[0] || !a->environment;
    }
}

int launch_unpack(struct unpacking u, struct launch_message *m)
{
    *m = (struct launch_message){0};
    m->world_size = unpack_u32(&u);
    m->app_count = unpack_u32(&u);
    m->host_count = unpack_u32(&u);
    m->universe_size = unpack_u32(&u);
    m->umask = unpack_u32(&u);
    m->flags = unpack_u32(&u);
    m->stdin_mode = unpack_u32(&u);
    m->stdin_rank = unpack_u32(&u);
    m->outer = unpack_text(&u, TEXT_MAX);
    for (int i = 0; i < LAUNCH_LIMITS; i++)
        m->limits[i] = unpack_u64(&u);
    if (u.failed || !m->world_size || m->world_size > LAUNCH_RANKS_MAX || !m->app_count ||
        m->app_count > APPS_MAX || !m->host_count || m->host_count > HOSTS_MAX ||
        m->host_count > m->world_size || m->stdin_rank >= m->world_size) {
        launch_fini(m);
        return -EPROTO;
    }
    unpack_hosts(&u, m);
    m->app_of = unpack_runs(&u, m->world_size, m->app_count);
    m->host_of = unpack_runs(&u, m->world_size, m->host_count);
    unpack_apps(&u, m);
    wish_unpack(&u, &m->wish);
    m->contacts = u;
    bool is_short = !m->hosts || !m->app_of || !m->host_of || !m->apps;
    if (!is_short && !u.failed)
        return 0;
    launch_fini(m);
    return is_short ? -ENOMEM : -EPROTO;
}

void launch_fini(struct launch_message *m)
{
    for (uint32_t i = 0; m->hosts && i < m->host_count; i++) {
        free(m->hosts[i].id);
        free(m->hosts[i].name);
    }
    for (uint32_t i = 0; m->apps && i < m->app_count; i++) {
        free(m->apps[i].name);
        free(m->apps[i].wdir);
        free_list(m->apps[i].argv);
        free_list(m->apps[i].environment);
    }
    free(m->hosts);
    free(m->apps);
    free(m->app_of);
    free(m->host_of);
    free(m->outer);
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
