/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Windows: memory of each member of a communicator that the others access by one-sided operations
 * (MPI-5.0 chapter 12).
 *
 * A window has a communicator of its own. Its collective context serves creation and fences; that of
 * windows carries the messages of mpi/win/win_wire.h. Reports name it by the communicator's name.
 *
 * A target is reached in one of two ways, which is settled when the window is made, and is the same
 * for all operations. Where the members of a host map its memory, an operation is a copy, or an
 * atomic instruction, by the origin itself. Every other target gets messages, and carries them out
 * in any call that makes progress, by the same instructions; the thread of mpi/win/win_helper.c
 * makes that progress while the program computes.
 */
#ifndef MPI_WIN_H
#define MPI_WIN_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/comm.h"
#include "mpi/errh_handler.h"
#include "mpi/handle.h"
#include "mpi/memory.h"
#include "mpi/name.h"
#include "mpi/win/win_reach.h"
#include "mpi/win/win_segment.h"
#include "os/hash.h"
#include "os/lock.h"

struct attr;
struct group;
struct info;
struct request;
struct win_held;
struct win_item;
struct win_queue;
struct win_server;
struct win_watch;

/* What this process may do now as an origin, beside the locks that single targets have. */
enum win_access {
    WIN_NONE,
    WIN_FENCE, /* between two fences */
    WIN_START, /* between MPI_Win_start and MPI_Win_complete */
    WIN_LOCK,  /* some targets are locked */
    WIN_LOCK_ALL
};

/* How a target is locked. */
enum win_locked {
    WIN_UNLOCKED,
    WIN_SHARED,
    WIN_EXCLUSIVE,
    WIN_NOCHECK
};

/* Of a member whose memory is mapped: where bytes are that may be accessed now. Operations read it
 * without a lock: room first. base changes only before room is stored, and unit never. */
struct win_quick {
    unsigned char *base;
    _Atomic uint64_t room; /* bytes; 0: by mpi/win/win_op.h alone */
    int64_t unit;
    uint64_t unused; /* a place is half a cache line */
};

/* A member as this process accesses it. The atomic words are read without the window's lock. */
struct win_target {
    unsigned char *base;     /* its memory: here, if it is mapped; otherwise as it knows it */
    uint64_t size;           /* bytes; 0 if it gets messages and is not known */
    int64_t unit;            /* bytes of a displacement's unit */
    struct win_queue *queue; /* its lock, mapped here; NULL: it is asked by messages */
    _Atomic bool mapped;     /* base and size are known, and operations go there directly */
    _Atomic bool open;       /* operations may go there now */
    _Atomic bool opening;    /* a thread locks it for all, within MPI_Win_lock_all */
    uint8_t locked;          /* enum win_locked */
    bool started;            /* by MPI_Win_start */
    int rank;
    /* The queue's ticket that was served, plus 1, when this process had the lock last. While that is
     * so, it may take the lock again, until return_ns; 0: not settled yet. */
    uint32_t served;
    uint64_t return_ns;
    struct win_reach reach;    /* of one of this host whose memory is not mapped */
    struct memory_place place; /* where it can be mapped from, at the first operation */
    void *map_base;            /* the mapping of size bytes made then; NULL: none */
    /* Of one that gets messages; guarded by the window's lock. */
    struct win_target *asked_next; /* in win->asked */
    bool asked;
    /* Its lock is asked for together with the first operation and the end of the epoch, or before the second one. */
    _Atomic uint8_t deferred; /* enum win_how, plus 1; 0: it is not so, or no more */
    uint64_t turn;            /* which deferred one it is */
    bool settling;            /* a thread asks for it */
    struct win_held *held;    /* the first operation; or NULL */
    bool in_epoch;            /* it was asked for a whole one */
    _Atomic bool unflushed; /* it was sent operations since it was last asked for a flush */
    uint64_t ahead;         /* bytes of messages since then */
    _Atomic int outstanding; /* items that are not complete */
    int error;         /* the first error class since the last flush */
    UT_hash_handle hh; /* in win->far, by rank */
};

/* Memory that was attached to a dynamic window. */
struct win_piece {
    struct win_piece *next;
    uintptr_t base;
    uint64_t size;
};

struct win {
    struct object object;
    int flavor;              /* MPI_WIN_FLAVOR_ */
    int size, rank;          /* of comm */
    int direct;              /* ranks below it are at their place in near: size on one host, or 0 */
    int near_count, near_me; /* members on this host; the number of this one among them */
    _Atomic bool open_all;   /* operations may go to any target now */
    int flushes;             /* that may pass until the next look: see win_may_flush() */
    unsigned turns;          /* calls of MPI_Win_lock and MPI_Win_lock_all */
    bool seldom;             /* the clock has ticked between the last two whose time is known */
    long looked_at;          /* the nanoseconds of the time of the last one of them */
    _Atomic bool used;       /* an operation was started since the last fence */
    _Atomic uint8_t access;  /* enum win_access */
    struct win_quick *quick; /* [near_count] by number on this host, as near */
    struct win_target *near; /* [near_count] */
    struct win_target *far;  /* a hash table of others that were used */
    struct win_target *_Atomic asked; /* all that ever got messages, the last one first */
    struct comm *comm;
    struct group *started; /* WIN_START: the targets */
    int *started_ranks;
    struct request **posted; /* exposure by MPI_Win_post: receives of the words that complete it */
    int posted_count;        /* -1: no such epoch */
    _Atomic int locks;       /* targets that are locked; changed under lock */
    struct win_server *server;
    void *base; /* of this process */
    MPI_Aint bytes;
    MPI_Aint unit;
    int unit_attr; /* for MPI_WIN_DISP_UNIT, saturated */
    int model;
    struct win_piece *pieces;
    struct win_segment segment; /* base NULL: no memory is shared for it */
    bool noncontiguous, no_locks;
    bool wakes;          /* members of this host that share memory wake each other */
    bool helped;         /* by mpi/win/win_helper.h */
    struct os_lock lock; /* guards far, targets' messages and locks, access, open_all, locks, turns,
                            seldom, looked_at, pieces, info, and attrs with attr.c's; nobody waits under it */
    _Atomic uint32_t tags;
    struct errh_slot errhandler;
    struct attr *attrs;
    struct info *info;
    struct name name;
    struct win_shown *shown; /* to those that reach this process, as in mpi/win/win_reach.h; or NULL */
    bool freed;
    struct win_watch *watch; /* NULL: see mpi/win/win_watch.h */
};

/* The window that was used last; or one that no handle is of, and that has no members. Its handle
 * needs no other look. */
extern struct win *win_recent __attribute__((visibility("hidden")));

static inline struct win *win_from(MPI_Win handle)
{
    struct win *recent = __atomic_load_n(&win_recent, __ATOMIC_RELAXED);
    if (__builtin_expect(handle == (MPI_Win)recent, 1))
        return recent;
    if (__builtin_expect(handle_is_constant(handle), 0))
        return 0;
    return handle_leads_to(handle, OBJECT_WIN) ? (struct win *)handle : 0;
}

static inline MPI_Win win_handle(struct win *win)
{
    return (MPI_Win)win;
}

struct win *win_create_object(void); /* NULL: no memory */
void win_destroy_object(struct win *win);

/* The member of this rank, which is in range; made on first use. NULL: no memory. */
struct win_target *win_target_slow(struct win *win, int rank);
static inline struct win_target *win_target(struct win *win, int rank)
{
    return __builtin_expect(rank < win->direct, 1) ? &win->near[rank] : win_target_slow(win, rank);
}
/* Have quick say whether a target may be accessed, or all those of this host, after a change. */
void win_allow(struct win *win, struct win_target *target);
void win_allow_all(struct win *win);
/* Map the memory of a target of this host, if it can be mapped. */
void win_map(struct win *win, struct win_target *target);
/* Whether bytes that lie there are this process's memory in the window. */
bool win_has(struct win *win, uintptr_t address, uint64_t len);
/* The rank of a member of this host. */
int win_rank_of(const struct win *win, int near);

/* Whether a member has revoked it, as far as is known here. */
static inline bool win_is_revoked(const struct win *win)
{
    return atomic_load_explicit(&win->comm->revoked, memory_order_relaxed);
}
/* For comm_watch(): that is so from now on. */
void win_revoked(void *owner);
/* Whether a member's process has failed; rank -1: that of any. */
bool win_has_failed(const struct win *win, int rank);
/* The number of failures by now, for is_done functions that are to end with a new one. */
uint32_t win_failures(void);

/* Say what keeps a window from being freed, or NULL. */
const char *win_is_busy(const struct win *win);

/* Report an error on a window. Returns the code for the caller to return. */
int win_error(struct win *win, int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));
/* A handle that is no window. */
int win_bad(MPI_Win handle, const char *function) __attribute__((cold));
/* Errors of its requests go to the same handler, until the window is freed. */
void win_set_errhandler(struct win *win, struct errhandler *errhandler);
/* Have reports name the window by its name, or as a window without one. */
void win_name_comm(struct win *win);

#endif
