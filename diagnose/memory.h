/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that is freed all at once. vireo-diagnose lives for one report: where no memory is left,
 * it says so and exits with 1, so no caller checks. */
#ifndef DIAGNOSE_MEMORY_H
#define DIAGNOSE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

struct memory {
    struct block *blocks;
};

/* Zeroed bytes. */
void *memory_take(struct memory *memory, size_t size);
/* Make room for one row behind count rows of size bytes. Returns the rows, which may have moved. */
void *memory_grow(struct memory *memory, void *rows, int count, size_t size);
char *memory_text(struct memory *memory, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void memory_free(struct memory *memory);

#endif
