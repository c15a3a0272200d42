/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handles of the tool interface are numbers, not addresses: a table leads to the object of each. So
 * a handle that was freed, is of another kind or never existed is recognised without touching the
 * memory of an object, and no handle is given out twice. A lock of its own guards the table, and is
 * held within a call only. Another thread may free the object that is found, unless a lock of the
 * object's owner prevents it.
 */
#ifndef MPI_TOOL_HANDLE_H
#define MPI_TOOL_HANDLE_H

enum tool_handle_kind {
    TOOL_CVAR,
    TOOL_PVAR,
    TOOL_SESSION,
    TOOL_REGISTRATION
};

/* Make a handle for an object. NULL: no memory. */
void *tool_handle_make(enum tool_handle_kind kind, void *object);
/* The object of a handle, or NULL if it is no handle of this kind. */
void *tool_handle_find(const void *handle, enum tool_handle_kind kind);
/* Make the handle invalid. */
void tool_handle_drop(const void *handle);

#endif
