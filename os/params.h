/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lists of parameters, "key=value,key=value", as cards carry them. Values are
 * percent-encoded: no blank and none of ; ( ) , = % stands in one. The reader
 * takes bytes from other processes: it is bounded and trusts nothing.
 */
#ifndef OS_PARAMS_H
#define OS_PARAMS_H

#include <stddef.h>

/* Append key=value to list (a NUL-terminated buffer of size bytes), with a comma
 * where it is not the first. Returns 0, or -ENOSPC with list unchanged. */
int os_params_add(char *list, size_t size, const char *key, const char *value);

/* Copy the decoded value of the index-th occurrence of key into value. Returns
 * 0, -ENOENT where there is none, -ENOSPC, or -EINVAL for bytes that are no list. */
int os_params_get(const char *list, const char *key, int index, char *value, size_t size);

#endif
