/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Error handlers: predefined, or of the user; and the slot of an object that has one. What calls them is
 * in mpi/comm/errh.h.
 */
#ifndef MPI_ERRH_HANDLER_H
#define MPI_ERRH_HANDLER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/handle.h"
#include "os/lock.h"

enum errh_kind {
    ERRH_USER = 0, /* a user's function */
    ERRH_FATAL,    /* predefined handlers, from here on: not counted */
    ERRH_ABORT,
    ERRH_RETURN
};

/* The kinds of objects that have error handlers. A user's function is for one of the kinds. */
enum errh_on { ERRH_COMM, ERRH_WIN, ERRH_FILE, ERRH_SESSION };

union errh_function {
    MPI_Comm_errhandler_function *comm;
    MPI_Win_errhandler_function *win;
    MPI_File_errhandler_function *file;
    MPI_Session_errhandler_function *session;
    MPIX_Comm_errhandler_function_x *comm_x; /* those that get a state */
    MPIX_Win_errhandler_function_x *win_x;
    MPIX_File_errhandler_function_x *file_x;
    MPIX_Session_errhandler_function_x *session_x;
};

/* The state of a function that gets one. */
struct errh_state {
    bool given;
    MPIX_Destructor_function *destroy; /* NULL: nothing is to be done with it */
    void *state;
};

struct errhandler {
    struct object object;
    uint8_t kind; /* enum errh_kind */
    uint8_t on;   /* ERRH_USER: enum errh_on */
    _Atomic int32_t given; /* of ERRH_USER: the number of handles that the user has */
    union errh_function function;
    struct errh_state state;
};

/* The error handler of an object. Readers need no lock for a predefined one. */
struct errh_slot {
    struct os_lock lock; /* held to change the handler, and to take a reference on a user's */
    struct errhandler *_Atomic has; /* never NULL */
};

/* Give MPI_FILE_NULL its first error handler back. The user's classes and codes stay: they may be
 * older than MPI_Init, and a session may follow. */
void errh_fini(void);

struct errhandler *errh_from(MPI_Errhandler handle); /* NULL: none */
/* The same; NULL also for a handler that is for other objects. */
struct errhandler *errh_for(MPI_Errhandler handle, enum errh_on on);
/* Give the user a handle, and the caller's reference with it; take both back. */
MPI_Errhandler errh_give(struct errhandler *errhandler);
void errh_take_back(struct errhandler *errhandler);
void errh_ref(struct errhandler *errhandler);
void errh_unref(struct errhandler *errhandler);

/* The predefined handler that was asked for when this process was started. The predefined
 * communicators begin with it, and it handles errors that concern no communicator. The second
 * function gives its name for MPI_INFO_ENV. */
struct errhandler *errh_initial(void);
const char *errh_initial_name(void);

/* Set the handler of an object, and get it with a reference. errh_start() is for an object that is
 * not visible yet, and takes the caller's reference over; errh_stop() is for one that goes. */
void errh_start(struct errh_slot *slot, struct errhandler *errhandler);
void errh_set(struct errh_slot *slot, struct errhandler *errhandler);
struct errhandler *errh_get(struct errh_slot *slot);
void errh_stop(struct errh_slot *slot);
/* Whether an error ends the process: the slot has one of the predefined handlers that do that. */
bool errh_is_fatal(const struct errh_slot *slot);
/* The slot of MPI_FILE_NULL: for files that are opened, or cannot be opened. */
extern struct errh_slot errh_file_default;

/* NULL: no memory. state may be NULL. */
struct errhandler *errh_create(enum errh_on on, union errh_function function,
                               const struct errh_state *state);

#endif
