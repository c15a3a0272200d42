/* SPDX-License-Identifier: BSD-3-Clause */

/* Ends of ranks; see wide_ends.h. */
#include "bnr/wide/wide_ends.h"


#include "bnr/core/job.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/io/ranks.h"
#include "bnr/wide/serve.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_state.h"
#include "bnr/wire/launch_tags.h"

enum {
    TELL_MS = 2,         /* until daemons are told that ranks have ended well */
    ENDED_LEN = 1 << 16, /* bytes of ends that wait at most */
};

static void tell_ended(struct wide *w)
{
    struct packing ended = w->ended;
    w->ended = (struct packing){0};
    uv_timer_stop(&w->tell);
    if (w->is_ending)
        bytes_unref(ended.bytes);
    else
        wide_orders_give(w, LAUNCH_TAG_ENDED, &ended);
}

static void on_tell(uv_timer_t *timer)
{
    tell_ended(timer->data);
}

/* Daemons are told at once of an end that others must not wait behind; of good ones together, a
 * moment later, and when the job ends with them, not at all. */
static void note_ended(struct wide *w, const struct bytes *runs)
{
    struct unpacking u = unpack_begin(runs);
    struct rollup_run run;
    bool is_good = true;
    if (!runs)
        return;
    pack_raw(&w->ended, runs->at, runs->len);
    while (rollup_unpack(&u, &run)) {
        uint32_t flags = run.flags & (ROLLUP_INITIALIZED | ROLLUP_FINALIZED);
        is_good &= !run.status && !(run.flags & (ROLLUP_ABORTED | ROLLUP_NODE_LOST)) &&
                   flags != ROLLUP_INITIALIZED;
    }
    if (!is_good || w->ended.failed || w->ended.bytes->len > ENDED_LEN)
        tell_ended(w);
    else if (!uv_is_active((uv_handle_t *)&w->tell))
        uv_timer_start(&w->tell, on_tell, TELL_MS, 0);
}

/* How each rank of a run has ended. */
static struct job_facts facts_of(const struct rollup_run *run)
{
    bool is_aborted = (run->flags & ROLLUP_ABORTED) != 0;
    return (struct job_facts){.status = is_aborted ? 0 : (int)run->status,
                              .initialized = (run->flags & ROLLUP_INITIALIZED) != 0,
                              .finalized = (run->flags & ROLLUP_FINALIZED) != 0,
                              .aborted = is_aborted,
                              .abort_code = is_aborted ? (int)run->status : 0,
                              .tolerant = (run->flags & ROLLUP_TOLERANT) != 0};
}

void wide_ends_take(struct wide *w, const struct core_message *message)
{
    struct unpacking u = unpack_begin(message->data);
    struct rollup_run run;
    note_ended(w, message->data);
    while (rollup_unpack(&u, &run)) {
        const struct job_facts facts = facts_of(&run);
        serve_note_ended(&w->ranks->table, &run);
        for (uint32_t r = run.first; r - run.first < run.count && r < w->plan.ranks; r++)
            if (w->plan.node_of[r] != NODE_ROOT)
                w->hooks.ended(w->hooks.arg, (int)r, &facts, (run.flags & ROLLUP_NODE_LOST) != 0);
        if (serve_are_missed(&run) && ranks_communicating(w->ranks) >= 0 &&
            run.first < w->plan.ranks)
            w->hooks.missed(w->hooks.arg, (int)run.first);
    }
    if (w->is_serving)
        serve_look(w->serve);
}

void wide_ends_begin(struct wide *w)
{
    uv_timer_init(w->loop, &w->tell);
    w->tell.data = w;
}

void wide_ends_stop(struct wide *w)
{
    uv_close((uv_handle_t *)&w->tell, NULL);
}
