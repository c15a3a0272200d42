/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tool interface (MPI-5.0 chapter 15): its life, and functions that its parts share.
 *
 * May be called before MPI_Init and after MPI_Finalize, by any thread: tool_lock() guards the life,
 * control and performance variables, and never asks how many threads there are. It is taken before
 * that of events, which have one of their own (mpi/tool/tool_event.h), and both before the
 * device's. A function that finds an object by its handle (mpi/tool/tool_handle.h) holds the lock
 * that guards it.
 *
 * Nothing here calls an error handler: functions return their codes.
 */
#ifndef MPI_TOOL_H
#define MPI_TOOL_H

#include <mpi.h>
#include <stdbool.h>

/* Items of an enumeration are numbered from 0 on. Static objects. */
struct tool_enum {
    const char *name;
    const char *words; /* of the items, parted by bars */
};

static inline MPI_T_enum tool_enum_handle(const struct tool_enum *e)
{
    return (MPI_T_enum)(uintptr_t)e;
}
const struct tool_enum *tool_enum_from(MPI_T_enum handle); /* NULL: none */
int tool_enum_count(const struct tool_enum *e);
/* The name of an item, which ends at a bar or 0; NULL: no such item. */
const char *tool_enum_item(const struct tool_enum *e, int i);
extern const struct tool_enum tool_enum_bool;

/* ---- life ---- */

void tool_lock(void);
void tool_unlock(void);

/* Count users. The last tool_drop() frees all objects. Returns an MPI_T code. */
int tool_use(int required, int *provided);
int tool_drop(void);
/* Whether the interface is in use: every function checks it first. */
bool tool_is_on(void);

/* Copy a text of a known length (without a 0) as MPI-5.0 15.3.3 defines: at most *len bytes, with
 * the 0; then *len is the room that all of it needs. Does nothing where len is NULL. */
void tool_text(const char *text, int text_len, char *to, int *len);
/* The same of a whole string. */
void tool_string(const char *text, char *to, int *len);

/* ---- categories ---- */

/* A tree; behind these stands one for each channel. */
enum tool_category {
    TOOL_VIREO,
    TOOL_LAUNCH,
    TOOL_MPID,
    TOOL_MATCHING,
    TOOL_MESSAGES,
    TOOL_CONNECTIONS,
    TOOL_WAITING,
    TOOL_CHANNEL,
    TOOL_CATEGORIES
};

enum tool_kind {
    TOOL_OF_CVAR,
    TOOL_OF_PVAR,
    TOOL_OF_EVENT,
    TOOL_OF_CATEGORY
};

int tool_category_count(void);
const char *tool_category_name(int i);
const char *tool_category_about(int i);
/* Number of a channel's category, or TOOL_CHANNEL if there is no such channel. */
int tool_category_of_channel(const char *name);
/* Write at most len numbers of the members of a kind to indices. Returns how many members there
 * are. */
int tool_category_members(int category, enum tool_kind kind, int len, int *indices);

#endif
