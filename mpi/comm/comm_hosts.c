/* SPDX-License-Identifier: BSD-3-Clause */

/* Hosts of communicators; see comm_hosts.h. They are made at the first use in a group, by one of the threads. */
#include "mpi/comm/comm_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/group.h"
#include "mpi/comm/hash.h"
#include "mpi/world.h"

const struct comm_hosts comm_hosts_one = {.count = 1, .in_order = true}, comm_hosts_unknown;

/* Whether all are of the group of processes that this one was started in. */
static bool is_of_job(const struct group *group)
{
    for (int i = 0; i < group->size; i++) {
        struct process process = group_process(group, i);
        if (memcmp(&process.gid, &world_facts.gid, sizeof(process.gid)) != 0)
            return false;
        if (!group->gids) /* all are alike */
            break;
    }
    return true;
}

/* Number hosts in the order of their first ranks; number has a place for every node of the job, -1
 * at first. Returns the number of hosts, or -1: one is not known. */
static int number_hosts(const struct group *group, int *host, int *number, int *found)
{
    int count = 0;
    for (int i = 0; i < group->size; i++) {
        struct process process = group_process(group, i);
        int node = mpid_node(process.rank);
        if (node < 0 || node >= world_facts.size)
            return -1;
        if (number[node] < 0)
            number[node] = count++;
        host[i] = number[node];
        found[host[i]]++;
    }
    return count;
}

/* Have ranks in the order of hosts. at[h] is the number of ranks of host h, and in the end their
 * first place. */
static void sort(int size, int count, const int *host, int *at, int *ranks)
{
    int sum = 0;
    for (int h = 0; h < count; h++) {
        int here = at[h];
        at[h] = sum;
        sum += here;
    }
    for (int i = 0; i < size; i++)
        ranks[at[host[i]]++] = i;
    for (int h = count; h > 0; h--)
        at[h] = at[h - 1];
    at[0] = 0;
}

/* Keep them in the group; another thread may have been first. The last array is shortened to what is used. */
static const struct comm_hosts *keep(struct group *group, struct comm_hosts *hosts, int count)
{
    size_t size = (size_t)group->size;
    struct comm_hosts *before = NULL, *h = realloc(hosts, sizeof(*h) + (2 * size + (size_t)count + 1) * sizeof(int));
    h = h ? h : hosts;
    int *host = (int *)(h + 1), *ranks = host + size;
    *h = (struct comm_hosts){count, host[group->rank], true, host, ranks + size, ranks};
    for (size_t i = 0; i < size; i++)
        h->in_order &= ranks[i] == (int)i;
    if (atomic_compare_exchange_strong(&group->hosts, &before, h))
        return h;
    free(h);
    return before;
}

static const struct comm_hosts *make(struct group *group)
{
    size_t size = (size_t)group->size, nodes = (size_t)world_facts.size;
    struct comm_hosts *h = malloc(sizeof(*h) + (3 * size + 1) * sizeof(int));
    int *number = malloc(nodes * sizeof(*number));
    if (!h || !number) {
        free(h);
        free(number);
        return NULL;
    }
    int *host = (int *)(h + 1), *ranks = host + size, *at = ranks + size;
    for (size_t i = 0; i < nodes; i++)
        number[i] = -1;
    for (size_t i = 0; i <= size; i++)
        at[i] = 0;
    int count = number_hosts(group, host, number, at);
    free(number);
    if (count < 2) {
        free(h);
        return count == 1 ? &comm_hosts_one : &comm_hosts_unknown;
    }
    sort(group->size, count, host, at, ranks);
    return keep(group, h, count);
}

static const struct comm_hosts *find(struct group *group)
{
    const struct comm_hosts *hosts = atomic_load_explicit(&group->hosts, memory_order_acquire);
    if (hosts)
        return hosts;
    if (!is_of_job(group))
        return &comm_hosts_unknown;
    bool is_one = world_facts.local_ranks == world_facts.size || group->size == 1;
    return is_one ? &comm_hosts_one : make(group);
}

const struct comm_hosts *comm_hosts_find(struct comm *comm)
{
    const struct comm_hosts *hosts = find(comm->group);
    if (hosts)
        __atomic_store_n(&comm->hosts, hosts, __ATOMIC_RELEASE);
    return hosts;
}

/* ---- this process ---- */

uint64_t comm_host_id(void)
{
    const char *id = world_facts.host_id ? world_facts.host_id : "";
    return hash_more(HASH_START, id, strlen(id));
}

uint64_t comm_memory_id(void)
{
    return hash_more(comm_host_id(), &world_facts.gid, sizeof(world_facts.gid));
}
