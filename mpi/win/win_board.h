/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The accesses to a window's memory under mpiexec --check: a log for each member as a target, in memory
 * that the members of a host share, so that an access is compared with those of all origins of the host
 * as it begins. Where memory cannot be shared a member has logs of its own, and only its own accesses are
 * compared.
 *
 * An access is over in a step (mpi/known.h) of some process. Another one that begins without knowing of
 * that step is concurrent with it.
 */
#ifndef MPI_WIN_BOARD_H
#define MPI_WIN_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/known.h"
#include "mpi/type/type_stretch.h"

struct win;

enum board_kind {
    BOARD_READ,  /* by a call of MPI at the target, of its own memory */
    BOARD_WRITE, /* likewise */
    BOARD_GET,
    BOARD_PUT,
    BOARD_CHANGE, /* an accumulate */
    BOARD_COMPARE
};

struct board_access {
    struct stretch bytes; /* in the target's memory: offsets, or addresses of a dynamic window */
    uint32_t done;        /* the step that ended it; 0: none yet */
    int32_t by;           /* whose step: as origin */
    int32_t origin;       /* rank in MPI_COMM_WORLD; -1: of another job */
    int32_t via;          /* the rank in the window that completes it: the target of the operation */
    uint32_t serial;      /* of an operation with a request; otherwise 0 */
    uint16_t site;
    uint8_t kind; /* enum board_kind */
    uint8_t op;   /* enum op_code of CHANGE */
    uint8_t form, size; /* of the elements of CHANGE and COMPARE */
    bool returns;       /* over once it is complete at the origin: nothing came back before */
    bool posted;        /* within an epoch of MPI_Win_start: over once the target has waited */
};

enum { BOARD_LOG = 4096, BOARD_SITES = 512, BOARD_PLACES = 8 };

/* Guarded by busy. */
struct board_log {
    _Atomic uint32_t busy;
    uint32_t count, next; /* next: the row that is given up once all are used */
    struct known exclusive, shared;     /* what those have known that gave back a lock */
    struct known changed[BOARD_PLACES]; /* that accumulated there: by the place of the first byte */
    struct known put;                   /* that put anywhere */
    struct board_access row[BOARD_LOG];
    uint64_t first[BOARD_LOG], end[BOARD_LOG]; /* of the bytes of each row: to search through */
    int32_t open[BOARD_LOG]; /* the origin of each row that is not over; otherwise -1 */
};

struct board {
    const struct win *win;
    struct board_head *head;
    struct known *published; /* [size] what members knew last */
    struct board_log *logs;  /* [size] */
    size_t len;
    bool is_shared;
};

struct board_head {
    _Atomic uint32_t busy; /* guards sites, synced, leaked, and published */
    uint32_t sites;
    _Atomic uint32_t versions; /* of published: raised after each change */
    struct known synced; /* what those have known that called MPI_Win_sync */
    struct known leaked; /* has reached targets of other hosts without a clock */
    struct mpid_call_site site[BOARD_SITES];
};

/* Make the board of a window; all members call it. Returns MPI_SUCCESS or an error class. */
int board_make(struct board *board, struct win *win);
void board_free(struct board *board);

/* Around any use of what a word guards. Returns false if its holder seems to have died. */
bool board_hold(_Atomic uint32_t *busy);
void board_release(_Atomic uint32_t *busy);

/* Whether a target is on this host, and notes accesses in the same logs. */
bool board_is_near(const struct board *board, int target);
/* An operation or a lock is about to tell a target of now: on another host, others may hear of it there, and tell of it
 * by messages whose clock lacks it. */
void board_leak(struct board *board, int target, const struct known *now);
/* The most that this process can know. */
struct known board_known(struct board *board);

/* The number of a call site, 0: there are too many; and the site of a number. */
uint16_t board_site(struct board *board, const struct mpid_call_site *site);
struct mpid_call_site board_site_of(struct board *board, uint16_t number);

/* What makes two accesses wrong, or BOARD_FINE. */
enum board_conflict { BOARD_FINE, BOARD_RACE, BOARD_MIXED_OPS, BOARD_MIXED_TYPES };

/* The following are for the holder of a log. Find one that conflicts with a new access
 * of a process that may know so much, and the first byte and the number of those of both. */
enum board_conflict board_find(const struct board_log *log, const struct known *now, const struct board_access *new,
                               struct board_access *found, uint64_t both[2]);
/* Note an access. Returns whether another one had to be given up for it that may still matter. */
bool board_note(struct board_log *log, const struct board_access *new);
/* The first row from i on of an access of an origin that is not over; BOARD_LOG: there is none. And it is over
 * by a step of this process. */
uint32_t board_open(const struct board_log *log, uint32_t i, int32_t origin);
void board_end(struct board_log *log, uint32_t i, uint32_t step);
/* Forget what all members know to be over; this process knows no more than they do. */
void board_prune(struct board_log *log);

#endif
