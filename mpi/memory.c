/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of MPI_Alloc_mem; see memory.h.
 *
 * A segment is cut into blocks of a few sizes, and freed blocks of a size are kept for the next one
 * of that size. The record of a block lies elsewhere, so that a program that writes too far
 * destroys data alone. Pages of large blocks are given back to the system.
 */
#include "mpi/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/world.h"
#include "os/hash.h"
#include "os/lock.h"
#include "os/memory/segment.h"

enum {
    LINE = 64,
    PAGE = 4096,
    SIZES = 2 * 48, /* of blocks: 64, 96, 128, 192, ... */
    CLEAR_MIN = 256 << 10
};
#define SEGMENT_LEN ((uint64_t)256 << 20)

struct memory_segment {
    struct memory_segment *next;
    unsigned char *base;
    uint64_t len, used;
    int fd;
    uint64_t dev, ino;
};

struct memory_block {
    void *at;
    struct memory_segment *segment;
    int size;                  /* number of its size */
    struct memory_block *next; /* free ones of the size */
    UT_hash_handle hh;         /* in use: by at */
};

/* Guards the rest. */
static struct os_lock lock = OS_LOCK_INIT;
static struct memory_segment *segments;
static struct memory_block *used, *unused[SIZES];

static uint64_t len_of(int size)
{
    return ((uint64_t)LINE << (size / 2)) * (size % 2 ? 3 : 2) / 2;
}

/* The smallest size of block for these bytes, at an address that is a multiple of align: see cut()
 * for which of them begin at more than a line. */
static int size_for(size_t len, size_t align)
{
    int size = 0;
    if (align > LINE && len < PAGE)
        len = PAGE;
    while (size < SIZES && (len_of(size) < len || len_of(size) < align))
        size++;
    return size;
}

/* ---- segments ---- */

static struct memory_segment *make_segment(uint64_t len)
{
    struct stat stat;
    struct memory_segment *segment = calloc(1, sizeof(*segment));
    if (!segment)
        return NULL;
    segment->len = len > SEGMENT_LEN ? len : SEGMENT_LEN;
    segment->fd = os_segment_create("vireo-memory", segment->len, len);
    if (segment->fd >= 0 && !fstat(segment->fd, &stat))
        segment->base = os_segment_map(segment->fd, 0, segment->len, 1);
    if (!segment->base) {
        if (segment->fd >= 0)
            close(segment->fd);
        free(segment);
        return NULL;
    }
    segment->dev = stat.st_dev;
    segment->ino = stat.st_ino;
    segment->next = segments;
    segments = segment;
    return segment;
}

/* Blocks of a page and more begin at a page, smaller ones at a line. */
static struct memory_block *cut(int size)
{
    uint64_t align = len_of(size) < PAGE ? LINE : PAGE,
             len = (len_of(size) + align - 1) / align * align;
    struct memory_block *block = calloc(1, sizeof(*block));
    struct memory_segment *segment = segments;
    while (segment && (segment->used + align - 1) / align * align + len > segment->len)
        segment = segment->next;
    if (block && !segment)
        segment = make_segment(len);
    if (!block || !segment) {
        free(block);
        return NULL;
    }
    segment->used = (segment->used + align - 1) / align * align;
    *block = (struct memory_block){
        .at = segment->base + segment->used, .segment = segment, .size = size};
    segment->used += len;
    return block;
}

/* A forked child has memory of its own here, as elsewhere: what it writes changes no window of its
 * parent. */
static void keep_apart(void)
{
    for (const struct memory_segment *s = segments; s; s = s->next)
        (void)os_segment_keep(s->base, s->fd, s->len);
}

static __attribute__((constructor)) void follow_forks(void)
{
    (void)pthread_atfork(NULL, NULL, keep_apart);
}

/* ---- blocks ---- */

void *memory_get(size_t len, size_t align)
{
    void *plain = NULL;
    int size = size_for(len, align);
    bool shares = world_facts.local_ranks > 1 && align <= PAGE && size < SIZES;
    struct memory_block *block = NULL;
    if (shares) {
        os_lock_slow(&lock);
        block = unused[size];
        if (block)
            unused[size] = block->next;
        else
            block = cut(size);
        if (block) {
            HASH_ADD_PTR(used, at, block);
            if (!os_hash_has(hh, block)) {
                block->next = unused[size];
                unused[size] = block;
                block = NULL;
            }
        }
        os_unlock_slow(&lock);
    }
    if (block)
        return block->at;
    return posix_memalign(&plain, align > LINE ? align : LINE, len ? len : 1) ? NULL : plain;
}

void memory_put(void *memory)
{
    struct memory_block *block;
    os_lock_slow(&lock);
    HASH_FIND_PTR(used, &memory, block);
    if (block) {
        HASH_DEL(used, block);
        if (len_of(block->size) >= CLEAR_MIN)
            (void)os_segment_clear(block->segment->fd,
                                   (uint64_t)((unsigned char *)block->at - block->segment->base),
                                   len_of(block->size) / PAGE * PAGE);
        block->next = unused[block->size];
        unused[block->size] = block;
    }
    os_unlock_slow(&lock);
    if (!block)
        free(memory);
}

/* ---- other processes ---- */

struct memory_place memory_place_of(const void *memory, size_t len)
{
    struct memory_place place = {.fd = -1};
    uintptr_t at = (uintptr_t)memory;
    os_lock_slow(&lock);
    for (const struct memory_segment *s = segments; s; s = s->next)
        if (at >= (uintptr_t)s->base && len <= s->len && at - (uintptr_t)s->base <= s->len - len)
            place = (struct memory_place){getpid(), s->fd, s->dev, s->ino, at - (uintptr_t)s->base};
    os_unlock_slow(&lock);
    return place;
}

void *memory_open(const struct memory_place *place, size_t len)
{
    char path[64];
    struct stat stat;
    void *memory = NULL;
    snprintf(path, sizeof(path), "/proc/%lld/fd/%lld", (long long)place->pid, (long long)place->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    /* The number may be another process's here, in a container of its own. */
    if (!fstat(fd, &stat) && stat.st_dev == place->dev && stat.st_ino == place->ino &&
        len <= (uint64_t)stat.st_size && place->offset <= (uint64_t)stat.st_size - len)
        memory = os_segment_map(fd, place->offset, len, 1);
    close(fd);
    return memory;
}
