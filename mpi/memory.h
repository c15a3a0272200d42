/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of MPI_Alloc_mem: in segments that other processes of the host can map, so that windows
 * over it need no messages there. Where no segment can be had it is plain memory. Any thread may
 * call these.
 */
#ifndef MPI_MEMORY_H
#define MPI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where other processes find memory: bytes from offset on of a descriptor of this process. */
struct memory_place {
    int64_t pid, fd; /* fd -1: nowhere */
    uint64_t dev, ino, offset;
};

/* NULL: there is none. align is a power of two. */
void *memory_get(size_t size, size_t align);
/* Accepts NULL. */
void memory_put(void *memory);
/* Where others find these bytes. */
struct memory_place memory_place_of(const void *memory, size_t len);

/* Map bytes that another process of this host has, until os_segment_unmap(). NULL: they cannot be
 * mapped. */
void *memory_open(const struct memory_place *place, size_t len);

#endif
