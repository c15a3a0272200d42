/* SPDX-License-Identifier: BSD-3-Clause */

/* Parties on other hosts; see party_link.h. */
#include "bnr/wide/party_link.h"

#include "bnr/core/stream/hub.h"
#include "bnr/wide/mesh.h"
#include "bnr/wire/hub_frame.h"
#include "bnr/wire/launch_tags.h"
#include "os/clock.h"

static int64_t now_ns(void)
{
    return (int64_t)os_now_ns();
}

void party_link_init(struct party_link *l, struct mesh *mesh, uint32_t node, party_fn hear,
                     void *arg)
{
    *l = (struct party_link){.mesh = mesh, .node = node, .hear = hear, .arg = arg};
    stream_out_init(&l->out, mesh_self(mesh), node, LAUNCH_STREAM_PARTY, SIZE_MAX);
}

void party_link_fini(struct party_link *l)
{
    stream_out_fini(&l->out);
    bytes_unref(l->block);
    l->block = NULL;
}

/* Bytes that several readers of this node get are sent with the first of their fragments. */
static void omit_shared(struct party_link *l, struct hub_message *m)
{
    if (!m->shared)
        return;
    m->flags |= HUB_SHARED;
    if (m->shared == l->shared)
        m->len = 0;
    l->shared = m->shared;
}

void party_link_say(struct party_link *l, uint32_t party, const struct hub_message *m)
{
    struct packing p = {0};
    struct effects effects = {0};
    uint8_t head[HUB_FRAME_HEAD];
    pack_u32(&p, party);
    if (m) {
        struct hub_message said = *m;
        omit_shared(l, &said);
        hub_frame_head(head, &said);
        pack_raw(&p, head, sizeof(head));
        pack_raw(&p, said.data, said.len);
    }
    struct bytes *block = pack_end(&p);
    if (block)
        (void)stream_out_put(&l->out, block, now_ns(), &effects);
    bytes_unref(block);
    mesh_route(l->mesh, &effects);
    effects_fini(&effects);
}

/* Give a fragment the bytes that came with one before, or keep its own for those that follow. */
static void add_shared(struct party_link *l, struct hub_message *m, struct bytes *block)
{
    m->flags &= (uint8_t)~HUB_SHARED;
    if (!m->len) {
        m->data = l->data;
        m->len = l->len;
        return;
    }
    bytes_unref(l->block);
    l->block = bytes_ref(block);
    l->data = m->data;
    l->len = m->len;
}

static void take_block(struct party_link *l, struct bytes *block)
{
    struct unpacking u = unpack_begin(block);
    struct hub_message m;
    uint32_t party = unpack_u32(&u);
    if (u.failed)
        return;
    bool is_message = u.left && hub_frame_unpack(u.at, u.left, &m) == (ptrdiff_t)u.left;
    if (is_message && m.kind == HUB_FRAGMENT && m.flags & HUB_SHARED)
        add_shared(l, &m, block);
    if (is_message || !u.left)
        l->hear(l->arg, l->node, party, is_message ? &m : NULL);
}

void party_link_take(struct party_link *l, const struct core_message *message)
{
    struct effects effects = {0};
    if (message->kind == MESSAGE_CREDIT) {
        stream_out_credit(&l->out, message, now_ns(), &effects);
        mesh_route(l->mesh, &effects);
        effects_fini(&effects);
        return;
    }
    bool is_next = !stream_in_take(&l->in, message);
    struct core_message credit = stream_in_credit(&l->in, message, l->in.taken);
    effects_add(&effects, EFFECT_SEND, credit.to, &credit);
    mesh_route(l->mesh, &effects);
    effects_fini(&effects);
    if (is_next)
        take_block(l, message->data);
}

void party_link_tick(struct party_link *l, bool is_new)
{
    struct effects effects = {0};
    stream_out_tick(&l->out, is_new, now_ns(), &effects);
    mesh_route(l->mesh, &effects);
    effects_fini(&effects);
}
