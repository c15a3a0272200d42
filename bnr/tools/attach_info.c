/* SPDX-License-Identifier: BSD-3-Clause */

/* `mpiexec --attach-info`; see attach_info.h. */
#include "bnr/tools/attach_info.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bnr/tools/jobs.h"

enum {
    ANSWER_S = 60
};

/* A line: rank, process, host, program. */
struct attach_row {
    char *field[4];
};

/* Cut the next line of text into its fields. Returns false at the end, or if one is missing. */
static bool next_row(char **text, struct attach_row *row)
{
    char *line = strsep(text, "\n");
    for (int i = 0; i < 4; i++)
        row->field[i] = strsep(&line, "\t");
    return row->field[3] != NULL;
}

/* Nothing of another process's text may steer the terminal. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 127)
            *text = '?';
}

/* The door's answer; NULL: it says nothing. */
static char *ask(struct door_link *link)
{
    struct timeval limit = {.tv_sec = ANSWER_S};
    char *text = NULL, part[4096];
    size_t size = 0;
    ssize_t len;
    FILE *all = open_memstream(&text, &size);
    if (!all)
        return NULL;
    setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while ((len = read(link->fd, part, sizeof(part))) > 0)
        (void)fwrite(part, 1, (size_t)len, all);
    bool is_whole = !fclose(all) && !len && size;
    if (is_whole) {
        make_plain(text);
        return text;
    }
    free(text);
    return NULL;
}

static int print_text(char *text)
{
    struct attach_row row;
    while (next_row(&text, &row))
        printf("%s %s %s %s\n", row.field[0], row.field[2], row.field[1], row.field[3]);
    return 0;
}

static int print_json(int job, char *text)
{
    struct attach_row row;
    json_t *list = json_array();
    int rc = 0;
    while (!rc && next_row(&text, &row)) {
        json_t *one = json_pack("{s:i,s:s,s:i,s:s}", "rank", atoi(row.field[0]), "host",
                                row.field[2], "pid", atoi(row.field[1]), "executable", row.field[3]);
        rc = json_array_append_new(list, one); /* fails where a name is not UTF-8, too */
    }
    json_t *all = json_pack("{s:i,s:o}", "job", job, "processes", list);
    if (!rc)
        rc = json_dumpf(all, stdout, JSON_INDENT(1));
    if (!rc)
        putchar('\n');
    json_decref(all);
    return rc;
}

int attach_info(int job, bool is_json)
{
    struct door_link link;
    job = job ? job : jobs_only("mpiexec");
    int rc = job ? jobs_connect(&link, job, DOOR_PROCESSES) : 0;
    if (rc)
        jobs_explain("mpiexec", job, rc);
    if (!job || rc)
        return EXIT_FAILURE;
    char *text = ask(&link);
    door_link_close(&link);
    if (!text)
        fputs("mpiexec: the job has ended, has no ranks yet, or refuses to answer this user\n",
              stderr);
    else if ((is_json ? print_json(job, text) : print_text(text)) || fflush(stdout))
        fputs("mpiexec: the processes could not be written\n", stderr);
    else
        rc = 1;
    free(text);
    return rc ? EXIT_SUCCESS : EXIT_FAILURE;
}
