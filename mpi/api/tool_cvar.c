/* SPDX-License-Identifier: BSD-3-Clause */

/* Control variables (MPI-5.0 15.3.6). */
#include <mpi.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/errh.h"
#include "mpi/tool/tool.h"
#include "mpi/tool/tool_cvar.h"
#include "mpi/world.h"
#include "os/log.h"
#include "os/settings.h"

/* Check a handle. Returns MPI_SUCCESS, with its object in *found, or an error class. Locked. */
static int check(MPI_T_cvar_handle handle, struct tool_cvar_handle **found)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    *found = tool_cvar_from(handle);
    return *found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

/* Check a variable's number. Returns MPI_SUCCESS or an error class. */
static int check_index(int i)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return i >= 0 && i < tool_cvar_count() ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

/*
 * Tell how many control variables there are.
 *
 * They are the settings of this library, under the names of their environment variables. There
 * never are more, and none goes.
 *
 * num_cvar: number of control variables
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID: num_cvar is NULL.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_get_num(int *num_cvar)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_cvar)
        return MPI_T_ERR_INVALID;
    *num_cvar = tool_cvar_count();
    return MPI_SUCCESS;
}

/*
 * Tell what a control variable is.
 *
 * Every pointer may be NULL: then that is not told.
 *
 * cvar_index: 0 to the number of control variables less 1
 * name, desc: room for *name_len and *desc_len characters; get name and description, with a 0 after
 * name_len, desc_len (inout): room; then the length, its 0 included
 * verbosity: MPI_T_VERBOSITY_USER_BASIC or MPI_T_VERBOSITY_TUNER_BASIC
 * datatype: MPI_COUNT for numbers and sizes, MPI_INT for words and switches, MPI_CHAR for texts
 * enumtype: the words that an MPI_INT stands for; MPI_T_ENUM_NULL for other types
 * bind: MPI_T_BIND_NO_OBJECT
 * scope: MPI_T_SCOPE_READONLY if the setting is for mpiexec, MPI_T_SCOPE_ALL_EQ if processes
 *   must agree on the value, MPI_T_SCOPE_LOCAL otherwise
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such variable.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *scope)
{
    struct tool_cvar cvar;
    int rc = check_index(cvar_index);
    if (rc)
        return rc;
    tool_cvar_describe(cvar_index, &cvar);
    tool_string(cvar.name, name, name_len);
    tool_string(cvar.about, desc, desc_len);
    if (verbosity)
        *verbosity = cvar.verbosity;
    if (datatype)
        *datatype = cvar.datatype;
    if (enumtype)
        *enumtype = cvar.enumtype ? tool_enum_handle(cvar.enumtype) : MPI_T_ENUM_NULL;
    if (bind)
        *bind = MPI_T_BIND_NO_OBJECT;
    if (scope)
        *scope = cvar.scope;
    return MPI_SUCCESS;
}

/*
 * Find a control variable by its name.
 *
 * This call is local: no other process takes part. The number of a name stays the same while the
 * program runs.
 *
 * name: its name
 * cvar_index: its number
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_NAME: there is no such variable.
 * MPI_T_ERR_INVALID: an argument is NULL.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    struct tool_cvar cvar;
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !cvar_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < tool_cvar_count(); i++) {
        tool_cvar_describe(i, &cvar);
        if (!strcmp(cvar.name, name)) {
            *cvar_index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

/*
 * Make a handle for a control variable.
 *
 * This call is local: no other process takes part. A variable is read and written by its handle.
 * If it belongs to an object of MPI, the handle is for that object.
 *
 * cvar_index: 0 to the number of control variables less 1
 * obj_handle (in): is not looked at, as no control variable is bound to an object
 * handle: the handle, to be freed with MPI_T_cvar_handle_free
 * count: number of elements of the variable's type that are read and written: 1, or of a text the
 *   most characters, its 0 included
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such variable.
 * MPI_T_ERR_INVALID: handle or count is NULL.
 * MPI_T_ERR_OUT_OF_HANDLES: out of memory.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    struct tool_cvar_handle *made;
    int rc = check_index(cvar_index);
    (void)obj_handle;
    if (rc)
        return rc;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    tool_lock();
    rc = tool_cvar_alloc(cvar_index, &made);
    if (!rc) {
        *handle = made->own;
        *count = made->count;
    }
    tool_unlock();
    return rc;
}

/*
 * Free a handle of a control variable.
 *
 * This call is local: no other process takes part. The variable keeps its value.
 *
 * handle (inout): the handle; then MPI_T_CVAR_HANDLE_NULL
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of a control variable.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    struct tool_cvar_handle *h;
    tool_lock();
    int rc = check(handle ? *handle : MPI_T_CVAR_HANDLE_NULL, &h);
    if (!rc) {
        tool_cvar_free(h);
        *handle = MPI_T_CVAR_HANDLE_NULL;
    }
    tool_unlock();
    return rc;
}

/*
 * Read a control variable.
 *
 * This call is local: no other process takes part. The buffer needs room for the count of elements
 * that MPI_T_cvar_handle_alloc has told, of the datatype that MPI_T_cvar_get_info tells.
 *
 * handle: handle of the variable
 * buf: room for as many elements of the variable's type as MPI_T_cvar_handle_alloc has told
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of a control variable.
 * MPI_T_ERR_INVALID: buf is NULL.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    struct tool_cvar_handle *h;
    tool_lock();
    int rc = check(handle, &h);
    if (!rc && !buf)
        rc = MPI_T_ERR_INVALID;
    if (!rc)
        tool_cvar_read(h, buf);
    tool_unlock();
    return rc;
}

/* Whether a new value names channels that are to be loaded now. */
static bool is_load(const struct tool_cvar_handle *h, const char *text)
{
    return h->index == OS_SETTING_CHANNEL_PATH && mpi_state == MPI_STATE_READY &&
           memchr(text, 0, (size_t)h->count);
}

static int load_channels(const char *path)
{
    char why[512];
    if (!mpid_channel_load_path(path, why, sizeof(why)))
        return MPI_SUCCESS;
    os_log(OS_LOG_WARN, "VIREO_CHANNEL_PATH: a channel is refused: %s", why);
    return MPI_T_ERR_INVALID;
}

/*
 * Write a control variable.
 *
 * Most are read when MPI is first initialized, and can be written before. VIREO_LOG,
 * VIREO_CONNECT_TIMEOUT_MS and VIREO_REPORT can be at any time. VIREO_CHANNEL_PATH can be too: while
 * MPI is initialized, the channels that it names and that are not there yet are loaded, as
 * MPIX_Channel_load() does; a refused one leaves the variable as it was, and the log tells why.
 *
 * handle: handle of the variable
 * buf: the elements of the variable's type; of a text, its characters and a 0
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not a handle of a control variable.
 * MPI_T_ERR_CVAR_SET_NEVER: MPI has been initialized, and would not see it; or the setting is for
 *   mpiexec.
 * MPI_T_ERR_INVALID: buf is NULL, the number is negative where a size is meant or stands for no
 *   word, the text is too long, or a channel is refused.
 * MPI_T_ERR_MEMORY: out of memory.
 *
 * MPI-5.0 15.3.6
 */
int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    struct tool_cvar_handle *h;
    tool_lock();
    int rc = check(handle, &h);
    if (!rc && !buf)
        rc = MPI_T_ERR_INVALID;
    if (!rc && is_load(h, buf)) { /* without the lock: a channel may want it as it is loaded */
        tool_unlock();
        rc = load_channels(buf);
        tool_lock();
        rc = rc ? rc : check(handle, &h);
    }
    if (!rc)
        rc = tool_cvar_write(h, buf);
    tool_unlock();
    return rc;
}

#include "tool_cvar.gen.h"
