/* SPDX-License-Identifier: BSD-3-Clause */

/* Whether valgrind runs this process; see valgrind.h. */
#include "os/valgrind.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, NO, YES };

bool os_is_under_valgrind(void)
{
    static _Atomic int answer = UNKNOWN;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == UNKNOWN) {
        const char *preloaded = getenv("LD_PRELOAD");
        known = preloaded && strstr(preloaded, "vgpreload_") ? YES : NO;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == YES;
}
