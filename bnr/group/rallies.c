/* SPDX-License-Identifier: BSD-3-Clause */

/* All groups of a process that have collective calls; see rallies.h. */
#include "bnr/group/rallies.h"

#include <stdlib.h>
#include <string.h>

#include "os/be.h"

/* A frame whose group is not known here yet. */
struct rallies_held {
    struct rallies_held *next;
    int link;
    BNR_Gid gid;
    struct rally_frame frame;
};

/* ---- frames on the wire ---- */

void rallies_put_head(uint8_t head[RALLIES_HEAD], const BNR_Gid *gid, const struct rally_frame *frame)
{
    os_be32_put(head, (uint32_t)(frame->bytes ? frame->bytes->len : 0));
    os_be32_put(head + 4, (uint32_t)frame->kind << 24);
    os_be32_put(head + 8, frame->call);
    os_be32_put(head + 12, (uint32_t)frame->code);
    os_be64_put(head + 16, frame->what);
    memcpy(head + 24, gid->b, sizeof(gid->b));
}

long rallies_get_head(const uint8_t head[RALLIES_HEAD], BNR_Gid *gid, struct rally_frame *frame)
{
    uint32_t len = os_be32_get(head), kind = os_be32_get(head + 4);
    if (len > RALLY_BYTES_MAX || kind & 0xffffff)
        return -1;
    *frame = (struct rally_frame){.kind = (enum rally_kind)(kind >> 24),
                                   .call = os_be32_get(head + 8),
                                   .code = (int32_t)os_be32_get(head + 12),
                                   .what = os_be64_get(head + 16)};
    memcpy(gid->b, head + 24, sizeof(gid->b));
    return (long)len;
}

/* ---- groups ---- */

/* Groups that were made on this one break with it. */
static void on_broken(void *arg, struct rally *a)
{
    struct rallies_member *base = rallies_of(a);
    (void)arg;
    for (struct rallies_member *member = base->all->first; member; member = member->next)
        if (member->base == base)
            rally_break(&member->rally, a->broken);
}

void rallies_init(struct rallies *all, const struct rally_hooks *hooks, void *arg)
{
    *all = (struct rallies){.hooks = *hooks, .arg = arg};
    all->hooks.broken = on_broken;
    all->held_end = &all->held;
}

static void drop_held(struct rallies *all, struct rallies_held **at)
{
    struct rallies_held *held = *at;
    *at = held->next;
    if (!*at)
        all->held_end = at;
    all->held_count--;
    all->held_bytes -= held->frame.bytes ? held->frame.bytes->len : 0;
    rally_bytes_unref(held->frame.bytes);
    free(held);
}

void rallies_fini(struct rallies *all)
{
    while (all->first)
        rallies_remove(all, all->first);
    while (all->held)
        drop_held(all, &all->held);
}

struct rallies_member *rallies_find(struct rallies *all, const BNR_Gid *gid)
{
    struct rallies_member *member = all->first;
    while (member && memcmp(member->gid.b, gid->b, sizeof(gid->b)) != 0)
        member = member->next;
    return member;
}

struct rallies_member *rallies_of(const struct rally *a)
{
    return (struct rallies_member *)((uintptr_t)a - offsetof(struct rallies_member, rally));
}

/* Hear what has waited for this group, in its order. */
static void hear_held(struct rallies *all, struct rallies_member *member)
{
    for (struct rallies_held **at = &all->held; *at;) {
        struct rallies_held *held = *at;
        if (memcmp(held->gid.b, member->gid.b, sizeof(held->gid.b)) != 0) {
            at = &held->next;
            continue;
        }
        if (rally_heard(&member->rally, held->link, &held->frame))
            rally_break(&member->rally, BNR_ERR_PROTO);
        drop_held(all, at);
    }
}

struct rallies_member *rallies_add(struct rallies *all, const BNR_Gid *gid, struct rally *rally,
                                   struct rallies_member *base)
{
    struct rallies_member *member = calloc(1, sizeof(*member));
    if (!member) {
        rally_fini(rally);
        return NULL;
    }
    member->gid = *gid;
    member->rally = *rally;
    member->rally.hooks = &all->hooks;
    member->rally.arg = all->arg;
    member->all = all;
    member->base = base;
    member->next = all->first;
    all->first = member;
    hear_held(all, member);
    if (base && base->rally.broken)
        rally_break(&member->rally, base->rally.broken);
    return member;
}

void rallies_remove(struct rallies *all, struct rallies_member *member)
{
    struct rallies_member **at = &all->first;
    while (*at != member)
        at = &(*at)->next;
    *at = member->next;
    for (struct rallies_member *other = all->first; other; other = other->next)
        if (other->base == member)
            other->base = NULL;
    rally_fini(&member->rally);
    free(member);
}

void rallies_shun(struct rallies *all, const struct rallies_member *base, const BNR_Gid *gid)
{
    if (base->rally.parent >= 0)
        all->refuse(all->arg, base->rally.parent, gid);
    for (int i = 0; i < base->rally.child_count; i++)
        all->refuse(all->arg, base->rally.child[i], gid);
}

void rallies_make(struct rallies *all, int more)
{
    all->making += more;
    while (!all->making && all->held) {
        all->refuse(all->arg, all->held->link, &all->held->gid);
        drop_held(all, &all->held);
    }
}

/* ---- frames ---- */

static bool hold(struct rallies *all, int link, const BNR_Gid *gid, const struct rally_frame *frame)
{
    size_t len = frame->bytes ? frame->bytes->len : 0;
    if (!all->making || all->held_count == RALLIES_HELD_MAX || all->held_bytes + len > RALLIES_HELD_BYTES_MAX)
        return false;
    struct rallies_held *held = calloc(1, sizeof(*held));
    if (!held)
        return false;
    *held = (struct rallies_held){NULL, link, *gid, *frame};
    if (frame->bytes)
        frame->bytes->refs++;
    *all->held_end = held;
    all->held_end = &held->next;
    all->held_count++;
    all->held_bytes += len;
    return true;
}

int rallies_heard(struct rallies *all, int link, const BNR_Gid *gid, const struct rally_frame *frame)
{
    struct rallies_member *member = rallies_find(all, gid);
    if (frame->kind < RALLY_UP || frame->kind > RALLY_FAIL)
        return BNR_ERR_PROTO;
    if (member)
        return rally_heard(&member->rally, link, frame);
    if (hold(all, link, gid, frame) || frame->kind == RALLY_FAIL)
        return BNR_SUCCESS;
    all->refuse(all->arg, link, gid);
    return BNR_SUCCESS;
}

void rallies_lost(struct rallies *all, int link)
{
    for (struct rallies_member *member = all->first; member; member = member->next)
        rally_lost(&member->rally, link);
    for (struct rallies_held **at = &all->held; *at;) {
        if ((*at)->link == link)
            drop_held(all, at);
        else
            at = &(*at)->next;
    }
}
