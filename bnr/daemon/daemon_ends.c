/* SPDX-License-Identifier: BSD-3-Clause */

/* Ends of ranks, at a daemon; see daemon_ends.h. */
#include "bnr/daemon/daemon_ends.h"

#include "bnr/core/tree/rollup.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/words.h"
#include "bnr/io/ranks.h"
#include "bnr/wide/serve.h"
#include "bnr/wire/launch_message.h"

void daemon_note_ended(struct daemon *d, struct unpacking u)
{
    struct rollup_run run;
    while (d->has_job && rollup_unpack(&u, &run)) {
        int waiting = ranks_communicating(d->ranks);
        if (waiting >= 0 && serve_are_missed(&run))
            words_tell_number(d->words, RECORD_MISSED, waiting, run.first, "");
        serve_note_ended(&d->ranks->table, &run);
    }
    if (d->has_job)
        serve_look(d->serve);
}
