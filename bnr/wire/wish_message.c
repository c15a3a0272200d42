/* SPDX-License-Identifier: BSD-3-Clause */

/* See wish_message.h. */
#include "bnr/wire/wish_message.h"

#include <stdlib.h>

#include "bnr/wire/launch_message.h"

enum {
    TEXT_MAX = 1 << 16,
    FLAGS = 11
};

/* Its flags, in their order on the wire. */
static void point(struct start_wish *w, bool *flags[FLAGS])
{
    bool *all[FLAGS] = {&w->is_wanted,    &w->is_filling,  &w->may_overload,   &w->by_thread,
                        &w->if_supported, &w->is_ordered,  &w->shows_bindings, &w->shows_map,
                        &w->debugs,       &w->names_ranks, &w->limits_gpus};
    for (int i = 0; i < FLAGS; i++)
        flags[i] = all[i];
}

/* A text that may be missing. */
static void pack_some(struct packing *p, const char *text)
{
    pack_u32(p, text != NULL);
    if (text)
        pack_text(p, text);
}

static const char *unpack_some(struct unpacking *u)
{
    if (!unpack_u32(u) || u->failed)
        return NULL;
    char *text = unpack_text(u, TEXT_MAX);
    u->failed |= !text;
    return text;
}

void wish_pack(struct packing *p, const struct start_wish *wish)
{
    struct start_wish copy = *wish;
    bool *flags[FLAGS];
    uint32_t bits = 0;
    point(&copy, flags);
    for (int i = 0; i < FLAGS; i++)
        bits |= (uint32_t)*flags[i] << i;
    pack_u32(p, bits);
    pack_u32(p, wish->map);
    pack_u32(p, wish->rank_by);
    pack_u32(p, wish->bind);
    pack_u32(p, wish->pe);
    pack_u32(p, wish->width);
    pack_u32(p, wish->memory);
    pack_u32(p, wish->gpus);
    for (int i = 0; i < START_NODES_MAX / 64; i++)
        pack_u64(p, wish->nodes[i]);
    pack_some(p, wish->allowed);
    pack_some(p, wish->list);
    pack_some(p, wish->user);
    pack_some(p, wish->xterm);
    pack_some(p, wish->output_from);
}

void wish_unpack(struct unpacking *u, struct start_wish *wish)
{
    bool *flags[FLAGS];
    *wish = (struct start_wish){0};
    point(wish, flags);
    uint32_t bits = unpack_u32(u);
    for (int i = 0; i < FLAGS; i++)
        *flags[i] = bits >> i & 1;
    wish->map = unpack_u32(u);
    wish->rank_by = unpack_u32(u);
    wish->bind = unpack_u32(u);
    wish->pe = unpack_u32(u);
    wish->width = unpack_u32(u);
    wish->memory = unpack_u32(u);
    wish->gpus = unpack_u32(u);
    for (int i = 0; i < START_NODES_MAX / 64; i++)
        wish->nodes[i] = unpack_u64(u);
    wish->allowed = unpack_some(u);
    wish->list = unpack_some(u);
    wish->user = unpack_some(u);
    wish->xterm = unpack_some(u);
    wish->output_from = unpack_some(u);
    u->failed |= bits >> FLAGS || wish->map > PLACEMENT_SLOT || wish->rank_by > PLACEMENT_SLOT ||
                 wish->bind > PLACEMENT_NONE || wish->memory > START_MEMORY_INTERLEAVE ||
                 wish->pe > LAUNCH_RANKS_MAX || wish->width > LAUNCH_RANKS_MAX ||
                 wish->gpus > LAUNCH_RANKS_MAX;
}

void wish_fini(struct start_wish *wish)
{
    free((char *)wish->allowed);
    free((char *)wish->list);
    free((char *)wish->user);
    free((char *)wish->xterm);
    free((char *)wish->output_from);
    *wish = (struct start_wish){0};
}
