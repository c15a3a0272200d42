/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon reaches mpiexec, and learns of other nodes; see daemon_reach.h. */
#include "bnr/daemon/daemon_reach.h"

#include <stdio.h>
#include <stdlib.h>

#include "bnr/core/tree/tree.h"
#include "bnr/daemon/daemon_end.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/host/host.h"
#include "bnr/wide/addresses.h"
#include "bnr/wide/mesh.h"
#include "bnr/wire/field.h"
#include "bnr/wire/launch_message.h"
#include "os/cpu/cpus.h"
#include "os/log.h"

enum {
    EXIT_FAILED = 1,
    LATE_MS = 30 /* in which mpiexec is reached, where nothing is in the way */
};

void daemon_linked(void *arg, uint32_t node)
{
    struct daemon *d = arg;
    char id[HOST_ID_MAX];
    if (node != NODE_ROOT || mesh_is_begun(d->mesh))
        return;
    uv_timer_stop(&d->deadline); /* mpiexec says the rest when all daemons are there */
    struct packing p = {0};
    host_id(id);
    addresses_pack(&p, mesh_addresses(d->mesh, mesh_self(d->mesh)));
    d->cpus = (uint32_t)os_cpus_usable();
    pack_u32(&p, d->cpus);
    pack_text(&p, id);
    pack_text(&p, os_host_name());
    pack_u32(&p, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    (void)mesh_contact(d->mesh, NODE_ROOT, pack_end(&p));
}

/* Where other nodes are. */
void daemon_learn(struct daemon *d, struct unpacking u)
{
    struct addresses addresses;
    while (u.left) {
        uint32_t node = unpack_u32(&u);
        if (addresses_unpack(&u, &addresses) || node >= mesh_count(d->mesh))
            return;
        mesh_know(d->mesh, node, &addresses);
    }
}

void daemon_contact(void *arg, uint32_t node, struct unpacking u)
{
    struct daemon *d = arg;
    if (node != NODE_ROOT || mesh_is_begun(d->mesh))
        return;
    daemon_learn(d, u);
    if (mesh_begin(d->mesh))
        daemon_end_loop(d, EXIT_FAILED);
}

static void on_deadline(uv_timer_t *timer)
{
    daemon_end_loop(timer->data, EXIT_FAILED);
}

/* Print this daemon's address on the stdout of the command that has started it: mpiexec dials if
 * this daemon cannot. */
static void on_late(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    char *digits = mesh_is_linked(d->mesh, NODE_ROOT) ? NULL : addresses_digits(mesh_addresses(d->mesh, mesh_self(d->mesh)));
    if (digits)
        dprintf(d->out_fd, "at %s\n", digits);
    free(digits);
}

/* Reach mpiexec. */
int daemon_join(struct daemon *d, const struct launch_order *order, int in_fd, int out_fd)
{
    struct addresses root;
    struct unpacking u = order->addresses;
    int rc = mesh_listen(d->mesh);
    uv_timer_start(&d->deadline, on_deadline, order->limit_ns / 1000000, 0);
    if (rc)
        return rc;
    if (order->is_piped)
        return mesh_open(d->mesh, NODE_ROOT, in_fd, out_fd, true);
    rc = addresses_unpack(&u, &root);
    if (rc)
        return rc;
    d->out_fd = out_fd;
    uv_timer_start(&d->late, on_late, LATE_MS, 0);
    mesh_know(d->mesh, NODE_ROOT, &root);
    mesh_dial(d->mesh, NODE_ROOT);
    return 0;
}
