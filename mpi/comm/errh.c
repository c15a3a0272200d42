/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Raising errors; see errh.h. Errors may be raised before MPI_Init and after MPI_Finalize, by any thread.
 */
#include "mpi/comm/errh.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/errh_code.h"
#include "mpi/errh_text.h"
#include "mpi/interface.h"
#include "mpi/type/type.h"
#include "mpi/world.h"
#include "os/lock.h"
#include "os/log.h"

/* Without _c or _x. */
static size_t stem_len(const char *name)
{
    size_t len = strlen(name);
    bool is_form = len > 2 && name[len - 2] == '_' && (name[len - 1] == 'c' || name[len - 1] == 'x');
    return is_form ? len - 2 : len;
}

/* The name as the user knows it: without the P of PMPI_, and that of the form that was called. */
static void public_name(const char *function, char *name, size_t size)
{
    const char *own = strncmp(function, "PMPI", 4) ? function : function + 1;
    const char *called = interface_called;
    size_t len = stem_len(own);
    if (called && stem_len(called) == len && !strncmp(called, own, len))
        snprintf(name, size, "%s", called);
    else
        snprintf(name, size, "%.*s", (int)len, own);
}

void errh_end(int code)
{
    int status = errh_class(code) & 0xff;
    fflush(NULL);
    _exit(status ? status : 1);
}

/* End the program: by the process manager, or alone without one. */
static void end(int code, const char *text)
{
    int status = errh_class(code) & 0xff;
    struct mpid_line line;
    char whole[MPI_MAX_ERROR_STRING + sizeof(line) + 32];
    fflush(NULL);
    mpid_find_line(&line);
    snprintf(whole, sizeof(whole), "%s%s%s", text, *line.text ? ", called at " : "", line.text);
    if (mpid_has_manager())
        mpid_abort(status ? status : 1, whole);
    dprintf(STDERR_FILENO, "%s\n", whole);
    errh_end(code);
}

static void call_with_state(const struct errhandler *errhandler, void *handle, int code)
{
    union errh_function function = errhandler->function;
    void *state = errhandler->state.state;
    switch ((enum errh_on)errhandler->on) {
    case ERRH_COMM: function.comm_x(handle, code, state); break;
    case ERRH_WIN: function.win_x(handle, code, state); break;
    case ERRH_FILE: function.file_x(handle, code, state); break;
    case ERRH_SESSION: function.session_x(handle, code, state); break;
    }
}

static void call(const struct errhandler *errhandler, void *handle, int code)
{
    union errh_function function = errhandler->function;
    MPI_Comm comm = handle;
    MPI_Win win = handle;
    MPI_File file = handle;
    MPI_Session session = handle;
    switch ((enum errh_on)errhandler->on) {
    case ERRH_COMM: function.comm(&comm, &code); break;
    case ERRH_WIN: function.win(&win, &code); break;
    case ERRH_FILE: function.file(&file, &code); break;
    case ERRH_SESSION: function.session(&session, &code); break;
    }
}

int errh_raise_on(struct errhandler *errhandler, void *handle, int code, const char *text)
{
    if (errhandler->kind == ERRH_USER && errhandler->state.given)
        call_with_state(errhandler, handle, code);
    else if (errhandler->kind == ERRH_USER)
        call(errhandler, handle, code);
    else if (errhandler->kind != ERRH_RETURN)
        end(code, text);
    errh_unref(errhandler);
    return code;
}

/* Have a freed communicator found by its handle while handlers run for it, in any threads. */
static void let_find(struct comm *freed, int handlers)
{
    static struct os_lock found = OS_LOCK_INIT;
    os_lock(&found);
    freed->in_handlers += handlers;
    object_set_word(&freed->object, freed->in_handlers ? OBJECT_COMM : 0);
    os_unlock(&found);
}

int errh_raise(struct comm *comm, int code, const char *text)
{
    struct comm *on = comm ? comm : comm_any(MPI_COMM_SELF);
    struct errhandler *errhandler = on ? errh_get(&on->errhandler) : errh_initial();
    /* A handler may ask for the object that it is called for, even where that object was freed and
     * a request still uses it. It may also free it. */
    bool was_freed = on && on->freed;
    if (was_freed)
        let_find(on, 1);
    void *handle = on && on->handled ? on->handled : on ? comm_handle(on) : MPI_COMM_NULL;
    (void)errh_raise_on(errhandler, handle, code, text);
    if (was_freed)
        let_find(on, -1);
    return code;
}

/* Sessions have one too: of mpi://WORLD. */
static int world_rank(void)
{
    return mpi_state == MPI_STATE_READY ? (int)group_me().rank : -1;
}

/* Make the text of an error: fmt states the mistake, where names the object, and rank is the rank
 * in its numbering. Returns the code. */
static int compose(int error_class, const char *function, const char *where, int rank,
                   char text[MPI_MAX_ERROR_STRING + 256], const char *fmt, va_list args)
{
    char name[64], on[64] = "", what[320];
    int world = world_rank();
    vsnprintf(what, sizeof(what), fmt, args);
    public_name(function, name, sizeof(name));
    if (rank >= 0 && world >= 0 && rank != world)
        snprintf(on, sizeof(on), "rank %d, world rank %d on ", rank, world);
    else if (rank >= 0)
        snprintf(on, sizeof(on), "rank %d on ", rank);
    /* Only the end may be cut. */
    snprintf(text, MPI_MAX_ERROR_STRING + 256, "%s: %s (%s%s%.64s)", name, what, where, on,
             os_host_name());
    text[MPI_MAX_ERROR_STRING - 1] = 0;
    /* These two codes only say where to look, and programs compare them. */
    bool bare = error_class == MPI_ERR_IN_STATUS || error_class == MPI_ERR_PENDING;
    /* A code of the user's, or one that has a text, stays as it is. */
    bool plain = error_class > 0 && error_class < ERRH_TEXT_STEP;
    return bare || !plain ? error_class : errh_text_keep(error_class, text);
}

int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
{
    char text[MPI_MAX_ERROR_STRING + 256], where[160] = "", name[MPI_MAX_OBJECT_NAME];
    va_list args;
    if (comm && name_get(&comm->name, name))
        snprintf(where, sizeof(where), "communicator '%.127s', ", name);
    else if (comm)
        snprintf(where, sizeof(where), "communicator without a name, ");
    int rank = comm ? comm->rank : world_rank();
    va_start(args, fmt);
    int code = compose(error_class, function, where, rank, text, fmt, args);
    va_end(args);
    return errh_raise(comm, code, text);
}

static int raise_on(struct errhandler *errhandler, void *handle, int error_class,
                    const char *function, const char *fmt, va_list args)
{
    char text[MPI_MAX_ERROR_STRING + 256];
    int code = compose(error_class, function, "", world_rank(), text, fmt, args);
    return errh_raise_on(errhandler, handle, code, text);
}

int errh_on(struct errhandler *errhandler, void *handle, int error_class, const char *function,
            const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int code = raise_on(errhandler, handle, error_class, function, fmt, args);
    va_end(args);
    return code;
}

int errh_no_file(int error_class, const char *function, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int code =
        raise_on(errh_get(&errh_file_default), MPI_FILE_NULL, error_class, function, fmt, args);
    va_end(args);
    return code;
}

int errh_callback(int code, const char *function)
{
    char text[192], name[64];
    public_name(function, name, sizeof(name));
    snprintf(text, sizeof(text), "%s: a callback returned error code %d (%.64s)", name, code,
             os_host_name());
    return errh_raise(NULL, code, text);
}

struct errh_name errh_name(const void *handle)
{
    static const struct {
        const void *handle;
        const char *name;
    } names[] = {
        {NULL, "NULL"},
        {MPI_OP_NULL, "MPI_OP_NULL"},
        {MPI_COMM_NULL, "MPI_COMM_NULL"},
        {MPI_GROUP_NULL, "MPI_GROUP_NULL"},
        {MPI_WIN_NULL, "MPI_WIN_NULL"},
        {MPI_FILE_NULL, "MPI_FILE_NULL"},
        {MPI_SESSION_NULL, "MPI_SESSION_NULL"},
        {MPI_MESSAGE_NULL, "MPI_MESSAGE_NULL"},
        {MPI_INFO_NULL, "MPI_INFO_NULL"},
        {MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL"},
        {MPI_REQUEST_NULL, "MPI_REQUEST_NULL"},
        {MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL"},
    };
    struct errh_name name;
    snprintf(name.text, sizeof(name.text), "%p", handle);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].handle == handle)
            snprintf(name.text, sizeof(name.text), "%s", names[i].name);
    return name;
}

int errh_bad_type(struct comm *comm, MPI_Datatype handle, const char *which, const char *function)
{
    char name[MPI_MAX_OBJECT_NAME];
    struct type *type = type_from(handle);
    if (!type && mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (type) {
        const char *quote = name_get(&type->name, name) ? "'" : "";
        if (type->committed && type->extended)
            return errh_comm(comm, MPI_ERR_TYPE, function,
                             "%s%s%s%.127s%s holds long double, which has another format at another process: use double "
                             "instead, or processors of one kind",
                             which, *quote ? " " : "", quote, name, quote);
        return errh_comm(comm, MPI_ERR_TYPE, function,
                         "%s %s%.127s%s is not committed: call MPI_Type_commit first", which, quote,
                         name, quote);
    }
    if (handle_is_constant(handle))
        return errh_comm(comm, MPI_ERR_TYPE, function, "%s is %s: must be a datatype", which,
                         errh_name(handle).text);
    return errh_comm(comm, MPI_ERR_TYPE, function, "%s %p is none, or was freed", which,
                     (void *)handle);
}

int errh_bad_comm(MPI_Comm handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    struct comm *revoked = comm_any(handle);
    if (revoked)
        return errh_comm(revoked, MPIX_ERR_REVOKED, function,
                         "the communicator is revoked: only MPIX_Comm_shrink, MPIX_Comm_agree and local "
                         "functions work");
    if (handle == MPI_COMM_NULL)
        return errh_comm(NULL, MPI_ERR_COMM, function, "communicator MPI_COMM_NULL");
    if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return errh_comm(NULL, MPI_ERR_COMM, function,
                         "%s is there only between MPI_Init and MPI_Finalize, and not for sessions",
                         handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    return errh_comm(NULL, MPI_ERR_COMM, function, "communicator %p is none, or was freed",
                     (void *)handle);
}

int errh_not_ready(const char *function)
{
    char text[320], name[64], who[OS_LOG_WHO];
    public_name(function, name, sizeof(name));
    os_log_who(who, sizeof(who));
    snprintf(text, sizeof(text), "%s: called %s (%s)", name,
             mpi_state == MPI_STATE_BEFORE   ? "before MPI_Init or MPI_Session_init"
             : mpi_state == MPI_STATE_FORKED ? "in a child process of the one that called MPI_Init"
                                             : "after MPI_Finalize, or the end of the last session",
             who);
    return errh_raise(NULL, errh_text_keep(MPI_ERR_OTHER, text), text);
}
