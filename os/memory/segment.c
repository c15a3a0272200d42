/* SPDX-License-Identifier: BSD-3-Clause */

/* Anonymous shared memory; see segment.h. */
#include "os/memory/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static bool has_room(int fd, uint64_t need)
{
    struct statfs fs;
    return fstatfs(fd, &fs) || (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= need;
}

static int open_unnamed(const char *label, uint64_t need)
{
    int rc = 0, fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0)
        return fd;
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0 && has_room(fd, need))
            return fd;
        rc = fd >= 0 || rc == -ENOSPC ? -ENOSPC : -errno;
        if (fd >= 0)
            close(fd);
    }
    return rc;
}

int os_segment_create(const char *label, uint64_t size, uint64_t need)
{
    int fd = open_unnamed(label, need);
    if (fd >= 0 && ftruncate(fd, (off_t)size)) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    return fd;
}

int os_segment_seal(int fd, enum os_segment_use use)
{
    int size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (use == OS_SEGMENT_READ && fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE)) {
        int rc = -errno; /* an older kernel: it can still seal the size */
        (void)fcntl(fd, F_ADD_SEALS, size);
        return rc;
    }
    return fcntl(fd, F_ADD_SEALS, size) ? -errno : 0;
}

int os_segment_clear(int fd, uint64_t offset, uint64_t size)
{
    int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    return fallocate(fd, how, (off_t)offset, (off_t)size) ? -errno : 0;
}

static int protection(int writable)
{
    return writable ? PROT_READ | PROT_WRITE : PROT_READ;
}

/* Bytes from the beginning of a page, which the machine chooses: 4 to 64 KiB, to here. */
static size_t into_page(uint64_t at)
{
    return (size_t)(at & ((uint64_t)sysconf(_SC_PAGESIZE) - 1));
}

void *os_segment_map(int fd, uint64_t offset, size_t size, int writable)
{
    size_t before = into_page(offset);
    char *base = mmap(NULL, before + size, protection(writable), MAP_SHARED, fd, (off_t)(offset - before));
    return base == MAP_FAILED ? NULL : base + before;
}

void os_segment_unmap(void *base, size_t size)
{
    size_t before = into_page((uintptr_t)base);
    if (base)
        munmap((char *)base - before, before + size);
}

int os_segment_leave(void *base, size_t size)
{
    size_t before = into_page((uintptr_t)base);
    void *at = mmap((char *)base - before, before + size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return at == MAP_FAILED ? -errno : 0;
}

int os_segment_remap(void *base, int fd, uint64_t offset, size_t size, int writable)
{
    void *at = mmap(base, size, protection(writable), MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
    return at == MAP_FAILED ? -errno : 0;
}

int os_segment_keep(void *base, int fd, size_t size)
{
    void *at = mmap(base, size, protection(1), MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd, 0);
    return at == MAP_FAILED ? -errno : 0;
}
