/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The manager's side of PMI-1 for one process of another MPI library: bytes of its socket become calls of the owner,
 * and outcomes become replies. It does no I/O. The process is not trusted: a line that is too long ends the
 * conversation, and a request that makes no sense is answered so.
 *
 * One request is answered at a time; bytes behind it wait. An outcome may be told within the call that asks for it.
 *
 * A process may begin again after it has finalized, as a script does that runs several programs: its keys are others
 * then, by the number of the beginning.
 */
#ifndef BNR_PMI_SERVER_H
#define BNR_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "bnr/core/pmi_spawn.h"

enum {
    PMI_SERVER_IN = 4096,    /* bytes that wait, and so of a line */
    PMI_SERVER_KEY = 64,     /* of a key, its NUL included, as processes are told */
    PMI_SERVER_VALUE = 1024, /* likewise of a value */
    PMI_SERVER_NAME = 40     /* of the space */
};

enum pmi_call {
    PMI_CALL_SPAWN,
    PMI_CALL_PUBLISH,
    PMI_CALL_UNPUBLISH,
    PMI_CALL_LOOKUP
};

/* What the process may ask about itself and its job. */
struct pmi_process {
    int rank, size, app, universe;
    char space[PMI_SERVER_NAME]; /* the name of the key-value space */
    const char *mapping;         /* PMI_process_mapping; "": it has none */
    const char *note;            /* PMI_NOTE and lines, of the spawner; or "" */
};

struct pmi_hooks {
    void (*say)(void *arg, const char *text, size_t len);
    /* Keep a value: all processes find it after their next fence. Returns whether it is kept. */
    bool (*put)(void *arg, const char *key, const char *value);
    /* Find one, for pmi_server_found(). */
    void (*get)(void *arg, const char *key);
    /* Come to a fence of all processes, for pmi_server_released(). */
    void (*enter)(void *arg);
    /* An order to mpiexec, for pmi_server_told(): words, each with its NUL. */
    void (*order)(void *arg, enum pmi_call call, const void *words, size_t len);
    /* Where the process is; "": not known. */
    const char *(*folder)(void *arg);
    /* It has begun, or finalized. */
    void (*begun)(void *arg, bool is_over);
    /* It ends the job. */
    void (*abort)(void *arg, int code, const char *message);
};

enum pmi_waits {
    PMI_WAITS_NONE,
    PMI_WAITS_VALUE,
    PMI_WAITS_FENCE,
    PMI_WAITS_ORDER
};

struct pmi_server {
    const struct pmi_hooks *hooks;
    void *arg;
    const struct pmi_process *process;
    enum pmi_waits waits;
    enum pmi_call call;  /* that it waits for */
    unsigned beginnings; /* how often it has begun */
    bool has_begun, is_spawning, is_hearing, is_cut;
    struct pmi_spawn spawn;
    size_t len;
    char in[PMI_SERVER_IN];
};

void pmi_server_init(struct pmi_server *s, const struct pmi_hooks *hooks, void *arg, const struct pmi_process *process);
void pmi_server_fini(struct pmi_server *s);

/* How many bytes may come. 0: a request is waiting for its outcome, and as many wait behind it as may. */
static inline size_t pmi_server_room(const struct pmi_server *s)
{
    return PMI_SERVER_IN - s->len;
}

/* Bytes have come, at most so many. Returns 0, or -EPROTO: nothing more is to be heard of it. */
int pmi_server_take(struct pmi_server *s, const void *bytes, size_t len);

/* Outcomes, each only while it is waited for. Return as above. */
/* value: what was put; NULL: no such key. */
int pmi_server_found(struct pmi_server *s, const char *value);
/* The fence is over; is_good: all have come. */
int pmi_server_released(struct pmi_server *s, bool is_good);
/* status: 0 or another number; text: of a name. */
int pmi_server_told(struct pmi_server *s, int status, const char *text);

#endif
