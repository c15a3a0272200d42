/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The address on which an mpiexec listens for requests of a report on its job: a socket without a
 * file, named by the mpiexec's number and the pid namespace of that number.
 */
#ifndef BNR_ASK_ADDRESS_H
#define BNR_ASK_ADDRESS_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Write the name without the NUL that it begins with or, for pid 0, the beginning of all such
 * names. Returns its length. */
static inline int ask_name(char name[64], int pid)
{
    struct stat st;
    unsigned long long space = stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long long)st.st_ino;
    int len = snprintf(name, 64, "vireo/%llu/", space);
    return pid ? len + snprintf(name + len, 64 - (size_t)len, "%d", pid) : len;
}

static inline socklen_t ask_address(struct sockaddr_un *address, int pid)
{
    char name[64];
    int len = ask_name(name, pid);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, (size_t)len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

#endif
