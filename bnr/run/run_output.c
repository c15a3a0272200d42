/* SPDX-License-Identifier: BSD-3-Clause */

/* What ranks write and read; see run_output.h. */
#include "bnr/run/run_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/io/amend.h"
#include "bnr/io/aside.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_end.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_streams.h"
#include "bnr/run/run_table.h"
#include "bnr/run/run_terminal.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/stdio/json_lines.h"
#include "bnr/stdio/prefix.h"
#include "bnr/stdio/terminal.h"
#include "bnr/stdio/xml_lines.h"
#include "os/settings.h"

enum {
    EXIT_FAILED = 1
};

struct run_output {
    struct prefix prefix;
    struct lines_labels labels;
};

/* ---- files ---- */

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

/* Open the file of a rank's stdout (0) or stderr (1) while the loop goes on. Returns a descriptor,
 * -ECANCELED where the job ends meanwhile, or -errno. */
static int open_file_aside(struct run *run, int stream, int rank)
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

/* A file of what a rank writes to fd cannot be written: the job ends. */
static void file_failed(void *arg, int rank, int fd, int rc)
{
    struct run *run = arg;
    char name[PATH_MAX] = "";
    (void)outfile_name(&run->plan->files, run->plan->files.pattern[fd - 1], rank, name, sizeof(name));
    stdio_say(run->stdio, "mpiexec: cannot write '%s', which has what rank %d writes to %s: %s\n",
              name, rank, fd == 1 ? "stdout" : "stderr", strerror(-rc));
    if (run->job.state == JOB_RUNNING)
        run_follow(run, job_end(&run->job, JOB_BROKEN, EXIT_FAILED));
}

/* ---- the ends that ranks get ---- */

/* Make what a rank writes stream i to: a pipe, its file, or the pipe of its stdout. */
static int open_output(struct run *run, int rank, int i, struct ranks_pipes *p)
{
    const char *from = run->plan->start.output_from;
    if (from && !amend_lists(from, rank))
        return ranks_pipes_open(p, i, RANKS_OUTPUT_NONE);
    if (i == 2 && run->plan->merge)
        return ranks_pipes_open(p, i, RANKS_OUTPUT_STDOUT);
    if (!run->plan->files.pattern[i - 1] || run->plan->files.is_copied)
        return ranks_pipes_open(p, i, RANKS_OUTPUT_PIPE);
    p->pipe[i][1] = open_file_aside(run, i - 1, rank);
    return p->pipe[i][1] < 0 ? p->pipe[i][1] : 0;
}

static int input_for(struct run *run, int rank, const struct ranks_pipes *p)
{
    switch (stdio_input_of(run->stdio, rank)) {
    case STDIO_INPUT_PIPE: return p->pipe[0][0];
    case STDIO_INPUT_INHERIT: return 0;
    case STDIO_INPUT_NULL: break;
    }
    return run->null_fd;
}

int run_output_open(void *arg, int rank, struct ranks_pipes *p)
{
    struct run *run = arg;
    bool has_input = stdio_input_of(run->stdio, rank) == STDIO_INPUT_PIPE;
    if (run_has_terminal(run, rank)) {
        struct winsize size = terminal_size();
        return ranks_pipes_open_terminal(p, has_input, &size);
    }
    int rc = has_input && pipe2(p->pipe[0], O_CLOEXEC) ? -errno : 0;
    for (int i = 1; i < 3 && !rc; i++)
        rc = open_output(run, rank, i, p);
    p->in = input_for(run, rank, p);
    return rc;
}

/* ---- the whole ---- */

static void on_drained(void *arg)
{
    struct run *run = arg;
    run->drained = true;
}

int run_output_start(struct run *run)
{
    const struct plan *plan = run->plan;
    struct run_output *output = run->output = malloc(sizeof(*output));
    if (!output)
        return -ENOMEM;
    output->prefix = (struct prefix){plan->prefix, plan->nranks, run_table(run)};
    output->labels = (struct lines_labels){prefix_write, &output->prefix,
                                           plan->json  ? json_lines_record
                                           : plan->xml ? xml_lines_record
                                                       : NULL};
    struct stdio_config cfg = {
        .ranks = plan->nranks,
        .label = plan->prefix || plan->json || plan->xml,
        .records_fd = run->records_fd,
        .labels = &output->labels,
        .ends_unread = os_setting(OS_SETTING_OUTPUT_UNREAD) == 0,
        .stdin_to = plan->start.stdin_to,
        .drained = on_drained,
        .unread = run_streams_unread,
        .arg = run,
        .is_elsewhere = run->wide ? run_is_elsewhere : NULL,
        .files = &plan->files,
        .file_failed = file_failed,
        .has_terminal = plan->start.terminals ? run_has_terminal : NULL,
        .say = run_streams_say,
    };
    return stdio_create(&run->stdio, &run->loop, &cfg);
}

void run_output_settle(struct run *run)
{
    while (!run->abandoned && !stdio_is_idle(run->stdio))
        uv_run(&run->loop, UV_RUN_ONCE);
    run->drained = !run->abandoned;
    if (run->drained)
        stdio_end(run->stdio);
}

int run_output_judge(const struct run *run)
{
    terminal_release();
    if (stdio_error(run->stdio))
        fprintf(stderr, "mpiexec: output was lost: %s\n", strerror(-stdio_error(run->stdio)));
    return stdio_error(run->stdio) || stdio_has_lost(run->stdio) ? EXIT_FAILED : 0;
}

void run_output_stop(struct run *run)
{
    stdio_destroy(run->stdio);
    aside_stop();
}

void run_output_free(struct run *run)
{
    free(run->output);
}
