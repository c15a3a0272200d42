/* SPDX-License-Identifier: BSD-3-Clause */

/* A job begins at a daemon; see daemon_job.h. */
#include "bnr/daemon/daemon_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/daemon/daemon_end.h"
#include "bnr/daemon/daemon_place.h"
#include "bnr/daemon/daemon_ranks.h"
#include "bnr/daemon/daemon_reach.h"
#include "bnr/daemon/daemon_start.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/daemon_streams.h"
#include "bnr/daemon/words.h"
#include "bnr/io/resources.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/start_signals.h"
#include "bnr/streams/pipes.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/serve.h"
#include "bnr/wire/launch_message.h"

enum { EXIT_FAILED = 1 };

/* The group of all ranks, for the engines. */
static int add_group(struct daemon *d)
{
    const struct launch_message *job = d->job;
    uint32_t *node_of = malloc(job->world_size * sizeof(*node_of));
    if (!node_of)
        return -ENOMEM;
    for (uint32_t r = 0; r < job->world_size; r++)
        node_of[r] = job->hosts[job->host_of[r]].node;
    int rc = rank_map_make(d->map, SERVE_GROUP, node_of, job->world_size);
    free(node_of);
    return rc ? rc : mesh_add_group(d->mesh, d->map);
}

/* Everything that is there before the first rank. Returns 0, or an exit code with a sentence. */
static int prepare(struct daemon *d, char why[512])
{
    const char *step = "make a map of the ranks";
    uint32_t ranks = rank_map_ranks_on(d->map, mesh_self(d->mesh));
    umask((mode_t)d->job->umask);
    if (resources_take(d->job->limits, ranks, LIMIT_FILES_OF_RANK, why))
        return EXIT_FAILED;
    if (ranks && limit_lacks_files(d->job->world_size - ranks, why))
        words_tell(d->words, RECORD_TEXT, daemon_first_here(d), why, strlen(why));
    start_signals_set((struct start_signals){d->job->blocked, d->job->ignored});
    if (*d->job->outer)
        setenv("BNR_JOB", d->job->outer, 1);
    else
        unsetenv("BNR_JOB");
    int rc = daemon_create_ranks(d, &step);
    if (!rc) {
        daemon_open_door(d);
        rc = daemon_guard_ranks(d, &step);
    }
    if (!rc) {
        step = "make a pipe";
        rc = serve_start(&d->serve, &d->loop, d->mesh, d->map, d->ranks);
    }
    if (!rc) {
        daemon_hear_missed(d);
        return 0;
    }
    snprintf(why, 512, "cannot prepare the job: %s: %s", step, strerror(-rc));
    return EXIT_FAILED;
}

void daemon_start_job(struct daemon *d, struct unpacking u)
{
    char why[512];
    if (d->has_groups)
        return;
    d->has_groups = true;
    if (launch_unpack(u, d->job) || add_group(d) ||
        pipes_start(d->pipes, &d->loop, d->job->world_size, daemon_pipes_say, d)) {
        daemon_alone(d);
        return;
    }
    int code = daemon_find_programs(d, why);
    if (!code)
        code = daemon_place_ranks(d, why);
    if (!code)
        code = prepare(d, why);
    if (code)
        daemon_give_up(d, code, why);
    else
        daemon_start_ranks(d);
    daemon_learn(d, d->job->contacts);
}

int daemon_job_begin(struct daemon *d)
{
    d->job = calloc(1, sizeof(*d->job));
    d->map = calloc(1, sizeof(*d->map));
    int rc = d->job && d->map ? daemon_place_begin(d) : -ENOMEM;
    rc = rc ? rc : daemon_ranks_begin(d);
    return rc ? rc : daemon_streams_begin(d);
}
