/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks with another MPI library; see daemon_foreign.h. */
#include "bnr/daemon/daemon_foreign.h"

#include <stdio.h>

#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/words.h"
#include "bnr/io/foreign_watch.h"
#include "bnr/launch/launch.h"
#include "bnr/wire/launch_message.h"

static void on_found(void *arg, int rank, const char *what)
{
    struct daemon *d = arg;
    char why[600];
    snprintf(why, sizeof(why), "it %s", what);
    words_tell_number(d->words, RECORD_FAILED, rank, LAUNCH_NOT_EXECUTABLE, why);
}

void daemon_watch_foreign(struct daemon *d)
{
    if (d->job->world_size > 1)
        (void)foreign_watch_start(&d->loop, d->ranks, on_found, d); /* as long as this program runs */
}
