/* SPDX-License-Identifier: BSD-3-Clause */

/* Error handlers, classes and codes (MPI-5.0 chapter 9). */

#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/session.h"
#include "mpi/errh_code.h"
#include "mpi/ft/asked.h"
#include "mpi/io/file.h"
#include "mpi/world.h"

/* All functions of the union are pointers of one size, so that one NULL is as good as another. */
static int create_with(enum errh_on on, union errh_function function,
                       const struct errh_state *state, MPI_Errhandler *errhandler,
                       const char *name)
{
    if (!function.comm || !errhandler)
        return errh_comm(NULL, MPI_ERR_ARG, name, "an argument is NULL");
    struct errhandler *made = errh_create(on, function, state);
    if (!made)
        return errh_comm(NULL, MPI_ERR_NO_MEM, name, "no memory for an error handler");
    *errhandler = errh_give(made);
    return MPI_SUCCESS;
}

static int create(enum errh_on on, union errh_function function, MPI_Errhandler *errhandler,
                  const char *name)
{
    return create_with(on, function, NULL, errhandler, name);
}

/* ---- making and freeing ---- */

/*
 * Make an error handler of a function of the program, for communicators.
 *
 * The function gets the communicator and the error code, and is called before the call that has
 * failed returns that code. MPI_Error_string tells more.
 *
 * comm_errhandler_fn: void fn(MPI_Comm *comm, int *code, ...)
 * errhandler: the handler, to be set by MPI_Comm_set_errhandler and freed with
 *   MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.1
 */
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
    MPI_Errhandler *errhandler)
{
    return create(ERRH_COMM, (union errh_function){.comm = comm_errhandler_fn}, errhandler,
                  __func__);
}

/*
 * Make an error handler of a function of the program, for windows.
 *
 * The function gets the window and the error code, and is called before the call that has failed
 * returns that code. MPI_Error_string tells more. May be called at any time.
 *
 * win_errhandler_fn: void fn(MPI_Win *win, int *code, ...)
 * errhandler: the handler, to be freed with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.2
 */
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
    MPI_Errhandler *errhandler)
{
    return create(ERRH_WIN, (union errh_function){.win = win_errhandler_fn}, errhandler, __func__);
}

/*
 * Make an error handler of a function of the program, for files.
 *
 * The function gets the file and the error code, and is called before the call that has failed
 * returns that code. MPI_Error_string tells more. May be called at any time.
 *
 * file_errhandler_fn: void fn(MPI_File *file, int *code, ...)
 * errhandler: the handler, to be set by MPI_File_set_errhandler and freed with
 *   MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.3
 */
int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
    MPI_Errhandler *errhandler)
{
    return create(ERRH_FILE, (union errh_function){.file = file_errhandler_fn}, errhandler,
                  __func__);
}

/*
 * Make an error handler of a function of the program, for sessions.
 *
 * The function gets the session and the error code, and is called before the call that has failed
 * returns that code. MPI_Error_string tells more. May be called at any time.
 *
 * session_errhandler_fn: void fn(MPI_Session *session, int *code, ...)
 * errhandler: the handler, to be freed with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.4
 */
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
    MPI_Errhandler *errhandler)
{
    return create(ERRH_SESSION, (union errh_function){.session = session_errhandler_fn}, errhandler,
                  __func__);
}

/*
 * Make an error handler of a function that gets a state with each call, for communicators.
 *
 * Beyond the standard, for bindings of other languages, whose functions C cannot call by
 * themselves. The rest is as for MPI_Comm_create_errhandler.
 *
 * comm_errhandler_fn: void fn(MPI_Comm comm, int code, void *extra_state)
 * destructor_fn: called with extra_state once the handler was freed and no object has it; NULL: none
 * extra_state: what the function gets
 * errhandler: the handler, to be freed with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.1
 */
int PMPIX_Comm_create_errhandler_x(MPIX_Comm_errhandler_function_x *comm_errhandler_fn,
    MPIX_Destructor_function *destructor_fn, void *extra_state, MPI_Errhandler *errhandler)
{
    const struct errh_state state = {true, destructor_fn, extra_state};
    return create_with(ERRH_COMM, (union errh_function){.comm_x = comm_errhandler_fn}, &state, errhandler,
                       __func__);
}

/*
 * Make an error handler of a function that gets a state with each call, for files.
 *
 * Beyond the standard, for bindings of other languages, whose functions C cannot call by
 * themselves. The rest is as for MPI_File_create_errhandler.
 *
 * file_errhandler_fn: void fn(MPI_File file, int code, void *extra_state)
 * destructor_fn: called with extra_state once the handler was freed and no object has it; NULL: none
 * extra_state: what the function gets
 * errhandler: the handler, to be freed with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.3
 */
int PMPIX_File_create_errhandler_x(MPIX_File_errhandler_function_x *file_errhandler_fn,
    MPIX_Destructor_function *destructor_fn, void *extra_state, MPI_Errhandler *errhandler)
{
    const struct errh_state state = {true, destructor_fn, extra_state};
    return create_with(ERRH_FILE, (union errh_function){.file_x = file_errhandler_fn}, &state, errhandler,
                       __func__);
}

/*
 * Make an error handler of a function that gets a state with each call, for windows.
 *
 * Beyond the standard, for bindings of other languages, whose functions C cannot call by
 * themselves. The rest is as for MPI_Win_create_errhandler.
 *
 * win_errhandler_fn: void fn(MPI_Win win, int code, void *extra_state)
 * destructor_fn: called with extra_state once the handler was freed and no object has it; NULL: none
 * extra_state: what the function gets
 * errhandler: the handler, to be freed with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.2
 */
int PMPIX_Win_create_errhandler_x(MPIX_Win_errhandler_function_x *win_errhandler_fn,
    MPIX_Destructor_function *destructor_fn, void *extra_state, MPI_Errhandler *errhandler)
{
    const struct errh_state state = {true, destructor_fn, extra_state};
    return create_with(ERRH_WIN, (union errh_function){.win_x = win_errhandler_fn}, &state, errhandler,
                       __func__);
}

/*
 * Make an error handler of a function that gets a state with each call, for sessions.
 *
 * Beyond the standard, for bindings of other languages, whose functions C cannot call by
 * themselves. The rest is as for MPI_Session_create_errhandler.
 *
 * session_errhandler_fn: void fn(MPI_Session session, int code, void *extra_state)
 * destructor_fn: called with extra_state once the handler was freed and no object has it; NULL: none
 * extra_state: what the function gets
 * errhandler: the handler, to be freed with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 9.3.4
 */
int PMPIX_Session_create_errhandler_x(MPIX_Session_errhandler_function_x *session_errhandler_fn,
    MPIX_Destructor_function *destructor_fn, void *extra_state, MPI_Errhandler *errhandler)
{
    const struct errh_state state = {true, destructor_fn, extra_state};
    return create_with(ERRH_SESSION, (union errh_function){.session_x = session_errhandler_fn}, &state, errhandler,
                       __func__);
}

/*
 * Free an error handler.
 *
 * It stays as long as objects have it.
 *
 * errhandler (inout): the handler; then MPI_ERRHANDLER_NULL
 *
 * MPI_ERR_ERRHANDLER: not an error handler, or errhandler is NULL.
 *
 * MPI-5.0 9.3.5
 */
int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    struct errhandler *old = errhandler ? errh_from(*errhandler) : NULL;
    if (!old)
        return errh_comm(NULL, MPI_ERR_ERRHANDLER, __func__,
                         "errhandler %s is no error handler, or was freed",
                         errh_name(errhandler ? *errhandler : NULL).text);
    errh_take_back(old);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

/* ---- communicators ---- */

/*
 * Set the error handler of a communicator.
 *
 * This call is local: no other process takes part. The handler stays as long as it is set, even if
 * it is freed meanwhile. Copies made by MPI_Comm_dup have it too.
 *
 * errhandler: handler of MPI_Comm_create_errhandler; or MPI_ERRORS_ARE_FATAL: the job is ended;
 *   MPI_ERRORS_ABORT: the same; MPI_ERRORS_RETURN: the code is returned
 *
 * MPI-5.0 9.3.1
 */
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    struct errhandler *new = errh_for(errhandler, ERRH_COMM);
    if (!new)
        return errh_comm(on, MPI_ERR_ERRHANDLER, __func__, "errhandler %s is no error handler%s",
                         errh_name(errhandler).text,
                         errh_from(errhandler) ? " for communicators" : "");
    errh_set(&on->errhandler, new);
    bool returns = !errh_is_fatal(&on->errhandler);
    if (returns || comm == MPI_COMM_WORLD)
        asked_handler(returns);
    return MPI_SUCCESS;
}

/*
 * Tell the error handler of a communicator.
 *
 * This call is local: no other process takes part. The handler is a reference of its own, so it is
 * valid even after another was set.
 *
 * errhandler: the handler; free it with MPI_Errhandler_free
 *
 * MPI-5.0 9.3.1
 */
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!errhandler)
        return errh_comm(on, MPI_ERR_ARG, __func__, "errhandler is NULL");
    *errhandler = errh_give(errh_get(&on->errhandler));
    return MPI_SUCCESS;
}

/*
 * Call the error handler of a communicator.
 *
 * Returns MPI_SUCCESS where the handler returns.
 *
 * errorcode: the code that it is called with
 *
 * MPI-5.0 9.5
 */
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    char text[MPI_MAX_ERROR_STRING];
    struct comm *on = comm_any(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    (void)errh_string(errorcode, text);
    (void)errh_raise(on, errorcode, text);
    return MPI_SUCCESS;
}

/* ---- files ---- */

/* Where a file has its error handler, or MPI_FILE_NULL. NULL, and *rc: not a file. */
static struct errh_slot *file_slot(MPI_File handle, const char *function, int *rc)
{
    struct file *file = file_from(handle);
    if (file)
        return &file->errhandler;
    if (handle == MPI_FILE_NULL && mpi_state == MPI_STATE_READY)
        return &errh_file_default;
    *rc = file_bad(handle, function);
    return NULL;
}

/*
 * Set the error handler of a file.
 *
 * The one of MPI_FILE_NULL serves errors that concern no open file, and each opened file begins
 * with it; it is MPI_ERRORS_RETURN at first.
 *
 * file: file, or MPI_FILE_NULL
 * errhandler: handler of MPI_File_create_errhandler; or MPI_ERRORS_ARE_FATAL: the job is ended;
 *   MPI_ERRORS_ABORT: the same; MPI_ERRORS_RETURN: the code is returned
 *
 * MPI_ERR_FILE: not a file.
 *
 * MPI-5.0 9.3.3
 */
int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    int rc;
    struct errh_slot *slot = file_slot(file, __func__, &rc);
    if (!slot)
        return rc;
    struct errhandler *new = errh_for(errhandler, ERRH_FILE);
    if (!new)
        return errh_no_file(MPI_ERR_ERRHANDLER, __func__, "errhandler %s is no error handler%s",
                            errh_name(errhandler).text, errh_from(errhandler) ? " for files" : "");
    errh_set(slot, new);
    return MPI_SUCCESS;
}

/*
 * Tell the error handler of a file.
 *
 * This call is local: no other process takes part. The handler is a reference of its own. That of
 * MPI_FILE_NULL is the one files get when they are opened.
 *
 * file: file, or MPI_FILE_NULL
 * errhandler: the handler; free it with MPI_Errhandler_free
 *
 * MPI_ERR_FILE: not a file.
 * MPI_ERR_ARG: errhandler is NULL.
 *
 * MPI-5.0 9.3.3
 */
int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    int rc;
    struct errh_slot *slot = file_slot(file, __func__, &rc);
    if (!slot)
        return rc;
    if (!errhandler)
        return errh_no_file(MPI_ERR_ARG, __func__, "errhandler is NULL");
    *errhandler = errh_give(errh_get(slot));
    return MPI_SUCCESS;
}

/*
 * Call the error handler of a file.
 *
 * Returns MPI_SUCCESS where the handler returns.
 *
 * fh: file, or MPI_FILE_NULL
 * errorcode: the code that it is called with
 *
 * MPI_ERR_FILE: not a file.
 *
 * MPI-5.0 9.5
 */
int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    char text[MPI_MAX_ERROR_STRING];
    int rc;
    struct errh_slot *slot = file_slot(fh, __func__, &rc);
    if (!slot)
        return rc;
    (void)errh_string(errorcode, text);
    (void)errh_raise_on(errh_get(slot), fh, errorcode, text);
    return MPI_SUCCESS;
}

/* ---- sessions ---- */

/*
 * Set the error handler of a session.
 *
 * This call is local: no other process takes part. The handler stays as long as it is set, even if
 * it is freed meanwhile.
 *
 * errhandler: handler of MPI_Session_create_errhandler; or MPI_ERRORS_ARE_FATAL: the job is ended;
 *   MPI_ERRORS_ABORT: the same; MPI_ERRORS_RETURN: the code is returned
 *
 * MPI-5.0 9.3.4
 */
int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    struct session *on = session_from(session);
    if (!on)
        return session_bad(session, __func__);
    struct errhandler *new = errh_for(errhandler, ERRH_SESSION);
    if (!new)
        return session_error(on, MPI_ERR_ERRHANDLER, __func__,
                             "errhandler %s is no error handler%s", errh_name(errhandler).text,
                             errh_from(errhandler) ? " for sessions" : "");
    errh_set(&on->errhandler, new);
    return MPI_SUCCESS;
}

/*
 * Tell the error handler of a session.
 *
 * This call is local: no other process takes part. The handler is a reference of its own.
 *
 * errhandler: the handler; free it with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: errhandler is NULL.
 *
 * MPI-5.0 9.3.4
 */
int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    struct session *on = session_from(session);
    if (!on)
        return session_bad(session, __func__);
    if (!errhandler)
        return session_error(on, MPI_ERR_ARG, __func__, "errhandler is NULL");
    *errhandler = errh_give(errh_get(&on->errhandler));
    return MPI_SUCCESS;
}

/*
 * Call the error handler of a session.
 *
 * Returns MPI_SUCCESS where the handler returns.
 *
 * errorcode: the code that it is called with
 *
 * MPI-5.0 9.5
 */
int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    char text[MPI_MAX_ERROR_STRING];
    struct session *on = session_from(session);
    if (!on)
        return session_bad(session, __func__);
    (void)errh_string(errorcode, text);
    (void)errh_raise_on(errh_get(&on->errhandler), session, errorcode, text);
    return MPI_SUCCESS;
}

/* ---- codes and classes ---- */

/*
 * Tell the class of an error code.
 *
 * May be called at any time.
 *
 * errorcode: what a function has returned
 * errorclass: its class; MPI_ERR_UNKNOWN if it is no error code
 *
 * MPI_ERR_ARG: errorclass is NULL.
 *
 * MPI-5.0 9.4
 */
int PMPI_Error_class(int errorcode, int *errorclass)
{
    if (!errorclass)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "errorclass is NULL");
    *errorclass = errh_class(errorcode);
    return MPI_SUCCESS;
}

/*
 * Tell in words what an error code means.
 *
 * For a recent error, the text names the function, the mistake, the cure and the place; for an
 * older one, it explains the class. May be called at any time.
 *
 * errorcode: what a function has returned
 * string: room for MPI_MAX_ERROR_STRING characters; gets the text, with a 0 after it
 * resultlen: length of the text in characters
 *
 * MPI_ERR_ARG: errorcode is no error code, or an argument is NULL.
 *
 * MPI-5.0 9.3.5
 */
int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    if (!string || !resultlen)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "an argument is NULL");
    bool known = errh_string(errorcode, string);
    *resultlen = (int)strlen(string);
    if (!known)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "%d is no error code", errorcode);
    return MPI_SUCCESS;
}

/*
 * Add an error class.
 *
 * May be called at any time. The attribute MPI_LASTUSEDCODE of MPI_COMM_WORLD is the last of all
 * codes and classes.
 *
 * errorclass: the new class, which is above MPI_ERR_LASTCODE
 *
 * MPI_ERR_NO_MEM: there are no more of them.
 *
 * MPI-5.0 9.5
 */
int PMPI_Add_error_class(int *errorclass)
{
    if (!errorclass)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "errorclass is NULL");
    int rc = errh_add_code(0, errorclass);
    return rc ? errh_comm(NULL, rc, __func__, "no more error classes") : MPI_SUCCESS;
}

/*
 * Add an error code to an error class.
 *
 * May be called at any time.
 *
 * errorclass: any class, one of MPI's too
 * errorcode: the new code
 *
 * MPI_ERR_ARG: there is no such class, or errorcode is NULL.
 * MPI_ERR_NO_MEM: there are no more of them.
 *
 * MPI-5.0 9.5
 */
int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    if (!errorcode || errorclass <= 0)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "error class %d, or no place for the code",
                         errorclass);
    int rc = errh_add_code(errorclass, errorcode);
    return rc ? errh_comm(NULL, rc, __func__, "error class %d: %s", errorclass,
                          rc == MPI_ERR_ARG ? "there is none" : "no more error codes")
              : MPI_SUCCESS;
}

/*
 * Set the text of an error code or class that was added.
 *
 * It replaces the one before. May be called at any time.
 *
 * errorcode: of MPI_Add_error_code or MPI_Add_error_class
 * string: the text, of less than MPI_MAX_ERROR_STRING characters
 *
 * MPI_ERR_ARG: string is NULL or too long, or the code was not added.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 9.5
 */
int PMPI_Add_error_string(int errorcode, const char *string)
{
    if (!string || strlen(string) >= MPI_MAX_ERROR_STRING)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "the string is NULL or longer than %d",
                         MPI_MAX_ERROR_STRING - 1);
    int rc = errh_set_string(errorcode, string);
    return rc ? errh_comm(NULL, rc, __func__, "error code %d was not added", errorcode)
              : MPI_SUCCESS;
}

/*
 * Remove an error class that was added.
 *
 * Its codes must be removed first. May be called at any time.
 *
 * errorclass: of MPI_Add_error_class
 *
 * MPI_ERR_ARG: the class was not added, or has error codes.
 *
 * MPI-5.0 9.5
 */
int PMPI_Remove_error_class(int errorclass)
{
    int rc = errh_remove_code(errorclass, true);
    return rc ? errh_comm(NULL, rc, __func__,
                          "error class %d was not added, or has error codes", errorclass)
              : MPI_SUCCESS;
}

/*
 * Remove an error code that was added.
 *
 * May be called at any time.
 *
 * errorcode: of MPI_Add_error_code
 *
 * MPI_ERR_ARG: the code was not added, or has a string: MPI_Remove_error_string takes that away.
 *
 * MPI-5.0 9.5
 */
int PMPI_Remove_error_code(int errorcode)
{
    int rc = errh_remove_code(errorcode, false);
    return rc ? errh_comm(NULL, rc, __func__, "error code %d was not added", errorcode)
              : MPI_SUCCESS;
}

/*
 * Remove the text of an error code or class that was added.
 *
 * May be called at any time.
 *
 * errorcode: of MPI_Add_error_code or MPI_Add_error_class
 *
 * MPI_ERR_ARG: the code was not added, or has no text.
 *
 * MPI-5.0 9.5
 */
int PMPI_Remove_error_string(int errorcode)
{
    int rc = errh_set_string(errorcode, NULL);
    return rc ? errh_comm(NULL, rc, __func__, "error code %d has no string of yours", errorcode)
              : MPI_SUCCESS;
}

#include "errh.gen.h"
