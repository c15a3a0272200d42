/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes and error handlers of windows (MPI-5.0 7.7.3, 12.2.6, 9.3.2). */

#include <string.h>

#include "mpi/attr.h"
#include "mpi/comm/errh.h"
#include "mpi/errh_code.h"
#include "mpi/win/win.h"
#include "mpi/win/win_attr.h"
#include "mpi/world.h"

/* ---- attributes ---- */

/* Say what is wrong with a key; a callback's own code goes to the user as it is. */
static int report(struct win *win, int rc, int keyval, const char *function)
{
    switch (rc) {
    case MPI_SUCCESS: return MPI_SUCCESS;
    case MPI_ERR_KEYVAL:
        return win_error(win, rc, function, "%d is no key of windows' attributes, or was freed",
                         keyval);
    case MPI_ERR_ARG:
        return win_error(win, rc, function, "the window has no attribute of key %d", keyval);
    case MPI_ERR_NO_MEM: return win_error(win, rc, function, "no memory for an attribute");
    default:
        return win_error(win, rc, function, "a callback of key %d returned error code %d", keyval,
                         rc);
    }
}

/* The value of a predefined attribute, or NULL. */
static void *predefined(struct win *win, int keyval, bool *is_one)
{
    *is_one = true;
    switch (keyval) {
    case MPI_WIN_BASE: return win->base;
    case MPI_WIN_SIZE: return &win->bytes;
    case MPI_WIN_DISP_UNIT: return &win->unit_attr;
    case MPI_WIN_CREATE_FLAVOR: return &win->flavor;
    case MPI_WIN_MODEL: return &win->model;
    default: *is_one = false; return NULL;
    }
}

static bool is_predefined(int keyval)
{
    return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
}

/*
 * Make a key under which windows carry attributes.
 *
 * A callback that returns another code than MPI_SUCCESS makes the call fail that has brought it
 * about, with that code. Callbacks may use attributes themselves.
 *
 * win_copy_attr_fn: never called, since windows are not copied; MPI_WIN_NULL_COPY_FN and
 *   MPI_WIN_DUP_FN will do
 * win_delete_attr_fn: called when an attribute is deleted or replaced, and by MPI_Win_free;
 *   MPI_WIN_NULL_DELETE_FN: nothing is done
 * win_keyval: the key, to be freed with MPI_Win_free_keyval
 *
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.7.3
 */
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!win_keyval)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "the place for the key is NULL");
    int rc = attr_create_keyval(ATTR_WIN, (union attr_copy){.win = win_copy_attr_fn},
                                (union attr_delete){.win = win_delete_attr_fn}, extra_state,
                                win_keyval);
    return rc ? errh_comm(NULL, rc, __func__, "no memory for a key") : MPI_SUCCESS;
}

/*
 * Free a key of windows' attributes.
 *
 * Attributes that windows have under it stay.
 *
 * win_keyval (inout): the key; then MPI_KEYVAL_INVALID
 *
 * MPI_ERR_KEYVAL: not a key of windows.
 * MPI_ERR_ARG: win_keyval is NULL.
 *
 * MPI-5.0 7.7.3
 */
int PMPI_Win_free_keyval(int *win_keyval)
{
    if (!win_keyval)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "the key is NULL");
    if (attr_free_keyval(ATTR_WIN, *win_keyval))
        return errh_comm(NULL, MPI_ERR_KEYVAL, __func__,
                         "%d is no key of windows' attributes, or was freed", *win_keyval);
    *win_keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/*
 * Give a window an attribute.
 *
 * An old one under the same key is deleted first, with its callback.
 *
 * win_keyval: key of MPI_Win_create_keyval
 * attribute_val (in): the attribute, which the library only keeps
 *
 * MPI_ERR_KEYVAL: not a key of windows, or a predefined one.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 7.7.3
 */
int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (is_predefined(win_keyval))
        return win_error(on, MPI_ERR_KEYVAL, __func__, "attribute %d is predefined", win_keyval);
    return report(on, attr_set(win_attr_of(on), win_keyval, attribute_val), win_keyval, __func__);
}

/*
 * Read an attribute of a window.
 *
 * This call is local: no other process takes part. Predefined keys are MPI_WIN_BASE: the address of
 * this process's memory; MPI_WIN_SIZE: address of its bytes, an MPI_Aint; MPI_WIN_DISP_UNIT,
 * MPI_WIN_CREATE_FLAVOR and MPI_WIN_MODEL: addresses of an int.
 *
 * win_keyval: a predefined key, or one of MPI_Win_create_keyval
 * attribute_val: address of a pointer, which is set to the attribute
 * flag: 1: there is one; 0: there is none
 *
 * MPI_ERR_KEYVAL: not a key of windows.
 *
 * MPI-5.0 7.7.3
 */
int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    bool found = true;
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!attribute_val || !flag)
        return win_error(on, MPI_ERR_ARG, __func__, "an argument is NULL");
    void *value = predefined(on, win_keyval, &found);
    int rc = MPI_SUCCESS;
    if (found)
        memcpy(attribute_val, &value, sizeof(value));
    else
        rc = attr_get(win_attr_of(on), win_keyval, attribute_val, &found);
    if (!rc)
        *flag = found;
    return report(on, rc, win_keyval, __func__);
}

/*
 * Delete an attribute of a window.
 *
 * Its callback is called first.
 *
 * win_keyval: key of MPI_Win_create_keyval
 *
 * MPI_ERR_KEYVAL: not a key of windows, or a predefined one.
 * MPI_ERR_ARG: the window has no such attribute.
 *
 * MPI-5.0 7.7.3
 */
int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (is_predefined(win_keyval))
        return win_error(on, MPI_ERR_KEYVAL, __func__, "attribute %d is predefined", win_keyval);
    return report(on, attr_delete(win_attr_of(on), win_keyval), win_keyval, __func__);
}

/* ---- error handlers ---- */

/*
 * Set the error handler of a window.
 *
 * This call is local: no other process takes part. The handler stays as long as it is set, even if
 * it is freed meanwhile.
 *
 * errhandler: handler of MPI_Win_create_errhandler; or MPI_ERRORS_ARE_FATAL: the job is ended;
 *   MPI_ERRORS_ABORT: the same; MPI_ERRORS_RETURN: the code is returned
 *
 * MPI_ERR_ERRHANDLER: not an error handler for windows.
 *
 * MPI-5.0 9.3.2
 */
int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    struct errhandler *new = errh_for(errhandler, ERRH_WIN);
    if (!new)
        return win_error(on, MPI_ERR_ERRHANDLER, __func__, "errhandler %s is no error handler%s",
                         errh_name(errhandler).text, errh_from(errhandler) ? " for windows" : "");
    win_set_errhandler(on, new);
    return MPI_SUCCESS;
}

/*
 * Tell the error handler of a window.
 *
 * This call is local: no other process takes part. The handler is a reference of its own.
 *
 * errhandler: the handler; free it with MPI_Errhandler_free
 *
 * MPI_ERR_ARG: errhandler is NULL.
 *
 * MPI-5.0 9.3.2
 */
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!errhandler)
        return win_error(on, MPI_ERR_ARG, __func__, "errhandler is NULL");
    *errhandler = errh_give(errh_get(&on->errhandler));
    return MPI_SUCCESS;
}

/*
 * Call the error handler of a window.
 *
 * The call returns MPI_SUCCESS, if the handler does not end the job.
 *
 * errorcode: the code that the handler gets
 *
 * MPI_ERR_WIN: not a window.
 *
 * MPI-5.0 9.5
 */
int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    char text[MPI_MAX_ERROR_STRING];
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    (void)errh_string(errorcode, text);
    (void)errh_raise_on(errh_get(&on->errhandler), win_handle(on), errorcode, text);
    return MPI_SUCCESS;
}

#include "win_attr.gen.h"
