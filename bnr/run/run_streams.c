/* SPDX-License-Identifier: BSD-3-Clause */

/* The job's door: processes that come in by it get reports, and streams, which meet in the hub. See
 * run_state.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/core/bytes.h"
#include "bnr/io/aside.h"
#include "bnr/run/run_state.h"
#include "bnr/wide/wide.h"
#include "bnr/plan/plan.h"
#include "bnr/wire/hub_frame.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    EXIT_FAILED = 1
};

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

void run_ask_start(struct run *run)
{
    char programs[80];
    name_programs(run->plan, programs, sizeof(programs));
    ask_start(&run->ask, &run->loop, &run->ranks.table, programs);
    run->has_ask = true;
}

static void on_linger(uv_timer_t *timer)
{
    (void)timer; /* it has ended the loop's sleep */
}

/* The ranks' processes, as DOOR_PROCESSES has them; NULL: no memory. */
static char *list_processes(const struct run *run)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return NULL;
    for (int r = 0; r < run->plan->nranks; r++) {
        const struct tell_process *p = &run->processes[r];
        if (p->pid)
            fprintf(to, "%d\t%d\t%s\t%s\n", r, p->pid, p->host, p->program);
    }
    return fclose(to) ? NULL : text;
}

static void serve_text(void *arg, int wish, int fd)
{
    struct run *run = arg;
    if (!run->has_ask) {
        close(fd);
    } else if (wish == DOOR_JOB) {
        char digits[2 * sizeof(run->ranks.table.head->gid) + 1];
        bytes_digits(digits, run->ranks.table.head->gid, sizeof(run->ranks.table.head->gid));
        ask_send(&run->ask, fd, digits);
    } else if (wish == DOOR_PROCESSES) {
        char *text = list_processes(run);
        ask_send(&run->ask, fd, text ? text : "");
        free(text);
    } else {
        ask_serve(&run->ask, fd);
    }
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
    exchange_say(&run->exchange, 0, m);
}

static void hear_pipes(void *arg, const struct hub_message *m)
{
    struct run *run = arg;
    pipes_hear(&run->pipes, m);
}

static void say_pipes(void *arg, const struct hub_message *m)
{
    struct run *run = arg;
    exchange_say(&run->exchange, EXCHANGE_RANKS, m);
}

void run_streams_unread(void *arg, int fd)
{
    struct run *run = arg;
    pipes_unread(&run->pipes, fd);
    if (run->wide)
        wide_unread(run->wide, fd);
}

/* A file that is being opened. */
struct file_opening {
    struct aside_work work;
    const struct outfile *files;
    int stream, rank, fd;
    bool is_done, is_left; /* nobody wants it any more */
};

static void open_file(struct aside_work *work)
{
    struct file_opening *o = (struct file_opening *)work;
    o->fd = outfile_open(o->files, o->stream, o->rank);
}

static void on_opened(struct aside_work *work)
{
    struct file_opening *o = (struct file_opening *)work;
    o->is_done = true;
    if (!o->is_left)
        return;
    if (o->fd >= 0)
        close(o->fd);
    free(o);
}

int run_open_file(struct run *run, int stream, int rank)
{
    struct file_opening *o = calloc(1, sizeof(*o));
    if (!o)
        return -ENOMEM;
    *o = (struct file_opening){.work = {.run = open_file, .done = on_opened},
                               .files = &run->plan->files,
                               .stream = stream,
                               .rank = rank};
    aside_start(&run->loop, &o->work);
    while (!o->is_done && run->job.state == JOB_RUNNING)
        uv_run(&run->loop, UV_RUN_ONCE);
    o->is_left = !o->is_done;
    int fd = o->is_done ? o->fd : -ECANCELED;
    if (o->is_done)
        free(o);
    return fd;
}

void run_file_failed(void *arg, int rank, int fd, int rc)
{
    struct run *run = arg;
    char name[PATH_MAX] = "";
    (void)outfile_name(&run->plan->files, run->plan->files.pattern[fd - 1], rank, name, sizeof(name));
    stdio_say(run->stdio, "mpiexec: cannot write '%s', which has what rank %d writes to %s: %s\n",
              name, rank, fd == 1 ? "stdout" : "stderr", strerror(-rc));
    if (run->job.state == JOB_RUNNING)
        run_follow(run, job_end(&run->job, JOB_BROKEN, EXIT_FAILED));
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
        exchange_say(&run->exchange, exchange_party(node, party), m);
    else
        exchange_gone(&run->exchange, exchange_party(node, party));
}

static void say_given_up(struct run *run, uint64_t wait_ms)
{
    static const char *const tags[] = {"stdin", "stdout", "stderr"};
    int32_t rank = 0, tag = 0;
    uint64_t bytes = hub_untaken(run->exchange.hub, &rank, &tag);
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
    uint64_t count = hub_taken_count(run->exchange.hub), now_ns = os_now_ns();
    uint64_t wait_ms = (uint64_t)os_setting(OS_SETTING_READER_WAIT_MS);
    if (hub_is_quiet(run->exchange.hub))
        return false;
    if (!run->linger_ns || count != run->linger_count) {
        run->linger_ns = now_ns + wait_ms * 1000000;
        run->linger_count = count;
        uv_update_time(&run->loop); /* else it may fire early, and nothing ends the wait */
        uv_timer_start(&run->reminder, on_linger, wait_ms + 1, 0);
    }
    if (now_ns < run->linger_ns)
        return true;
    say_given_up(run, wait_ms);
    return false;
}

int run_streams_start(struct run *run)
{
    const struct exchange_hooks hooks = {serve_text, hear, hear_pipes,
                                         run->wide ? say_far : NULL, run};
    int rc = exchange_start(&run->exchange, &run->loop, run->plan->nranks, &hooks);
    if (rc)
        return rc;
    return pipes_start(&run->pipes, &run->loop, (uint32_t)run->plan->nranks, say_pipes, run);
}
