/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a process manager of others gives, as far as all of them do: a rank and a size, a key-value space whose values
 * are seen after a fence, an abort and a goodbye. managed.c makes a back end of BNR from it.
 *
 * A function that fails has written one line on stderr, but for -ENOENT. Keys are letters, digits and "._-".
 */
#ifndef BNR_MANAGER_H
#define BNR_MANAGER_H

#include <stddef.h>

struct manager_ops;

struct manager {
    const struct manager_ops *ops;
    int rank, size;
    int appnum;   /* -1: it tells none */
    int universe; /* how many processes the job may have; 0: it tells nothing */
    void (*idle)(void *arg); /* called again and again while a call waits, where the manager allows; NULL: none */
    void *idle_arg;
};

struct manager_ops {
    const char *name; /* of the back end */
    /* Keep a value, of at least one byte, which others get after the next fence. Returns 0 or -errno. */
    int (*put)(struct manager *m, const char *key, const void *value, size_t len);
    /* Wait until all processes of the job have called this as often. Returns 0 or -errno. */
    int (*fence)(struct manager *m);
    /* Put a value into *value, which realloc() makes larger. Returns its length, -ENOENT, or another -errno. */
    long (*get)(struct manager *m, int owner, const char *key, unsigned char **value);
    /* Put the node of each rank into node. Returns 1, 0 where the manager tells none, or -errno. */
    int (*places)(struct manager *m, int *node);
    /* End the job; returns where the manager does not do so soon. */
    void (*abort)(struct manager *m, int exit_code, const char *msg);
    /* This process ends well. No function may be called after it. */
    void (*leave)(struct manager *m);
};

/* Find the manager that started this process. Returns 0 with *m, -ENOENT where there is none of this kind, or -errno. */
int pmi_find(struct manager **m);
int pmix_find(struct manager **m);

#endif
