/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors. Every API function ends a failure with
 *     return errh_comm(comm, MPI_ERR_TAG, __func__, "tag %d: must be 0 to %d", tag, ub);
 * which makes the text "MPI_Send: tag -3: must be ... (communicator 'x', rank 2 on host)",
 * remembers it behind the code that it returns (MPI_Error_string gives the
 * whole text while it is among the recent ones, then that of its class), and
 * calls the error handler. __func__ may carry PMPI_ and _c: both are cut off.
 *
 * Codes: an error class is a code; codes with a text are class + k *
 * ERRH_TEXT_STEP. MPI_Error_class gives the class of any.
 */
#ifndef MPI_ERRH_H
#define MPI_ERRH_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/handle.h"

struct comm;

enum errh_kind {
    ERRH_USER = 0, /* a user's function */
    ERRH_FATAL,    /* predefined handlers, from here on: not counted */
    ERRH_ABORT,
    ERRH_RETURN
};

/* Codes with a text are class + k * this; all are below MPI_ERR_LASTCODE. */
enum { ERRH_TEXT_STEP = 128 };

/* The error class that a peer has sent, or MPI_ERR_OTHER if it is none. */
static inline int errh_class_of_peer(int32_t sent)
{
    return sent >= 0 && sent < ERRH_TEXT_STEP ? sent : MPI_ERR_OTHER;
}

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

/* Report an error on a communicator. NULL: on MPI_COMM_SELF, or, without one, by the initial error
 * handler (MPI-5.0 9.3). Returns the code for the caller to return. */
int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The same with a code and a text that exist already; does not change either. */
int errh_raise(struct comm *comm, int code, const char *text);
/* The same on an object of any kind: its handle, and errh_get() of its slot, whose reference is
 * given up here. */
int errh_raise_on(struct errhandler *errhandler, void *handle, int code, const char *text);
/* Report as errh_comm() does, on an object of any kind, as errh_raise_on() takes it. */
int errh_on(struct errhandler *errhandler, void *handle, int error_class, const char *function,
            const char *fmt, ...) __attribute__((format(printf, 5, 6), cold));
/* Report as errh_comm() does, for an error of a file that does not exist. */
int errh_no_file(int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Report that a user's callback has returned a code. Returns the code unchanged. */
int errh_callback(int code, const char *function) __attribute__((cold));
/* The handle as an error's text names it: MPI_GROUP_NULL, or an address. For the arguments of one
 * call. */
struct errh_name {
    char text[32];
};
struct errh_name errh_name(const void *handle);
/* Report a datatype that is invalid, freed or not committed; which is the argument's name. */
int errh_bad_type(struct comm *comm, MPI_Datatype type, const char *which, const char *function)
    __attribute__((cold));
/* Report a handle that is no communicator or, before MPI_Init and after MPI_Finalize, a call
 * outside that time. */
int errh_bad_comm(MPI_Comm handle, const char *function) __attribute__((cold));

/* End this process with a code's exit status. */
_Noreturn void errh_end(int code);

/* Return the class of a code; MPI_ERR_UNKNOWN for a number that is no code. */
int errh_class(int code);
/* Write the text of a code, of MPI_MAX_ERROR_STRING bytes. Returns whether it is a code. */
bool errh_string(int code, char *text);
/* The codes of failures of processes are their classes: programs that go on after these often compare the two. */
extern _Atomic bool errh_failures_are_plain;

/* NULL: no memory. state may be NULL. */
struct errhandler *errh_create(enum errh_on on, union errh_function function,
                               const struct errh_state *state);

/* Classes and codes of the user, from MPI_ERR_LASTCODE + 1 on. Return MPI_SUCCESS or the
 * class of the error; error_class 0 adds a class. */
int errh_add_code(int error_class, int *code);
int errh_remove_code(int code, bool is_class);
int errh_set_string(int code, const char *text); /* NULL: no longer */
extern int errh_last_used; /* MPI_LASTUSEDCODE */

/* Whether calls are allowed: between MPI_Init and MPI_Finalize. */
extern _Atomic int mpi_state; /* enum mpi_state */
enum mpi_state { MPI_STATE_BEFORE, MPI_STATE_READY, MPI_STATE_FINALIZED,
    MPI_STATE_FORKED /* a child that was forked when MPI was ready */
};
/* Report a call outside that time. Returns the code for the caller to return. */
int errh_not_ready(const char *function);

#endif
