/* SPDX-License-Identifier: BSD-3-Clause */

/* The MPI call that a thread is in; see call_site.h. */
#include "mpid/tell/call_site.h"

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpid/ground/match.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/source_line.h"
#include "os/stack.h"

enum {
    FRAMES = 64,
    LINE_MS = 1500
};

/* MPI_Send for PMPI_Send_c: how a name came to be called is of no interest here. */
static void name_function(struct call_site *site, const char *symbol)
{
    symbol += *symbol == 'P';
    snprintf(site->function, sizeof(site->function), "%s", symbol);
    size_t len = strlen(site->function);
    if (len > 2 && !strcmp(site->function + len - 2, "_c"))
        site->function[len - 2] = 0;
}

/* A program that was not linked to be moved has addresses of its own, no offsets. */
static uintptr_t offset_in(const Dl_info *info, void *address)
{
    const ElfW(Ehdr) *elf = info->dli_fbase;
    return (uintptr_t)address - (elf->e_type == ET_EXEC ? 0 : (uintptr_t)elf);
}

static void name_caller(struct call_site *site, const Dl_info *info, void *address)
{
    ssize_t len = -1;
    site->offset = offset_in(info, address);
    site->symbol = info->dli_sname ? info->dli_sname : "";
    if (info->dli_fname && *info->dli_fname != '/') /* the program, as it was called */
        len = readlink("/proc/self/exe", site->module, sizeof(site->module) - 1);
    if (len >= 0)
        site->module[len] = 0;
    else
        snprintf(site->module, sizeof(site->module), "%s",
                 info->dli_fname ? info->dli_fname : "");
}

static bool is_of_mpi(const char *symbol)
{
    return symbol && (!strncmp(symbol, "MPI_", 4) || !strncmp(symbol, "PMPI_", 5));
}

/* The call, not the instruction behind it. */
static void *call_of(void *frame)
{
    return (char *)frame - 1;
}

/* Where frame i on begins an object that stands between the program and MPI, as tools do that have
 * functions with the names of MPI's: the frame that has called it, and the name that was called. Else i. */
static int skip_interposed(struct call_site *site, void *const *frames, int count, int i)
{
    Dl_info first, info;
    int caller = i;
    if (!dladdr(call_of(frames[i]), &first))
        return i;
    for (int j = i; j < count; j++) {
        if (!dladdr(call_of(frames[j]), &info) || info.dli_fbase != first.dli_fbase)
            break;
        if (is_of_mpi(info.dli_sname) && j + 1 < count) {
            name_function(site, info.dli_sname);
            caller = j + 1;
        }
    }
    return caller == i ? i : skip_interposed(site, frames, count, caller);
}

/* Whether a frame is of the library that Fortran calls, which calls this one: it is no caller. */
static bool is_binding(const Dl_info *info)
{
    const char *slash = info->dli_fname ? strrchr(info->dli_fname, '/') : NULL;
    return slash && !strncmp(slash, "/libmpifort_abi.so", sizeof("/libmpifort_abi.so") - 1);
}

static void find_in(struct call_site *site, void *const *frames, int count, bool in_handler)
{
    Dl_info own, info;
    bool inside = false;
    *site = (struct call_site){.symbol = ""};
    if (!dladdr((void *)(uintptr_t)&call_site_find, &own))
        return;
    for (int i = 0; i < count; i++) {
        if (!dladdr(call_of(frames[i]), &info))
            return;
        if (info.dli_fbase != own.dli_fbase) {
            in_handler = false; /* this is the frame of the signal */
            /* That, what it has interrupted, a sanitizer's backtrace(), or Fortran's library. */
            if (!inside || is_binding(&info))
                continue;
            i = skip_interposed(site, frames, count, i);
            if (dladdr(call_of(frames[i]), &info))
                name_caller(site, &info, call_of(frames[i]));
            return;
        }
        if (in_handler)
            continue;
        inside = true;
        if (is_of_mpi(info.dli_sname))
            name_function(site, info.dli_sname);
    }
}

void call_site_find(struct call_site *site, bool in_handler)
{
    void *frames[FRAMES];
    find_in(site, frames, os_stack(frames, FRAMES), in_handler);
}

void call_site_line(const struct call_site *site, char *text, size_t size)
{
    const char *slash = strrchr(site->module, '/');
    *text = 0;
    if (os_source_line(site->module, site->offset, os_now_ns() + LINE_MS * 1000000ull, text, size))
        return;
    if (*site->module)
        snprintf(text, size, "%.150s+0x%" PRIxPTR, slash ? slash + 1 : site->module, site->offset);
}

/* Sites of stacks that have been looked at: a program calls from few places, and often. */
static struct {
    struct os_lock lock; /* guards the rest */
    struct {
        uint64_t stack; /* hash of the return addresses; 0: none */
        struct mpid_call_site site;
    } row[64];
} known = {.lock = OS_LOCK_INIT};

static uint64_t hash_of(void *const *frames, int count)
{
    uint64_t hash = 1;
    for (int i = 0; i < count; i++)
        hash = ((hash ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u) ^ hash >> 29;
    return hash ? hash : 1;
}

static bool is_known(uint64_t stack, struct mpid_call_site *site)
{
    size_t row = stack % (sizeof(known.row) / sizeof(known.row[0]));
    os_lock_slow(&known.lock);
    bool found = known.row[row].stack == stack;
    if (found)
        *site = known.row[row].site;
    os_unlock_slow(&known.lock);
    return found;
}

static void remember(uint64_t stack, const struct mpid_call_site *site)
{
    size_t row = stack % (sizeof(known.row) / sizeof(known.row[0]));
    os_lock_slow(&known.lock);
    known.row[row].stack = stack;
    known.row[row].site = *site;
    os_unlock_slow(&known.lock);
}

void mpid_find_site(struct mpid_call_site *site)
{
    void *frames[FRAMES];
    struct call_site place;
    int count = os_stack(frames, FRAMES);
    uint64_t stack = hash_of(frames, count);
    if (is_known(stack, site))
        return;
    find_in(&place, frames, count, false);
    memset(site, 0, sizeof(*site));
    snprintf(site->function, sizeof(site->function), "%.47s", place.function);
    snprintf(site->module, sizeof(site->module), "%.207s", place.module);
    site->offset = place.offset;
    remember(stack, site);
}

void mpid_find_line(struct mpid_line *line)
{
    struct call_site site;
    call_site_find(&site, false);
    call_site_line(&site, line->text, sizeof(line->text));
}
