/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of a daemon other than orders; see daemon_events.h. */
#include "bnr/daemon/daemon_events.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "bnr/daemon/answers.h"
#include "bnr/daemon/daemon_end.h"
#include "bnr/daemon/daemon_start.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/words.h"
#include "bnr/io/ranks.h"
#include "bnr/io/signals.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/party_link.h"
#include "bnr/wide/serve.h"
#include "bnr/wire/launch_message.h"

void daemon_stream(void *arg, const struct core_message *message)
{
    struct daemon *d = arg;
    if (message->origin != NODE_ROOT)
        return;
    if (message->tag == LAUNCH_STREAM_PARTY)
        party_link_take(d->parties, message);
    else if (message->kind == MESSAGE_CREDIT)
        words_credit(d->words, message);
}

void daemon_answer(void *arg, const struct core_message *message)
{
    struct daemon *d = arg;
    if (d->has_job)
        serve_answer(d->serve, message);
}

void daemon_lost(void *arg, uint32_t node)
{
    (void)arg;
    (void)node; /* mpiexec decides */
}

void daemon_ranks_ended(void *arg, const struct core_message *message)
{
    (void)arg;
    (void)message; /* at mpiexec alone */
}

/* mpiexec cannot ask for this once the host is lost. */
static void tell_tolerant(struct daemon *d)
{
    bool is_tolerant = d->has_job && ranks_some_tolerate(d->ranks);
    if (is_tolerant == d->is_tolerant)
        return;
    d->is_tolerant = is_tolerant;
    words_tell_number(d->words, RECORD_TOLERANT, daemon_first_here(d), is_tolerant, "");
}

void daemon_moved(void *arg)
{
    struct daemon *d = arg;
    tell_tolerant(d);
    words_tick(d->words);
    party_link_tick(d->parties, false);
}

void daemon_look(void *arg)
{
    struct daemon *d = arg;
    if (d->has_job)
        serve_look(d->serve);
}

static void on_signal(void *arg, int number)
{
    struct daemon *d = arg;
    if (number == SIGCHLD) {
        if (d->has_job && ranks_reap(d->ranks))
            signals_again(d->signals, number);
    } else if (number == SIGTERM || number == SIGHUP || number == SIGINT) {
        daemon_alone(d);
    }
}

int daemon_events_begin(struct daemon *d)
{
    d->signals = calloc(1, sizeof(*d->signals));
    d->words = calloc(1, sizeof(*d->words));
    if (!d->signals || !d->words)
        return -ENOMEM;
    words_init(d->words, d->mesh);
    d->answers = answers_make(&d->loop, d->words);
    return d->answers ? signals_start(d->signals, &d->loop, on_signal, d) : -ENOMEM;
}
