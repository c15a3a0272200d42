/* SPDX-License-Identifier: BSD-3-Clause */

/* A daemon's ranks: their streams, and the ends of them; see daemon_ranks.h. */
#include "bnr/daemon/daemon_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bnr/core/job.h"
#include "bnr/daemon/daemon_foreign.h"
#include "bnr/daemon/daemon_place.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/words.h"
#include "bnr/io/amend.h"
#include "bnr/io/ranks.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/serve.h"
#include "bnr/wire/launch_message.h"

static int open_pipes(void *arg, int rank, struct ranks_pipes *p)
{
    struct daemon *d = arg;
    const struct winsize size = {.ws_row = (unsigned short)d->job->wish.rows,
                                 .ws_col = (unsigned short)d->job->wish.columns};
    const char *readers = d->job->wish.stdin_to;
    bool reads_stdin = readers && amend_lists(readers, rank);
    if (d->job->wish.terminals && amend_lists(d->job->wish.terminals, rank))
        return ranks_pipes_open_terminal(p, reads_stdin, &size);
    if (reads_stdin && pipe2(p->pipe[0], O_CLOEXEC))
        return -errno;
    p->in = p->pipe[0][0] >= 0 ? p->pipe[0][0] : d->null_fd;
    const char *from = d->job->wish.output_from;
    enum ranks_output out = from && !amend_lists(from, rank) ? RANKS_OUTPUT_NONE : RANKS_OUTPUT_PIPE;
    int rc = ranks_pipes_open(p, 1, out);
    return rc ? rc : ranks_pipes_open(p, 2, d->job->flags & LAUNCH_MERGE ? RANKS_OUTPUT_STDOUT : out);
}

static int attach(void *arg, int rank, const struct ranks_pipes *p)
{
    struct daemon *d = arg;
    char cpus[256];
    words_tell_number(d->words, RECORD_STARTED, rank, (uint32_t)d->ranks->table.rank[rank].pid, "");
    if (d->job->flags & LAUNCH_REPORT) {
        daemon_list_cpus(d, (int)d->ranks->table.rank[rank].local_rank, cpus, sizeof(cpus));
        words_tell(d->words, RECORD_CPUS, rank, cpus, strlen(cpus));
    }
    return pipes_attach(d->pipes, rank, p->pipe[0][1], p->pipe[1][0], p->pipe[2][0]);
}

/* Tell what the rank has left for mpiexec. */
static void say_last_words(struct daemon *d, int rank, const struct job_facts *facts)
{
    int slot = table_slot(&d->ranks->table, rank);
    struct kvs log = table_log(&d->ranks->table, slot);
    char message[TABLE_MESSAGE_MAX];
    const void *text;
    size_t len;
    if ((d->job->flags & LAUNCH_REPORT) && !kvs_get(&log, "mpid.report", &text, &len))
        words_tell(d->words, RECORD_REPORT, rank, text, len);
    if (!facts->aborted)
        return;
    table_abort_message(&d->ranks->table, slot, message);
    words_tell(d->words, RECORD_ABORT, rank, message, strlen(message));
}

static void rank_ended(void *arg, int rank, const struct job_facts *facts)
{
    struct daemon *d = arg;
    say_last_words(d, rank, facts);
    pipes_rank_ended(d->pipes, rank);
    serve_rank_ended(d->serve, rank, facts);
}

static void other_ended(void *arg, int pid, int status)
{
    struct daemon *d = arg;
    (void)status;
    (void)ranks_guard_again(d->ranks, pid);
}

static void tell_missed(void *arg, int rank, int waiting)
{
    struct daemon *d = arg;
    words_tell_number(d->words, RECORD_MISSED, waiting, (uint32_t)rank, "");
}

void daemon_hear_missed(struct daemon *d)
{
    serve_hear_missed(d->serve, tell_missed, d);
}

int daemon_create_ranks(struct daemon *d, const char **step)
{
    const struct ranks_hooks hooks = {.open = open_pipes,
                                      .attach = attach,
                                      .amend = daemon_amend,
                                      .ended = rank_ended,
                                      .other_ended = other_ended,
                                      .arg = d};
    const struct launch_message *job = d->job;
    struct table_host *hosts = calloc(job->host_count, sizeof(*hosts));
    if (!hosts)
        return -ENOMEM;
    struct table_wide wide = {.hosts = hosts,
                              .host_of = job->host_of,
                              .self = -1,
                              .gid = mesh_job(d->mesh),
                              .secret = mesh_secret(d->mesh)};
    for (uint32_t h = 0; h < job->host_count; h++) {
        hosts[h].cpus = job->hosts[h].cpus;
        snprintf(hosts[h].id, sizeof(hosts[h].id), "%s", job->hosts[h].id);
        snprintf(hosts[h].name, sizeof(hosts[h].name), "%s", job->hosts[h].name);
        if (job->hosts[h].node == mesh_self(d->mesh))
            wide.self = (int)h;
    }
    struct table_spec spec = {.world_size = (int)job->world_size,
                              .app_count = (int)job->app_count,
                              .cpus = (int)d->cpus,
                              .apps = (const int *)job->app_of,
                              .universe_size = (int)job->universe_size,
                              .hosts = (int)job->host_count,
                              .wide = &wide};
    int rc = ranks_create(d->ranks, &spec, &hooks, step);
    free(hosts);
    d->has_job = !rc;
    if (!rc)
        d->ranks->apps = d->apps;
    return rc;
}

int daemon_guard_ranks(struct daemon *d, const char **step)
{
    int rc = ranks_make_folder(d->ranks, step);
    daemon_watch_foreign(d);
    return rc ? rc : ranks_guard(d->ranks, d->name, d->name_size, step);
}

void daemon_unguard_ranks(struct daemon *d)
{
    ranks_unguard(d->ranks);
}

int daemon_ranks_begin(struct daemon *d)
{
    d->ranks = calloc(1, sizeof(*d->ranks));
    return d->ranks ? 0 : -ENOMEM;
}
