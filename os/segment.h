/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Anonymous shared memory: a file descriptor that names no file. It comes from
 * memfd_create(), which needs no mount and has no size limit of its own; where
 * that is refused, from an unnamed file under /dev/shm or /tmp. It vanishes
 * with its last descriptor and mapping, so nothing can be left behind.
 *
 * Pages are taken when first touched: a segment may be made far larger than
 * what will ever be used.
 */
#ifndef OS_SEGMENT_H
#define OS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Make a segment of size bytes. Returns a close-on-exec descriptor, or -errno. */
int os_segment_create(const char *label, uint64_t size);

/* Forbid every later writable mapping of fd; those that exist stay writable.
 * Returns 0, or -errno where the kernel cannot. */
int os_segment_seal(int fd);

/* Map size bytes at offset (a multiple of the page size) shared. Returns the
 * address, or NULL with errno set. */
void *os_segment_map(int fd, uint64_t offset, size_t size, int writable);
void os_segment_unmap(void *base, size_t size);
/* Map other bytes where some are mapped: this needs no room in the address space. Returns 0,
 * or -errno, and then what base maps may be either. */
int os_segment_remap(void *base, int fd, uint64_t offset, size_t size, int writable);

#endif
