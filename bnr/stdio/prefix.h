/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The beginning of each line of the ranks' output, by a pattern:
 *
 *     %r  the rank        %R  the same, with as many digits as the last rank's
 *     %h  its host        %i  its process     %s  stdout or stderr
 *     %T  the time, as 2026-03-01 14:05:09    %%  a percent sign
 *     %C  from here on in the rank's color, %c no more, where the output is a terminal
 *     %g, %p  0 (other launchers number groups and proxies)
 *
 * The rest of a line that another's line had to interrupt has "+" behind it: "[3]+ ".
 */
#ifndef BNR_PREFIX_H
#define BNR_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

struct table;

struct prefix {
    const char *pattern;
    int ranks;
    const struct table *table; /* NULL: hosts and processes are not known */
};

/* Whether a pattern has only letters that are known. */
bool prefix_is_good(const char *pattern);

/* Write the beginning of a line, cut off at size. label: the rank for its stdout, ranks more for
 * its stderr. */
void prefix_write(const void *prefix, int label, bool is_rest, char *text, size_t size);

#endif
