/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The hardware as the program vireo-hardware tells it, which lies beside this one; in the daemon. That
 * is one file without libraries, since it starts faster so, and cannot load hwloc itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/launch/hardware.h"
#include "bnr/wire/machine_message.h"
#include "os/file.h"

#define PROGRAM "vireo-hardware"

extern char **environ;

/* Start the program with its output in a pipe. Returns 0 or -errno. */
static int start(char *program, char *device, int out_fd, pid_t *pid)
{
    char *words[] = {program, device, NULL};
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return -rc;
    rc = posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
    if (!rc)
        rc = posix_spawn(pid, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

/* All that the program writes. NULL: no memory, or more than a machine. */
static struct bytes *read_all(int fd)
{
    struct packing p = {0};
    uint8_t some[4096];
    ssize_t n;
    while ((n = read(fd, some, sizeof(some))) > 0 || (n < 0 && errno == EINTR)) {
        pack_raw(&p, some, n > 0 ? (size_t)n : 0);
        p.failed |= p.bytes && p.bytes->len > MACHINE_MESSAGE_MAX;
    }
    return pack_end(&p);
}

/* Take the answer. Returns 0, or -EIO with a sentence in why. */
static int take(struct hardware *h, const struct bytes *all, char why[512])
{
    struct machine_told told;
    int rc = machine_unpack(unpack_begin(all), &told);
    if (!rc && !told.problem) {
        *h = (struct hardware){told.cpus, told.machine, told.is_own};
        return 0;
    }
    snprintf(why, 512, "%s", rc ? "what " PROGRAM " tells of the processors is no machine" : told.problem);
    machine_fini(&told);
    return -EIO;
}

int hardware_read(struct hardware *h, const char *device, char why[512])
{
    char program[PATH_MAX], near[64];
    int ends[2];
    pid_t pid = 0;
    *h = (struct hardware){0};
    os_beside(program, PROGRAM);
    snprintf(near, sizeof(near), "%s", device ? device : "");
    int rc = pipe2(ends, O_CLOEXEC) ? -errno : 0;
    if (rc) {
        snprintf(why, 512, "cannot make a pipe: %s", strerror(-rc));
        return rc;
    }
    rc = start(program, device ? near : NULL, ends[1], &pid);
    close(ends[1]);
    if (rc) {
        snprintf(why, 512, "cannot run %.400s, which tells of the processors: %s", program,
                 strerror(-rc));
    } else {
        struct bytes *all = read_all(ends[0]);
        rc = take(h, all, why);
        bytes_unref(all);
    }
    close(ends[0]);
    while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc;
}
