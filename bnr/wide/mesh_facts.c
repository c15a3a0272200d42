/* SPDX-License-Identifier: BSD-3-Clause */

/* The facts of a node that do not change, for its owner; see mesh.h. */
#include "bnr/wide/mesh_state.h"

uint32_t mesh_self(const struct mesh *m)
{
    return m->settings.self;
}

uint32_t mesh_count(const struct mesh *m)
{
    return m->settings.count;
}

uint32_t mesh_radix(const struct mesh *m)
{
    return m->settings.radix;
}

int64_t mesh_liveness_ns(const struct mesh *m)
{
    return m->settings.liveness_ns;
}

const uint8_t *mesh_job(const struct mesh *m)
{
    return m->settings.job;
}

const uint8_t *mesh_secret(const struct mesh *m)
{
    return m->settings.secret;
}

bool mesh_is_begun(const struct mesh *m)
{
    return m->is_begun;
}
