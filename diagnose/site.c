/* SPDX-License-Identifier: BSD-3-Clause */

/* Places in programs as file:line; see site.h. */
#include "diagnose/site.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"

extern char **environ;

enum {
    SITES_MAX = 32,
    NAME_MAX_BYTES = 200,
    LIMIT_MS = 1500
};

struct site {
    char *module;
    uint64_t offset;
    char name[NAME_MAX_BYTES];
};

struct site_cache {
    struct site site[SITES_MAX];
    int count;
    uint64_t until_ns; /* when patience ends */
};

struct site_cache *site_create(void)
{
    struct site_cache *cache = calloc(1, sizeof(*cache));
    if (cache)
        cache->until_ns = os_now_ns() + (uint64_t)LIMIT_MS * 1000000u;
    return cache;
}

void site_destroy(struct site_cache *cache)
{
    for (int i = 0; cache && i < cache->count; i++)
        free(cache->site[i].module);
    free(cache);
}

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
static void take_name(struct site *site, char *text, size_t len)
{
    text[len] = 0;
    text[strcspn(text, " \n")] = 0;
    const char *slash = strrchr(text, '/');
    const char *name = slash ? slash + 1 : text;
    const char *colon = strchr(name, ':');
    if (*name == '?' || *name == '<' || !colon || colon[1] < '1' || colon[1] > '9')
        return;
    snprintf(site->name, sizeof(site->name), "%.*s", NAME_MAX_BYTES - 1, name);
    for (char *c = site->name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void ask_tool(struct site *site, uint64_t until_ns)
{
    char text[4096];
    int ends[2], status;
    struct stat st;
    if (site->module[0] != '/' || stat(site->module, &st) || !S_ISREG(st.st_mode) ||
        pipe2(ends, O_CLOEXEC))
        return;
    pid_t pid = start(site->module, site->offset, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        size_t len = listen_to(ends[0], text, sizeof(text) - 1, until_ns);
        if (!len)
            kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        take_name(site, text, len);
    }
    close(ends[0]);
}

void site_name(void *arg, const char *module, uint64_t offset, char *text, size_t size)
{
    struct site_cache *cache = arg;
    struct site *site = NULL;
    for (int i = 0; i < cache->count && !site; i++)
        if (cache->site[i].offset == offset && !strcmp(cache->site[i].module, module))
            site = &cache->site[i];
    if (!site && cache->count < SITES_MAX && os_now_ns() < cache->until_ns) {
        site = &cache->site[cache->count];
        site->offset = offset;
        site->module = strdup(module);
        if (!site->module)
            return;
        cache->count++;
        ask_tool(site, cache->until_ns);
    }
    if (site && site->name[0])
        snprintf(text, size, "%s", site->name);
}
