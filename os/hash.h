/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * uthash, whose tables do not end the process where memory runs out: HASH_ADD() leaves the element out,
 * as os_hash_has() says, and the caller goes on without it.
 */
#ifndef OS_HASH_H
#define OS_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define os_hash_has(hh, element) ((element)->hh.tbl != NULL)

#endif
