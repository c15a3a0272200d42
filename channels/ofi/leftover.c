/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names of the memory that provider shm shares, and the leftovers of killed processes.
 *
 * The provider shares memory under a name in /dev/shm, and names it after the process's number
 * alone. A process that is killed leaves its memory there, and a later process with the same number
 * cannot open its own. So each process gives its memory a name that no other process ever has: it
 * tells the space of process numbers, the number, the start of the process, and a random number.
 * All names are equally long, as addresses of this channel have to be. A name whose process has
 * ended is removed by the next process that opens the provider, and by those that survive it.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ofi/ofi.h"
#include "os/file.h"
#include "os/random.h"

static const char prefix[] = "fi_ns://";

static unsigned long long start_of(unsigned pid)
{
    char path[32], text[1024], state = 'X';
    unsigned long long start = 0;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    (void)os_read_start(path, text, sizeof(text));
    const char *after = strrchr(text, ')'); /* the program's name may hold anything */
    if (!after || sscanf(after + 1,
                         " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                         "%*d %*d %llu",
                         &state, &start) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

/* This process, where the kernel tells of it. */
static bool find_self(struct ofi_owner *self)
{
    struct stat space;
    if (stat("/proc/self/ns/pid", &space))
        return false;
    *self = (struct ofi_owner){space.st_ino, (unsigned)getpid(), start_of((unsigned)getpid())};
    return self->start;
}

void ofi_leftover_name(char *name, size_t size)
{
    struct ofi_owner self = {0, (unsigned)getpid(), 0};
    uint64_t number = 0;
    (void)find_self(&self);
    (void)os_random(&number, sizeof(number)); /* else the start tells processes apart */
    snprintf(name, size, "%svireo-ofi-%016llx-%08x-%016llx-%016llx", prefix, self.space, self.pid,
             self.start, (unsigned long long)number);
}

static bool read_owner(const char *name, struct ofi_owner *owner)
{
    return sscanf(name, "vireo-ofi-%16llx-%8x-%16llx-", &owner->space, &owner->pid,
                  &owner->start) == 3;
}

static bool is_over(const struct ofi_owner *owner, const struct ofi_owner *self)
{
    return owner->space == self->space && owner->start != start_of(owner->pid);
}

bool ofi_owner_read(const char *address, struct ofi_owner *owner)
{
    return !strncmp(address, prefix, strlen(prefix)) && read_owner(address + strlen(prefix), owner);
}

bool ofi_owner_has_ended(const struct ofi_owner *owner)
{
    struct ofi_owner self;
    return find_self(&self) && is_over(owner, &self);
}

static bool is_left_over(const char *name, const struct ofi_owner *self)
{
    struct ofi_owner owner;
    return read_owner(name, &owner) && is_over(&owner, self);
}

void ofi_leftover_remove(void)
{
    struct ofi_owner self;
    DIR *memory = find_self(&self) ? opendir("/dev/shm") : NULL;
    if (!memory)
        return;
    for (struct dirent *entry; (entry = readdir(memory));)
        if (is_left_over(entry->d_name, &self))
            (void)shm_unlink(entry->d_name); /* another user's stays */
    closedir(memory);
}
