/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processors of all hosts of a job, before it is known which rank runs where: some placements,
 * as ppr:N:OBJECT, depend on them. Each other host is asked by a daemon that tells of its machine and
 * ends: it writes lines "has DIGITS", the bytes of machine_message.h in hexadecimal, and an empty
 * "has " at the end. A job that does not need this starts its daemons once, and loads no hwloc.
 */
#ifndef BNR_SURVEY_H
#define BNR_SURVEY_H

#include "bnr/core/place/start_wish.h"
#include "bnr/launch/remote.h"
#include "bnr/wire/hosts.h"
#include "bnr/wire/machine_message.h"

struct survey_wish {
    const struct hosts *hosts;
    const struct start_wish *start; /* which processors may be used */
    struct remote remote;           /* how hosts are reached; its daemon: NULL, as prefix says */
    const char *prefix;             /* or NULL */
    double timeout_s;               /* 0: none but that of each host */
};

struct survey {
    struct machine_told *machines; /* by host; this one, under several names, counts as the first */
    size_t count;                  /* 0: there was no survey */
};

/* Whether a placement on several hosts depends on their processors. */
bool survey_is_needed(const struct start_wish *start, const struct hosts *hosts);

/* Ask all hosts, and wait for what they tell. Returns 0, or with a sentence in why -EINVAL, -EIO (a host
 * does not tell), -ETIMEDOUT, -ENOMEM. The trouble with a host is said before, on stderr. */
int survey_make(struct survey *s, const struct survey_wish *wish, char why[512]);
void survey_fini(struct survey *s);

/* How many objects of a kind all hosts have together. Returns 0, or -EINVAL with a sentence in why. */
int survey_objects(const struct survey *s, const struct hosts *hosts, enum placement_level level,
                   uint64_t *count, char why[512]);

/* A daemon tells of its machine. Returns what it is to exit with. */
int survey_tell(int out_fd);

#endif
