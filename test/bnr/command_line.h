/* SPDX-License-Identifier: BSD-3-Clause */

/* Command lines of mpiexec for tests of its options. */
#ifndef TEST_BNR_COMMAND_LINE_H
#define TEST_BNR_COMMAND_LINE_H

#include <stdio.h>
#include <string.h>

enum { WORDS = 32 };

/* A command line cut at blanks; the copy lives as long as the words. */
struct line {
    char copy[512];
    char *argv[WORDS];
    int argc;
};

static inline void split(struct line *l, const char *text)
{
    snprintf(l->copy, sizeof(l->copy), "mpiexec %s", text);
    l->argc = 0;
    for (char *w = strtok(l->copy, " "); w && l->argc < WORDS - 1; w = strtok(NULL, " "))
        l->argv[l->argc++] = w;
    l->argv[l->argc] = NULL;
}

#endif
