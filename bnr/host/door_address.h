/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The address of a job's door, where an mpiexec hears those who want a report or streams of its
 * job: a socket without a file, named by the mpiexec's number and the pid namespace of that number.
 * A daemon has a door too, for the ranks of its host.
 */
#ifndef BNR_DOOR_ADDRESS_H
#define BNR_DOOR_ADDRESS_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum door_kind {
    DOOR_OF_JOB,
    DOOR_OF_DAEMON
};

/* Write the name without the NUL that it begins with or, for pid 0, the beginning of all such
 * names. Returns its length. */
static inline int door_name(char name[64], enum door_kind kind, int pid)
{
    struct stat st;
    unsigned long long space = stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long long)st.st_ino;
    int len = snprintf(name, 64, "%s/%llu/", kind == DOOR_OF_JOB ? "vireo" : "vireo-daemon", space);
    return pid ? len + snprintf(name + len, 64 - (size_t)len, "%d", pid) : len;
}

static inline socklen_t door_address(struct sockaddr_un *address, enum door_kind kind, int pid)
{
    char name[64];
    int len = door_name(name, kind, pid);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, (size_t)len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

#endif
