/* SPDX-License-Identifier: BSD-3-Clause */

/* The memory of one report; see memory.h. */
#include "diagnose/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/diagnose.h"

struct block {
    struct block *next;
    max_align_t bytes[];
};

void *memory_take(struct memory *memory, size_t size)
{
    struct block *block = calloc(1, sizeof(*block) + size);
    if (!block) {
        fputs(DIAGNOSE_PROGRAM ": no memory for the report\n", stderr);
        exit(EXIT_FAILURE);
    }
    block->next = memory->blocks;
    memory->blocks = block;
    return block->bytes;
}

void *memory_grow(struct memory *memory, void *rows, int count, size_t size)
{
    if (count & (count - 1))
        return rows;
    void *grown = memory_take(memory, size * (count ? (size_t)count * 2 : 1));
    if (count)
        memcpy(grown, rows, size * (size_t)count);
    return grown;
}

char *memory_text(struct memory *memory, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = memory_take(memory, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

void memory_free(struct memory *memory)
{
    for (struct block *next; memory->blocks; memory->blocks = next) {
        next = memory->blocks->next;
        free(memory->blocks);
    }
}
