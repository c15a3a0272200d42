/* SPDX-License-Identifier: BSD-3-Clause */

/* All communicators of this process; see comm_list.h. */
#include "mpi/comm/comm_list.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/mpid.h"
#include "include/queues.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/world.h"
#include "os/lock.h"

/* Taken after the device's lock, and before that of a name. */
static struct os_lock lock = OS_LOCK_INIT;
static struct comm *first; /* the newest */
static const struct comm_list_watch *watcher;
static comm_list_noted *noted; /* set before there are communicators */

/* ---- what the device asks ---- */

static struct mpid_process member(const void *comm, int i)
{
    struct process process = group_process(((const struct comm *)comm)->group, i);
    return (struct mpid_process){process.gid, process.rank};
}

static struct mpid_process peer(const void *comm, int i)
{
    struct process process = group_process(((const struct comm *)comm)->remote, i);
    return (struct mpid_process){process.gid, process.rank};
}

static const char *call(const void *comm, uint32_t number, int *root)
{
    return noted(comm, number, root);
}

/* Whether its context is known: a copy in the making has none. */
static bool has_context(const struct comm *comm)
{
    return comm->context != CONTEXT_NONE || comm->predefined;
}

static void each(bool (*take)(void *arg, const struct mpid_comm_view *view), void *arg)
{
    bool enough = false;
    os_lock(&lock);
    for (struct comm *comm = first; comm && !enough; comm = comm->older) {
        char name[MPI_MAX_OBJECT_NAME];
        if (!has_context(comm))
            continue;
        (void)name_get(&comm->name, name);
        struct mpid_comm_view view = {
            .name = name,
            .context = comm->context,
            .inside = comm->context % CONTEXT_STEP == CONTEXT_LOCAL,
            .size = comm->group->size,
            .rank = comm->rank,
            .begun = __atomic_load_n(&comm->coll_tag, __ATOMIC_RELAXED),
            .object = comm,
            .member = member,
            .call = call,
        };
        if (comm->remote) {
            view.peers = comm->remote->size;
            view.peer = peer;
        }
        enough = take(arg, &view);
    }
    os_unlock(&lock);
}

void comm_list_name(uint32_t context, char name[MPI_MAX_OBJECT_NAME])
{
    bool named = false;
    os_lock(&lock);
    for (struct comm *comm = first; comm && !named; comm = comm->older)
        named = comm->context == context && name_get(&comm->name, name);
    os_unlock(&lock);
    if (!named)
        snprintf(name, MPI_MAX_OBJECT_NAME, "a communicator without a name");
}

/* ---- members that fail ---- */

static bool has(const struct group *group, const struct process *process)
{
    return group && group_find(group, process) != MPI_UNDEFINED;
}

/* Whether collectives cannot end without this process. */
static bool needs(const struct comm *comm, const struct process *process)
{
    return has(comm->group, process) || has(comm->remote, process);
}

/* Whether receives from any rank might wait for this process. */
static bool hears(const struct comm *comm, const struct process *process)
{
    return has(comm->remote ? comm->remote : comm->group, process);
}

static void fail_unlocked(uint32_t context)
{
    mpid_fail_context(context, MPID_LOST);
}

static void fail(struct comm *comm, void (*fail_context)(uint32_t context))
{
    atomic_store_explicit(&comm->failed, true, memory_order_relaxed);
    if (has_context(comm))
        fail_context(comm->context + CONTEXT_COLL);
    if (has_context(comm) && comm->fails_whole)
        fail_context(comm->context + CONTEXT_P2P);
    if (comm->local)
        fail(comm->local, fail_context);
}

_Atomic uint32_t comm_list_failures;

static void contexts_of(const struct mpid_gid *gid, uint32_t rank,
                        void (*fail_context)(uint32_t context))
{
    struct process process = {*gid, rank};
    os_lock(&lock);
    for (struct comm *comm = first; comm; comm = comm->older) {
        if (!needs(comm, &process))
            continue;
        fail(comm, fail_context);
        if (hears(comm, &process))
            atomic_store_explicit(&comm->doubted, true, memory_order_relaxed);
    }
    os_unlock(&lock);
    atomic_fetch_add_explicit(&comm_list_failures, 1, memory_order_release);
}

void comm_list_check(struct comm *comm)
{
    struct process process;
    bool fails = false;
    for (int i = 0; mpid_failed(i, &process.gid, &process.rank); i++) {
        fails |= needs(comm, &process);
        if (hears(comm, &process))
            atomic_store_explicit(&comm->doubted, true, memory_order_relaxed);
    }
    if (fails)
        fail(comm, fail_unlocked);
    if (atomic_load_explicit(&comm->revoked, memory_order_relaxed))
        comm_revoke(comm); /* the part that was not there then */
    if (watcher && has_context(comm))
        watcher->made(comm);
}

void comm_list_acknowledge(struct comm *comm, uint32_t count)
{
    struct process process;
    atomic_store_explicit(&comm->acked, count, memory_order_relaxed);
    atomic_store_explicit(&comm->doubted, false, memory_order_seq_cst);
    for (int i = (int)count; mpid_failed(i, &process.gid, &process.rank); i++)
        if (hears(comm, &process))
            atomic_store_explicit(&comm->doubted, true, memory_order_relaxed);
}

/* ---- the list ---- */

void comm_list_add(struct comm *comm)
{
    os_lock(&lock);
    if (!first) {
        mpid_set_comms(each);
        mpid_set_failed(contexts_of);
    }
    comm->older = first;
    comm->newer = NULL;
    if (first)
        first->newer = comm;
    first = comm;
    os_unlock(&lock);
}

void comm_list_remove(struct comm *comm)
{
    os_lock(&lock);
    *(comm->newer ? &comm->newer->older : &first) = comm->older;
    if (comm->older)
        comm->older->newer = comm->newer;
    os_unlock(&lock);
    if (watcher)
        watcher->freed(comm);
    bool revoked = atomic_load_explicit(&comm->revoked, memory_order_relaxed);
    if (!atomic_load_explicit(&comm->failed, memory_order_relaxed) || !has_context(comm))
        return;
    for (uint32_t use = 0; use < CONTEXT_LOCAL; use++)
        if (revoked || use == CONTEXT_COLL)
            mpid_forget_context(comm->context + use);
}

void comm_list_watch(const struct comm_list_watch *watch)
{
    watcher = watch;
}

struct comm *comm_list_find(uint32_t context)
{
    os_lock(&lock);
    struct comm *comm = first;
    while (comm && !(comm->context == context && has_context(comm)))
        comm = comm->older;
    os_unlock(&lock);
    return comm;
}

void comm_list_finalize(void)
{
    if (watcher)
        watcher->finalizes();
}

void comm_list_end(void)
{
    os_lock(&lock);
    for (struct comm *comm = first; comm; comm = comm->older)
        object_set_word(&comm->object, 0);
    os_unlock(&lock);
}

void comm_list_rest(void)
{
    if (watcher)
        watcher->rests();
}

/* ---- what a debugger looks at ---- */

extern const struct queues_layout MPIR_queues;
extern char MPIR_dll_name[1024];

const __attribute__((visibility("default"), used)) struct queues_layout MPIR_queues = {
    .magic = "VIREOQ",
    .version = QUEUES_VERSION,
    .size = sizeof(struct queues_layout),
    .device = &mpid_queues,
    .first = &first,
    .world = &world_facts.gid,
    .contexts = CONTEXT_STEP,
    .name_max = MPI_MAX_OBJECT_NAME,
    .in_comm = {.next = offsetof(struct comm, older),
                .context = offsetof(struct comm, context),
                .rank = offsetof(struct comm, rank),
                .group = offsetof(struct comm, group),
                .remote = offsetof(struct comm, remote),
                .name = offsetof(struct comm, name.text)},
    .in_group = {.size = offsetof(struct group, size),
                 .gid = offsetof(struct group, gid),
                 .first = offsetof(struct group, first),
                 .stride = offsetof(struct group, stride),
                 .ranks = offsetof(struct group, ranks),
                 .gids = offsetof(struct group, gids)},
};

/* The library that a debugger loads to look. It lies beside this one, wherever that was moved. */
__attribute__((visibility("default"), used)) char MPIR_dll_name[1024] = "libvireo-mqs.so";

void comm_list_begin(comm_list_noted *fn)
{
    char beside[sizeof(MPIR_dll_name)], whole[PATH_MAX];
    noted = fn;
    mpid_own_file("libvireo-mqs.so", beside, sizeof(beside));
    if (realpath(beside, whole) && strlen(whole) < sizeof(MPIR_dll_name))
        strcpy(MPIR_dll_name, whole);
}
