/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handles of the tool interface are numbers, not addresses: what one leads to is found in a table.
 * So one that was freed, that is of another kind or that nobody has given out is told from a good
 * one without anything behind it being touched; and none is given out twice.
 *
 * A lock of its own guards the table, and is held within a call only. What is found may be freed by
 * another thread, unless a lock that the owner of the object holds keeps it.
 */
#ifndef MPI_TOOL_HANDLE_H
#define MPI_TOOL_HANDLE_H

enum tool_handle_kind {
    TOOL_CVAR,
    TOOL_PVAR,
    TOOL_SESSION,
    TOOL_REGISTRATION
};

/* A handle for an object, or NULL: no memory. */
void *tool_handle_make(enum tool_handle_kind kind, void *object);
/* The object of a handle, or NULL where it is none of this kind. */
void *tool_handle_find(const void *handle, enum tool_handle_kind kind);
/* The handle leads nowhere any more. */
void tool_handle_drop(const void *handle);

#endif
