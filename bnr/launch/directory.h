/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading a directory by the kernel's own call, where nothing may be allocated. */
#ifndef BNR_DIRECTORY_H
#define BNR_DIRECTORY_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct directory_entry {
    uint64_t inode;
    int64_t next;
    unsigned short len; /* from here to the next one */
    unsigned char type;
    char name[];
};

/* Fill buffer, aligned as an entry is, with entries. Returns how many bytes they are, 0 at the end, or
 * a negative number. */
static inline long directory_read(int fd, char *buffer, unsigned size)
{
    return syscall(SYS_getdents64, fd, buffer, size);
}

static inline const struct directory_entry *directory_at(const char *buffer, long at)
{
    return (const struct directory_entry *)(const void *)(buffer + at);
}

#endif
