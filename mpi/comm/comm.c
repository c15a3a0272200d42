/* SPDX-License-Identifier: BSD-3-Clause */

/* Communicators as objects: making, counting, and attachments. comm_make.c makes new ones out of
 * old ones. */
#include "mpi/comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/attr.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/comm/session.h"
#include "mpi/comm/topo.h"
#include "mpi/info.h"
#include "mpi/left.h"
#include "mpi/store.h"
#include "mpi/type/type.h"

struct comm *_Atomic comm_constants[4];
struct comm *_Atomic comm_revoked[4];
struct comm *comm_parent;

static struct store store = {.lock = OS_LOCK_INIT};

MPI_Comm comm_handle(const struct comm *comm)
{
    if (!comm)
        return MPI_COMM_NULL;
    if (!comm->predefined)
        return (MPI_Comm)(uintptr_t)comm;
    return comm->context == CONTEXT_WORLD ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

struct comm *comm_any_slow(MPI_Comm handle)
{
    if (handle_is_constant(handle)) {
        uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_COMM_NULL;
        return i < 4 ? comm_revoked[i] : NULL;
    }
    return handle_leads_to(handle, OBJECT_REVOKED) ? (struct comm *)handle : NULL;
}

static struct os_lock watch_lock = OS_LOCK_INIT; /* of on_revoked and owner; before a window's */

void comm_watch(struct comm *comm, void (*fn)(void *owner), void *owner)
{
    os_lock(&watch_lock);
    comm->on_revoked = fn;
    comm->owner = owner;
    os_unlock(&watch_lock);
}

/* Windows and files that were made of it go on: they have communicators of their own. */
void comm_revoke(struct comm *comm)
{
    atomic_store_explicit(&comm->revoked, true, memory_order_relaxed);
    atomic_store_explicit(&comm->failed, true, memory_order_relaxed);
    for (int i = 1; i < 3; i++) {
        struct comm *it = comm;
        comm_revoked[i] = comm_constants[i] == comm ? comm : comm_revoked[i];
        (void)atomic_compare_exchange_strong(&comm_constants[i], &it, NULL);
    }
    uint32_t usable = OBJECT_COMM;
    (void)atomic_compare_exchange_strong(&comm->object.word, &usable, OBJECT_REVOKED);
    for (uint32_t use = 0; use < CONTEXT_LOCAL; use++)
        mpid_fail_context(comm->context + use, MPID_REVOKED);
    mpid_fail_context(comm->context + CONTEXT_WIN, MPID_REVOKED);
    os_lock(&watch_lock);
    if (comm->on_revoked)
        comm->on_revoked(comm->owner);
    os_unlock(&watch_lock);
    if (comm->local) {
        atomic_store_explicit(&comm->local->revoked, true, memory_order_relaxed);
        atomic_store_explicit(&comm->local->failed, true, memory_order_relaxed);
        mpid_fail_context(comm->local->context + CONTEXT_COLL, MPID_REVOKED);
    }
}

struct vc *comm_vc_slow(struct comm *comm, int rank)
{
    return group_vc(comm->remote ? comm->remote : comm->group, rank);
}

void comm_open_space(void)
{
    mpid_space_open(MPID_SPACE_COMM, sizeof(struct comm));
}

/* remote: NULL for an intracommunicator */
static int create(struct group *group, struct group *remote, uint32_t context, struct comm **made)
{
    bool is_known = !group_keep_others(group) && (!remote || !group_keep_others(remote));
    struct vc **vcs = is_known ? group_vcs(remote ? remote : group) : NULL;
    struct comm *comm = vcs ? store_make(&store, mpid_space_seal(MPID_SPACE_COMM), OBJECT_COMM) : NULL;
    if (!comm) {
        context_release(context);
        return MPI_ERR_NO_MEM;
    }
    group_ref(group);
    if (remote)
        group_ref(remote);
    comm->group = group;
    comm->remote = remote;
    comm->context = context;
    comm->rank = group->rank;
    comm->size = group->size;
    comm->peers = remote ? remote->size : group->size;
    comm->vcs = vcs;
    comm->no_region = remote || group->size < 2;
    errh_start(&comm->errhandler, errh_from(MPI_ERRORS_ARE_FATAL));
    comm_list_add(comm);
    comm_list_check(comm);
    left_made(comm, LEFT_COMM);
    *made = comm;
    return MPI_SUCCESS;
}

int comm_create(struct group *group, uint32_t context, struct comm **made)
{
    return create(group, NULL, context, made);
}

int comm_create_inter(struct group *group, struct group *remote, uint32_t context,
                      struct comm **made)
{
    struct comm *comm;
    int rc = create(group, remote, context, &comm);
    if (rc)
        return rc;
    rc = create(group, NULL, context + CONTEXT_LOCAL, &comm->local);
    if (rc) {
        comm_destroy(comm);
        return rc;
    }
    left_freed(comm->local);
    comm_list_check(comm); /* once more, for that part */
    *made = comm;
    return MPI_SUCCESS;
}

void (*comm_at_end)(struct comm *comm);

void comm_destroy(struct comm *comm)
{
    left_freed(comm);
    if (comm == comm_parent)
        comm_parent = NULL;
    object_set_word(&comm->object, 0);
    comm_list_remove(comm);
    if (comm_at_end)
        comm_at_end(comm);
    comm_unref(comm->local);
    if (!atomic_load_explicit(&comm->failed, memory_order_relaxed) && !comm->keeps_context)
        context_release(comm->context); /* otherwise some messages in it might never be received */
    group_unref(comm->group);
    group_unref(comm->remote);
    errh_stop(&comm->errhandler);
    info_destroy(comm->info);
    topo_unref(comm->topo);
    store_free(&store, comm);
}

/* Make a predefined communicator over a range of the world's ranks. */
static int create_predefined(int index, const char *name, const struct mpid_world *world,
                             int first, int size, uint32_t context)
{
    struct group *group = group_create_range(&world->gid, first, 1, size);
    if (!group)
        return MPI_ERR_NO_MEM;
    struct comm *comm;
    int rc = comm_create(group, context, &comm);
    group_unref(group);
    if (rc)
        return rc;
    comm->predefined = true;
    left_freed(comm);
    comm_list_check(comm);
    errh_start(&comm->errhandler, errh_initial());
    name_set(&comm->name, name);
    comm_constants[index] = comm;
    return MPI_SUCCESS;
}

int comm_init(const struct mpid_world *world)
{
    int rc = create_predefined(1, "MPI_COMM_WORLD", world, 0, world->size, CONTEXT_WORLD);
    if (!rc)
        rc = create_predefined(2, "MPI_COMM_SELF", world, world->rank, 1, CONTEXT_SELF);
    return rc;
}

void comm_fini(void)
{
    for (int i = 1; i < 3; i++) {
        struct comm *comm = comm_constants[i] ? comm_constants[i] : comm_revoked[i];
        comm_constants[i] = comm_revoked[i] = NULL;
        comm_unref(comm);
    }
}

/* ---- hints ---- */

/* The values are true or false, and false unless set. */
static const char *const hint_names[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
};

int comm_set_hints(struct comm *comm, const struct info *info)
{
    int rc = MPI_SUCCESS;
    info_lock(info);
    os_lock(&comm->lock);
    for (size_t i = 0; i < sizeof(hint_names) / sizeof(hint_names[0]) && !rc; i++) {
        const char *value = info_get(info, hint_names[i]);
        if (!value || (strcmp(value, "true") && strcmp(value, "false")))
            continue;
        if (!comm->info)
            comm->info = info_create();
        rc = comm->info ? info_set(comm->info, hint_names[i], value) : MPI_ERR_NO_MEM;
    }
    os_unlock(&comm->lock);
    info_unlock(info);
    return rc;
}

struct info *comm_hints(struct comm *comm)
{
    os_lock(&comm->lock);
    struct info *info = info_copy(comm->info);
    os_unlock(&comm->lock);
    if (info && info_set(info, "mpi_memory_alloc_kinds", SESSION_MEMORY_KINDS)) {
        info_destroy(info);
        return NULL;
    }
    for (size_t i = 0; info && i < sizeof(hint_names) / sizeof(hint_names[0]); i++) {
        if (!info_get(info, hint_names[i]) && info_set(info, hint_names[i], "false")) {
            info_destroy(info);
            info = NULL;
        }
    }
    return info;
}

/* ---- formats of numbers ---- */

enum { UNKNOWN, ALIKE, MIXED };

static bool is_extended(MPI_Datatype handle)
{
    const struct type *type = type_from(handle);
    return type && type->extended;
}

bool comm_misreads(struct comm *comm, int rank, MPI_Datatype handle)
{
    struct vc *vc = is_extended(handle) && rank >= 0 && rank < comm->peers ? comm_vc(comm, rank) : NULL;
    return vc && mpid_has_other_long_double(vc);
}

static bool is_mixed(const struct group *group)
{
    bool mixed = false;
    for (int i = 0; i < group->size && !mixed; i++) {
        struct process process = group_process(group, i);
        struct vc *vc = mpid_vc_get(&process.gid, process.rank);
        if (!vc)
            continue; /* no memory: the call itself will find that */
        mixed = mpid_has_other_long_double(vc);
        mpid_vc_put(vc);
    }
    return mixed;
}

bool comm_is_misread(struct comm *comm, MPI_Datatype handle)
{
    if (!is_extended(handle))
        return false;
    uint8_t formats = atomic_load_explicit(&comm->formats, memory_order_relaxed);
    if (formats == UNKNOWN) {
        formats = is_mixed(comm->group) || (comm->remote && is_mixed(comm->remote)) ? MIXED : ALIKE;
        atomic_store_explicit(&comm->formats, formats, memory_order_relaxed);
    }
    return formats == MIXED;
}
