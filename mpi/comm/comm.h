/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators: a group, a pair of contexts, and what users attach to them. context is the first
 * of several numbers; mpi/comm/context.h lists their uses.
 *
 * An intercommunicator has a remote group, to which messages go, and inside it an intracommunicator
 * of the local group, for messages within that group.
 *
 * vcs[rank] is filled at the first message to a rank; communicators over the same
 * group share the table through the group.
 */
#ifndef MPI_COMM_H
#define MPI_COMM_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/errh_handler.h"
#include "mpi/handle.h"
#include "mpi/name.h"
#include "os/lock.h"

enum {
    COMM_TAG_UB = INT32_MAX,
    /* Tags in the collective context: the numbers of collectives, from COMM_KEPT_TAG on those of
     * persistent ones, and that of context_agree(). */
    COMM_KEPT_TAG = 1 << 30,
    COMM_AGREE_TAG = INT32_MAX,
    COMM_CALLS = 4
};

struct crew;
struct group;
struct comm_hosts;
struct attr;
struct info;
struct buffer;
struct topo;

struct comm {
    struct object object;
    uint32_t context;
    int rank, size;  /* this process in the local group; size of the local group */
    int peers;       /* number of ranks that can be addressed: size, or the remote group's size */
    struct vc **vcs; /* [peers]: of the group that messages go to; NULL: not made so far */
    struct group *group;
    struct group *remote; /* NULL for an intracommunicator */
    struct comm *local;   /* of an intercommunicator: over group, at context + CONTEXT_LOCAL */
    struct errh_slot errhandler;
    void *handled; /* the handle that error handlers get: of a window whose it is; NULL: its own */
    struct os_lock lock; /* guards info; and attrs, together with attr.c's lock */
    struct attr *attrs;
    struct info *info; /* the hints; NULL: none */
    struct buffer *buffer; /* attached with MPI_Comm_attach_buffer; NULL: none */
    struct topo *topo;     /* virtual topology; NULL: none */
    const struct comm_hosts *hosts; /* comm_hosts.c's; NULL: not asked for yet */
    uint32_t coll_tag;              /* the number of the next collective on this communicator: comm_count() */
    uint32_t coll_kept_tag; /* and its persistent ones */
    _Atomic uint64_t calls[COMM_CALLS]; /* coll_note()'s: the last collectives, for the hang report */
    _Atomic uint8_t formats; /* of members' long double, once found out */
    bool no_region;        /* no memory that all members share can be had: see mpi/region/region.h */
    struct comm *newer, *older; /* comm_list.c's */
    _Atomic bool failed;        /* a member has failed: collectives end in error */
    _Atomic bool doubted; /* a rank that can send has failed, and the user has not acknowledged it */
    _Atomic uint32_t acked; /* the user has acknowledged so many of the processes that have failed */
    bool predefined;
    int spawned; /* of the process that has spawned the remote group: the job's id; else 0 */
    bool freed; /* the user has freed it: its handle leads nowhere, except for an error handler */
    _Atomic bool revoked; /* then failed is set, too */
    bool keeps_context;   /* others may still speak of it when it is freed */
    struct crew *crew;    /* crew.c's; NULL: not needed so far */
    bool fails_whole;     /* messages between survivors end with a failure, too: of a file's */
    void (*on_revoked)(void *owner); /* of a window's: see comm_watch(); NULL: nobody is told */
    void *owner;
    int in_handlers; /* errh.c's: error handlers that run for it since it was freed */
    struct name name;
};

/* The intercommunicator to the processes that have spawned this one; NULL: there is none any more. */
extern struct comm *comm_parent;
extern struct comm *_Atomic comm_constants[4]; /* by handle - MPI_COMM_NULL: NULL, world, self, NULL */
extern struct comm *_Atomic comm_revoked[4];   /* the same for those that are revoked */

/* The communicator of a handle, or NULL for a bad one and one that is revoked: errh_bad_comm() tells
 * which. For functions that work on those, too, there is comm_any(). */
static inline struct comm *comm_from(MPI_Comm handle)
{
    if (__builtin_expect(handle_is_constant(handle), 1)) {
        uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_COMM_NULL;
        return i < 4 ? comm_constants[i] : 0;
    }
    return handle_leads_to(handle, OBJECT_COMM) ? (struct comm *)handle : 0;
}

struct comm *comm_any_slow(MPI_Comm handle);
static inline struct comm *comm_any(MPI_Comm handle)
{
    struct comm *comm = comm_from(handle);
    return __builtin_expect(comm != 0, 1) ? comm : comm_any_slow(handle);
}

MPI_Comm comm_handle(const struct comm *comm);

/* Revoke it in this process: handles lead to it by comm_any() alone, and all that goes on in it ends.
 * May be called again, and by any thread. */
void comm_revoke(struct comm *comm);
/* Have fn called once it is revoked, in any thread; NULL: no more, nor is it running. It waits for nobody. One that is
 * revoked already does not call. */
void comm_watch(struct comm *comm, void (*fn)(void *owner), void *owner);
/* Why its collectives end in error, once it has failed. */
static inline int comm_failure(const struct comm *comm)
{
    return atomic_load_explicit(&comm->revoked, memory_order_relaxed) ? MPIX_ERR_REVOKED
                                                                      : MPIX_ERR_PROC_FAILED;
}

/* Change coll_tag, which reports read in any thread. */
static inline void comm_count(struct comm *comm, uint32_t number)
{
    __atomic_store_n(&comm->coll_tag, number, __ATOMIC_RELAXED);
}

/* The VC to a rank that can be addressed, made on demand; NULL: no memory. */
struct vc *comm_vc_slow(struct comm *comm, int rank);
static inline struct vc *comm_vc(struct comm *comm, int rank)
{
    struct vc *vc = __atomic_load_n(&comm->vcs[rank], __ATOMIC_ACQUIRE);
    return __builtin_expect(vc != 0, 1) ? vc : comm_vc_slow(comm, rank);
}

/* Whether a rank that can be addressed reads other numbers of this type than we write: it holds long double, which has
 * another format there. For types with type_may_be_misread(). */
bool comm_misreads(struct comm *comm, int rank, MPI_Datatype handle);
/* The same of any member. All members find alike; the first time each is asked for. */
bool comm_is_misread(struct comm *comm, MPI_Datatype handle);

/* Before all others, once: other modules may reserve space in communicators until the first one is
 * made. */
void comm_open_space(void);
/* Make MPI_COMM_WORLD and MPI_COMM_SELF; undo. */
int comm_init(const struct mpid_world *world);
void comm_fini(void);

/* Make a communicator over group (referenced), with an agreed context. The context is given back if
 * that fails, and otherwise when the communicator is freed. */
int comm_create(struct group *group, uint32_t context, struct comm **comm);
/* The same for an intercommunicator. */
int comm_create_inter(struct group *group, struct group *remote, uint32_t context,
                      struct comm **comm);
/* Drop a reference. Requests hold references, so MPI_Comm_free may come early. */
void comm_destroy(struct comm *comm);
/* What is to be done before that, with what a module keeps in a communicator; mpi/region sets it. */
extern void (*comm_at_end)(struct comm *comm);
static inline void comm_unref(struct comm *comm)
{
    if (__builtin_expect(comm && object_unref(&comm->object), 0))
        comm_destroy(comm);
}

/* Keep the hints that are understood. Returns all that are in use; NULL: no memory. */
int comm_set_hints(struct comm *comm, const struct info *info);
struct info *comm_hints(struct comm *comm);

#endif
