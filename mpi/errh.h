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
    ERRH_FATAL,    /* predefined, from here on: not counted */
    ERRH_ABORT,
    ERRH_RETURN
};

/* Codes with a text are class + k * this; all are below MPI_ERR_LASTCODE. */
enum { ERRH_TEXT_STEP = 64 };

/* What objects have error handlers. A user's function is for one of the kinds. */
enum errh_on { ERRH_COMM, ERRH_WIN, ERRH_FILE, ERRH_SESSION };

union errh_function {
    MPI_Comm_errhandler_function *comm;
    MPI_Win_errhandler_function *win;
    MPI_File_errhandler_function *file;
    MPI_Session_errhandler_function *session;
};

struct errhandler {
    struct object object;
    uint8_t kind; /* enum errh_kind */
    uint8_t on;   /* ERRH_USER: enum errh_on */
    _Atomic int32_t given; /* ERRH_USER: handles that the user has */
    union errh_function function;
};

/* Where an object has its error handler. Readers need no lock for a predefined one. */
struct errh_slot {
    struct os_lock lock; /* for changes, and for who takes a reference on a user's */
    struct errhandler *_Atomic has; /* never NULL */
};

/* Give MPI_FILE_NULL its first error handler back. The user's classes and codes stay: they were
 * before MPI_Init, and a session may come yet. */
void errh_fini(void);

struct errhandler *errh_from(MPI_Errhandler handle); /* NULL: none */
/* The same, and NULL also for a handler that is for other objects. */
struct errhandler *errh_for(MPI_Errhandler handle, enum errh_on on);
/* Give the user a handle, and the caller's reference with it; take both back. */
MPI_Errhandler errh_give(struct errhandler *errhandler);
void errh_take_back(struct errhandler *errhandler);
void errh_ref(struct errhandler *errhandler);
void errh_unref(struct errhandler *errhandler);

/* The predefined one that was asked for when this process was started: the predefined
 * communicators begin with it, and errors without them meet it. And its name as MPI_INFO_ENV has
 * it. */
struct errhandler *errh_initial(void);
const char *errh_initial_name(void);

/* Set, and get with a reference, the handler that an object has. errh_start() is for an object that
 * nobody knows yet, and takes the caller's reference over; errh_stop() for one that goes. */
void errh_start(struct errh_slot *slot, struct errhandler *errhandler);
void errh_set(struct errh_slot *slot, struct errhandler *errhandler);
struct errhandler *errh_get(struct errh_slot *slot);
void errh_stop(struct errh_slot *slot);
/* Whether an error ends the process: the slot has one of the predefined handlers that do that. */
bool errh_is_fatal(const struct errh_slot *slot);
/* Of MPI_FILE_NULL: for files that are opened, or cannot be. */
extern struct errh_slot errh_file_default;

/* Report an error on a communicator (NULL: on MPI_COMM_SELF, or where there is none by the
 * initial error handler, as MPI-5.0 9.3 asks). Returns the code for the caller to return. */
int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The same with a code and a text that are there already; does not change either. */
int errh_raise(struct comm *comm, int code, const char *text);
/* On an object of any kind: its handle, and errh_get() of its slot, which is given up here. */
int errh_raise_on(struct errhandler *errhandler, void *handle, int code, const char *text);
/* As errh_comm(), on an object of any kind, as errh_raise_on() takes it. */
int errh_on(struct errhandler *errhandler, void *handle, int error_class, const char *function,
            const char *fmt, ...) __attribute__((format(printf, 5, 6), cold));
/* As errh_comm(), for what goes wrong without a file. */
int errh_no_file(int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Tell of a user's callback that has returned a code, which is given back as it is. */
int errh_callback(int code, const char *function) __attribute__((cold));
/* A handle as an error's text names it: MPI_GROUP_NULL, or an address. For the arguments of one
 * call. */
struct errh_name {
    char text[32];
};
struct errh_name errh_name(const void *handle);
/* A datatype that is none, was freed or is not committed; which is the argument's name. */
int errh_bad_type(struct comm *comm, MPI_Datatype type, const char *which, const char *function)
    __attribute__((cold));
/* A handle that is no communicator; before MPI_Init or after MPI_Finalize, a call outside that
 * time. */
int errh_bad_comm(MPI_Comm handle, const char *function) __attribute__((cold));

/* End this process with a code's exit status. */
_Noreturn void errh_end(int code);

/* The class of a code; MPI_ERR_UNKNOWN for what is no code. */
int errh_class(int code);
/* The text of a code, of MPI_MAX_ERROR_STRING bytes. Returns whether it is a code. */
bool errh_string(int code, char *text);

struct errhandler *errh_create(enum errh_on on, union errh_function function); /* NULL: no memory */

/* Classes and codes of the user, from MPI_ERR_LASTCODE + 1 on. Return MPI_SUCCESS or the
 * class of the error; error_class 0 adds a class. */
int errh_add_code(int error_class, int *code);
int errh_remove_code(int code, bool is_class);
int errh_set_string(int code, const char *text); /* NULL: no longer */
extern int errh_last_used; /* MPI_LASTUSEDCODE */

/* Whether calls are allowed: between MPI_Init and MPI_Finalize. */
extern _Atomic int mpi_state; /* enum mpi_state */
enum mpi_state { MPI_STATE_BEFORE, MPI_STATE_READY, MPI_STATE_FINALIZED,
                 MPI_STATE_FORKED /* a child of a process that was ready */ };
/* Report a call outside that time. Returns the code for the caller to return. */
int errh_not_ready(const char *function);

#endif
