/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The words between mpiexec and its daemons when a job begins, as bytes, version 1. Numbers
 * are in network byte order; a text is its length and its bytes. No I/O.
 *
 *   order     by the daemon's stdin: its node number, its job, and the address to dial. Begins with
 *             "Vorder1\n" and the length of the rest.
 *   contact   by the first link: the daemon tells of its host, mpiexec of the nodes that it needs.
 *   launch    by an xcast: all of the job.
 *   record    in the streams between a daemon and mpiexec: u32 kind, u32 rank, u32 length, bytes.
 */
#ifndef BNR_LAUNCH_MESSAGE_H
#define BNR_LAUNCH_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/bytes.h"
#include "bnr/core/place/start_wish.h"
#include "bnr/wire/launch_tags.h"
#include "bnr/wire/texts.h"

enum {
    ORDER_PREFIX_LEN = 12,
    ORDER_LEN_MAX = 1 << 16,
    LAUNCH_ID_MAX = 191, /* of a host's id and name, without NUL */
    LAUNCH_LIMITS = 8,
    LAUNCH_RANKS_MAX = 1 << 24,
};

struct launch_order {
    uint32_t self, count, radix;
    uint64_t liveness_ns, limit_ns; /* limit: to reach mpiexec in */
    uint8_t job[16], secret[16];
    bool is_piped;              /* the link is the daemon's stdin and stdout */
    bool tells_machine;         /* it tells of its processors on stdout, and ends: see survey.h */
    struct unpacking addresses; /* of mpiexec; see addresses.h. Points into the unpacked bytes */
};

/* Begin the order; the addresses are packed behind, and then order_end() makes its bytes. */
void order_pack(struct packing *p, const struct launch_order *order);
struct bytes *order_end(struct packing *p);
/* The length of the part behind the prefix. Returns 0 or -EPROTO. */
int order_len(const uint8_t prefix[ORDER_PREFIX_LEN], size_t *len);
int order_unpack(const uint8_t *body, size_t len, struct launch_order *order);

/* A program of the job. */
struct launch_app {
    char *name, *wdir; /* wdir: never empty */
    char *path;        /* folders to seek it in before those of PATH; NULL: none */
    bool in_session;   /* its processes start in folders of their own instead */
    char **argv, **environment; /* their texts are the message's if it was unpacked */
};

/* A machine with ranks. */
struct launch_host {
    uint32_t node, cpus;
    char *id, *name;
};

enum launch_flag {
    LAUNCH_MERGE = 1,  /* stderr goes where stdout goes */
    LAUNCH_REPORT = 2, /* ranks' reports are wanted */
    LAUNCH_HOLD = 4,   /* ranks wait in MPI_Init for LAUNCH_TAG_GO */
};

struct launch_message {
    uint32_t world_size, app_count, host_count, universe_size, umask, flags;
    uint32_t hold_ms; /* how long what a rank leaves behind may hold its output */
    char *outer; /* BNR_JOB of mpiexec; may be empty */
    uint64_t limits[LAUNCH_LIMITS];
    uint64_t blocked, ignored; /* signals, as ranks start: see bnr/launch/start_signals.h */
    uint32_t *app_of, *host_of; /* by rank */
    struct launch_app *apps;
    struct texts texts; /* of all apps, if it was unpacked */
    struct launch_host *hosts;
    struct start_wish wish;    /* its texts are the message's if it was unpacked */
    struct unpacking contacts; /* the addresses of all nodes, as in a contact of mpiexec's */
};

/* Pack all but the contacts, which come behind. */
void launch_pack(struct packing *p, const struct launch_message *m);
/* Returns 0, -EPROTO, -ENOMEM; contacts points into the unpacked bytes. */
int launch_unpack(struct unpacking u, struct launch_message *m);
/* Release what launch_unpack() has made. */
void launch_fini(struct launch_message *m);

enum launch_record {
    RECORD_STARTED = 1, /* u32 pid */
    RECORD_FAILED,      /* u32 exit code, text: why rank could not be started */
    RECORD_REPORT,      /* text, for --report */
    RECORD_CPUS,        /* text, for --report: the processors that rank may use, as 0-3,7 */
    RECORD_ABORT,       /* text that an aborting rank has left */
    RECORD_ANSWER,      /* to LAUNCH_TAG_ASK: u32 its number, state, pid; text */
    RECORD_MISSED,      /* u32 other rank: it has ended without MPI_Init, which rank has called */
    RECORD_TEXT,        /* for people */
    RECORD_DEBUGGED,    /* a debugger has attached to the rank, which waits in MPI_Init */
    RECORD_TOLERANT,    /* u32 whether some rank of this host has asked that others go on after failures */
    RECORD_NAME,        /* to LAUNCH_TAG_NAME: an answer */
};

struct record {
    uint32_t kind, rank, len;
    const uint8_t *at;
};

struct bytes *record_pack(const struct record *r);
/* The next one. Returns false at the end; u->failed where the bytes are wrong. */
bool record_next(struct unpacking *u, struct record *r);

#endif
