/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The back end of a process that another project's manager started (manager.h). The manager gives a key-value space
 * whose values are seen after a fence, and no more. So BNR_Init waits for all processes of the job, the device fences
 * once more after its card, and nothing comes later: neither keys nor xcasts. Ranks of one host share memory as under
 * mpiexec (host_memory.h), and learn of each other's deaths by it (presence.h); events are of these alone.
 *
 * Keys beside the device's: "host" describes a rank's host; "job" of rank 0 holds the group's id and secret, and whether
 * the manager's list of nodes is true for its host; "mapped" of the first rank of each other host says the same of that.
 * Managers take long for each request, so there is no other.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/client/host_memory.h"
#include "bnr/client/manager.h"
#include "bnr/client/presence.h"
#include "bnr/host/host.h"
#include "bnr/host/kvs.h"
#include "bnr/host/table.h"
#include "os/at_exit.h"
#include "os/cpu/cpus.h"
#include "os/log.h"
#include "os/random.h"

enum {
    MEMORY_MS = 60000, /* so long a rank waits for the others of its host */
    FORWARD_MS = 30,   /* so long a manager has to forward what a process has said, before it ends the job */
    MASK_DIGITS = CPU_SETSIZE / 4,
    HOST_TEXT = HOST_ID_MAX + 300 + MASK_DIGITS
};

/* The host of some rank. */
struct managed_host {
    char id[HOST_ID_MAX], name[256];
    int cpus;         /* that the rank may use */
    int appnum;       /* of the rank's program; -1: unknown */
    char mask[MASK_DIGITS + 1]; /* hexadecimal digits for four processors each, the first ones first */
};

struct managed_end {
    int rank;
    bool well;
};

struct managed {
    struct backend base;
    struct backend_ops ops; /* with the manager's name */
    struct manager *manager; /* NULL: it has been left */
    pid_t pid;
    bool has_left;  /* at the last BNR_Finalize */
    struct kvs own; /* this process's keys */
    _Atomic uint64_t own_used;
    uint64_t own_sent;           /* bytes of it that the manager has */
    int *node, *local;           /* of each rank */
    int nodes, *ranks, *cpus;    /* of each node: ranks, and processors that these may use; 0: not counted yet */
    struct managed_host **host;  /* of each rank; NULL: not asked for yet */
    int memory;                  /* descriptor; -1: none */
    struct presence *presence;   /* of this host's processes; NULL: nobody tells of their ends */
    struct managed_end *ends;    /* of them, in the order of notice */
    _Atomic uint32_t end_count;
    unsigned char *value;        /* of the last get */
};

static const _Atomic uint32_t no_asks;
static const _Atomic uint64_t no_letters;

static struct managed *self_of(struct backend *b)
{
    return (struct managed *)(void *)b;
}

/* The manager gives back another value than a rank has put. */
static int damaged(const char *key)
{
    return os_fail(-EPROTO, "the process manager's key '%s' is damaged; start the program with Vireo's own mpiexec", key);
}

/* ---- keys ---- */

static int managed_put(struct backend *b, const char *key, const void *val, size_t len, unsigned flags)
{
    return backend_kvs_code(kvs_put(&self_of(b)->own, key, val, len, (flags & BNR_PUT_REPLACE) != 0));
}

static int managed_get(struct backend *b, int owner, const char *key, const void **val, size_t *len, unsigned flags)
{
    struct managed *p = self_of(b);
    if (owner == b->rank)
        return backend_kvs_code(kvs_get(&p->own, key, val, len));
    long n = p->manager && manager_takes(key) ? p->manager->ops->get(p->manager, owner, key, &p->value) : -ENOENT;
    if (n < 0)
        return n == -ENOENT ? BNR_ERR_NOT_FOUND : n == -ENOMEM ? BNR_ERR_NOMEM : BNR_ERR_COMM;
    *val = p->value;
    *len = (size_t)n;
    return BNR_SUCCESS;
}

/* Hand the manager the keys put since the last fence, and wait for the others. A key that no manager takes is known
 * here alone. */
static int managed_fence(struct backend *b)
{
    struct managed *p = self_of(b);
    struct kvs_entry entry;
    char key[BNR_MAX_KEY + 1];
    if (!p->manager)
        return BNR_ERR_STATE;
    while (!kvs_next(&p->own, &p->own_sent, &entry)) {
        memcpy(key, entry.key, entry.key_len);
        key[entry.key_len] = 0;
        if (manager_takes(key) && p->manager->ops->put(p->manager, key, entry.value, entry.value_len))
            return BNR_ERR_COMM;
    }
    return p->manager->ops->fence(p->manager) ? BNR_ERR_COMM : BNR_SUCCESS;
}

/* ---- places ---- */

/* Describe this host as a value. */
static int put_host(struct managed *p)
{
    char id[HOST_ID_MAX], text[HOST_TEXT], mask[MASK_DIGITS + 1];
    cpu_set_t set;
    int last = 1;
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof(set), &set);
    for (int i = 0; i < MASK_DIGITS; i++) {
        int bits = 0;
        for (int c = 0; c < 4; c++)
            bits |= CPU_ISSET(4 * i + c, &set) ? 1 << c : 0;
        mask[i] = "0123456789abcdef"[bits];
        last = bits ? i + 1 : last;
    }
    mask[last] = 0;
    host_id(id);
    int n = snprintf(text, sizeof(text), "%s %.255s %d %d %s", id, os_host_name(), os_cpus_usable(), p->manager->appnum,
                     mask);
    return managed_put(&p->base, "host", text, (size_t)n, 0) ? -ENOMEM : 0;
}

static bool read_host(const char *text, struct managed_host *host)
{
    char format[40];
    snprintf(format, sizeof(format), "%%%ds %%255s %%d %%d %%%d[0-9a-f]", HOST_ID_MAX - 1, MASK_DIGITS);
    return sscanf(text, format, host->id, host->name, &host->cpus, &host->appnum, host->mask) == 5 && host->cpus > 0;
}

/* The host of a rank, or NULL. */
static const struct managed_host *host_of(struct managed *p, int rank)
{
    const void *text;
    size_t len;
    if (p->host[rank])
        return p->host[rank];
    struct managed_host *host = calloc(1, sizeof(*host));
    char line[HOST_TEXT];
    if (!host || managed_get(&p->base, rank, "host", &text, &len, 0) || len >= sizeof(line)) {
        free(host);
        return NULL;
    }
    memcpy(line, text, len);
    line[len] = 0;
    if (!read_host(line, host)) {
        free(host);
        return NULL;
    }
    return p->host[rank] = host;
}

/* Number hosts by who can share memory, as each process describes its own. */
static int gather_nodes(struct managed *p)
{
    int count = 0;
    for (int r = 0; r < p->base.size; r++) {
        const struct managed_host *host = host_of(p, r);
        if (!host)
            return damaged("host");
        int first = r && !strcmp(p->host[r - 1]->id, host->id) ? r - 1 : 0;
        while (first < r && strcmp(p->host[first]->id, host->id))
            first++;
        p->node[r] = first < r ? p->node[first] : count++;
    }
    return 0;
}

/* Number nodes from 0 on, in the order of their first ranks, and count the ranks of each. */
static int count_nodes(struct managed *p)
{
    p->nodes = 0;
    for (int r = 0; r < p->base.size; r++) {
        int first = r && p->node[r] == p->node[r - 1] ? p->local[r - 1] : 0;
        while (p->node[first] != p->node[r])
            first++;
        p->local[r] = first; /* for now */
    }
    for (int r = 0; r < p->base.size; r++)
        p->node[r] = p->local[r] == r ? p->nodes++ : p->node[p->local[r]];
    free(p->ranks);
    free(p->cpus);
    p->ranks = calloc((size_t)p->nodes, sizeof(*p->ranks));
    p->cpus = calloc((size_t)p->nodes, sizeof(*p->cpus));
    if (!p->ranks || !p->cpus)
        return -ENOMEM;
    for (int r = 0; r < p->base.size; r++)
        p->local[r] = p->ranks[p->node[r]]++;
    return 0;
}

static int value_of(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

/* The processors that the ranks of a host may use together, since managers bind each: the union of their masks, within
 * the least quota of their control groups. 0: some rank's description is missing. */
static int count_cpus(struct managed *p, int node)
{
    unsigned char all[MASK_DIGITS] = {0};
    int count = 0, quota = INT_MAX;
    for (int r = 0; r < p->base.size; r++) {
        const struct managed_host *host = p->node[r] == node ? host_of(p, r) : NULL;
        int own = 0;
        if (!host && p->node[r] == node)
            return 0;
        for (int i = 0; host && host->mask[i]; i++) {
            all[i] |= (unsigned char)value_of(host->mask[i]);
            own += __builtin_popcount((unsigned)value_of(host->mask[i]));
        }
        quota = host && host->cpus < own && host->cpus < quota ? host->cpus : quota;
    }
    for (int i = 0; i < MASK_DIGITS; i++)
        count += __builtin_popcount(all[i]);
    return count < quota ? count : quota;
}

/* Whether the ranks that the manager puts on this host can share memory with this process. */
static bool is_true_here(struct managed *p)
{
    const struct managed_host *own = host_of(p, p->base.rank);
    for (int r = 0; own && r < p->base.size; r++) {
        const struct managed_host *host = p->node[r] == p->node[p->base.rank] ? host_of(p, r) : own;
        if (!host || strcmp(host->id, own->id))
            return false;
    }
    return own != NULL;
}

/* The value of rank 0's key "job". */
struct managed_job {
    BNR_Gid gid;
    unsigned char secret[16];
    int32_t cpus; /* of its node; 0: the manager's list of nodes is not true there */
};

/* Rank 0 chooses the group's id and secret. */
static int put_job(struct managed *p, int cpus)
{
    struct managed_job job = {.cpus = cpus};
    if (os_random(job.gid.b, sizeof(job.gid.b)) || os_random(job.secret, sizeof(job.secret)))
        return -EIO;
    return managed_put(&p->base, "job", &job, sizeof(job), 0) ? -ENOMEM : 0;
}

/* Returns the processors of rank 0's node, or -errno. */
static int take_job(struct managed *p)
{
    struct managed_job job;
    const void *got;
    size_t len;
    if (managed_get(&p->base, 0, "job", &got, &len, 0) || len != sizeof(job))
        return damaged("job");
    memcpy(&job, got, sizeof(job));
    p->base.gid = job.gid;
    memcpy(p->base.secret, job.secret, sizeof(job.secret));
    return job.cpus < 0 ? 0 : job.cpus;
}

/* The first rank of each node tells whether the manager's list is true there, and its processors. */
static int put_verdict(struct managed *p)
{
    char text[16];
    int rank = p->base.rank, cpus = p->local[rank] || !is_true_here(p) ? 0 : count_cpus(p, p->node[rank]);
    if (!rank)
        return put_job(p, cpus);
    if (p->local[rank])
        return 0;
    int n = snprintf(text, sizeof(text), "%d", cpus);
    return managed_put(&p->base, "mapped", text, (size_t)n, 0) ? -ENOMEM : 0;
}

/* All come to one view of all nodes. Returns 1, 0 where some node's is not true, or -errno. */
static int take_verdicts(struct managed *p)
{
    const void *said;
    size_t len;
    int cpus = take_job(p);
    if (cpus > 0)
        p->cpus[p->node[0]] = cpus;
    for (int r = 1; r < p->base.size && cpus > 0; r++) {
        char text[16] = "";
        if (p->local[r])
            continue;
        if (managed_get(&p->base, r, "mapped", &said, &len, 0) || len >= sizeof(text))
            return damaged("mapped");
        memcpy(text, said, len);
        p->cpus[p->node[r]] = cpus = (int)strtol(text, NULL, 10);
    }
    return cpus < 0 ? cpus : cpus > 0;
}

/* Number the nodes, by the manager's list if it is true on all of them. Without one each rank asks all others. */
static int find_nodes(struct managed *p, bool is_mapped)
{
    int rc = is_mapped ? count_nodes(p) : 0;
    if (!rc && is_mapped)
        rc = put_verdict(p);
    if (rc || (is_mapped && managed_fence(&p->base)))
        return rc ? rc : -EIO;
    rc = is_mapped ? take_verdicts(p) : take_job(p);
    if (rc < 0 || (is_mapped && rc))
        return rc < 0 ? rc : 0;
    rc = gather_nodes(p);
    return rc ? rc : count_nodes(p);
}

/* The manager ends the job when a process fails, or the user wants it to go on; then deaths on this host are known. */
static int managed_is_alive(struct backend *b, int rank)
{
    const struct managed *p = self_of(b);
    for (uint32_t i = 0; i < p->end_count; i++)
        if (p->ends[i].rank == rank)
            return 0;
    return 1;
}

static void managed_locality(struct backend *b, int rank, int *node, int *local_rank, int *local_size)
{
    struct managed *p = self_of(b);
    *node = p->node[rank];
    *local_rank = p->local[rank];
    *local_size = p->ranks[*node];
}

static int managed_member(struct backend *b, int node, int local_rank)
{
    struct managed *p = self_of(b);
    for (int r = 0; r < b->size; r++)
        if (p->node[r] == node && p->local[r] == local_rank)
            return r;
    return -1;
}

static int managed_host(struct backend *b, int rank, BNR_Host *h)
{
    struct managed *p = self_of(b);
    const struct managed_host *host = host_of(p, rank);
    int *cpus = &p->cpus[p->node[rank]];
    if (!host)
        return BNR_ERR_COMM;
    if (!*cpus)
        *cpus = count_cpus(p, p->node[rank]);
    h->id = host->id;
    h->name = host->name;
    h->cpus = *cpus > 0 ? *cpus : host->cpus;
    h->ranks = p->ranks[p->node[rank]];
    return BNR_SUCCESS;
}

static int managed_host_memory(struct backend *b, int rank, int *fd, unsigned long long *offset, unsigned long long *size)
{
    struct managed *p = self_of(b);
    if (p->memory < 0 || p->node[rank] != p->node[b->rank])
        return BNR_ERR_UNSUPPORTED;
    *fd = p->memory;
    *offset = (unsigned long long)p->local[rank] * TABLE_REGION;
    *size = TABLE_REGION;
    return BNR_SUCCESS;
}

/* ---- the rest ---- */

static int managed_appnum(struct backend *b, int *appnum)
{
    const struct manager *m = self_of(b)->manager;
    *appnum = m ? m->appnum : -1;
    return *appnum < 0 ? BNR_ERR_NOT_FOUND : BNR_SUCCESS;
}

/* Asks for the description of every rank. */
static int managed_app(struct backend *b, int appnum, int *first, int *size)
{
    int count = 0;
    for (int r = 0; r < b->size; r++) {
        const struct managed_host *host = host_of(self_of(b), r);
        if (host && host->appnum == appnum && !count++)
            *first = r;
    }
    *size = count;
    return count ? BNR_SUCCESS : BNR_ERR_NOT_FOUND;
}

static int managed_universe_size(struct backend *b, int *size)
{
    const struct manager *m = self_of(b)->manager;
    *size = m && m->universe > b->size ? m->universe : b->size;
    return BNR_SUCCESS;
}

static void managed_event(struct backend *b, uint32_t index, BNR_Event *ev)
{
    const struct managed_end *end = &self_of(b)->ends[index];
    ev->type = end->well ? BNR_EV_PROC_EXIT : BNR_EV_PROC_FAILED;
    ev->rank = end->rank;
    ev->joined = 1;
}

static void note_end(int local, bool well, void *arg)
{
    struct managed *p = arg;
    int rank = managed_member(&p->base, p->node[p->base.rank], local);
    p->ends[p->end_count] = (struct managed_end){rank, well};
    atomic_fetch_add_explicit(&p->end_count, 1, memory_order_release);
}

static void managed_look(struct backend *b)
{
    struct managed *p = self_of(b);
    if (p->presence)
        presence_look(p->presence, note_end, p);
}

static void managed_abort(struct backend *b, int exit_code, const char *msg)
{
    struct managed *p = self_of(b);
    os_fail(0, "aborted with code %d%s%s", exit_code, msg && *msg ? ": " : "", msg ? msg : "");
    if (p->manager && p->pid == getpid()) {
        (void)poll(NULL, 0, FORWARD_MS);
        p->manager->idle = NULL; /* nothing runs while this process waits for its end */
        p->manager->ops->abort(p->manager, backend_exit_code(exit_code), msg ? msg : "");
    }
    _exit(backend_exit_code(exit_code));
}

static int managed_answer(struct backend *b, const void *text, size_t len)
{
    return BNR_ERR_UNSUPPORTED;
}

static int managed_xcast(struct backend *b, const struct backend_letter *letter)
{
    return BNR_ERR_UNSUPPORTED;
}

static long managed_hear(struct backend *b, void *at, size_t len)
{
    return 0;
}

static void managed_leave(struct backend *b)
{
    struct managed *p = self_of(b);
    p->has_left = true;
    if (p->presence)
        presence_leave(p->presence, true);
    if (p->manager)
        p->manager->idle = NULL;
}

static void run_idle(void *arg)
{
    backend_idle(arg);
}

static void managed_rejoin(struct backend *b)
{
    struct managed *p = self_of(b);
    p->has_left = false;
    if (p->presence)
        presence_leave(p->presence, false);
    if (p->manager)
        p->manager->idle = run_idle;
}

static const struct backend_ops managed_ops = {
    .caps = BNR_CAP_BINARY | BNR_CAP_HOST_MEMORY,
    .put = managed_put,
    .get = managed_get,
    .fence = managed_fence,
    .is_alive = managed_is_alive,
    .locality = managed_locality,
    .member = managed_member,
    .host = managed_host,
    .host_memory = managed_host_memory,
    .appnum = managed_appnum,
    .app = managed_app,
    .universe_size = managed_universe_size,
    .event = managed_event,
    .look = managed_look,
    .abort = managed_abort,
    .answer = managed_answer,
    .xcast = managed_xcast,
    .hear = managed_hear,
    .leave = managed_leave,
    .rejoin = managed_rejoin,
};

/* The manager takes a process for failed that closes its connection without a goodbye. One that returns from main()
 * with success has to have called MPI_Finalize. status: -1 where it is not known. */
static void on_end(int status, void *arg)
{
    struct managed *p = arg;
    if (p->pid != getpid() || !p->manager)
        return;
    if (p->has_left) {
        p->manager->ops->leave(p->manager);
        p->manager = NULL;
    } else if (!status) {
        fflush(NULL);
        managed_abort(&p->base, 1, "it exited without MPI_Finalize");
    }
}

/* ---- joining ---- */

static int make_room(struct managed *p)
{
    size_t size = (size_t)p->base.size;
    void *log = mmap(NULL, TABLE_LOG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p->node = calloc(size, sizeof(*p->node));
    p->local = calloc(size, sizeof(*p->local));
    p->host = calloc(size, sizeof(*p->host));
    if (log == MAP_FAILED || !p->node || !p->local || !p->host)
        return -ENOMEM;
    p->own = (struct kvs){.base = log, .size = TABLE_LOG, .used = &p->own_used};
    return 0;
}

static int share_memory(struct managed *p)
{
    const char *step = "";
    int node = p->node[p->base.rank], count = p->ranks[node];
    if (count < 2)
        return 0;
    uint64_t size = (uint64_t)count * TABLE_REGION;
    p->memory = host_memory_share(p->base.secret, node, p->local[p->base.rank], count, size + presence_size(count),
                                  MEMORY_MS, &step);
    if (p->memory < 0)
        return os_fail(p->memory, "the memory of the %d processes on this host: cannot %s", count, step);
    p->ends = calloc((size_t)count, sizeof(*p->ends));
    p->presence = p->ends ? presence_begin(p->memory, size, p->local[p->base.rank], count) : NULL;
    return p->ends ? 0 : -ENOMEM;
}

static int join(struct managed *p)
{
    int rc = 0;
    if (p->base.size < 1 || p->base.rank >= p->base.size || p->base.rank < 0)
        return os_fail(-EINVAL, "the process manager says rank %d of %d", p->base.rank, p->base.size);
    rc = make_room(p);
    int mapped = rc ? rc : p->manager->ops->places(p->manager, p->node);
    if (mapped < 0)
        return mapped;
    rc = put_host(p);
    if (!rc && !mapped && !p->base.rank)
        rc = put_job(p, 0);
    if (!rc && managed_fence(&p->base))
        rc = -EIO;
    if (!rc)
        rc = find_nodes(p, mapped);
    return rc ? rc : share_memory(p);
}

int managed_join(struct backend **b)
{
    struct manager *m;
    int rc = pmi_find(&m);
    if (rc == -ENOENT)
        rc = pmix_find(&m);
    struct managed *p = rc ? NULL : calloc(1, sizeof(*p));
    if (rc)
        return rc == -ENOENT ? BNR_ERR_NOT_FOUND : BNR_ERR_COMM;
    if (!p)
        return BNR_ERR_NOMEM;
    p->memory = -1;
    p->manager = m;
    p->base.rank = m->rank;
    p->base.size = m->size;
    p->base.events = &p->end_count;
    p->base.asks = &no_asks;
    p->base.letters = &no_letters;
    p->pid = getpid();
    rc = join(p);
    if (rc == -ENOMEM)
        os_fail(rc, "cannot join the job of the process manager");
    if (rc) /* the rest of p goes with the process, which cannot go on */
        return rc == -ENOMEM ? BNR_ERR_NOMEM : BNR_ERR_COMM;
    p->ops = managed_ops;
    p->ops.name = m->ops->name;
    p->base.ops = &p->ops;
    m->idle = run_idle;
    m->idle_arg = &p->base;
    os_at_exit(on_end, p);
    *b = &p->base;
    return BNR_SUCCESS;
}
