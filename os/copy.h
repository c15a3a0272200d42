/* SPDX-License-Identifier: BSD-3-Clause */

/* A copy for another processor. */
#ifndef OS_COPY_H
#define OS_COPY_H

#include <stddef.h>

/* Copy past the caches of this processor: out of these another one gets slowest what has just been
 * written. The copy comes before any later store. */
void os_copy_past(void *to, const void *from, size_t len);

#endif
