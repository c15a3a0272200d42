/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon's words to mpiexec; see words.h. */
#include "bnr/wide/words.h"

#include "bnr/core/tree/tree.h"
#include "bnr/wide/mesh.h"
#include "bnr/wire/launch_message.h"
#include "os/clock.h"

static int64_t now_ns(void)
{
    return (int64_t)os_now_ns();
}

void words_init(struct words *w, struct mesh *mesh)
{
    w->mesh = mesh;
    stream_out_init(&w->out, mesh_self(mesh), NODE_ROOT, LAUNCH_STREAM_WORDS, SIZE_MAX);
}

void words_say(struct words *w, const struct record *r)
{
    struct effects effects = {0};
    struct bytes *block = record_pack(r);
    if (block)
        (void)stream_out_put(&w->out, block, now_ns(), &effects);
    bytes_unref(block);
    mesh_route(w->mesh, &effects);
    effects_fini(&effects);
}

void words_credit(struct words *w, const struct core_message *credit)
{
    struct effects effects = {0};
    if (credit->tag != LAUNCH_STREAM_WORDS)
        return;
    stream_out_credit(&w->out, credit, now_ns(), &effects);
    mesh_route(w->mesh, &effects);
    effects_fini(&effects);
}

void words_tick(struct words *w)
{
    struct effects effects = {0};
    stream_out_tick(&w->out, false, now_ns(), &effects);
    mesh_route(w->mesh, &effects);
    effects_fini(&effects);
}
