/* SPDX-License-Identifier: BSD-3-Clause */

/* The end of a daemon and of all that runs here; see daemon_end.h. */
#include "bnr/daemon/daemon_end.h"

#include <signal.h>

#include "bnr/daemon/daemon_state.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/sweep.h"
#include "bnr/wide/mesh.h"

enum { EXIT_FAILED = 1 };

void daemon_end_loop(struct daemon *d, int code)
{
    d->is_over = true;
    d->code = code;
    uv_stop(&d->loop);
}

/* End all that runs here, at once. */
void daemon_end_all(struct daemon *d)
{
    pid_t keep[RANKS_GUARDS + 1] = {0};
    uv_idle_stop(&d->starting);
    if (d->has_job)
        ranks_signal(d->ranks, SIGKILL);
    (void)ranks_guards(d->ranks, keep);
    sweep_children(keep);
}

/* mpiexec is gone, or takes this node for lost. */
void daemon_alone(void *arg)
{
    struct daemon *d = arg;
    mesh_expel_all(d->mesh);
    daemon_end_all(d);
    daemon_end_loop(d, EXIT_FAILED);
}
