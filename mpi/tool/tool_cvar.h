/* SPDX-License-Identifier: BSD-3-Clause */

/* Control variables (MPI-5.0 15.3.6): the settings (os/settings.h), in their order and under the
 * names of their environment variables. tool_lock() guards all that changes. */
#ifndef MPI_TOOL_CVAR_H
#define MPI_TOOL_CVAR_H

#include <mpi.h>

#include "mpi/tool/tool.h"

enum {
    TOOL_CVAR_NAME = 64,
    TOOL_CVAR_ABOUT = 512
};

struct tool_cvar {
    char name[TOOL_CVAR_NAME];
    char about[TOOL_CVAR_ABOUT];
    int verbosity, scope;
    MPI_Datatype datatype;
    const struct tool_enum *enumtype; /* NULL: none */
};

int tool_cvar_count(void);
void tool_cvar_describe(int i, struct tool_cvar *cvar);
int tool_cvar_category(int i);
/* NULL: none. */
const struct tool_enum *tool_cvar_enum(int i);

struct tool_cvar_handle {
    MPI_T_cvar_handle own; /* its handle */
    int index;
    int count; /* of elements */
    struct tool_cvar_handle *next, *prev;
};

/* Return an MPI_T code, or MPI_SUCCESS. */
int tool_cvar_alloc(int index, struct tool_cvar_handle **handle);
struct tool_cvar_handle *tool_cvar_from(MPI_T_cvar_handle handle); /* NULL: none */
void tool_cvar_free(struct tool_cvar_handle *handle);
void tool_cvar_free_all(void);
void tool_cvar_read(const struct tool_cvar_handle *handle, void *buf);
int tool_cvar_write(const struct tool_cvar_handle *handle, const void *buf);

#endif
