/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Anonymous shared memory: a file descriptor that names no file. It comes from memfd_create(),
 * which needs no mount and has no size limit of its own; where the kernel refuses that, from an
 * unnamed file under /dev/shm or /tmp. It vanishes with its last descriptor and mapping, so nothing
 * is left behind.
 *
 * Pages are allocated when first touched, so a segment may be much larger than the part that is
 * used.
 */
#ifndef OS_SEGMENT_H
#define OS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Make a segment of size bytes; need of them will surely be used: an unnamed file is made only with
 * room for those. Returns a close-on-exec descriptor, or -errno. */
int os_segment_create(const char *label, uint64_t size, uint64_t need);

/* What other processes may do with a segment from now on. */
enum os_segment_use {
    OS_SEGMENT_READ, /* no new writable mapping; existing ones stay writable */
    OS_SEGMENT_WRITE
};

/* Fix the size of fd and its use for good: no process can cut bytes off that another has mapped.
 * Returns 0, or -errno where the kernel cannot: it is then as it was but, maybe, for its size. */
int os_segment_seal(int fd, enum os_segment_use use);

/* Give pages back: the bytes are zero from now on, in all mappings. Returns 0, or -errno where the
 * file system cannot; then nothing has changed. */
int os_segment_clear(int fd, uint64_t offset, uint64_t size);

/* Map size bytes at any offset shared. Returns the address, or NULL with errno set. */
void *os_segment_map(int fd, uint64_t offset, size_t size, int writable);
void os_segment_unmap(void *base, size_t size);
/* Put zero bytes of this process alone in the place of a mapping. Returns 0 or -errno. */
int os_segment_leave(void *base, size_t size);
/* Map other bytes over an existing mapping, which needs no more address space. Returns 0, or
 * -errno; then base maps either. */
int os_segment_remap(void *base, int fd, uint64_t offset, size_t size, int writable);
/* The same bytes, writable, in a mapping whose changes no other process sees. */
int os_segment_keep(void *base, int fd, size_t size);

#endif
