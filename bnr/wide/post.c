/* SPDX-License-Identifier: BSD-3-Clause */

/* The letters of BNR_Xcast between ranks and the engine; see post.h. */
#include "bnr/wide/post.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/core/tree/xcast.h"
#include "bnr/io/ranks.h"
#include "bnr/wire/launch_tags.h"
#include "os/be.h"
#include "os/futex.h"

enum {
    TURN_MAX = 4 << 20, /* bytes that are taken from a rank before others have their turn */
    ITEM_COST = 128,    /* of memory, beside the bytes of a letter */
    LETTER_MIN = 12,
    LETTER_MAX = LETTER_MIN + 8 * MAIL_RANGES_MAX + MAIL_DATA_MAX,
};

/* A letter that waits for room in a rank's ring. */
struct post_item {
    struct post_item *next;
    struct bytes *data; /* held */
    uint32_t at, len;   /* the letter's bytes in it */
    uint8_t head[12];
    size_t written; /* of head and bytes */
};

struct post_rank {
    int rank, slot;
    uint8_t head[4];
    uint32_t head_len, got;
    struct bytes *coming;      /* the letter that is being read */
    struct xcast_input waiting; /* data: what the engine has no room for */
    bool is_bad;               /* it has broken the rules: nothing more is taken from it */
    struct post_item *first, **end;
    size_t waiting_bytes;
    uint32_t missing;
};

/* ---- to ranks ---- */

static void drop_first(struct post_rank *r)
{
    struct post_item *item = r->first;
    r->first = item->next;
    if (!r->first)
        r->end = &r->first;
    r->waiting_bytes -= item->len + ITEM_COST;
    bytes_unref(item->data);
    free(item);
}

/* Write what there is room for. Returns whether all of the item is written. */
static bool write_item(const struct mail *to, struct post_item *item)
{
    size_t all = sizeof(item->head) + item->len;
    while (item->written < all) {
        bool is_head = item->written < sizeof(item->head);
        size_t at = is_head ? item->written : item->written - sizeof(item->head);
        long n = is_head ? mail_write(to, item->head + at, sizeof(item->head) - at)
                         : mail_write(to, item->data->at + item->at + at, item->len - at);
        if (n <= 0)
            return false;
        item->written += (size_t)n;
    }
    return true;
}

static void add_item(struct post_rank *r, const struct post_item *what)
{
    struct post_item *item = malloc(sizeof(*item));
    if (!item) {
        r->missing++;
        return;
    }
    *item = *what;
    bytes_ref(item->data);
    *r->end = item;
    r->end = &item->next;
    r->waiting_bytes += item->len + ITEM_COST;
}

static void fill_head(struct post_item *item, uint32_t from, uint32_t tag)
{
    os_be32_put(item->head, 8 + item->len);
    os_be32_put(item->head + 4, from);
    os_be32_put(item->head + 8, tag);
}

/* Tell the rank how many letters are missing at this place. */
static void add_missing(struct post_rank *r)
{
    uint8_t count[4];
    struct post_item item = {.len = sizeof(count)};
    os_be32_put(count, r->missing);
    if (!(item.data = bytes_create(count, sizeof(count))))
        return;
    fill_head(&item, UINT32_MAX, 0);
    r->missing = 0;
    add_item(r, &item);
    bytes_unref(item.data);
}

static void write_letters(const struct post *p, struct post_rank *r)
{
    const struct table *t = &p->ranks->table;
    struct mail to = table_come(t, r->slot);
    if (table_has_ended(t, r->rank))
        while (r->first)
            drop_first(r);
    while (r->first || r->missing) {
        if (!r->first)
            add_missing(r);
        if (!r->first)
            return;
        if (!write_item(&to, r->first)) {
            /* The rank rings when there is room; it may have made some just now. */
            mail_say_full(&to);
            if (!write_item(&to, r->first))
                return;
        }
        drop_first(r);
    }
}

static void give(const struct post *p, struct post_rank *r, const struct post_item *item)
{
    if (r->waiting_bytes + item->len > POST_WAITING_MAX) {
        r->missing++;
    } else {
        if (r->missing)
            add_missing(r);
        add_item(r, item);
    }
    write_letters(p, r);
}

/* Whether this rank, or mpiexec, runs on the node that its letter comes from. */
static bool may_be_of(const struct post *p, uint32_t from, uint32_t origin, uint32_t tag)
{
    if (from == UINT32_MAX)
        return origin == NODE_ROOT && tag;
    return from < (uint32_t)p->ranks->table.world_size &&
           (!p->map || rank_map_node_of(p->map, from) == origin);
}

void post_order(struct post *p, uint32_t origin, struct unpacking u)
{
    uint32_t from = unpack_u32(&u), tag = unpack_u32(&u), count = unpack_u32(&u);
    if (!u.failed && !tag && !count && from != UINT32_MAX && may_be_of(p, from, origin, tag) && p->order)
        p->order(p->order_arg, (int)from, u.at, u.left);
}

void post_pack(struct packing *p, int rank, uint32_t tag, const void *data, size_t len)
{
    pack_u32(p, UINT32_MAX);
    pack_u32(p, tag);
    pack_u32(p, 1);
    pack_u32(p, (uint32_t)rank);
    pack_u32(p, (uint32_t)rank);
    pack_raw(p, data, len);
}

/* Whether a letter of mpiexec's has been taken in the name of a rank. */
static bool is_told(const struct post *p, int rank, uint32_t from, const struct unpacking *u)
{
    return from == UINT32_MAX && p->told && p->told(p->told_arg, rank, u->at, u->left);
}

void post_deliver(struct post *p, uint32_t origin, struct bytes *data, struct unpacking u)
{
    uint32_t from = unpack_u32(&u), tag = unpack_u32(&u), count = unpack_u32(&u);
    const uint8_t *ranges = unpack_raw(&u, 8 * (size_t)count);
    if (u.failed || !may_be_of(p, from, origin, tag))
        return;
    struct post_item item = {
        .data = data, .at = (uint32_t)(u.at - data->at), .len = (uint32_t)u.left};
    fill_head(&item, from, tag);
    for (uint32_t i = 0; i < p->count; i++) {
        bool is_listed = !count;
        for (uint32_t k = 0; k < count && !is_listed; k++)
            is_listed = (uint32_t)p->all[i].rank >= os_be32_get(ranges + 8 * (size_t)k) &&
                        (uint32_t)p->all[i].rank <= os_be32_get(ranges + 8 * (size_t)k + 4);
        if (is_listed && !is_told(p, p->all[i].rank, from, &u))
            give(p, &p->all[i], &item);
    }
}

/* ---- from ranks ---- */

/* The nodes of the ranks that a letter lists, as ranges; more than XCAST_RANGES_MAX: all nodes. */
static int find_nodes(const struct post *p, struct unpacking u, uint32_t count, uint32_t **nodes,
                      size_t *node_ranges)
{
    size_t n = 0;
    uint32_t *found = malloc(2 * XCAST_RANGES_MAX * sizeof(*found));
    if (!found)
        return -ENOMEM;
    for (uint32_t i = 0; i < count && n <= XCAST_RANGES_MAX; i++) {
        uint32_t first = unpack_u32(&u), last = unpack_u32(&u);
        for (uint32_t r = first; r <= last && n <= XCAST_RANGES_MAX; r++) {
            uint32_t node = rank_map_node_of(p->map, r);
            if (n && node >= found[2 * n - 2] && node <= found[2 * n - 1])
                continue;
            if (n && node == found[2 * n - 1] + 1) {
                found[2 * n - 1] = node;
                continue;
            }
            if (n < XCAST_RANGES_MAX)
                found[2 * n] = found[2 * n + 1] = node;
            n++;
        }
    }
    *nodes = found;
    *node_ranges = n <= XCAST_RANGES_MAX ? n : 0;
    return 0;
}

/* Whether a letter is as it should be: its head has been read from u. */
static bool is_letter(const struct post *p, struct unpacking u, uint32_t count)
{
    bool is_good = count <= MAIL_RANGES_MAX;
    for (uint32_t i = 0; i < count && is_good; i++) {
        uint32_t first = unpack_u32(&u), last = unpack_u32(&u);
        is_good = first <= last && last < (uint32_t)p->ranks->table.world_size;
    }
    return is_good && !u.failed && u.left <= MAIL_DATA_MAX;
}

int post_say_order(struct post *p, int rank, const void *data, size_t len)
{
    static const uint32_t root[2] = {NODE_ROOT, NODE_ROOT};
    struct packing payload = {0};
    if (len > MAIL_DATA_MAX)
        return -EMSGSIZE;
    if (p->order) {
        p->order(p->order_arg, rank, data, len);
        return 0;
    }
    pack_u32(&payload, (uint32_t)rank);
    pack_u32(&payload, 0);
    pack_u32(&payload, 0);
    pack_raw(&payload, data, len);
    struct bytes *all = pack_end(&payload);
    const struct xcast_input input = {LAUNCH_TAG_ORDER, XCAST_BY_SIZE,
                                      all ? xcast_address(root, 1, all->at, all->len) : NULL};
    bytes_unref(all);
    if (!input.data || !p->submit) {
        bytes_unref(input.data);
        return input.data ? -ENOTCONN : -ENOMEM;
    }
    struct bytes *held = bytes_ref(input.data);
    int rc = p->submit(p->arg, &input);
    bytes_unref(held);
    return rc == XCAST_AGAIN ? -EAGAIN : rc;
}

/* Make an xcast of a letter. Returns 0, -EPROTO or -ENOMEM. */
static int make_xcast(const struct post *p, const struct post_rank *r, struct xcast_input *input)
{
    static const uint8_t shapes[MAIL_MODE_END] = {
        XCAST_BY_SIZE, TREE_DIRECT + 1, TREE_LINEAR + 1, TREE_BINOMIAL + 1, TREE_RADIX + 1,
        TREE_BINARY + 1, XCAST_BY_SIZE};
    static const uint32_t root[2] = {NODE_ROOT, NODE_ROOT};
    struct unpacking u = unpack_begin(r->coming), rest;
    uint32_t mode = unpack_u32(&u), *nodes = NULL;
    struct packing payload = {0};
    size_t node_ranges = 0;
    rest = u;
    uint32_t tag = unpack_u32(&u), count = unpack_u32(&u);
    if (mode >= MAIL_MODE_END || tag > INT_MAX || !is_letter(p, u, count))
        return -EPROTO;
    if (p->map && count && find_nodes(p, u, count, &nodes, &node_ranges))
        return -ENOMEM;
    pack_u32(&payload, (uint32_t)r->rank);
    pack_raw(&payload, rest.at, rest.left);
    struct bytes *all = pack_end(&payload);
    *input = (struct xcast_input){mode == MAIL_ORDER ? LAUNCH_TAG_ORDER : p->tag, shapes[mode], NULL};
    if (all && mode == MAIL_ORDER)
        input->data = xcast_address(root, 1, all->at, all->len);
    else if (all)
        input->data = xcast_address(nodes, node_ranges, all->at, all->len);
    bytes_unref(all);
    free(nodes);
    return input->data ? 0 : -ENOMEM;
}

/* Hand over the waiting letter. Returns whether it is gone. */
static bool send_waiting(struct post *p, struct post_rank *r)
{
    bool is_mine;
    struct unpacking u;
    struct bytes *data = r->waiting.data;
    if (p->submit) {
        bytes_ref(data);
        if (p->submit(p->arg, &r->waiting) == XCAST_AGAIN)
            return false;
    } else if (!xcast_open(data, NODE_ROOT, &is_mine, &u)) {
        if (r->waiting.tag == LAUNCH_TAG_ORDER)
            post_order(p, NODE_ROOT, u);
        else
            post_deliver(p, NODE_ROOT, data, u);
    }
    r->waiting.data = NULL;
    bytes_unref(data);
    return true;
}

/* Read until there is a letter. Returns 1 with a letter, 0, or -EPROTO, -ENOMEM. */
static int read_letter(struct post_rank *r, const struct mail *from)
{
    long n = 0;
    if (r->head_len < sizeof(r->head)) {
        n = mail_read(from, r->head + r->head_len, sizeof(r->head) - r->head_len);
        if (n < 0)
            return -EPROTO;
        r->head_len += (uint32_t)n;
        if (r->head_len < sizeof(r->head))
            return 0;
    }
    uint32_t len = os_be32_get(r->head);
    if (len < LETTER_MIN || len > LETTER_MAX)
        return -EPROTO;
    if (!r->coming && !(r->coming = bytes_create(NULL, len)))
        return -ENOMEM;
    n = mail_read(from, r->coming->at + r->got, len - r->got);
    if (n < 0)
        return -EPROTO;
    r->got += (uint32_t)n;
    return r->got == len;
}

/* Take what a rank has written. Returns whether there is more than its turn is for. */
static bool take_letters(struct post *p, struct post_rank *r)
{
    struct mail from = table_sent(&p->ranks->table, r->slot);
    size_t taken = 0;
    int rc = 1;
    while (rc > 0 && taken < TURN_MAX && !r->is_bad) {
        if (r->waiting.data && !send_waiting(p, r))
            break;
        uint64_t before = mail_waiting(&from);
        rc = before ? read_letter(r, &from) : 0;
        taken += (size_t)before;
        if (rc > 0) {
            rc = make_xcast(p, r, &r->waiting);
            bytes_unref(r->coming);
            r->coming = NULL;
            r->head_len = r->got = 0;
            rc = rc ? rc : 1;
        }
        r->is_bad = rc == -EPROTO;
    }
    if (taken) {
        atomic_fetch_add(&from.words->turns, 1);
        os_futex_wake(&from.words->turns, INT_MAX);
    }
    return taken >= TURN_MAX && !r->is_bad && !r->waiting.data;
}

bool post_look_at(struct post *p, uint32_t at)
{
    struct post_rank *r = &p->all[at];
    struct mail from = table_sent(&p->ranks->table, r->slot);
    bool is_more = (r->waiting.data || mail_waiting(&from)) && take_letters(p, r);
    if (r->first)
        write_letters(p, r);
    return is_more;
}

bool post_look(struct post *p)
{
    bool is_more = false;
    for (uint32_t i = 0; i < p->count; i++)
        is_more |= post_look_at(p, i);
    return is_more;
}

/* ---- life ---- */

int post_start(struct post *p)
{
    const struct table *t = &p->ranks->table;
    p->all = calloc((size_t)t->slots, sizeof(*p->all));
    if (!p->all)
        return -ENOMEM;
    for (int r = 0; r < t->world_size && p->count < (uint32_t)t->slots; r++) {
        if (table_slot(t, r) < 0)
            continue;
        struct post_rank *one = &p->all[p->count++];
        *one = (struct post_rank){.rank = r, .slot = table_slot(t, r)};
        one->end = &one->first;
    }
    return 0;
}

void post_stop(struct post *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        while (p->all[i].first)
            drop_first(&p->all[i]);
        bytes_unref(p->all[i].coming);
        bytes_unref(p->all[i].waiting.data);
    }
    free(p->all);
    p->all = NULL;
    p->count = 0;
}
