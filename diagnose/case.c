/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading a case; see case.h. */
#include "diagnose/case.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "include/diagnose.h"

enum {
    NUMBERS_MAX = 3
};

struct cursor {
    char *at, *end;
};

/* The next line without its end, or NULL. */
static char *next_line(struct cursor *c)
{
    char *line = c->at, *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
    if (!newline)
        return NULL;
    *newline = 0;
    c->at = newline + 1;
    return line;
}

/* Read so many numbers, at least 0 and single blanks between them, which are all of a line. */
static bool numbers(const char *line, int count, long values[NUMBERS_MAX])
{
    for (int i = 0; i < count; i++) {
        char *end;
        if (*line < '0' || *line > '9')
            return false;
        errno = 0;
        values[i] = strtol(line, &end, 10);
        if (errno || *end != (i < count - 1 ? ' ' : 0))
            return false;
        line = end + 1;
    }
    return true;
}

static bool read_rank(struct cursor *c, struct hang_rank *rank)
{
    char *line = next_line(c);
    long n[NUMBERS_MAX];
    if (!line || !*line || !strchr("ASLNFE", *line) || line[1] != ' ' || !numbers(line + 2, 3, n) ||
        n[0] > INT32_MAX || n[1] > INT32_MAX || n[2] > c->end - c->at)
        return false;
    *rank = (struct hang_rank){.state = (enum diagnose_state) * line,
                               .status = (int)n[0],
                               .pid = (int)n[1],
                               .text = c->at,
                               .len = (size_t)n[2]};
    c->at += n[2];
    return true;
}

int case_read(struct hang_case *input, char *text, size_t len)
{
    size_t head = sizeof(DIAGNOSE_HEAD) - 1;
    struct cursor c = {text + head, text + len};
    long n[NUMBERS_MAX];
    *input = (struct hang_case){0};
    if (len < head || memcmp(text, DIAGNOSE_HEAD, head))
        return -EPROTO;
    const char *line = next_line(&c);
    char *job = line ? next_line(&c) : NULL, *host = job ? next_line(&c) : NULL;
    if (!host || !numbers(line, 2, n) || n[1] < 1 || n[1] > c.end - c.at) /* a rank has a line */
        return -EPROTO;
    struct hang_rank *ranks = calloc((size_t)n[1], sizeof(*ranks));
    bool good = ranks != NULL;
    for (long r = 0; good && r < n[1]; r++)
        good = read_rank(&c, &ranks[r]);
    if (!good || c.at != c.end) {
        int rc = ranks ? -EPROTO : -ENOMEM;
        free(ranks);
        return rc;
    }
    input->ranks = ranks;
    input->question = (struct hang_question){
        .ranks = ranks, .count = (int)n[1], .took_ms = n[0], .job = job, .host = host};
    return 0;
}

void case_free(struct hang_case *input)
{
    free(input->ranks);
    *input = (struct hang_case){0};
}
