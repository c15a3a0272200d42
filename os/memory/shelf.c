/* SPDX-License-Identifier: BSD-3-Clause */

/* An array that never moves; see shelf.h. */
#include "os/memory/shelf.h"

#include <errno.h>
#include <stdlib.h>

int os_shelf_reach(struct os_shelf *shelf, uint32_t i)
{
    uint32_t last = os_shelf_part(i);
    if (last >= OS_SHELF_PARTS)
        return -ENOMEM;
    for (uint32_t part = 0; part <= last; part++) {
        if (atomic_load_explicit(&shelf->parts[part], memory_order_relaxed))
            continue;
        char *elements = calloc((size_t)OS_SHELF_FIRST << part, shelf->size);
        if (!elements)
            return -ENOMEM;
        atomic_store_explicit(&shelf->parts[part], elements, memory_order_release);
    }
    return 0;
}

void os_shelf_fini(struct os_shelf *shelf)
{
    for (uint32_t part = 0; part < OS_SHELF_PARTS; part++)
        free(atomic_exchange_explicit(&shelf->parts[part], NULL, memory_order_relaxed));
}
