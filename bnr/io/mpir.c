/* SPDX-License-Identifier: BSD-3-Clause */

/* The symbols that debuggers look for in mpiexec; see mpir.h. The names and types are MPIR's. */
#include "bnr/io/mpir.h"

#include <stdint.h>
#include <stdlib.h>

#include "bnr/io/tell.h"

#define SEEN_BY_DEBUGGERS __attribute__((used, visibility("default")))

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

enum {
    MPIR_NULL,
    MPIR_DEBUG_SPAWNED,
    MPIR_DEBUG_ABORTING
};

SEEN_BY_DEBUGGERS MPIR_PROCDESC *MPIR_proctable;
SEEN_BY_DEBUGGERS int MPIR_proctable_size;
SEEN_BY_DEBUGGERS volatile int MPIR_debug_state;
SEEN_BY_DEBUGGERS const char *MPIR_debug_abort_string;
SEEN_BY_DEBUGGERS volatile int MPIR_being_debugged; /* the debugger sets it */
SEEN_BY_DEBUGGERS int MPIR_i_am_starter;            /* it is there: mpiexec is no rank */
SEEN_BY_DEBUGGERS int MPIR_partial_attach_ok;       /* ranks that were not attached go on, too */
SEEN_BY_DEBUGGERS int MPIR_force_to_main;           /* a rank stops in the library: show main() */

SEEN_BY_DEBUGGERS __attribute__((noinline)) void MPIR_Breakpoint(void);
void MPIR_Breakpoint(void)
{
    __asm__ volatile("" ::: "memory"); /* a call that does nothing may not go */
}

bool mpir_is_debugged(void)
{
    return MPIR_being_debugged != 0;
}

void mpir_publish(const struct tell_process *list, int count)
{
    MPIR_PROCDESC *rows = calloc((size_t)count, sizeof(*rows));
    for (int r = 0; rows && r < count; r++)
        rows[r] = (MPIR_PROCDESC){(char *)(uintptr_t)list[r].host,
                                  (char *)(uintptr_t)list[r].program, list[r].pid};
    free(MPIR_proctable); /* of an earlier job of this process */
    MPIR_proctable = rows;
    MPIR_proctable_size = rows ? count : 0;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    MPIR_Breakpoint();
}

void mpir_abort(const char *why)
{
    if (!MPIR_proctable || MPIR_debug_state == MPIR_DEBUG_ABORTING)
        return;
    MPIR_debug_abort_string = why;
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    MPIR_Breakpoint();
}
