/* SPDX-License-Identifier: BSD-3-Clause */

/* Hang reports of jobs; see reports.h. */
#include "bnr/tools/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bnr/tools/jobs.h"

enum { ANSWER_S = 60 };

/* Ranks write parts of a report: nothing of theirs may steer the terminal. */
static void make_plain(char *text, ssize_t len)
{
    for (ssize_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
            text[i] = '?';
}

static int say_failure(ssize_t len, bool any)
{
    fprintf(stderr, "vireo: %s\n",
            len > 0   ? "the report could not be written"
            : any     ? "the report broke off"
            : len < 0 ? "mpiexec does not answer"
                      : "mpiexec has ended, or refuses to answer this user");
    return EXIT_FAILURE;
}

/* Print one; a copy goes to told. */
static int print_one(int job, FILE *told)
{
    char text[4096];
    ssize_t len, any = 0;
    struct timeval limit = {.tv_sec = ANSWER_S};
    struct door_link link;
    int rc = jobs_connect(&link, job, DOOR_REPORT);
    if (rc) {
        jobs_explain("vireo", job, rc);
        return EXIT_FAILURE;
    }
    setsockopt(link.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while ((len = read(link.fd, text, sizeof(text))) > 0) {
        any = 1;
        make_plain(text, len);
        (void)fwrite(text, 1, (size_t)len, told);
        if (fwrite(text, 1, (size_t)len, stdout) != (size_t)len)
            break;
    }
    door_link_close(&link);
    return len || !any || fflush(stdout) ? say_failure(len, any) : EXIT_SUCCESS;
}

/* A job of ours. */
struct reported {
    int job;
    char id[JOBS_ID_LEN + 1];
    bool is_told;
};

/* Whether a report has these words, and behind them the id. */
static bool names_job(const char *report, const char *words, const char *id)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "%s%s", words, id);
    return strstr(report, whole) != NULL;
}

/* A copy in which all that parts two words is one blank: lines are broken anywhere. To be freed; NULL: no memory. */
static char *squeeze(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    for (; copy && *text; text++) {
        bool is_blank = *text == ' ' || *text == '\n';
        if (!is_blank || to == copy || to[-1] != ' ')
            *to++ = is_blank ? ' ' : *text;
    }
    if (copy)
        *to = 0;
    return copy;
}

/* The next job that was named, and whose report is not there. */
static struct reported *find_next(struct reported *all, int count, const char *told)
{
    char *report = squeeze(told);
    struct reported *next = NULL;
    for (int i = 0; report && i < count && !next; i++)
        if (!all[i].is_told && *all[i].id && names_job(report, "of job ", all[i].id) &&
            !names_job(report, "This job is ", all[i].id))
            next = &all[i];
    free(report);
    return next;
}

/* Print the reports of jobs that are named in what was told, until no other is. */
static int follow(struct reported *all, int count, FILE *told, char **text)
{
    struct reported *next;
    int rc = EXIT_SUCCESS;
    while (rc == EXIT_SUCCESS && !fflush(told) && (next = find_next(all, count, *text))) {
        next->is_told = true;
        printf("\nConnected:\n");
        rc = print_one(next->job, told);
    }
    return rc;
}

int reports_print(int job, bool is_alone)
{
    int jobs[JOBS_MAX], depth[JOBS_MAX];
    char *text = NULL;
    size_t len;
    FILE *told = open_memstream(&text, &len);
    if (!told) {
        fprintf(stderr, "vireo: out of memory\n");
        return EXIT_FAILURE;
    }
    int rc = print_one(job, told), count = rc || is_alone ? 0 : jobs_find(jobs, depth);
    struct reported *all = count ? calloc((size_t)count, sizeof(*all)) : NULL;
    for (int i = 0; all && i < count; i++) {
        all[i].job = jobs[i];
        if (jobs[i] != job)
            jobs_id(jobs[i], all[i].id);
    }
    if (all)
        rc = follow(all, count, told, &text);
    free(all);
    fclose(told);
    free(text);
    return rc;
}
