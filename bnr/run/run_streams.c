/* SPDX-License-Identifier: BSD-3-Clause */

/* The streams of a job, and its door; see run_streams.h. */
#include "bnr/run/run_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bnr/core/stream/hub.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_ask.h"
#include "bnr/run/run_state.h"
#include "bnr/stdio/forward.h"
#include "bnr/streams/exchange.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/wide.h"
#include "bnr/wide/wide_orders.h"
#include "bnr/wide/wide_plan.h"
#include "os/clock.h"
#include "os/settings.h"

struct run_streams {
    struct exchange exchange;
    uv_timer_t linger;     /* ends the sleep of the loop */
    uint64_t linger_ns;    /* until then a reader of streams is waited for; 0: not yet */
    uint64_t linger_count; /* bytes that readers had taken when that was set (hub_taken_count()) */
};

static void on_linger(uv_timer_t *timer)
{
    (void)timer; /* it has ended the loop's sleep */
}

static void serve_text(void *arg, int wish, int fd)
{
    run_ask_serve(arg, wish, fd);
}

static void hear(void *arg, const struct hub_message *m)
{
    struct run *run = arg;
    if (run->stdio)
        stdio_hear(run->stdio, m);
}

void run_streams_say(void *arg, const struct hub_message *m)
{
    struct run *run = arg;
    exchange_say(&run->streams->exchange, 0, m);
}

static void hear_pipes(void *arg, const struct hub_message *m)
{
    struct run *run = arg;
    pipes_hear(run->pipes, m);
}

static void say_pipes(void *arg, const struct hub_message *m)
{
    struct run *run = arg;
    exchange_say(&run->streams->exchange, EXCHANGE_RANKS, m);
}

void run_streams_unread(void *arg, int fd)
{
    struct run *run = arg;
    pipes_unread(run->pipes, fd);
    if (run->wide)
        wide_unread(run->wide, fd);
}

static void say_far(void *arg, uint32_t node, uint32_t party, const struct hub_message *m)
{
    struct run *run = arg;
    wide_say_party(run->wide, node, party, m);
}

void run_streams_far(void *arg, uint32_t node, uint32_t party, const struct hub_message *m)
{
    struct run *run = arg;
    if (m)
        exchange_say(&run->streams->exchange, exchange_party(node, party), m);
    else
        exchange_gone(&run->streams->exchange, exchange_party(node, party));
}

void run_streams_lost(struct run *run, uint32_t node)
{
    const struct wide_plan *plan = wide_get_plan(run->wide);
    uint64_t pipes = exchange_party(node, EXCHANGE_RANKS);
    for (int r = 0; r < run->plan->nranks; r++)
        for (int fd = 1; fd < 3 && plan->node_of[r] == node; fd++)
            exchange_say(&run->streams->exchange, pipes,
                         &(struct hub_message){.kind = HUB_PUBLISH,
                                               .id = UINT32_MAX - 2 * (uint32_t)r - (uint32_t)fd,
                                               .rank = r,
                                               .tag = fd});
    exchange_node_lost(&run->streams->exchange, node);
}

static void say_given_up(struct run *run, uint64_t wait_ms)
{
    static const char *const tags[] = {"stdin", "stdout", "stderr"};
    int32_t rank = 0, tag = 0;
    uint64_t bytes = hub_untaken(run->streams->exchange.hub, &rank, &tag);
    char name[32];
    if (!bytes)
        return;
    if (tag < 3)
        snprintf(name, sizeof(name), "%s", tags[tag]);
    else
        snprintf(name, sizeof(name), "tag %d", (int)tag);
    stdio_say(run->stdio,
              "mpiexec: all ranks have ended, and a reader of their streams has taken nothing for "
              "%g s: it does not get the last %llu bytes, of %s of rank %d and perhaps others "
              "(VIREO_READER_WAIT_MS)\n",
              (double)wait_ms / 1e3, (unsigned long long)bytes, name, (int)rank);
}

bool run_streams_linger(struct run *run)
{
    uint64_t count = hub_taken_count(run->streams->exchange.hub), now_ns = os_now_ns();
    uint64_t wait_ms = (uint64_t)os_setting(OS_SETTING_READER_WAIT_MS);
    if (hub_is_quiet(run->streams->exchange.hub))
        return false;
    if (!run->streams->linger_ns || count != run->streams->linger_count) {
        run->streams->linger_ns = now_ns + wait_ms * 1000000;
        run->streams->linger_count = count;
        uv_update_time(&run->loop); /* else it may fire early, and nothing ends the wait */
        uv_timer_start(&run->streams->linger, on_linger, wait_ms + 1, 0);
    }
    if (now_ns < run->streams->linger_ns)
        return true;
    say_given_up(run, wait_ms);
    return false;
}

int run_streams_start(struct run *run)
{
    const struct exchange_hooks hooks = {serve_text, hear, hear_pipes,
                                         run->wide ? say_far : NULL, run};
    run->streams = calloc(1, sizeof(*run->streams));
    run->pipes = calloc(1, sizeof(*run->pipes));
    if (!run->streams || !run->pipes)
        return -ENOMEM;
    uv_timer_init(&run->loop, &run->streams->linger);
    int rc = exchange_start(&run->streams->exchange, &run->loop, run->plan->nranks, &hooks);
    if (rc)
        return rc;
    return pipes_start(run->pipes, &run->loop, (uint32_t)run->plan->nranks, say_pipes, run);
}

void run_streams_stop(struct run *run)
{
    exchange_stop(&run->streams->exchange);
    pipes_close(run->pipes);
    uv_close((uv_handle_t *)&run->streams->linger, NULL);
}

void run_streams_free(struct run *run)
{
    free(run->streams);
    free(run->pipes);
}
