/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of other processes, copied by the kernel; see peer.h. */
#include "os/net/peer.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* Linux moves no more than this in one call. */
enum {
    COPY_MAX = 0x7ffff000
};

typedef ssize_t (*copy_fn)(pid_t pid, const struct iovec *local, unsigned long local_count,
                           const struct iovec *remote, unsigned long remote_count,
                           unsigned long flags);

static int copy(pid_t pid, copy_fn call, uintptr_t mine, uint64_t theirs, size_t len)
{
    while (len) {
        size_t part = len < COPY_MAX ? len : COPY_MAX;
        struct iovec local = {(void *)mine, part};
        struct iovec remote = {(void *)(uintptr_t)theirs, part};
        ssize_t done = call(pid, &local, 1, &remote, 1, 0);
        if (done <= 0)
            return done ? -errno : -EFAULT;
        mine += (size_t)done;
        theirs += (size_t)done;
        len -= (size_t)done;
    }
    return 0;
}

int os_peer_read(pid_t pid, void *to, uint64_t address, size_t len)
{
    return copy(pid, process_vm_readv, (uintptr_t)to, address, len);
}

int os_peer_write(pid_t pid, const void *from, uint64_t address, size_t len)
{
    return copy(pid, process_vm_writev, (uintptr_t)from, address, len);
}

bool os_peer_readable(const void *bytes, size_t len)
{
    char ends[2];
    const char *at = bytes;
    struct iovec local = {ends, sizeof(ends)};
    struct iovec remote[2] = {{(void *)(uintptr_t)at, 1}, {(void *)(uintptr_t)(at + len - 1), 1}};
    return !len || process_vm_readv(getpid(), &local, 1, remote, 2, 0) == sizeof(ends);
}
