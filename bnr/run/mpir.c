/* SPDX-License-Identifier: BSD-3-Clause */

/* What debuggers look for in mpiexec; see mpir.h. The names and types are MPIR's. */
#include "bnr/run/mpir.h"

#include <stdint.h>
#include <stdlib.h>

#include "os/futex.h"

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
SEEN_BY_DEBUGGERS volatile int MPIR_being_debugged; /* the debugger sets it */
SEEN_BY_DEBUGGERS int MPIR_i_am_starter;            /* it is there: mpiexec is no rank */
SEEN_BY_DEBUGGERS int MPIR_partial_attach_ok;       /* ranks that were not attached go on, too */
SEEN_BY_DEBUGGERS int MPIR_force_to_main;           /* a rank stops in the library: show main() */

SEEN_BY_DEBUGGERS __attribute__((noinline)) void MPIR_Breakpoint(void);
void MPIR_Breakpoint(void)
{
    __asm__ volatile("" ::: "memory"); /* a call that does nothing may not go */
}

void mpir_begin(struct table *table)
{
    atomic_store_explicit(&table->head->held, MPIR_being_debugged != 0, memory_order_release);
}

static void publish(const struct table *table, char *const *paths)
{
    int size = (int)table->head->world_size;
    MPIR_PROCDESC *list = calloc((size_t)size, sizeof(*list));
    for (int r = 0; list && r < size; r++)
        list[r] = (MPIR_PROCDESC){(char *)(uintptr_t)table_host(table, r)->name,
                                  paths[table->rank[r].app], table->rank[r].pid};
    MPIR_proctable = list;
    MPIR_proctable_size = list ? size : 0;
}

void mpir_publish(struct table *table, char *const *paths)
{
    publish(table, paths);
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    MPIR_Breakpoint();
    atomic_store_explicit(&table->head->held, 0, memory_order_release);
    os_futex_wake(&table->head->held, INT32_MAX);
}
