/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The back end of the BNR calls, chosen at BNR_Init by the environment. client.c checks arguments
 * and counts references; the back end does the rest. All functions return BNR codes.
 */
#ifndef BNR_BACKEND_H
#define BNR_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/host/kvs.h"
#include "include/bnr.h"

struct backend;

/* A message to many. */
struct backend_letter {
    int tag, mode;
    const int (*ranges)[2];
    size_t range_count;
    const void *data;
    size_t len;
};

struct backend_ops {
    const char *name;
    unsigned long long caps;

    int (*put)(struct backend *b, const char *key, const void *val, size_t len, unsigned flags);
    /* Point *val at the value, valid until the next call. Waits, by backend_idle(). */
    int (*get)(struct backend *b, int owner, const char *key, const void **val, size_t *len,
               unsigned flags);
    int (*fence)(struct backend *b);
    int (*is_alive)(struct backend *b, int rank);
    void (*locality)(struct backend *b, int rank, int *node, int *local_rank, int *local_size);
    int (*member)(struct backend *b, int node, int local_rank); /* -1: there is none */
    int (*host)(struct backend *b, int rank, BNR_Host *h);
    int (*host_memory)(struct backend *b, int rank, int *fd, unsigned long long *offset,
                       unsigned long long *size);
    int (*appnum)(struct backend *b, int *appnum);
    int (*app)(struct backend *b, int appnum, int *first, int *size);
    int (*universe_size)(struct backend *b, int *size);
    /* Fill the index-th event; ev->data must stay valid during the delivery. */
    void (*event)(struct backend *b, uint32_t index, BNR_Event *ev);
    void (*look)(struct backend *b); /* for news that nobody signals; called where callbacks run. NULL: there are none */
    void (*abort)(struct backend *b, int exit_code, const char *msg); /* does not return */
    void (*tolerate)(struct backend *b, bool on); /* NULL: nobody can be told */
    int (*answer)(struct backend *b, const void *text, size_t len);
    /* Hand a message in. NULL: there is nobody else. */
    int (*xcast)(struct backend *b, const struct backend_letter *letter);
    /* Read at most len bytes of the letters that have come. Returns how many, or a code. */
    long (*hear)(struct backend *b, void *at, size_t len);
    void (*leave)(struct backend *b);  /* the last BNR_Finalize */
    void (*rejoin)(struct backend *b); /* BNR_Init after it */
};

struct backend {
    const struct backend_ops *ops;
    int rank, size;
    BNR_Gid gid;
    unsigned char secret[16];
    const _Atomic uint32_t *events;  /* number of events so far; loaded with acquire */
    const _Atomic uint64_t *letters; /* bytes of letters to this rank so far */
    const _Atomic uint32_t *asks;    /* how often mpiexec has asked what this rank waits for */
    _Atomic uint32_t *news;          /* see BNR_Get_news(); NULL: there is none */
    int spins;                       /* how often a wait looks before it yields */
};

/* Join the job of mpiexec. Returns 0 with *b, BNR_ERR_NOT_FOUND if this process belongs to no job,
 * or another code after one line on stderr. */
int native_join(struct backend **b);
/* Join the job of another project's manager. Collective over the job. Returns as native_join() does. */
int managed_join(struct backend **b);
/* Be a group of one. Returns as native_join() does. */
int single_join(struct backend **b);

/* Whether the environment (value by name) shows that a launcher started several processes. Returns
 * 0, or 1 with the evidence in why. */
int single_is_doubtful(const char *(*value)(const char *name), char *why, size_t size);

/* The same where a manager of others says that there is one. Only srun is believed, whose step may be nearer to this
 * process than the manager. But a step of one task a node may be that of a manager's daemons, as Hydra's proxies and
 * orted are: their ranks inherit its variables. */
int single_is_doubtful_to_manager(const char *(*value)(const char *name), char *why, size_t size);

/* Whether this may be the first of them: no variable says another rank than 0. */
int single_is_first(const char *(*value)(const char *name));

/* Run the caller's progress hook and due events. Loops that wait call it. */
void backend_idle(struct backend *b);

/* Have turn called where callbacks run, and leave at the last BNR_Finalize. Returns the back end.
 */
struct backend *backend_take_turns(int (*turn)(void), void (*leave)(void));

/* The code for an outcome of kvs.h. */
static inline int backend_kvs_code(int outcome)
{
    switch (outcome) {
    case 0: return BNR_SUCCESS;
    case KVS_ABSENT: return BNR_ERR_NOT_FOUND;
    case KVS_FULL: return BNR_ERR_NOMEM;
    case KVS_EXISTS: return BNR_ERR_EXISTS;
    default: return BNR_ERR_PROTO;
    }
}

/* The exit status that stands for an abort code. */
static inline int backend_exit_code(int code)
{
    return code & 0xff ? code & 0xff : 1;
}

#endif
