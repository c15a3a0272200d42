/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Changes by options in the start of a rank, beside its program: what it is bound to, a debugger
 * or a window around it, its own name, the GPUs that it sees.
 */
#ifndef BNR_AMEND_H
#define BNR_AMEND_H

#include <stdbool.h>
#include <stddef.h>

struct launch;
struct start_wish;
struct place;

struct amend {
    const struct start_wish *wish;
    const struct place *place;
    char *path;   /* of a debugger or window around programs; NULL: none */
    char **agent; /* the words that run programs, NULL-terminated; NULL: none */
    char *agent_text, *agent_path; /* memory of these; the first of them */
    char **argv; /* of the rank that is being started; envp likewise */
    char **envp;
    char texts[4][256];
};

/* Find the needed files. Returns 0, or the exit status with a sentence in why; *a can be given to
 * amend_fini(). */
int amend_prepare(struct amend *a, const struct start_wish *wish, const struct place *place,
                  char why[512]);

/* Change how a rank is started. It holds until the next call. Returns 0 or -ENOMEM. */
int amend_launch(struct amend *a, int rank, int local_rank, struct launch *l);

void amend_fini(struct amend *a);

/* Whether a list of ranks, as 0,2-5 or all, has this one. */
bool amend_lists(const char *list, int rank);

#endif
