/* SPDX-License-Identifier: BSD-3-Clause */

/* Orders of mpiexec, at a daemon; see daemon_orders.h. */
#include "bnr/daemon/daemon_orders.h"

#include <signal.h>
#include <sys/ioctl.h>

#include "bnr/daemon/answers.h"
#include "bnr/daemon/daemon_end.h"
#include "bnr/daemon/daemon_ends.h"
#include "bnr/daemon/daemon_job.h"
#include "bnr/daemon/daemon_start.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/names_far.h"
#include "bnr/daemon/words.h"
#include "bnr/io/ranks.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/serve.h"
#include "bnr/wire/launch_tags.h"

static void on_order_to_signal(struct daemon *d, int number, int rank)
{
    if (!d->has_job || number <= 0 || number > SIGRTMAX)
        return;
    if (rank >= 0) {
        ranks_signal_one(d->ranks, rank, number);
        return;
    }
    d->ranks->is_in_grace = number == SIGINT || number == SIGTERM || number == SIGHUP;
    ranks_signal(d->ranks, number);
    if (d->ranks->is_in_grace)
        ranks_signal(d->ranks, SIGCONT); /* a stopped process hears nothing */
    if (d->ranks->is_in_grace || number == SIGKILL)
        daemon_skip_rest(d, number);
    else if (number == SIGTSTP)
        daemon_stop_starting(d);
    else if (number == SIGCONT)
        daemon_go_on_starting(d);
}

static void resize(struct daemon *d, struct unpacking u)
{
    struct winsize size = {.ws_row = (unsigned short)unpack_u32(&u)};
    size.ws_col = (unsigned short)unpack_u32(&u);
    if (d->has_job && !u.failed)
        ranks_resize(d->ranks, &size);
}

void daemon_deliver(void *arg, const struct core_message *message, struct unpacking u)
{
    struct daemon *d = arg;
    uint32_t number;
    if (message->tag == LAUNCH_TAG_LETTER && d->has_job)
        serve_deliver(d->serve, message, u);
    if (message->origin != NODE_ROOT)
        return;
    switch (message->tag) {
    case LAUNCH_TAG_JOB:
        if (mesh_has_children(d->mesh))
            mesh_write(d->mesh); /* they wait for it, too */
        daemon_start_job(d, u);
        break;
    case LAUNCH_TAG_SIGNAL:
        number = unpack_u32(&u);
        on_order_to_signal(d, (int)number, (int)unpack_u32(&u));
        break;
    case LAUNCH_TAG_GO:
        uv_timer_stop(&d->watch);
        if (d->has_job)
            ranks_release(d->ranks);
        break;
    case LAUNCH_TAG_WINDOW: resize(d, u); break;
    case LAUNCH_TAG_ENDED: daemon_note_ended(d, u); break;
    case LAUNCH_TAG_ASK:
        if (d->has_job)
            answers_ask(d->answers, &d->ranks->table, unpack_u32(&u));
        break;
    case LAUNCH_TAG_PAUSE: mesh_pause(d->mesh, unpack_u32(&u) != 0); break;
    case LAUNCH_TAG_UNREAD: pipes_unread(d->pipes, (int)unpack_u32(&u)); break;
    case LAUNCH_TAG_NAME:
        if (d->has_job)
            names_far_take(d->words, daemon_first_here(d), u);
        break;
    case LAUNCH_TAG_END:
        mesh_write(d->mesh);
        daemon_end_all(d);
        daemon_end_loop(d, 0);
        break;
    default: break;
    }
}
