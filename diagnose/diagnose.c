/* SPDX-License-Identifier: BSD-3-Clause */

/* vireo-diagnose: reads a case from mpiexec and writes why the job does not go on; see
 * include/diagnose.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnose/hang.h"
#include "diagnose/case.h"
#include "diagnose/process.h"
#include "diagnose/site.h"
#include "include/diagnose.h"
#include "include/version.h"

enum {
    EXIT_USAGE = 2,
    CHUNK = 1 << 16
};

static const char help[] =
    "usage: " DIAGNOSE_PROGRAM " <CASE\n"
    "\n"
    "Print why a job of MPI does not go on, from what its mpiexec has collected. mpiexec\n"
    "starts this program itself; \"vireo report\" asks it to.\n";

/* Read standard input to its end: a string to free(), or NULL. */
static char *read_all(size_t *len)
{
    size_t room = CHUNK;
    char *text = malloc(room + 1);
    ssize_t n = 1;
    for (*len = 0; text && n > 0; *len += (size_t)n) {
        if (*len == room) {
            char *grown = realloc(text, (room *= 2) + 1);
            if (!grown)
                break;
            text = grown;
        }
        n = read(STDIN_FILENO, text + *len, room - *len);
        if (n <= 0)
            break;
    }
    if (text && n == 0) {
        text[*len] = 0;
        return text;
    }
    free(text);
    return NULL;
}

static char *make_report(struct hang_case *input)
{
    struct site_cache *sites = site_create();
    process_look_up(input->ranks, input->question.count);
    input->question.site = sites ? site_name : NULL;
    input->question.arg = sites;
    char *report = hang_format(&input->question);
    site_destroy(sites);
    return report;
}

int main(int argc, char **argv)
{
    struct hang_case input;
    size_t len;
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        printf(DIAGNOSE_PROGRAM " (Vireo MPI) %s\n", VIREO_VERSION);
        return EXIT_SUCCESS;
    }
    if (argc > 1) {
        fputs(help, strcmp(argv[1], "--help") ? stderr : stdout);
        return strcmp(argv[1], "--help") ? EXIT_USAGE : EXIT_SUCCESS;
    }
    char *text = read_all(&len);
    int rc = text ? case_read(&input, text, len) : -EIO;
    char *report = rc ? NULL : make_report(&input);
    if (!rc)
        case_free(&input);
    if (report)
        fputs(report, stdout);
    else
        fprintf(stderr, DIAGNOSE_PROGRAM ": %s\n",
                rc == -EPROTO ? "the input is no case of this version of mpiexec"
                : rc == -EIO  ? "the input cannot be read"
                              : "no memory for the report");
    free(report);
    free(text);
    return !report || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
