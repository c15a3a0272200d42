/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Process managers of other projects. All of them give a rank and a size, a key-value space whose values are seen after
 * a fence, an abort and a goodbye. managed.c makes a back end of BNR from that.
 *
 * A function that fails writes one line on stderr, but for -ENOENT, -ENOMEM, and -EPROTO of a damaged value. The caller
 * hands in keys that manager_takes().
 */
#ifndef BNR_MANAGER_H
#define BNR_MANAGER_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "os/log.h"

enum {
    MANAGER_KEY_MAX = 39,
    MANAGER_PATIENCE_S = 60 /* of a process in a fence, before a line tells for what it waits */
};

/* Whether all managers take a key: letters, digits and "._-", MANAGER_KEY_MAX at most. */
static inline bool manager_takes(const char *key)
{
    for (const char *c = key; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            return false;
    return strlen(key) <= MANAGER_KEY_MAX;
}

struct manager_ops;

struct manager {
    const struct manager_ops *ops;
    int rank, size;
    int appnum;   /* -1: it tells none */
    int universe; /* how many processes the job may have; 0: it tells nothing */
    void (*idle)(void *arg); /* called again and again while a call waits, where the manager allows; NULL: none */
    void *idle_arg;
};

static inline void manager_tell_wait(const struct manager *m)
{
    os_log(OS_LOG_WARN, "has waited %d s for the other processes of its job of %d: each must come to MPI_Init",
           MANAGER_PATIENCE_S, m->size);
}

struct manager_ops {
    const char *name; /* of the back end */
    /* Keep a value, of at least one byte, which others get after the next fence. Returns 0 or -errno. */
    int (*put)(struct manager *m, const char *key, const void *value, size_t len);
    /* Wait until all processes of the job have called this as often. Returns 0 or -errno. */
    int (*fence)(struct manager *m);
    /* Put a value into *value, which realloc() makes larger. Returns its length, -ENOENT, or another -errno. */
    long (*get)(struct manager *m, int owner, const char *key, unsigned char **value);
    /* Put the node of each rank into node. Returns 1, 0 if the manager does not know, or -errno. */
    int (*places)(struct manager *m, int *node);
    /* End the job. Returns only if the manager does not do so soon. */
    void (*abort)(struct manager *m, int exit_code, const char *msg);
    /* This process ends well. Frees m. */
    void (*leave)(struct manager *m);
};

/* Find the manager that started this process. Returns 0 with *m, -ENOENT if none of this kind did, or -errno. */
int pmi_find(struct manager **m);
int pmix_find(struct manager **m);

#endif
