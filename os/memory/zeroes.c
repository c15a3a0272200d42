/* SPDX-License-Identifier: BSD-3-Clause */

/* Zeroed memory that takes room once it is written; see zeroes.h. calloc() writes what lies in a heap that is mapped
 * already, so long memory comes from the system. */
#include "os/memory/zeroes.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LONG = 4096 }; /* bytes; shorter memory would take a page as well */

/* The leak checker looks for pointers in memory that it knows. */
extern void __lsan_register_root_region(const void *begin, size_t size) __attribute__((weak));
extern void __lsan_unregister_root_region(const void *begin, size_t size) __attribute__((weak));

void *os_zeroes_get(size_t size)
{
    if (size < LONG)
        return calloc(1, size ? size : 1);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (__lsan_register_root_region)
        __lsan_register_root_region(memory, size);
    return memory;
}

void os_zeroes_put(void *memory, size_t size)
{
    if (size < LONG) {
        free(memory);
    } else if (memory) {
        if (__lsan_unregister_root_region)
            __lsan_unregister_root_region(memory, size);
        munmap(memory, size);
    }
}
