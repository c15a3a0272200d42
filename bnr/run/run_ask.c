/* SPDX-License-Identifier: BSD-3-Clause */

/* The hang report of a job; see run_ask.h. */
#include "bnr/run/run_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/core/bytes.h"
#include "bnr/diagnose/ask.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_processes.h"
#include "bnr/run/run_spawn.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_table.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wire/hub_frame.h"

/* The programs' names, without their folders: "server : worker". */
static void name_programs(const struct plan *o, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (int a = 0; a < o->napps && at < size; a++) {
        const char *name = o->apps[a].argv[0], *slash = strrchr(name, '/');
        at += (size_t)snprintf(text + at, size - at, "%s%s", a ? " : " : "",
                               slash ? slash + 1 : name);
    }
}

static uint32_t list_pids(const void *run, pid_t *pids)
{
    return run_spawn_pids(run, pids);
}

static void ask_far(void *arg, uint32_t number)
{
    struct run *run = arg;
    wide_ask(run->wide, number);
}

int run_ask_start(struct run *run)
{
    char programs[80];
    struct ask *ask = calloc(1, sizeof(*ask));
    if (!ask)
        return -ENOMEM;
    name_programs(run->plan, programs, sizeof(programs));
    ask_start(ask, &run->loop, run_table(run), programs);
    ask->below.list = list_pids;
    ask->below.arg = run;
    run->ask = ask;
    return run->wide ? ask_reach(ask, ask_far, run) : 0;
}

void run_ask_stop(struct run *run)
{
    if (run->ask)
        ask_stop(run->ask);
}

void run_ask_free(struct run *run)
{
    free(run->ask);
}

void run_ask_serve(struct run *run, int wish, int fd)
{
    if (!run->ask) {
        close(fd);
    } else if (wish == DOOR_JOB) {
        const struct table_head *head = run_table(run)->head;
        char digits[2 * sizeof(head->gid) + 1];
        bytes_digits(digits, head->gid, sizeof(head->gid));
        ask_send(run->ask, fd, digits);
    } else if (wish == DOOR_PROCESSES) {
        char *text = run_processes_list(run);
        ask_send(run->ask, fd, text ? text : "");
        free(text);
    } else {
        ask_serve(run->ask, fd);
    }
}

void run_ask_take(void *arg, int rank, struct unpacking u)
{
    struct run *run = arg;
    struct ask_far answer = {.number = unpack_u32(&u)};
    answer.state = (enum diagnose_state)unpack_u32(&u);
    answer.pid = (int)unpack_u32(&u);
    answer.text = (char *)u.at;
    answer.len = u.left;
    bool is_known = answer.state == DIAGNOSE_ANSWERED || answer.state == DIAGNOSE_SILENT ||
                    answer.state == DIAGNOSE_LATE || answer.state == DIAGNOSE_NOT_INIT ||
                    answer.state == DIAGNOSE_FINALIZED || answer.state == DIAGNOSE_ENDED;
    if (!u.failed && is_known && run->ask)
        ask_take(run->ask, rank, &answer);
}

bool run_ask_report(struct run *run, void (*done)(void *arg, const char *report))
{
    return ask_report(run->ask, done, run);
}

bool run_ask_has_ranks(const struct run *run)
{
    return ask_has_ranks(run->ask);
}
