/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Places in the program that call MPI, for the trace. While the program runs they are called by object
 * file and offset, which cost little; the lines of their sources are looked up when all is over.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/source_line.h"
#include "os/stack.h"
#include "profile/profile.h"

enum {
    SITES = 1024, /* a power of two */
    FRAMES = 12,
    NAME_MAX_LEN = 48,
    LINES_MS = 3000 /* for all of them */
};

struct trace_place {
    uintptr_t address; /* where the call returns to; 0: free */
    const char *module;
    uintptr_t offset;
    bool is_binding; /* of the library that Fortran calls, which is called from elsewhere */
    char text[NAME_MAX_LEN + 24];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */
static struct trace_place sites[SITES];
static size_t site_count;

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* An address behind the call: one before belongs to it. */
static void look_up(struct trace_place *site)
{
    static const char binding[] = "libmpifort_abi.so";
    Dl_info info;
    const void *call = (const char *)site->address - 1;
    if (!dladdr(call, &info) || !info.dli_fname)
        return;
    const ElfW(Ehdr) *elf = info.dli_fbase;
    site->module = info.dli_fname;
    site->offset = (uintptr_t)call - (elf->e_type == ET_EXEC ? 0 : (uintptr_t)elf);
    site->is_binding = !strncmp(name_of(info.dli_fname), binding, sizeof(binding) - 1);
    snprintf(site->text, sizeof(site->text), "%.*s+0x%llx", NAME_MAX_LEN, name_of(info.dli_fname),
             (unsigned long long)site->offset);
    for (char *c = site->text; *c; c++) {
        if (*c == '"' || *c == '\\' || *c < ' ' || *c > '~')
            *c = '?';
    }
}

/* NULL: there is no room left. */
static const struct trace_place *site_at(const void *address)
{
    uintptr_t key = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    size_t i = (key >> 2) * 0x9e3779b9u & (SITES - 1);
    while (sites[i].address && sites[i].address != key)
        i = (i + 1) & (SITES - 1);
    struct trace_place *found = &sites[i];
    if (!found->address && site_count < SITES / 2) {
        site_count++;
        found->address = key;
        look_up(found);
    }
    pthread_mutex_unlock(&lock);
    return found->address ? found : NULL;
}

const char *site_text(void *caller)
{
    void *frames[FRAMES];
    const struct trace_place *site = site_at(caller);
    if (!site || !site->is_binding)
        return site ? site->text : "";
    int count = os_stack(frames, FRAMES), i = 0;
    while (i < count && frames[i] != caller)
        i++;
    while (++i < count) {
        site = site_at(frames[i]);
        if (!site || !site->is_binding)
            return site ? site->text : "";
    }
    return "";
}

char *site_lines(void)
{
    char *all = NULL, exe[4096], line[256];
    size_t len = 0;
    FILE *to = open_memstream(&all, &len);
    uint64_t until = profile_now_ns() + LINES_MS * 1000000ull;
    ssize_t exe_len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[exe_len > 0 ? exe_len : 0] = 0;
    if (!to)
        return NULL;
    fputc('\n', to);
    for (int i = 0; i < SITES && profile_now_ns() < until; i++) {
        const struct trace_place *site = &sites[i];
        if (!site->module || site->is_binding)
            continue;
        /* The program is called as it was started. */
        const char *module = *site->module == '/' ? site->module : exe;
        if (os_source_line(module, site->offset, until, line, sizeof(line)) && !strpbrk(line, "\"\\"))
            fprintf(to, "%s\t%s\n", site->text, line);
    }
    fclose(to);
    return all;
}
