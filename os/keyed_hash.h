/* SPDX-License-Identifier: BSD-3-Clause */

/* SipHash-2-4, a keyed hash for short texts. A process without the key cannot compute a text's
 * hash, even if it has seen the hashes of other texts. */
#ifndef OS_KEYED_HASH_H
#define OS_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t os_keyed_hash(const uint8_t key[16], const void *text, size_t len);

#endif
