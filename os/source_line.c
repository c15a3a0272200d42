/* SPDX-License-Identifier: BSD-3-Clause */

/* The source line of a place in a program; see source_line.h. */
#include "os/source_line.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"

extern char **environ;

/* Start addr2line, its output to fd. Returns its process number, or -1. */
static pid_t start(const char *module, uint64_t offset, int fd)
{
    char address[32];
    pid_t pid = -1;
    posix_spawn_file_actions_t files;
    snprintf(address, sizeof(address), "0x%" PRIx64, offset);
    char *argv[] = {"addr2line", "-e", (char *)(uintptr_t)module, address, NULL};
    if (posix_spawn_file_actions_init(&files))
        return -1;
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, fd, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, "addr2line", &files, NULL, argv, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* Read its output until it ends or takes too long. */
static size_t listen_to(int fd, char *text, size_t size, uint64_t until_ns)
{
    size_t len = 0;
    for (;;) {
        uint64_t now = os_now_ns();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (now >= until_ns || poll(&ready, 1, (int)((until_ns - now) / 1000000u) + 1) <= 0)
            return 0;
        ssize_t n = read(fd, text + len, size - len);
        if (n <= 0)
            return n < 0 ? 0 : len;
        len += (size_t)n;
        if (len == size)
            return 0;
    }
}

/* Of "/home/user/solver.c:12 (discriminator 3)" the end, "solver.c:12". */
static bool take_line(char *answer, char *text, size_t size)
{
    answer[strcspn(answer, " \n")] = 0;
    const char *slash = strrchr(answer, '/');
    const char *line = slash ? slash + 1 : answer;
    const char *colon = strchr(line, ':');
    if (*line == '?' || *line == '<' || !colon || colon[1] < '1' || colon[1] > '9')
        return false;
    snprintf(text, size, "%s", line);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return true;
}

bool os_source_line(const char *module, uint64_t offset, uint64_t until_ns, char *text,
                    size_t size)
{
    char answer[4096];
    int ends[2], status;
    struct stat st;
    size_t len = 0;
    if (module[0] != '/' || stat(module, &st) || !S_ISREG(st.st_mode) || pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = start(module, offset, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        len = listen_to(ends[0], answer, sizeof(answer) - 1, until_ns);
        if (!len)
            kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    close(ends[0]);
    answer[len] = 0;
    return take_line(answer, text, size);
}
