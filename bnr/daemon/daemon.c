/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A daemon; see daemon.h. It dials mpiexec and prints its own address, learns of its neighbours,
 * and then hears orders, which are xcasts (bnr/wire/launch_message.h). Events here go back in
 * streams; the ends of ranks go up the tree.
 */
#include "bnr/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/daemon/daemon_end.h"
#include "bnr/daemon/daemon_events.h"
#include "bnr/daemon/daemon_job.h"
#include "bnr/daemon/daemon_orders.h"
#include "bnr/daemon/daemon_ranks.h"
#include "bnr/daemon/daemon_reach.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/launch/sweep.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/mesh_settings.h"
#include "bnr/wire/launch_message.h"
#include "os/clock.h"
#include "os/log.h"

enum {
    EXIT_FAILED = 1,
    FLUSH_MS = 1000
};

static int open_all(struct daemon *d, const struct launch_order *order)
{
    const struct mesh_hooks hooks = {daemon_linked,      daemon_contact, daemon_deliver, daemon_answer,
                                     daemon_ranks_ended, daemon_stream,  daemon_lost,    daemon_alone,
                                     daemon_moved,       daemon_look, d};
    struct mesh_settings settings = {.self = order->self,
                                     .count = order->count,
                                     .radix = order->radix,
                                     .liveness_ns = (int64_t)order->liveness_ns,
                                     .choice = xcast_choice_default};
    memcpy(settings.job, order->job, sizeof(settings.job));
    memcpy(settings.secret, order->secret, sizeof(settings.secret));
    int rc = uv_loop_init(&d->loop);
    if (!rc)
        rc = mesh_create(&d->mesh, &d->loop, &settings, &hooks);
    if (!rc)
        rc = daemon_events_begin(d);
    if (!rc)
        rc = daemon_job_begin(d);
    if (rc)
        return rc;
    uv_timer_init(&d->loop, &d->deadline);
    uv_timer_init(&d->loop, &d->late);
    uv_timer_init(&d->loop, &d->watch);
    uv_idle_init(&d->loop, &d->starting);
    d->deadline.data = d->late.data = d->watch.data = d->starting.data = d;
    return 0;
}

/* The last words go out before this process ends. */
static void flush(struct daemon *d)
{
    uint64_t until = os_now_ns() + FLUSH_MS * 1000000ull;
    while (mesh_waiting(d->mesh) && os_now_ns() < until)
        uv_run(&d->loop, UV_RUN_ONCE);
    uv_run(&d->loop, UV_RUN_NOWAIT);
}

int daemon_run(const struct launch_order *order, int in_fd, int out_fd, char *name,
               size_t name_size)
{
    struct daemon *d = calloc(1, sizeof(*d));
    if (!d)
        return EXIT_FAILED;
    d->name = name;
    d->name_size = name_size;
    d->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)sweep_prepare();
    int rc = d->null_fd < 0 ? -errno : open_all(d, order);
    if (!rc)
        rc = daemon_join(d, order, in_fd, out_fd);
    if (rc) {
        fprintf(stderr, "vireod: cannot begin on %s: %s\n", os_host_name(), strerror(-rc));
        return EXIT_FAILED;
    }
    while (!d->is_over)
        uv_run(&d->loop, UV_RUN_DEFAULT);
    flush(d);
    if (d->has_job)
        daemon_unguard_ranks(d);
    return d->code;
}
