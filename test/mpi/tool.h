/* SPDX-License-Identifier: BSD-3-Clause */

/* What the programs about MPI_T share: variables by name. */
#ifndef TEST_MPI_TOOL_H
#define TEST_MPI_TOOL_H

#include <string.h>

#include "check.h"

typedef unsigned long long counted;

/* The number of a performance variable, of whatever class. */
static inline int tool_pvar(const char *name)
{
    for (int class = MPI_T_PVAR_CLASS_STATE; class <= MPI_T_PVAR_CLASS_GENERIC; class ++) {
        int index;
        if (MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS)
            return index;
    }
    fprintf(stderr, "no performance variable is called %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return -1;
}

/* A handle in a session; comm: of those that are bound to one, else NULL. */
static inline MPI_T_pvar_handle tool_handle(MPI_T_pvar_session session, const char *name,
                                            MPI_Comm *comm, int want_count)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    OK(MPI_T_pvar_handle_alloc(session, tool_pvar(name), comm, &handle, &count));
    CHECK(handle != MPI_T_PVAR_HANDLE_NULL && count == want_count);
    return handle;
}

static inline counted tool_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    counted value = ~0ull;
    OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static inline double tool_seconds(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    double value = -1;
    OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

/* Fails, and tells both, where two numbers differ. */
static inline void tool_same(counted is, counted should, const char *what, int line)
{
    if (is == should)
        return;
    fprintf(stderr, "line %d: %s is %llu, not %llu\n", line, what, is, should);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define SAME(is, should) tool_same((counted)(is), (counted)(should), #is, __LINE__)

#endif
