/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon's words to mpiexec; see words.h. */
#include "bnr/daemon/words.h"

#include <string.h>

#include "bnr/core/tree/tree.h"
#include "bnr/wide/mesh.h"
#include "bnr/wire/field.h"
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

void words_tell(struct words *w, uint32_t kind, int rank, const void *text, size_t len)
{
    words_say(w, &(struct record){kind, (uint32_t)rank, (uint32_t)len, text});
}

void words_tell_number(struct words *w, uint32_t kind, int rank, uint32_t number, const char *text)
{
    struct packing p = {0};
    pack_u32(&p, number);
    pack_raw(&p, text, strlen(text));
    struct bytes *all = pack_end(&p);
    if (all)
        words_tell(w, kind, rank, all->at, all->len);
    bytes_unref(all);
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
