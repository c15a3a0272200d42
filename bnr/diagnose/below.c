/* SPDX-License-Identifier: BSD-3-Clause */

/* Reports of the jobs that this one has spawned; see below.h. */
#include "bnr/diagnose/below.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/io/filter.h"
#include "os/file.h"

enum { LIMIT_MS = 30000 };

static void on_report(void *arg, const char *text, int rc)
{
    struct below_one *one = arg;
    struct below *b = one->below;
    one->filter = NULL;
    one->text = rc || !*text ? NULL : strdup(text);
    if (!--b->open)
        b->done(b->done_arg);
}

static void ask_one(struct below *b, char *program, pid_t pid)
{
    char number[16], *argv[] = {program, (char[]){"report"}, (char[]){"--alone"}, number, NULL};
    struct below_one *one = &b->one[b->count++];
    const char *step;
    snprintf(number, sizeof(number), "%d", (int)pid);
    *one = (struct below_one){.below = b, .pid = pid};
    struct filter_job job = {.argv = argv, .limit_ms = LIMIT_MS, .done = on_report, .arg = one};
    b->open += !filter_start(&one->filter, b->loop, &job, &step);
}

void below_ask(struct below *b)
{
    char program[PATH_MAX];
    uint32_t count = b->list ? b->list(b->arg, NULL) : 0;
    below_stop(b);
    pid_t *pids = count ? calloc(count, sizeof(*pids)) : NULL;
    if (!pids)
        return;
    b->list(b->arg, pids);
    os_beside(program, "vireo");
    for (uint32_t i = 0; i < count && i < BELOW_MAX; i++)
        ask_one(b, program, pids[i]);
    b->more = count > BELOW_MAX ? count - BELOW_MAX : 0;
    free(pids);
}

bool below_is_open(const struct below *b)
{
    return b->open > 0;
}

char *below_join(const struct below *b, const char *report)
{
    char *all = NULL;
    size_t len;
    FILE *to = open_memstream(&all, &len);
    if (!to)
        return NULL;
    fputs(report, to);
    for (int i = 0; i < b->count; i++) {
        fprintf(to, "\nSpawned by job %d:\n", (int)getpid());
        if (b->one[i].text)
            fputs(b->one[i].text, to);
        else
            fprintf(to, "No report on job %d: it has ended, or does not answer.\n", (int)b->one[i].pid);
    }
    if (b->more)
        fprintf(to, "\n%u more jobs that it has spawned were not asked; vireo ps lists them.\n", b->more);
    if (!fclose(to))
        return all;
    free(all);
    return NULL;
}

void below_stop(struct below *b)
{
    for (int i = 0; i < b->count; i++) {
        if (b->one[i].filter)
            filter_cancel(b->one[i].filter);
        free(b->one[i].text);
    }
    b->count = b->open = 0;
    b->more = 0;
}
