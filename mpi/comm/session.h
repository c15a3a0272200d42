/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions (MPI-5.0 11.3) and process sets.
 *
 * Objects made from a session know it by a number in their group, so an object that outlives the
 * session does not lead to freed memory.
 *
 * Process sets: mpi://WORLD, mpi://SELF, and vireo://app/N with the processes that run the N-th
 * program of mpiexec's command line, which mpiexec --pset gives another name as well. Each is a range
 * of the world's ranks.
 */
#ifndef MPI_SESSION_H
#define MPI_SESSION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/errh_handler.h"
#include "mpi/handle.h"

struct buffer;
struct group;
struct info;

struct session {
    struct object object;
    uint64_t number;                 /* 1, 2, ...: of this process alone */
    struct errh_slot errhandler;
    struct buffer *buffer;           /* attached with MPI_Session_attach_buffer; NULL: none */
    int level;                       /* of threads, as asked for */
    struct session *next, *prev;
};

static inline struct session *session_from(MPI_Session handle) /* NULL: none */
{
    if (handle_is_constant(handle) || !handle_leads_to(handle, OBJECT_SESSION))
        return 0;
    return (struct session *)handle;
}

static inline MPI_Session session_handle(struct session *session)
{
    return (MPI_Session)session;
}

/* Make a session; NULL: no memory. The library has begun one more (mpi/start/init.h): begin with it. Or
 * it could not: free it. */
struct session *session_create(void);
void session_begin(struct session *session, int level, struct errhandler *errhandler);
void session_free(struct session *session);
/* End a session, before the library does so: its handle leads nowhere from session_close() on, also for
 * callbacks that run while its buffer is emptied; the session stays until session_destroy(). */
void session_close(struct session *session);
void session_destroy(struct session *session);

/* The buffer of the session with this number, or NULL. */
struct buffer *session_buffer(uint64_t number);

/* Report an error on a session. Returns the code for the caller to return. */
int session_error(struct session *session, int error_class, const char *function,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));
/* Report a handle that is no session; where MPI is not initialized, the error is fatal. */
int session_bad(MPI_Session handle, const char *function) __attribute__((cold));

/* All hints of a session; NULL: no memory. */
struct info *session_info(const struct session *session);

/* ---- process sets ---- */

/* Only memory of these kinds may be given to any call. */
#define SESSION_MEMORY_KINDS "mpi,system"

/* The sets that this process is in: how many, and the name of the n-th from 0 on, or "". */
int session_pset_count(void);
void session_pset_name(int n, char name[MPI_MAX_PSET_NAME_LEN]);

/* Get the world's ranks in a set, whether this process is in it or not. Returns whether there is a
 * set of this name. */
struct session_pset {
    int first, size;
};
bool session_pset(const char *name, struct session_pset *set);

#endif
