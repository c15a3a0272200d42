/* SPDX-License-Identifier: BSD-3-Clause */

/* The addresses of this host's interfaces, as users name them. No name of a host is resolved. */
#ifndef OS_INTERFACE_H
#define OS_INTERFACE_H

#include <ifaddrs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of an entry's address, 4 or 16 of them; NULL if it has none that a peer could use:
 * another family, or an address that means nothing beyond its link. */
const uint8_t *os_interface_bytes(const struct ifaddrs *entry, size_t *len);

/* Whether a word of len bytes names this entry: the interface (eth0), the address, or a network that
 * it is in (10.0.0.0/8). */
bool os_interface_is(const struct ifaddrs *entry, const char *word, size_t word_len);

#endif
