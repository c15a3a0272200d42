/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The manager's side of PMI-1, or of PMI-2, for one process of another MPI library: its first request chooses. Bytes of its socket become calls of the owner,
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

#include "bnr/core/pmi/pmi_spawn.h"

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
    int rank, size, app, universe, node;
    char space[PMI_SERVER_NAME]; /* the name of the key-value space */
    const char *mapping;         /* PMI_process_mapping; "": it has none */
    const char *note;            /* PMI_NOTE and lines, of the spawner; or "" */
};

struct pmi_dialect;

/* PMI-2. */
extern const struct pmi_dialect pmi_dialect_2;

struct pmi_hooks {
    const struct pmi_dialect *second; /* pmi_dialect_2 */
    void (*say)(void *arg, const char *text, size_t len);
    /* Keep a value: all processes find it after their next fence. Returns whether it is kept. */
    bool (*put)(void *arg, const char *key, const char *value);
    /* Find one, for pmi_server_found(); is_here: only if a process of this host has put it, before any fence, too. */
    void (*get)(void *arg, const char *key, bool is_here);
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
    PMI_WAITS_PUT, /* a value that is to come, from a process of this host: see pmi_server_again() */
    PMI_WAITS_FENCE,
    PMI_WAITS_ORDER
};

/* As what a key is asked, in PMI-2. */
enum pmi_asked {
    PMI_ASKED_KEY,
    PMI_ASKED_JOB,
    PMI_ASKED_NODE
};

struct pmi_server {
    const struct pmi_dialect *dialect, *first; /* that it speaks, and that of PMI-1 */
    const struct pmi_hooks *hooks;
    void *arg;
    const struct pmi_process *process;
    enum pmi_waits waits;
    enum pmi_call call;  /* that it waits for */
    enum pmi_asked asked;
    unsigned beginnings; /* how often it has begun */
    bool has_begun, is_spawning, is_hearing, is_cut;
    bool is_patient;               /* it waits for a value until that is put */
    char key[2 * PMI_SERVER_KEY];  /* of that */
    char thread[24];               /* the number that its request has, in PMI-2 */
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
/* Processes of this host may have put something: look for it again, if it waits. */
int pmi_server_again(struct pmi_server *s);
/* The fence is over; is_good: all have come. */
int pmi_server_released(struct pmi_server *s, bool is_good);
/* status: 0 or another number; text: of a name. */
int pmi_server_told(struct pmi_server *s, int status, const char *text);

#endif
