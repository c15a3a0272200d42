/* SPDX-License-Identifier: BSD-3-Clause */

/* Terminals of ranks, and mpiexec's own meanwhile; see run_terminal.h. */
#include "bnr/run/run_terminal.h"

#include "bnr/io/amend.h"
#include "bnr/io/ranks.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_state.h"
#include "bnr/stdio/forward.h"
#include "bnr/stdio/terminal.h"
#include "bnr/wide/wide_orders.h"

bool run_has_terminal(void *arg, int rank)
{
    const struct run *run = arg;
    const char *list = run->plan->start.terminals;
    return list && amend_lists(list, rank);
}

/* Whether typed keys go to a terminal of this rank. */
static bool is_typed_to(struct run *run, int rank)
{
    return run_has_terminal(run, rank) && stdio_input_of(run->stdio, rank) == STDIO_INPUT_PIPE;
}

void run_terminal_go_on(struct run *run)
{
    if (run->typed_to <= 0 || !terminal_grab())
        return;
    ranks_guard_terminal(run->ranks, terminal_modes());
    stdio_set_raw(run->stdio, true);
}

void run_terminal_pause(struct run *run)
{
    if (terminal_modes())
        ranks_guard_terminal(run->ranks, NULL);
    terminal_release();
    stdio_set_raw(run->stdio, false);
}

void run_terminal_begin(struct run *run)
{
    for (int r = 0; r < run->plan->nranks; r++)
        run->typed_to += is_typed_to(run, r);
    run_terminal_go_on(run);
}

void run_terminal_ended(struct run *run, int rank)
{
    if (is_typed_to(run, rank) && --run->typed_to == 0)
        run_terminal_pause(run);
}

void run_terminal_resize(struct run *run)
{
    struct winsize size = terminal_size();
    if (!run->plan->start.terminals)
        return;
    ranks_resize(run->ranks, &size);
    if (run->wide)
        wide_resize(run->wide, &size);
}
