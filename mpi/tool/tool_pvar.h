/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Performance variables (MPI-5.0 15.3.7): the device's counts (include/mpid.h, "counters"), seen
 * through handles.
 *
 * A handle of a counter, an aggregate or a timer remembers the device's count of its start, and
 * adds up the difference until it is stopped. A high-water mark begins at the current level. Levels
 * and states are read as they are. The device's counts stand at 0 before MPI is initialized, and
 * stay when it is finalized.
 *
 * Variables that are bound to a communicator have an element for each of its peers: the traffic
 * between this process and the peer, over all communicators. The handle holds their group, so the
 * communicator may be freed.
 *
 * Guarded by tool_lock().
 */
#ifndef MPI_TOOL_PVAR_H
#define MPI_TOOL_PVAR_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/tool/tool.h"

struct comm;
struct group;

struct tool_pvar {
    char name[64];
    const char *about;
    int class, verbosity, bind;
    MPI_Datatype datatype;
    const struct tool_enum *enumtype; /* NULL: none */
    bool continuous; /* it cannot be started, stopped, written or reset; all others are atomic */
};

struct tool_session {
    MPI_T_pvar_session own; /* what leads to it */
    struct tool_pvar_handle *handles;
    struct tool_session *next, *prev;
};

struct tool_pvar_handle {
    MPI_T_pvar_handle own; /* what leads to it */
    int index;
    int count;
    bool started;
    struct tool_session *session;
    struct group *group; /* whose members are the elements; NULL: not bound */
    struct tool_pvar_handle *next, *prev;
    uint64_t *base;   /* [2 * count]: the device's count when it was started; and that of now */
    uint64_t value[]; /* [count]: from earlier starts; or the mark */
};

int tool_pvar_count(void);
void tool_pvar_describe(int i, struct tool_pvar *pvar);
int tool_pvar_category(int i);
/* NULL: none. */
const struct tool_enum *tool_pvar_enum(int i);

/* NULL: no memory. */
struct tool_session *tool_session_create(void);
struct tool_session *tool_session_from(MPI_T_pvar_session session); /* NULL: none */
void tool_session_free(struct tool_session *session);
void tool_session_free_all(void);

/* comm: for variables that are bound to one, or NULL. Returns an MPI_T code. */
int tool_pvar_alloc(struct tool_session *session, int index, struct comm *comm,
                    struct tool_pvar_handle **handle);
/* NULL: none of this session. */
struct tool_pvar_handle *tool_pvar_from(const struct tool_session *session,
                                        MPI_T_pvar_handle handle);
void tool_pvar_free(struct tool_pvar_handle *handle);

void tool_pvar_start(struct tool_pvar_handle *handle);
void tool_pvar_stop(struct tool_pvar_handle *handle);
/* buf: count elements of the variable's type. */
void tool_pvar_read(struct tool_pvar_handle *handle, void *buf);
/* Returns whether the values can be read. */
bool tool_pvar_write(struct tool_pvar_handle *handle, const void *buf);
void tool_pvar_reset(struct tool_pvar_handle *handle);
void tool_pvar_read_reset(struct tool_pvar_handle *handle, void *buf);

#endif
