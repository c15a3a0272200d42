/* SPDX-License-Identifier: BSD-3-Clause */

/* Performance variables (MPI-5.0 15.3.7). */
#include <mpi.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/tool/tool.h"
#include "mpi/tool/tool_pvar.h"
#include "mpi/world.h"

/* Check a variable's number. Returns MPI_SUCCESS or an error class. */
static int check_index(int i)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return i >= 0 && i < tool_pvar_count() ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

/* Check a session. Returns MPI_SUCCESS, with its object in *found, or an error class. Locked. */
static int check_session(MPI_T_pvar_session session, struct tool_session **found)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    *found = tool_session_from(session);
    return *found ? MPI_SUCCESS : MPI_T_ERR_INVALID_SESSION;
}

/* The same of a session and a handle of it, where *found is the handle. Locked. */
static int check(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                 struct tool_pvar_handle **found)
{
    struct tool_session *s;
    int rc = check_session(session, &s);
    if (rc)
        return rc;
    *found = tool_pvar_from(s, handle);
    return *found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

static bool is_continuous(const struct tool_pvar_handle *handle)
{
    struct tool_pvar pvar;
    tool_pvar_describe(handle->index, &pvar);
    return pvar.continuous;
}

/*
 * Tell how many performance variables there are.
 *
 * There never are more, and none goes.
 *
 * num_pvar: number of performance variables
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID: num_pvar is NULL.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_get_num(int *num_pvar)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_pvar)
        return MPI_T_ERR_INVALID;
    *num_pvar = tool_pvar_count();
    return MPI_SUCCESS;
}

/* Store a value that the caller asks for. */
static void put(int *to, int value)
{
    if (to)
        *to = value;
}

/*
 * Tell what a performance variable is.
 *
 * Levels and states are continuous and can only be read. Counters, aggregates, timers and
 * high-water marks are started and stopped by handle, can be written, and are atomic. Every pointer
 * may be NULL: then that is not told.
 *
 * pvar_index: 0 to the number of performance variables less 1
 * name, desc: room for *name_len and *desc_len characters; get name and description, with a 0 after
 * name_len, desc_len (inout): room; then the length, its 0 included
 * verbosity: MPI_T_VERBOSITY_USER_BASIC or MPI_T_VERBOSITY_TUNER_BASIC
 * var_class: MPI_T_PVAR_CLASS_STATE, _LEVEL, _HIGHWATERMARK, _COUNTER, _AGGREGATE or _TIMER
 * datatype: MPI_INT for states, MPI_DOUBLE, in seconds, for timers, MPI_UNSIGNED_LONG_LONG for
 *   others
 * enumtype: the words that a state stands for; MPI_T_ENUM_NULL for others
 * bind: MPI_T_BIND_MPI_COMM for a value of each peer, MPI_T_BIND_NO_OBJECT for others
 * readonly: 1 if it cannot be written or reset
 * continuous: 1 if it cannot be started and stopped
 * atomic: 1 where MPI_T_pvar_readreset may be called
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such variable.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    struct tool_pvar pvar;
    int rc = check_index(pvar_index);
    if (rc)
        return rc;
    tool_pvar_describe(pvar_index, &pvar);
    tool_string(pvar.name, name, name_len);
    tool_string(pvar.about, desc, desc_len);
    put(verbosity, pvar.verbosity);
    put(var_class, pvar.class);
    if (datatype)
        *datatype = pvar.datatype;
    if (enumtype)
        *enumtype = pvar.enumtype ? tool_enum_handle(pvar.enumtype) : MPI_T_ENUM_NULL;
    put(bind, pvar.bind);
    put(readonly, pvar.continuous);
    put(continuous, pvar.continuous);
    put(atomic, !pvar.continuous);
    return MPI_SUCCESS;
}

/*
 * Find a performance variable by its name and class.
 *
 * This call is local: no other process takes part. The number of a name and class stays the same
 * while the program runs.
 *
 * name: its name
 * var_class: its class
 * pvar_index: its number
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_NAME: there is no such variable of this class.
 * MPI_T_ERR_INVALID: an argument is NULL.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    struct tool_pvar pvar;
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !pvar_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < tool_pvar_count(); i++) {
        tool_pvar_describe(i, &pvar);
        if (pvar.class == var_class && !strcmp(pvar.name, name)) {
            *pvar_index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- sessions ---- */

/*
 * Make a session: a set of handles of performance variables.
 *
 * Handles of one session do not affect those of another.
 *
 * session: the session, to be freed with MPI_T_pvar_session_free
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_OUT_OF_SESSIONS: out of memory.
 * MPI_T_ERR_INVALID: session is NULL.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!session)
        return MPI_T_ERR_INVALID;
    tool_lock();
    const struct tool_session *made = tool_session_create();
    if (made)
        *session = made->own;
    tool_unlock();
    return made ? MPI_SUCCESS : MPI_T_ERR_OUT_OF_SESSIONS;
}

/*
 * Free a session, with all of its handles.
 *
 * This call is local: no other process takes part. Other sessions are not touched.
 *
 * session (inout): the session; then MPI_T_PVAR_SESSION_NULL
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    struct tool_session *s;
    tool_lock();
    int rc = check_session(session ? *session : MPI_T_PVAR_SESSION_NULL, &s);
    if (!rc) {
        tool_session_free(s);
        *session = MPI_T_PVAR_SESSION_NULL;
    }
    tool_unlock();
    return rc;
}

/* ---- handles ---- */

/*
 * Make a handle for a performance variable.
 *
 * A continuous variable can be read at once; any other is stopped, until MPI_T_pvar_start.
 *
 * session: session that the handle will be in
 * pvar_index: 0 to the number of performance variables less 1
 * obj_handle (in): of a variable bound to a communicator, the address of its handle; the
 *   communicator may be freed before the variable's handle. Ignored for other variables
 * handle: the handle, to be freed with MPI_T_pvar_handle_free or with its session
 * count: number of elements of the variable's type that are read and written: 1, or the number of
 *   processes of the communicator (of the remote group of an intercommunicator)
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_INDEX: there is no such variable.
 * MPI_T_ERR_INVALID: handle or count is NULL, obj_handle leads to no communicator, or MPI is not
 *   initialized, so that there is none.
 * MPI_T_ERR_OUT_OF_HANDLES: out of memory.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    struct tool_pvar pvar;
    struct tool_pvar_handle *made;
    struct tool_session *s;
    struct comm *comm = NULL;
    int rc = check_index(pvar_index);
    if (rc)
        return rc;
    tool_pvar_describe(pvar_index, &pvar);
    bool bound = pvar.bind == MPI_T_BIND_MPI_COMM;
    if (bound && obj_handle && mpi_state == MPI_STATE_READY)
        comm = comm_any(*(const MPI_Comm *)obj_handle);
    tool_lock();
    rc = check_session(session, &s);
    if (!rc && (!handle || !count || (bound && !comm)))
        rc = MPI_T_ERR_INVALID;
    if (!rc)
        rc = tool_pvar_alloc(s, pvar_index, comm, &made);
    if (!rc) {
        *handle = made->own;
        *count = made->count;
    }
    tool_unlock();
    return rc;
}

/*
 * Free a handle of a performance variable.
 *
 * This call is local: no other process takes part. The variable itself goes on.
 *
 * session: session of the handle
 * handle (inout): the handle; then MPI_T_PVAR_HANDLE_NULL
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    struct tool_pvar_handle *h;
    tool_lock();
    int rc = check(session, handle ? *handle : MPI_T_PVAR_HANDLE_NULL, &h);
    if (!rc) {
        tool_pvar_free(h);
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    tool_unlock();
    return rc;
}

/* Do something with a handle, or with all of a session, but for continuous variables; cannot is
 * what to return of one that is named. */
static int each(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                void (*act)(struct tool_pvar_handle *handle), int cannot)
{
    struct tool_session *s;
    struct tool_pvar_handle *h;
    tool_lock();
    bool all = handle == MPI_T_PVAR_ALL_HANDLES;
    int rc = all ? check_session(session, &s) : check(session, handle, &h);
    if (!rc && !all && is_continuous(h))
        rc = cannot;
    else if (!rc && !all)
        act(h);
    for (h = !rc && all ? s->handles : NULL; h; h = h->next)
        if (!is_continuous(h))
            act(h);
    tool_unlock();
    return rc;
}

/*
 * Start a performance variable.
 *
 * To start one that is started changes nothing.
 *
 * session: session of the handle
 * handle: handle, or MPI_T_PVAR_ALL_HANDLES: all of the session that are not continuous
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 * MPI_T_ERR_PVAR_NO_STARTSTOP: the variable is continuous.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return each(session, handle, tool_pvar_start, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

/*
 * Stop a performance variable: it keeps its value.
 *
 * To stop one that is stopped changes nothing.
 *
 * session: session of the handle
 * handle: handle, or MPI_T_PVAR_ALL_HANDLES: all of the session that are not continuous
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 * MPI_T_ERR_PVAR_NO_STARTSTOP: the variable is continuous.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return each(session, handle, tool_pvar_stop, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

/*
 * Set a performance variable to its starting value: 0, or of a high-water mark the level of now.
 *
 * This call is local: no other process takes part. Handles of a high-water mark share its value.
 * For other variables only the value of this handle is reset.
 *
 * session: session of the handle
 * handle: handle, or MPI_T_PVAR_ALL_HANDLES: all of the session that can be written
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 * MPI_T_ERR_PVAR_NO_WRITE: the variable can only be read.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return each(session, handle, tool_pvar_reset, MPI_T_ERR_PVAR_NO_WRITE);
}

/*
 * Read a performance variable.
 *
 * It need not be stopped.
 *
 * session: session of the handle
 * handle: handle of the variable
 * buf: room for as many elements of the variable's type as MPI_T_pvar_handle_alloc has told
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 * MPI_T_ERR_INVALID: buf is NULL.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct tool_pvar_handle *h;
    tool_lock();
    int rc = check(session, handle, &h);
    if (!rc && !buf)
        rc = MPI_T_ERR_INVALID;
    if (!rc)
        tool_pvar_read(h, buf);
    tool_unlock();
    return rc;
}

/*
 * Write a performance variable: it goes on from this value.
 *
 * This call is local: no other process takes part. Only the value that this handle shows is
 * written, not that of other sessions.
 *
 * session: session of the handle
 * handle: handle of the variable
 * buf: as many elements of the variable's type as MPI_T_pvar_handle_alloc has told
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 * MPI_T_ERR_PVAR_NO_WRITE: the variable can only be read.
 * MPI_T_ERR_INVALID: buf is NULL, or a time is negative, beyond 10^9 s, or no number.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    struct tool_pvar_handle *h;
    tool_lock();
    int rc = check(session, handle, &h);
    if (!rc && is_continuous(h))
        rc = MPI_T_ERR_PVAR_NO_WRITE;
    if (!rc && (!buf || !tool_pvar_write(h, buf)))
        rc = MPI_T_ERR_INVALID;
    tool_unlock();
    return rc;
}

/*
 * Read a performance variable and reset it, with nothing in between.
 *
 * This call is local: no other process takes part. Each event is counted once, and none is lost
 * between two calls.
 *
 * session: session of the handle
 * handle: handle of the variable
 * buf: room for as many elements of the variable's type as MPI_T_pvar_handle_alloc has told
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_SESSION: not a session.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of this session.
 * MPI_T_ERR_PVAR_NO_ATOMIC: the variable can only be read.
 * MPI_T_ERR_INVALID: buf is NULL.
 *
 * MPI-5.0 15.3.7
 */
int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct tool_pvar_handle *h;
    tool_lock();
    int rc = check(session, handle, &h);
    if (!rc && is_continuous(h))
        rc = MPI_T_ERR_PVAR_NO_ATOMIC;
    if (!rc && !buf)
        rc = MPI_T_ERR_INVALID;
    if (!rc)
        tool_pvar_read_reset(h, buf);
    tool_unlock();
    return rc;
}

#include "tool_pvar.gen.h"
