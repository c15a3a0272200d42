/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * New communicators out of old ones. Each takes one small collective over those
 * who will be members; MPI_Comm_split one over all of the old communicator, in
 * which bids for the context travel along.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/agree.h"
#include "mpi/attr.h"
#include "mpi/comm.h"
#include "mpi/context.h"
#include "mpi/errh.h"
#include "mpi/group.h"
#include "mpi/topo.h"
#include "os/log.h"

int comm_create_from(struct comm *parent, struct group *group, uint32_t context,
                     struct comm **comm)
{
    int rc = comm_create(group, context, comm);
    if (rc)
        return rc;
    os_lock(&comm_lock);
    (*comm)->errhandler = parent->errhandler;
    errh_ref(parent->errhandler);
    os_unlock(&comm_lock);
    return MPI_SUCCESS;
}

int comm_dup(struct comm *comm, const struct info *info, struct comm **new)
{
    uint32_t context;
    int rc = context_agree(comm, NULL, -1, &context);
    if (!rc)
        rc = comm_create_from(comm, comm->group, context, new);
    if (rc)
        return rc;
    (*new)->topo = topo_ref(comm->topo);
    rc = attr_copy_comm(comm, *new);
    if (!rc && info)
        rc = comm_set_hints(*new, info);
    if (rc) {
        (void)attr_delete_comm(*new); /* the first error is the one to tell */
        comm_unref(*new);
    }
    return rc;
}

int comm_create_group(struct comm *comm, struct group *group, int tag, struct comm **new)
{
    uint32_t context;
    *new = NULL;
    for (int i = 0; i < group->size && group != comm->group; i++) {
        struct process process = group_process(group, i);
        if (group_find(comm->group, &process) == MPI_UNDEFINED)
            return MPI_ERR_GROUP;
    }
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    int rc = context_agree(comm, group, tag, &context);
    if (rc)
        return rc;
    /* The same processes in the same order share one table of VCs. */
    bool same = group_compare(group, comm->group) == MPI_IDENT;
    return comm_create_from(comm, same ? comm->group : group, context, new);
}

/* ---- split ---- */

/* What each process tells all others. */
struct split_entry {
    uint64_t color;
    struct context_bid bid;
    int32_t key;
    uint32_t member;
};

static int by_key(const void *a, const void *b, void *entries)
{
    const struct split_entry *entry = entries;
    int i = *(const int *)a, j = *(const int *)b;
    if (entry[i].key != entry[j].key)
        return entry[i].key < entry[j].key ? -1 : 1;
    return (i > j) - (i < j);
}

/* The group of my color; *best: its highest bid. NULL: no memory. */
static struct group *my_part(struct comm *comm, struct split_entry *entries,
                             struct context_bid *best)
{
    const struct split_entry *mine = &entries[comm->rank];
    int *ranks = malloc((size_t)comm->size * sizeof(*ranks));
    if (!ranks)
        return NULL;
    int count = 0;
    bool sorted = true;
    for (int i = 0; i < comm->size; i++) {
        if (!entries[i].member || entries[i].color != mine->color)
            continue;
        if (entries[i].bid.value > best->value)
            best->value = entries[i].bid.value;
        best->contended |= entries[i].bid.contended;
        if (count && entries[ranks[count - 1]].key > entries[i].key)
            sorted = false;
        ranks[count++] = i;
    }
    if (!sorted)
        qsort_r(ranks, (size_t)count, sizeof(*ranks), by_key, entries);
    struct group *group = group_pick(comm->group, ranks, count);
    free(ranks);
    return group;
}

/* Make the communicator of my part. */
static int make_part(struct comm *comm, struct split_entry *entries, bool only_smaller,
                     struct comm **new)
{
    struct context_bid mine = entries[comm->rank].bid, best = {0};
    struct group *group = my_part(comm, entries, &best);
    if (!group)
        return MPI_ERR_NO_MEM;
    int rc = MPI_SUCCESS;
    if (!only_smaller || group->size < comm->size) {
        struct agree who = {comm, group, comm->context + 1, COMM_AGREE_TAG};
        uint32_t context;
        rc = context_settle(&who, mine, best, &context);
        if (!rc)
            rc = comm_create_from(comm, group, context, new);
    }
    group_unref(group);
    return rc;
}

int comm_split(struct comm *comm, const struct comm_split *how, struct comm **new)
{
    *new = NULL;
    struct split_entry *entries = calloc((size_t)comm->size, sizeof(*entries));
    if (!entries)
        return MPI_ERR_NO_MEM;
    struct split_entry *mine = &entries[comm->rank];
    *mine = (struct split_entry){.color = how->color, .key = how->key, .member = how->member};
    if (how->member)
        mine->bid = context_bid(0);
    struct agree all = {comm, NULL, comm->context + 1, COMM_AGREE_TAG};
    int rc = agree_gather(&all, entries, sizeof(*entries));
    if (!rc && how->member)
        rc = make_part(comm, entries, how->only_smaller, new);
    free(entries);
    return rc;
}

/* ---- hosts ---- */

static uint64_t hash(uint64_t seed, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        seed = (seed ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return seed;
}

/* The host's name tells apart what share a kernel; the boot's id, hosts with
 * equal names. */
uint64_t comm_host_id(void)
{
    char boot[64];
    const char *host = os_host_name();
    uint64_t id = hash(UINT64_C(0xcbf29ce484222325), host, strlen(host));
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, boot, sizeof(boot));
    if (fd >= 0)
        close(fd);
    return hash(id, boot, len > 0 ? (size_t)len : 0);
}
