/* SPDX-License-Identifier: BSD-3-Clause */

/* The programs of a daemon's ranks, and their places; see daemon_place.h. */
#include "bnr/daemon/daemon_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/daemon/daemon_start.h"
#include "bnr/daemon/daemon_state.h"
#include "bnr/daemon/words.h"
#include "bnr/io/amend.h"
#include "bnr/io/place.h"
#include "bnr/io/ranks.h"
#include "bnr/launch/library.h"
#include "bnr/wire/launch_message.h"

enum { EXIT_FAILED = 1 };

/* The programs as they are found on this machine. Returns 0, or an exit code with a sentence. */
int daemon_find_programs(struct daemon *d, char why[512])
{
    struct library_use use = {NULL, NULL};
    d->apps = calloc(d->job->app_count, sizeof(*d->apps));
    for (uint32_t a = 0; d->apps && a < d->job->app_count; a++) {
        const struct launch_app *app = &d->job->apps[a];
        const char *search = NULL;
        char path[PATH_MAX];
        for (char **e = app->environment; *e; e++)
            if (!strncmp(*e, "PATH=", 5))
                search = *e + 5;
        if (access(app->wdir, X_OK)) {
            snprintf(why, 512, "cannot enter the working folder '%.300s': %s", app->wdir,
                     strerror(errno));
            return EXIT_FAILED;
        }
        int code = launch_seek(app->name, app->wdir, app->path, search, path, why);
        if (code)
            return code;
        d->apps[a] = (struct ranks_app){.path = strdup(path),
                                        .argv = app->argv,
                                        .environment = app->environment,
                                        .wdir = app->wdir,
                                        .has_pmi = !library_is_needed(path),
                                        .in_session = app->in_session};
        if (!d->apps[a].path)
            return EXIT_FAILED;
        code = library_check(&use, d->apps[a].path, (int)d->job->world_size, why);
        if (code)
            return code;
    }
    snprintf(why, 512, "out of memory");
    return d->apps ? 0 : EXIT_FAILED;
}

int daemon_amend(void *arg, int rank, struct launch *l)
{
    struct daemon *d = arg;
    return amend_launch(d->amend, rank, (int)d->ranks->table.rank[rank].local_rank, l);
}

/* Tell people where the ranks of this machine run. */
static void show_places(struct daemon *d, const struct place_job *job)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return;
    place_show(d->place, job, to);
    if (!fclose(to) && len)
        words_tell(d->words, RECORD_TEXT, (int)job->number_of[0], text, len);
    free(text);
}

/* Say where the ranks of this machine run. Returns 0, or an exit code with a sentence. */
int daemon_place_ranks(struct daemon *d, char why[512])
{
    uint32_t *numbers = calloc(d->job->world_size, sizeof(*numbers));
    struct place_job job = {.wish = &d->job->wish, .number_of = numbers};
    snprintf(why, 512, "out of memory");
    if (!numbers)
        return EXIT_FAILED;
    for (uint32_t r = 0; r < d->job->world_size; r++)
        if (daemon_is_here(d, r))
            numbers[job.ranks++] = r;
    if (job.ranks)
        job.host = d->job->hosts[d->job->host_of[numbers[0]]].name;
    int code = place_make(d->place, &job, why) ? EXIT_FAILED : 0;
    if (!code)
        code = amend_prepare(d->amend, &d->job->wish, d->place, why);
    if (!code)
        show_places(d, &job);
    free(numbers);
    return code;
}

void daemon_list_cpus(const struct daemon *d, int local_rank, char *text, size_t size)
{
    place_list(d->place, local_rank, text, size);
}

int daemon_place_begin(struct daemon *d)
{
    d->place = calloc(1, sizeof(*d->place));
    d->amend = calloc(1, sizeof(*d->amend));
    return d->place && d->amend ? 0 : -ENOMEM;
}
