/* SPDX-License-Identifier: BSD-3-Clause */

/* How ranks are started; see amend.h. */
#include "bnr/io/amend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/place/start_wish.h"
#include "bnr/io/place.h"
#include "bnr/launch/launch.h"

enum {
    WORDS_AROUND = 8, /* at most, before a program's own */
    GPU_VARIABLES = 3
};

bool amend_lists(const char *list, int rank)
{
    if (!strncmp(list, "all", 3) || !strncmp(list, "-1", 2))
        return true;
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (rank >= first && rank <= last)
            return true;
        list = end + (*end == ',');
    }
    return false;
}

static int prepare_agent(struct amend *a, char why[512])
{
    int n = 0;
    a->agent_text = strdup(a->wish->agent);
    a->agent = calloc(strlen(a->wish->agent) / 2 + 2, sizeof(*a->agent));
    snprintf(why, 512, "out of memory");
    if (!a->agent_text || !a->agent)
        return LAUNCH_NOT_FOUND;
    for (char *rest = a->agent_text, *word; (word = strsep(&rest, " "));)
        if (*word)
            a->agent[n++] = word;
    int rc = n ? launch_find(a->agent[0], &a->agent_path, why) : 0;
    if (n)
        a->agent[0] = a->agent_path;
    return rc;
}

int amend_prepare(struct amend *a, const struct start_wish *wish, const struct place *place,
                  char why[512])
{
    const char *around = wish->debugs ? "gdb" : wish->xterm ? "xterm" : NULL;
    *a = (struct amend){.wish = wish, .place = place};
    int rc = around ? launch_find(around, &a->path, why) : 0;
    return !rc && wish->agent ? prepare_agent(a, why) : rc;
}

static int count(char *const *list)
{
    int n = 0;
    while (list[n])
        n++;
    return n;
}

/* The words that run around the program of a rank. Returns how many there are. */
static int put_around(struct amend *a, int rank, char **words)
{
    int n = 0;
    if (a->wish->debugs) {
        words[n++] = "gdb";
        words[n++] = "-q";
        words[n++] = "--args";
    } else if (a->wish->xterm && amend_lists(a->wish->xterm, rank)) {
        snprintf(a->texts[0], sizeof(a->texts[0]), "rank %d", rank);
        words[n++] = "xterm";
        words[n++] = "-T";
        words[n++] = a->texts[0];
        if (strchr(a->wish->xterm, '!'))
            words[n++] = "-hold";
        words[n++] = "-e";
    }
    return n;
}

/* The command line of a rank. */
static int amend_words(struct amend *a, int rank, struct launch *l)
{
    char *around[WORDS_AROUND];
    int windows = put_around(a, rank, around), agents = a->agent ? count(a->agent) : 0;
    int n = windows + agents, own = count(l->argv);
    if (!n && !a->wish->names_ranks)
        return 0;
    free(a->argv);
    a->argv = calloc((size_t)(n + own + 1), sizeof(*a->argv));
    if (!a->argv)
        return -ENOMEM;
    memcpy(a->argv, around, (size_t)windows * sizeof(*around));
    if (agents)
        memcpy(a->argv + windows, a->agent, (size_t)agents * sizeof(*a->agent));
    memcpy(a->argv + n, l->argv, (size_t)own * sizeof(*a->argv));
    if (n) {
        a->argv[n] = (char *)l->path;
        l->path = windows ? a->path : a->agent_path;
    } else {
        snprintf(a->texts[0], sizeof(a->texts[0]), "%s-%d", l->argv[0], rank);
        a->argv[0] = a->texts[0];
    }
    l->argv = a->argv;
    return 0;
}

/* Let a rank see so many GPUs, after those of the ranks before it on its host. */
static int amend_gpus(struct amend *a, int local_rank, struct launch *l)
{
    static const char *const names[GPU_VARIABLES] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                                     "ZE_AFFINITY_MASK"};
    char list[200] = "";
    int own = count(l->envp), at = 0, gpus = (int)a->wish->gpus;
    for (int i = 0; i < gpus && at < (int)sizeof(list) - 12; i++)
        at += snprintf(list + at, sizeof(list) - (size_t)at, "%s%d", i ? "," : "",
                       local_rank * gpus + i);
    free(a->envp);
    a->envp = calloc((size_t)own + GPU_VARIABLES + 1, sizeof(*a->envp));
    if (!a->envp)
        return -ENOMEM;
    int n = 0;
    for (int i = 0; i < own; i++) {
        bool is_ours = false;
        for (int v = 0; v < GPU_VARIABLES; v++)
            is_ours |= !strncmp(l->envp[i], names[v], strlen(names[v])) &&
                       l->envp[i][strlen(names[v])] == '=';
        if (!is_ours)
            a->envp[n++] = l->envp[i];
    }
    for (int v = 0; v < GPU_VARIABLES; v++) {
        snprintf(a->texts[v + 1], sizeof(a->texts[0]), "%s=%s", names[v], list);
        a->envp[n++] = a->texts[v + 1];
    }
    l->envp = a->envp;
    return 0;
}

int amend_launch(struct amend *a, int rank, int local_rank, struct launch *l)
{
    l->binding = place_of(a->place, a->wish, local_rank);
    l->stops = a->wish->stop == START_STOP_EXEC;
    int rc = amend_words(a, rank, l);
    if (!rc && a->wish->limits_gpus)
        rc = amend_gpus(a, local_rank, l);
    return rc;
}

void amend_fini(struct amend *a)
{
    free(a->path);
    free(a->agent);
    free(a->agent_text);
    free(a->agent_path);
    free(a->argv);
    free(a->envp);
}
