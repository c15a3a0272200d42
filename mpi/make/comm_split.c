/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Splitting. One collective over all of the old communicator collects all colors and keys, and
 * carries the bids for the context. The colors of hardware are made of an instance's number and its
 * host's.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_hosts.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/comm/hardware.h"
#include "mpi/comm/hash.h"
#include "mpi/comm/session.h"
#include "mpi/make/comm_make.h"
#include "mpi/make/context_agree.h"
#include "mpi/world.h"

/* ---- the data of all processes ---- */

/* A block of size bytes, in words, from each process: local by local rank, and remote by remote rank. */
struct split_blocks {
    size_t size;
    void *local, *remote; /* remote is NULL in an intracommunicator */
    int local_count, remote_count;
};

static void blocks_free(struct split_blocks *blocks)
{
    free(blocks->local);
    free(blocks->remote);
}

/* Tell all others mine. */
static int blocks_gather(struct comm *comm, const void *mine, size_t size,
                         struct split_blocks *blocks)
{
    struct agree all = comm_everyone(comm);
    size_t remote_len = 0;
    *blocks = (struct split_blocks){.size = size, .local_count = comm->size};
    blocks->local = calloc((size_t)comm->size, size);
    if (!blocks->local)
        return MPI_ERR_NO_MEM;
    memcpy((char *)blocks->local + (size_t)comm->rank * size, mine, size);
    int rc = agree_gather(&all, AGREE_WORDS, blocks->local, size);
    if (!rc && comm->remote) {
        rc = agree_swap(&all, AGREE_WORDS, blocks->local, (size_t)comm->size * size, &blocks->remote,
                        &remote_len);
        blocks->remote_count = comm->remote->size;
        if (!rc && remote_len != (size_t)blocks->remote_count * size)
            rc = MPI_ERR_INTERN;
    }
    if (rc)
        blocks_free(blocks);
    return rc;
}

/* ---- by color ---- */

/* The data that each process gives to all others: words of 64 bits. */
struct split_entry {
    uint64_t color;
    struct context_bid bid;
    int64_t key;
    uint64_t member;
};

static int by_key(const void *a, const void *b, void *entries)
{
    const struct split_entry *entry = entries;
    int i = *(const int *)a, j = *(const int *)b;
    if (entry[i].key != entry[j].key)
        return entry[i].key < entry[j].key ? -1 : 1;
    return (i > j) - (i < j);
}

/* The members of a group that have a color; *best: the highest bid so far. NULL: no memory. */
static struct group *find_part(struct group *of, struct split_entry *entries, uint64_t color,
                               struct context_bid *best)
{
    int *ranks = malloc((size_t)of->size * sizeof(*ranks));
    if (!ranks)
        return NULL;
    int count = 0;
    bool sorted = true;
    for (int i = 0; i < of->size; i++) {
        if (!entries[i].member || entries[i].color != color)
            continue;
        context_raise(best, &entries[i].bid);
        if (count && entries[ranks[count - 1]].key > entries[i].key)
            sorted = false;
        ranks[count++] = i;
    }
    if (!sorted)
        qsort_r(ranks, (size_t)count, sizeof(*ranks), by_key, entries);
    struct group *group = group_pick(of, ranks, count);
    free(ranks);
    return group;
}

/* The processes that must agree on the context of this process's part; remote is NULL in an
 * intracommunicator. */
static struct agree part_members(struct comm *comm, const struct group *local,
                                 const struct group *remote)
{
    struct agree who = comm_everyone(comm);
    who.group = local;
    if (remote) { /* the first member of each part is its leader */
        struct process first = group_process(remote, 0);
        who.other.peer = group_find(comm->remote, &first);
    }
    return who;
}

/* Make the communicator of this process's part, unless the other group has no member for it. */
static int make_part(struct comm *comm, const struct split_blocks *blocks, struct comm **new)
{
    struct split_entry *entries = blocks->local;
    const struct split_entry mine = entries[comm->rank];
    struct context_bid best = {{0}};
    struct group *remote = NULL, *local = find_part(comm->group, entries, mine.color, &best);
    if (comm->remote)
        remote = find_part(comm->remote, blocks->remote, mine.color, &best);
    int rc = !local || (comm->remote && !remote) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (!rc && (!remote || remote->size)) {
        struct agree who = part_members(comm, local, remote);
        uint32_t context;
        rc = context_settle(&who, mine.bid, best, &context);
        if (!rc)
            rc = comm_create_like(comm, local, remote, context, new);
    }
    group_unref(local);
    group_unref(remote);
    return rc;
}

int comm_split(struct comm *comm, const struct comm_split *how, struct comm **new)
{
    struct split_blocks blocks;
    struct split_entry mine = {.color = how->color, .key = how->key, .member = how->member};
    *new = NULL;
    if (how->member)
        mine.bid = context_bid();
    int rc = blocks_gather(comm, &mine, sizeof(mine), &blocks);
    if (rc)
        return rc;
    if (how->member)
        rc = make_part(comm, &blocks, new);
    blocks_free(&blocks);
    return rc;
}

/* ---- hardware ---- */

/* The color of one instance of a level. */
static uint64_t instance_color(const struct hardware_place *place, enum hardware_level level)
{
    if (level == HARDWARE_HOST)
        return place->id[HARDWARE_HOST];
    uint64_t what[] = {(uint64_t)level, place->id[level]};
    return hash_more(place->id[HARDWARE_HOST], what, sizeof(what));
}

void comm_split_resource(const char *name, struct comm_split *how)
{
    struct hardware_place here;
    enum hardware_level level = hardware_level_of(name);
    how->member = false;
    if (level == HARDWARE_LEVELS)
        return;
    if (level == HARDWARE_HOST) { /* without asking hwloc */
        how->member = true;
        how->color = strcmp(name, "mpi_shared_memory") != 0 ? comm_host_id() : comm_memory_id();
        return;
    }
    hardware_look(&here);
    how->member = here.id[level] != HARDWARE_UNKNOWN;
    how->color = instance_color(&here, level);
}

/*
 * For each level: the maximum of all ids, and of their complements. If all ids are the same, each
 * maximum is the other's complement. A process that does not know its own id prevents that; one
 * that is no member does not count.
 */
enum { ID, COMPLEMENT, PER_LEVEL };

int comm_split_hardware(struct comm *comm, struct comm_split *how, bool chooses, const char **name)
{
    _Static_assert(HARDWARE_LEVELS * PER_LEVEL <= AGREE_VALUES, "one exchange");
    uint64_t values[AGREE_VALUES] = {0};
    struct hardware_place here;
    if (chooses) {
        hardware_look(&here);
        for (int level = HARDWARE_HOST; level < HARDWARE_LEVELS; level++) {
            bool known = here.id[level] != HARDWARE_UNKNOWN;
            values[PER_LEVEL * level + ID] = here.id[level];
            values[PER_LEVEL * level + COMPLEMENT] = known ? ~here.id[level] : UINT64_MAX;
        }
    }
    struct agree all = comm_everyone(comm);
    int rc = agree_max(&all, values, HARDWARE_LEVELS * PER_LEVEL);
    if (rc || !chooses)
        return rc;
    /* All processes in this instance make the same choice: they share the outer levels with this
     * process. */
    how->member = false;
    for (int level = HARDWARE_HOST; level < HARDWARE_LEVELS && !how->member; level++) {
        uint64_t id = values[PER_LEVEL * level + ID];
        if (here.id[level] == HARDWARE_UNKNOWN || id == ~values[PER_LEVEL * level + COMPLEMENT])
            continue;
        how->member = true;
        how->color = instance_color(&here, level);
        *name = hardware_level_name(level);
    }
    return MPI_SUCCESS;
}

/* ---- process sets ---- */

void comm_split_pset(const char *name, struct comm_split *how)
{
    struct process me = group_me();
    struct session_pset set = {0, 0};
    how->member = session_pset(name, &set) && (int64_t)me.rank >= set.first &&
                  (int64_t)me.rank < (int64_t)set.first + set.size;
    uint64_t range[] = {htobe64((uint64_t)set.first), htobe64((uint64_t)set.size)}; /* equal on all machines */
    how->color = hash_more(hash_more(1, &me.gid, sizeof(me.gid)), range, sizeof(range));
}
