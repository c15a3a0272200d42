/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A window that is watched (mpi/win/win_watch.h), the logs of its accesses as this process uses them
 * (mpi/win/win_board.h), and the sentences about those that conflict.
 */
#ifndef MPI_WIN_LOG_H
#define MPI_WIN_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/win/win_board.h"

struct busy_place;
struct pending;
struct win;

/* What members tell each other of their memory. */
struct win_told {
    uint64_t size;
    int64_t unit, no_locks;
};

struct win_watch {
    struct win_watch *next; /* of those that are watched */
    struct win *win;
    struct board board;
    struct win_told *told;  /* [size] */
    int *ranks;         /* [size] in MPI_COMM_WORLD; -1: of another job */
    _Atomic uint32_t *open; /* [size] accesses of this process in each log that are not over, at most; its holder
                               changes it */
    uint16_t *locked;   /* [size] the call that has locked it */
    uint8_t *fetched;   /* [size] a bit of each of BOARD_PLACES that something is brought from */
    _Atomic uint16_t exposed;  /* the call that has exposed the window */
    _Atomic uint16_t began;    /* the call that began the access epoch, and ... */
    _Atomic uint16_t used;     /* ... the last operation in it */
    _Atomic uint32_t serials;  /* of operations with a request, so far */
    _Atomic uint32_t version;  /* of the published clocks that this process has read */
    bool full;          /* it was told that a log is */
    struct pending *pending; /* operations with a request */
    struct known *heard; /* in words that end an exposure */
    int heard_count;
};

/* The windows that are watched. None is freed while they are visited. */
void win_log_add(struct win_watch *w);
void win_log_remove(struct win_watch *w);
void win_log_each(void (*visit)(struct win_watch *w, void *arg), void *arg);

/* End the job by a sentence: a call is wrong; or two do not go together, the second of which is this process's. */
_Noreturn void win_log_fault(const struct mpid_call_site *site, int error_class, const char *what);
_Noreturn void win_log_fault_of_two(const struct mpid_call_site *first, int first_rank,
                                    const struct mpid_call_site *second, const char *what);

/* Tell the members of this host what this process knows. */
void win_log_publish(struct win_watch *w);
/* Compare an access with those of a target's log, and note it. */
void win_log_enter(struct win_watch *w, int target, const struct board_access *new);
/* The same of an access to memory of the program, as far as that is in the window. */
void win_log_enter_place(struct win_watch *w, const struct busy_place *place, const struct board_access *as);
/* An operation has a request: its accesses end when that is freed. */
void win_log_add_request(struct win_watch *w, int target, uint32_t serial, const void *request);

/* Which accesses of this process end. */
struct win_ending {
    int via;         /* -1: any */
    bool local;      /* only those that are over with it */
    uint32_t serial; /* 0: any */
    uint32_t step;
};
void win_log_end(struct win_watch *w, const struct win_ending *e);

/* Learn what those have known that accumulated in these places. For the holder of the log. */
void win_log_learn_changed(struct board_log *log, unsigned places);
/* Something is brought from these places of a target. Later it has come: this process may know all that is known by
 * those who changed them. */
void win_log_note_fetched(struct win_watch *w, int target, unsigned places);
void win_log_learn_fetched(struct win_watch *w, int target);

#endif
