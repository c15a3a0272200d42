/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a window's target, which its files share: win_server.c (who uses it, and answers), win_grant.c (locks on
 * behalf of origins), win_serve.c (questions and data).
 *
 * One receive for questions is posted; its handler answers and posts the next one. Handlers run one
 * at a time, so only what an asking thread of this process also uses is locked.
 */
#ifndef MPI_WIN_SERVER_H
#define MPI_WIN_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/request/p2p.h"
#include "mpi/win/win_wire.h"
#include "os/hash.h"
#include "os/lock.h"

struct comm;
struct request;
struct win;
struct win_queue;

/* An answer that is due once an origin's long puts are there; or a lock that waits. */
struct due {
    struct due *next;
    int rank;
    struct win_head head;
    _Alignas(16) unsigned char inner[]; /* of WIN_EPOCH: the question */
};

struct win_origin {
    struct win_server *server;
    int rank;
    int long_puts;    /* whose data are not there yet */
    int error;        /* the first error class since the last flush */
    uint8_t locked;   /* enum win_locked: by this origin */
    bool waits;       /* for a lock */
    struct due *dues; /* oldest first */
    UT_hash_handle hh;
};

struct win_server {
    struct win *win;        /* not used once closed */
    struct comm *comm;      /* referenced */
    _Atomic int references; /* the window's, the posted receive's, the look's, those of users */
    struct os_lock lock;    /* guards listening and closed */
    struct request *listening;
    _Atomic int users; /* of the window: a question that is handled, long puts of all origins, and
                          the lock that waits; closed comes before the last one has ended */
    bool closed;
    _Atomic bool ends; /* the same, for looks */
    struct win_origin *origins;
    struct due *waiting; /* locks, oldest first; the first one has the ticket */
    struct due *passing; /* those that pass others */
    /* An origin has got the lock for a whole epoch: carry it out, and give the lock back. */
    void (*run_epoch)(struct win_server *server, struct win_origin *origin, const struct due *due);
    bool looks;          /* look is there: may read these four */
    _Atomic bool has_ticket, passes;
    uint32_t ticket;
    bool exclusive;
    struct mpid_look look;
    struct mpid_look death; /* of a member */
    uint32_t failures;      /* up to which locks of the dead have been given back */
    _Alignas(16) unsigned char message[WIN_MESSAGE_MAX];
};

/* A question, taken apart. */
struct win_question {
    struct win_server *server;
    struct win *win;
    struct win_origin *origin;
    struct win_head head;
    const struct win_run *runs;
    const unsigned char *data;
};

/* Forget one use of it; the last one frees it. */
void win_server_unref(struct win_server *server);
/* Use the window for longer than the caller does, who uses it. */
void win_server_use(struct win_server *server);
/* Use the window. Returns whether that may begin. */
bool win_server_begin_use(struct win_server *server);
void win_server_end_use(struct win_server *server);
/* A member that has asked something; made on first use. NULL: no memory. */
struct win_origin *win_server_origin(struct win_server *server, int rank);

struct p2p_side win_server_side(const struct win_server *server, int rank, uint32_t tag);
/* The lock of this process. */
struct win_queue *win_server_queue(const struct win *win);
/* Send bytes; owned is freed once they are out. */
void win_server_answer(struct win_server *server, int rank, uint32_t tag, const void *bytes, size_t len,
                       void *owned);
/* No word: an error at the origin. */
void win_server_answer_nothing(struct win_server *server, int rank, uint32_t tag);
/* Returns whether there is memory for it. */
bool win_server_answer_word(struct win_server *server, int rank, uint32_t tag, int32_t word);

#endif
