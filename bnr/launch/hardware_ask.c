/* SPDX-License-Identifier: BSD-3-Clause */

/* The hardware as the program vireo-hardware tells it, which lies beside this one; in the daemon. */
#include "bnr/launch/hardware_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void find_program(char program[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", program, PATH_MAX - sizeof(HARDWARE_PROGRAM));
    program[len > 0 ? len : 0] = 0;
    char *slash = strrchr(program, '/');
    strcpy(slash ? slash + 1 : program, HARDWARE_PROGRAM);
}

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

int hardware_read(struct hardware *h, const char *device, char why[512])
{
    char program[PATH_MAX], near[64];
    int ends[2];
    pid_t pid = 0;
    *h = (struct hardware){0};
    find_program(program);
    snprintf(near, sizeof(near), "%s", device ? device : "");
    int rc = pipe2(ends, O_CLOEXEC) ? -errno : 0;
    if (rc) {
        snprintf(why, 512, "cannot make a pipe: %s", strerror(-rc));
        return rc;
    }
    rc = start(program, device ? near : NULL, ends[1], &pid);
    close(ends[1]);
    FILE *from = rc ? NULL : fdopen(ends[0], "r");
    if (from)
        rc = hardware_get(h, from, why);
    else
        snprintf(why, 512, "cannot run %.400s, which tells of the processors: %s", program,
                 strerror(rc ? -rc : ENOMEM));
    if (from)
        fclose(from);
    else
        close(ends[0]);
    while (pid && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc || from ? rc : -ENOMEM;
}
