/* SPDX-License-Identifier: BSD-3-Clause */

/* `vireo streams`: show the output of ranks of a running job, or write to the stdin of one. */
#ifndef BNR_ATTACH_H
#define BNR_ATTACH_H

#include "bnr/client/door_link.h"

/* A request to a job. */
struct attach {
    int job;           /* 0: the only one */
    const char *ranks; /* "0-3,7"; NULL: all */
    int tag;           /* HUB_ANY: all; ATTACH_STANDARD: stdout and stderr */
    uint64_t from;     /* an offset, or HUB_FROM_ */
    bool is_stdin;     /* write our stdin to a rank's, instead */
    bool is_reliable;  /* hold the ranks up rather than leave bytes out */
};

enum {
    ATTACH_STANDARD = -2
};

/* Read the words behind "streams", up to NULL. Returns 0, or -EINVAL with a sentence on stderr. */
int attach_parse(struct attach *a, char **words);

/* Show it, until the job ends or the reader does. Returns the exit status. */
int attach_run(const struct attach *a, struct door_link *link);

#endif
