/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A library that mpiexec --summary and --trace preload into the ranks: it has the MPI_ names of the
 * functions that communicate (made by tools/gen_profile.py), measures each call and calls the PMPI_
 * name. A job without these options has nothing of it. It uses MPI's public functions alone, as any
 * profiling tool does, libc, and what looks up lines of sources.
 *
 * It records from MPI_Init to MPI_Finalize, which also bring what the ranks have recorded to rank 0
 * of MPI_COMM_WORLD. Threads may call at any time: one lock guards the record.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum profile_kind {
    PROFILE_P2P,
    PROFILE_WAIT, /* for nonblocking communication */
    PROFILE_COLLECTIVE,
    PROFILE_FILE,
    PROFILE_WINDOW,
    PROFILE_SETUP, /* of communicators, and MPI_Init and MPI_Finalize */
    PROFILE_KINDS
};

struct profile_function {
    const char *name;
    enum profile_kind kind;
};
extern const struct profile_function profile_functions[]; /* made; first these two */
enum {
    PROFILE_INIT,
    PROFILE_FINALIZE
};
extern const char *const profile_kind_names[PROFILE_KINDS];

/* ---- calls ---- */

/* One call of MPI's. Calls within a call (of a callback) are not recorded. */
struct profile_span {
    uint64_t begun_ns;
    int function;
    bool is_outer;
    const char *site; /* in a trace: the place that has called; "": unknown */
    int peer, tag;    /* of a message; peer -1: none */
    int64_t bytes;
};

/* caller: where the call returns to. */
void profile_begin(struct profile_span *span, int function, void *caller);
void profile_end(struct profile_span *span);

/* ---- messages: messages.c ---- */

/* A receive, or a request that becomes one. Receives that match messages of one sender,
 * communicator and tag match them in the order in which they were posted: by that a message's two
 * ends get one name, without anything being sent. */
struct profile_post {
    uint64_t comm, order;
};

/* A message was sent in this call, to a rank of the communicator. */
void profile_sent(struct profile_span *span, MPI_Comm comm, int dest, int tag, int64_t count,
                  MPI_Datatype type);
struct profile_post profile_posted(MPI_Comm comm);
/* The message of a post is here. */
void profile_received(struct profile_span *span, const struct profile_post *post, MPI_Comm comm,
                      const MPI_Status *status);

/* A request or a message handle stands for a post, or, with is_send, for sends to come. */
struct profile_pending {
    uintptr_t handle; /* the key */
    MPI_Comm comm;
    struct profile_post post;
    bool is_send, is_persistent;
    int dest, tag;
    int64_t count;
    MPI_Datatype type;
};
void profile_pend(uintptr_t handle, const struct profile_pending *pending);
/* Forget it. *pending is what it was. Returns whether it was known. */
bool profile_unpend(uintptr_t handle, struct profile_pending *pending);
/* A persistent request starts. */
void profile_started(struct profile_span *span, MPI_Request request);
/* The request that this was is complete. */
void profile_completed(struct profile_span *span, MPI_Request request, const MPI_Status *status);

/* A call that completes some of several requests: it gets copies of what it overwrites. */
struct profile_waits {
    int count;
    MPI_Request *requests; /* as they were */
    MPI_Status *statuses;  /* for the call */
    void *memory;
    MPI_Request few_requests[8];
    MPI_Status few_statuses[8];
};
void profile_waits_begin(struct profile_waits *waits, int count, const MPI_Request requests[],
                         MPI_Status statuses[]);
/* Statuses 0 to count - 1 are of requests[indices[i]], or requests[i] where indices is NULL. */
void profile_waits_end(struct profile_waits *waits, struct profile_span *span, int count,
                       const int indices[]);

/* A communicator was made: all members see those with the same members in the same order. parent:
 * whose members it has, or MPI_COMM_NULL. */
void profile_comm_made(MPI_Comm comm, MPI_Comm parent);
void profile_comm_gone(MPI_Comm comm);

/* Begin: MPI_COMM_WORLD and MPI_COMM_SELF are known from here on. */
void messages_open(void);
/* Write both ends' part of each message that was received to the trace. */
void messages_write_receives(void);
/* End: communicators are noted no more. Held by the caller: profile_lock. */
void messages_close(void);

/* ---- windows: epochs.c ---- */

enum profile_epoch {
    PROFILE_FENCE,
    PROFILE_START,
    PROFILE_EXPOSURE, /* from MPI_Win_post to MPI_Win_wait */
    PROFILE_LOCK,
    PROFILE_LOCK_ALL,
    PROFILE_ANY_EPOCH
};

/* An operation on so many elements at a rank of a window. */
void profile_operated(struct profile_span *span, int target, int64_t count, MPI_Datatype type);
/* target: of a lock; otherwise -1. */
void profile_epoch_begins(MPI_Win win, enum profile_epoch kind, int target);
/* It ends where a call begins. */
void profile_epoch_ends(const struct profile_span *span, MPI_Win win, enum profile_epoch kind,
                        int target);

/* ---- the trace: trace.c ---- */

/* Times in ns of this process's clock. Held by the caller: profile_lock. */
void trace_open(const char *path, int rank);
bool trace_is_open(void);
/* A call has begun. Needs no lock. */
void trace_begin(const struct profile_span *span, int thread);
void trace_span(const struct profile_span *span, uint64_t ended_ns, int thread);
/* One end of a message, within a call. */
void trace_flow(uint64_t id, bool is_send, uint64_t at_ns, int thread);
/* An epoch that was open from at_ns[0] to at_ns[1]. */
void trace_epoch(enum profile_epoch kind, int target, uint64_t id, const uint64_t at_ns[2],
                 int thread);
/* Bring the parts of all ranks to rank 0, which writes the file. Collective. */
void trace_merge(MPI_Comm comm);

/* ---- places in the program: site.c ---- */

/* The place that has called MPI, by the address that the call returns to: "ring+0x12ab", or "". Where that is
 * Fortran's library, the place that has called it. Any thread may call it. */
const char *site_text(void *caller);
/* The source lines of those that are known, as "\nring+0x12ab\tring.c:12\n...". The caller frees it; NULL: no
 * memory. Nothing else may be called at that time. Slow. */
char *site_lines(void);

/* ---- a rank's part of it: part.c ---- */

/* Make the file, with a title in its first lines. Returns 0 or an errno. */
int part_open(const char *path, const char *title);
bool part_is_open(void);
/* Append lines. Returns 0, or an errno where the file can have no more: once, then 0. */
int part_put(const char *text, size_t len);
/* The line of the call that a thread, from 1 on, has open; empty: none. Each thread has its own place. */
void part_set_open(int thread, const char *text, size_t len);
/* Read on from where the last one ended. Returns how many bytes; 0 at the end. */
size_t part_read(char *bytes, size_t len);
void part_close(void);

/* ---- the summary: summary.c ---- */

/* Begin and end counting messages. */
void summary_open(void);
/* And wait until all ranks have come so far. Collective. */
void summary_meet(MPI_Comm comm);
/* Bring all ranks' figures to rank 0, which prints them, and writes them to a file where path is
 * not "1". seconds: in MPI, by kind. Collective. */
void summary_report(MPI_Comm comm, const char *path, double elapsed, const double *seconds,
                    uint64_t calls);

/* ---- profile.c ---- */

void profile_lock(void);
void profile_unlock(void);
uint64_t profile_now_ns(void);
int profile_thread(void);

#endif
