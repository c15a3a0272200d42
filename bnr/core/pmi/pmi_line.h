/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lines of PMI-1, as both sides read them. It does no I/O, and trusts no byte.
 *
 * A line is "cmd=NAME FIELD=VALUE ...", ended by a newline, which is a NUL here.
 */
#ifndef BNR_PMI_LINE_H
#define BNR_PMI_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Point *at at the value of a field, *len bytes up to the next blank. Returns false if the line has no such field. */
bool pmi_field(const char *line, const char *name, const char **at, size_t *len);
/* Copy it, with a NUL. Returns false also if it does not fit. */
bool pmi_text(const char *line, const char *name, char *to, size_t size);
/* Read it as a decimal number that an int holds. */
bool pmi_number(const char *line, const char *name, int *number);
/* Whether a line is this command. */
bool pmi_is(const char *line, const char *command);

/* Write PMI_process_mapping, "(vector,(FIRST,NODES,RANKS),...)", of so many ranks; node_of tells each one's host.
 * Returns false if it is longer than size. */
bool pmi_mapping_write(char *text, size_t size, int ranks, int (*node_of)(const void *arg, int rank), const void *arg);

#endif
