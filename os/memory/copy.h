/* SPDX-License-Identifier: BSD-3-Clause */

/* A copy for another processor. */
#ifndef OS_COPY_H
#define OS_COPY_H

#include <stddef.h>

/* Copy over what another processor has in its caches: whole lines are taken from it without being
 * fetched first, if this processor can do that. */
void os_copy_over(void *to, const void *from, size_t len);

#endif
