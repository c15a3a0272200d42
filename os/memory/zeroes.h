/* SPDX-License-Identifier: BSD-3-Clause */

/* Zeroed memory for long tables that few entries are used of: its pages take room once they are written. */
#ifndef OS_ZEROES_H
#define OS_ZEROES_H

#include <stddef.h>

/* Get memory of so many bytes, which may be 0. NULL: there is none. Any thread. */
void *os_zeroes_get(size_t size);
/* Give it back, with the size that it was got with. memory may be NULL. */
void os_zeroes_put(void *memory, size_t size);

#endif
