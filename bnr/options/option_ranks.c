/* SPDX-License-Identifier: BSD-3-Clause */

/* Options whose value is a list of ranks: those that read stdin, have a terminal, write. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/io/amend.h"
#include "bnr/options/option_reader.h"

/* Whether text lists ranks as 0,2-5. */
static bool is_rank_list(const char *text, size_t len)
{
    for (const char *at = text;; at++) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (!isdigit((unsigned char)*at))
            return false;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtol(end + 1, &end, 10);
        if (last < first || (*end != ',' && end != text + len))
            return false;
        if (end == text + len)
            return true;
        at = end;
    }
}

int option_ranks_stdin(struct reader *r, const char *option, const char *text)
{
    struct options *o = r->o;
    r->has_stdin = true;
    o->stdin_file = strchr(text, '/') ? text : NULL;
    o->plan.start.stdin_to = o->stdin_file ? "0" : strcmp(text, "none") ? text : NULL;
    if (o->stdin_file || !strcmp(text, "none") || !strcmp(text, "all") ||
        is_rank_list(text, strlen(text)))
        return 0;
    return reader_refuse(
        r, "'%s' takes none, all, ranks as 0,2-5, or a file with a folder (./FILE), not '%s'",
        option, text);
}

int option_ranks_short_stdin(struct reader *r, const char *option)
{
    const char *next = r->at < r->argc ? r->argv[r->at] : "";
    bool is_stdin = !strcmp(next, "all") || !strcmp(next, "none") ||
                    is_rank_list(next, strlen(next));
    if (!is_stdin)
        return 0;
    r->at++;
    return option_ranks_stdin(r, option, next);
}

int option_ranks_take(struct reader *r, const char *option, const char *text, const char **ranks)
{
    size_t len = strcspn(text, "!");
    bool is_all = (len == 3 && !strncmp(text, "all", 3)) || (len == 2 && !strncmp(text, "-1", 2));
    if (!is_all && !is_rank_list(text, len))
        return reader_refuse(r, "'%s' takes ranks as 0,2-5, or all, not '%s'", option, text);
    *ranks = text;
    return 0;
}

/* Which ranks have a terminal; the first of them reads stdin, if nothing else was said. */
static int settle_terminals(struct reader *r)
{
    struct options *o = r->o;
    const char *ranks = o->plan.start.terminals;
    int first = 0;
    if (!ranks)
        return 0;
    while (!amend_lists(ranks, first))
        first++;
    if (o->plan.json || o->plan.xml || o->plan.files.pattern[0] || o->plan.files.pattern[1] || o->plan.start.output_from)
        return reader_refuse(r, "what a rank with a terminal (--pty) writes can only go to "
                                "mpiexec's stdout, as it is: leave out %s",
                             o->plan.json                ? "--output json"
                             : o->plan.xml               ? "--xml"
                             : o->plan.start.output_from ? "--output-from"
                                                    : "what names files for output");
    if (r->has_stdin || !o->plan.start.stdin_to || strcmp(o->plan.start.stdin_to, "0"))
        return 0;
    char *text = NULL;
    int rc = asprintf(&text, "%d", first) < 0 ? -ENOMEM : reader_push(&o->words, text);
    o->plan.start.stdin_to = rc ? NULL : text;
    return rc;
}

/* Each number of a list is a rank. */
static int check_ranks(struct reader *r, const char *option, const char *list)
{
    while (list && isdigit((unsigned char)*list)) {
        char *end;
        long rank = strtol(list, &end, 10);
        if (rank >= r->o->plan.nranks)
            return reader_refuse(r, "'%s' names rank %ld: the last rank is %d", option, rank,
                                 r->o->plan.nranks - 1);
        list = end + strspn(end, ",-");
    }
    return 0;
}

static int check_lists(struct reader *r)
{
    const struct start_wish *wish = &r->o->plan.start;
    int rc = check_ranks(r, "--stdin", wish->stdin_to);
    if (!rc)
        rc = check_ranks(r, "--pty", wish->terminals);
    if (!rc)
        rc = check_ranks(r, "--output-from", wish->output_from);
    return rc ? rc : check_ranks(r, "--xterm", wish->xterm);
}

int option_ranks_settle(struct reader *r)
{
    int rc = check_lists(r);
    return rc ? rc : settle_terminals(r);
}
