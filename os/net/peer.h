/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of other processes, copied by the kernel. */
#ifndef OS_PEER_H
#define OS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copy len bytes at an address of another process to or from memory of this one. Returns 0, or
 * -errno, after which some may have been copied. */
int os_peer_read(pid_t pid, void *to, uint64_t address, size_t len);
int os_peer_write(pid_t pid, const void *from, uint64_t address, size_t len);

/* Whether others can read len bytes of this process, as far as the first and the last one show. */
bool os_peer_readable(const void *bytes, size_t len);

#endif
