/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Crews; see crew.h. A notice may come for a communicator that this process has not made yet, since
 * others are done with that earlier: it is kept until then.
 */
#include "mpi/ft/crew.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_list.h"
#include "os/lock.h"
#include "os/log.h"

enum {
    KINDS = 8,
    EARLY_MAX = 4096, /* notices that are kept */
    FREED_MAX = 64    /* crews whose communicator is freed */
};

struct early {
    struct early *next;
    struct mpid_notice notice;
    char bytes[];
};

static struct os_lock lock = OS_LOCK_INIT;
static const struct crew_ops *kinds[KINDS];
static struct crew *crews; /* the newest first */
static struct early *early; /* the oldest first */
static int early_count;
static struct crew_task *tasks, **last_task = &tasks;

/* ---- the lock ---- */

void crew_enter(void)
{
    os_lock(&lock);
}

void crew_leave(void)
{
    struct crew_task *task = tasks;
    tasks = NULL;
    last_task = &tasks;
    os_unlock(&lock);
    while (task) {
        struct crew_task *next = task->next;
        task->run(task);
        task = next;
    }
}

void crew_later(struct crew_task *task)
{
    task->next = NULL;
    *last_task = task;
    last_task = &task->next;
}

void crew_add_kind(enum crew_kind kind, const struct crew_ops *ops)
{
    kinds[kind] = ops;
}

/* ---- members ---- */

static uint32_t first_size(const struct crew *crew)
{
    return (uint32_t)crew->group[0]->size;
}

static struct process process_of(const struct crew *crew, uint32_t rank)
{
    bool second = rank >= first_size(crew);
    return group_process(crew->group[second], (int)(second ? rank - first_size(crew) : rank));
}

int64_t crew_rank(const struct crew *crew, const struct process *process)
{
    int rank = group_find(crew->group[0], process);
    if (rank != MPI_UNDEFINED)
        return rank;
    rank = crew->group[1] ? group_find(crew->group[1], process) : MPI_UNDEFINED;
    return rank == MPI_UNDEFINED ? -1 : (int64_t)first_size(crew) + rank;
}

void crew_send(struct crew *crew, uint32_t to, enum crew_kind kind, uint64_t word, const void *data,
               size_t len)
{
    bool second = to >= first_size(crew);
    struct vc *vc = group_vc(crew->group[second], (int)(second ? to - first_size(crew) : to));
    if (!vc || mpid_notify(vc, crew->context, (uint64_t)kind << CREW_KIND_SHIFT | word, data, len))
        os_log(OS_LOG_WARN, "a notice to another rank is lost: %s",
               vc ? "it is too long" : "there is no memory");
}

void crew_update(struct crew *crew)
{
    struct process process;
    for (; mpid_failed((int)crew->seen, &process.gid, &process.rank); crew->seen++) {
        int64_t rank = crew_rank(crew, &process);
        if (rank >= 0) {
            crew_set_bit(crew->failed, (uint32_t)rank);
            crew_set_bit(crew->gone, (uint32_t)rank);
        }
    }
}

/* The same for those that have ended in order. Returns whether more are gone than before. */
static bool look_for_ends(struct crew *crew)
{
    bool any = false;
    for (uint32_t i = 0; i < crew->size; i++) {
        if (i == crew->rank || crew_bit(crew->gone, i))
            continue;
        struct process process = process_of(crew, i);
        if (mpid_is_gone(&process.gid, process.rank)) {
            crew_set_bit(crew->gone, i);
            any = true;
        }
    }
    crew_update(crew);
    return any;
}

/* The members leave together, so the first one that is seen to go is needed by nobody any more. */
static void look_for_leavers(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->size && crew->leaves && !crew->left; i++) {
        struct process process = process_of(crew, i);
        bool ended = crew_bit(crew->gone, i) && !crew_bit(crew->failed, i);
        crew->left = ended || mpid_is_finalizing(&process.gid, process.rank);
    }
}

/* ---- making and freeing ---- */

static void arrive(struct crew *crew, const struct mpid_notice *notice)
{
    struct process from = {notice->from.gid, notice->from.rank};
    uint64_t kind = notice->word >> CREW_KIND_SHIFT;
    int64_t rank = crew_rank(crew, &from);
    if (rank >= 0 && rank != crew->rank && kind < KINDS && kinds[kind])
        kinds[kind]->arrived(crew, (uint32_t)rank, notice);
}

/* Take the notices that have come before their communicator. */
static void take_early(struct crew *crew)
{
    struct early **at = &early;
    while (*at) {
        struct early *one = *at;
        if (one->notice.context != crew->context) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        early_count--;
        arrive(crew, &one->notice);
        free(one);
    }
}

static void free_crew(struct crew *crew)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i] && kinds[i]->free)
            kinds[i]->free(crew);
    group_unref(crew->group[0]);
    group_unref(crew->group[1]);
    free(crew->failed);
    free(crew);
}

/* The groups in an order on which both sides agree. */
static void set_groups(struct crew *crew, const struct comm *comm)
{
    crew->group[0] = comm->group;
    crew->group[1] = comm->remote;
    crew->rank = (uint32_t)comm->rank;
    crew->size = (uint32_t)(comm->group->size + (comm->remote ? comm->remote->size : 0));
    if (comm->remote) {
        struct process mine = group_process(comm->group, 0), theirs = group_process(comm->remote, 0);
        if (group_order(&mine, &theirs) > 0) {
            crew->group[0] = comm->remote;
            crew->group[1] = comm->group;
            crew->rank += (uint32_t)comm->remote->size;
        }
        group_ref(comm->remote);
    }
    group_ref(comm->group);
}

struct crew *crew_of(struct comm *comm)
{
    if (comm->crew)
        return comm->crew;
    struct crew *crew = calloc(1, sizeof(*crew));
    if (!crew)
        return NULL;
    set_groups(crew, comm);
    crew->failed = calloc((size_t)3 * crew_words(crew), sizeof(uint64_t));
    if (!crew->failed || !group_vcs(crew->group[0]) || (crew->group[1] && !group_vcs(crew->group[1]))) {
        free_crew(crew);
        return NULL;
    }
    crew->gone = crew->failed + crew_words(crew);
    crew->told = crew->gone + crew_words(crew);
    crew->context = comm->context;
    crew->comm = comm;
    crew->next = crews;
    crews = comm->crew = crew;
    (void)look_for_ends(crew);
    take_early(crew);
    return crew;
}

static bool is_needed(const struct crew *crew)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i] && kinds[i]->is_needed && kinds[i]->is_needed(crew))
            return true;
    return false;
}

/* Forget crews whose communicator is freed: all that nobody may ask about, and the oldest. */
static void forget_freed(int most)
{
    int count = 0;
    struct crew **at = &crews;
    while (*at) {
        struct crew *crew = *at;
        if (!crew->comm && (!is_needed(crew) || ++count > most)) {
            *at = crew->next;
            free_crew(crew);
        } else {
            at = &crew->next;
        }
    }
}

/* ---- what the list of communicators tells ---- */

/* Its groups and context are known. */
static void made(struct comm *comm)
{
    bool waits = false;
    crew_enter();
    for (const struct early *one = early; one && !waits; one = one->next)
        waits = one->notice.context == comm->context;
    if (waits)
        (void)crew_of(comm);
    crew_leave();
}

static void freed(struct comm *comm)
{
    crew_enter();
    if (comm->crew) {
        comm->crew->comm = NULL;
        comm->crew = NULL;
        forget_freed(FREED_MAX);
    }
    crew_leave();
}

/* ---- what the device tells ---- */

static struct crew *find(uint32_t context)
{
    struct crew *freed_one = NULL;
    for (struct crew *crew = crews; crew; crew = crew->next) {
        if (crew->context == context && crew->comm)
            return crew;
        if (crew->context == context && !freed_one)
            freed_one = crew;
    }
    struct comm *comm = comm_list_find(context);
    return comm ? crew_of(comm) : freed_one;
}

static void keep(const struct mpid_notice *notice)
{
    struct early *one = early_count < EARLY_MAX ? malloc(sizeof(*one) + notice->len) : NULL;
    struct early **end = &early;
    if (!one) {
        os_log(OS_LOG_WARN, "a notice for a communicator that is not made yet is lost");
        return;
    }
    one->next = NULL;
    one->notice = *notice;
    one->notice.data = one->bytes;
    if (notice->len)
        memcpy(one->bytes, notice->data, notice->len);
    while (*end)
        end = &(*end)->next;
    *end = one;
    early_count++;
}

static void arrived(const struct mpid_notice *notice)
{
    crew_enter();
    struct crew *crew = find(notice->context);
    if (crew)
        arrive(crew, notice);
    else
        keep(notice);
    crew_leave();
}

static void look(void)
{
    crew_enter();
    for (struct crew *crew = crews; crew; crew = crew->next) {
        (void)look_for_ends(crew);
        look_for_leavers(crew);
        for (int i = 0; i < KINDS; i++)
            if (kinds[i] && kinds[i]->lost)
                kinds[i]->lost(crew);
    }
    crew_leave();
}

/* ---- MPI_Finalize ---- */

static _Atomic uint32_t awaited; /* in the world, by this process */

/* All members are of this job, and call MPI_Finalize. */
static bool is_of_world(const struct crew *crew)
{
    struct mpid_gid world = group_me().gid;
    bool is_there = true;
    for (int i = 0; i < 2; i++) {
        const struct group *group = crew->group[i];
        is_there &= !group || (!group->session && !group->gids && !memcmp(&group->gid, &world, sizeof(world)));
    }
    return is_there;
}

static bool has_left(void *arg)
{
    bool left = true;
    (void)arg;
    crew_enter();
    for (const struct crew *crew = crews; crew && left; crew = crew->next) {
        for (int i = 0; i < KINDS && crew->leaves && !crew->left && left; i++) {
            uint32_t rank = kinds[i] && kinds[i]->leave ? kinds[i]->awaited(crew) : crew->rank;
            left = rank == crew->rank;
            atomic_store_explicit(&awaited, process_of(crew, rank).rank, memory_order_relaxed);
        }
    }
    crew_leave();
    return left;
}

static void tell_awaited(void *arg, struct mpid_wait_report *report)
{
    (void)arg;
    mpid_tell_finalize(report, atomic_load_explicit(&awaited, memory_order_relaxed));
}

/* In MPI_Finalize no process makes a connection any more, and then it is gone: before that, none of the others may need
 * it. */
static void leave(void)
{
    static const struct mpid_condition left = {.is_done = has_left, .tell = tell_awaited};
    crew_enter();
    for (struct crew *crew = crews; crew; crew = crew->next) {
        crew->leaves = is_of_world(crew);
        look_for_leavers(crew);
        for (int i = 0; i < KINDS && crew->leaves; i++)
            if (kinds[i] && kinds[i]->leave)
                kinds[i]->leave(crew);
    }
    crew_leave();
    mpid_wait_condition(&left, NULL);
}

/* ---- life ---- */

static void rest(void)
{
    crew_enter();
    forget_freed(0);
    while (early) {
        struct early *next = early->next;
        free(early);
        early = next;
    }
    early_count = 0;
    crew_leave();
}

/* Nothing that others need calls this module: it makes itself known. */
static __attribute__((constructor)) void begin(void)
{
    static const struct comm_list_watch watch = {made, freed, leave, rest};
    comm_list_watch(&watch);
    mpid_set_notice(arrived, look);
}
