/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The back end of a process that no launcher started: a group of one. It creates no process, no
 * descriptor and no file; its key-value space is private memory.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/host/host.h"
#include "bnr/host/kvs.h"
#include "bnr/host/table.h"
#include "os/cpu/cpus.h"
#include "os/log.h"
#include "os/random.h"

struct single {
    struct backend base;
    struct kvs log; /* base is NULL until the first put */
    _Atomic uint64_t log_used;
    char host_id[HOST_ID_MAX]; /* "" until asked for */
};

static const _Atomic uint32_t no_events;
static const _Atomic uint64_t no_letters;

static struct single *self_of(struct backend *b)
{
    return (struct single *)(void *)b;
}

static int single_put(struct backend *b, const char *key, const void *val, size_t len,
                      unsigned flags)
{
    struct single *s = self_of(b);
    if (!s->log.base) {
        void *base =
            mmap(NULL, TABLE_LOG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED)
            return BNR_ERR_NOMEM;
        s->log.base = base;
        s->log.size = TABLE_LOG;
        s->log.used = &s->log_used;
    }
    return backend_kvs_code(kvs_put(&s->log, key, val, len, (flags & BNR_PUT_REPLACE) != 0));
}

static int single_get(struct backend *b, int owner, const char *key, const void **val, size_t *len,
                      unsigned flags)
{
    struct single *s = self_of(b);
    return !s->log.base || kvs_get(&s->log, key, val, len) ? BNR_ERR_NOT_FOUND : BNR_SUCCESS;
}

static int single_fence(struct backend *b)
{
    return BNR_SUCCESS;
}

static int single_is_alive(struct backend *b, int rank)
{
    return 1;
}

static void single_locality(struct backend *b, int rank, int *node, int *local_rank,
                            int *local_size)
{
    *node = *local_rank = 0;
    *local_size = 1;
}

static int single_member(struct backend *b, int node, int local_rank)
{
    return node || local_rank ? -1 : 0;
}

static int single_host(struct backend *b, int rank, BNR_Host *h)
{
    struct single *s = self_of(b);
    if (!s->host_id[0])
        host_id(s->host_id);
    h->id = s->host_id;
    h->name = os_host_name();
    h->cpus = os_cpus_usable();
    h->ranks = 1;
    return BNR_SUCCESS;
}

static int single_host_memory(struct backend *b, int rank, int *fd, unsigned long long *offset,
                              unsigned long long *size)
{
    return BNR_ERR_UNSUPPORTED;
}

static int single_appnum(struct backend *b, int *appnum)
{
    return BNR_ERR_NOT_FOUND;
}

static int single_app(struct backend *b, int appnum, int *first, int *size)
{
    return BNR_ERR_NOT_FOUND;
}

static int single_universe_size(struct backend *b, int *size)
{
    *size = 1;
    return BNR_SUCCESS;
}

static void single_event(struct backend *b, uint32_t index, BNR_Event *ev)
{
    ev->type = 0; /* no event ever happens to it */
}

static void single_abort(struct backend *b, int exit_code, const char *msg)
{
    os_fail(0, "aborted with code %d%s%s", exit_code, msg && *msg ? ": " : "", msg ? msg : "");
    _exit(backend_exit_code(exit_code));
}

static int single_answer(struct backend *b, const void *text, size_t len)
{
    return BNR_ERR_UNSUPPORTED;
}

static long single_hear(struct backend *b, void *at, size_t len)
{
    return 0;
}

static void single_stay(struct backend *b)
{
}

static const struct backend_ops single_ops = {
    .name = "singleton",
    .caps = BNR_CAP_BINARY,
    .put = single_put,
    .get = single_get,
    .fence = single_fence,
    .is_alive = single_is_alive,
    .locality = single_locality,
    .member = single_member,
    .host = single_host,
    .host_memory = single_host_memory,
    .appnum = single_appnum,
    .app = single_app,
    .universe_size = single_universe_size,
    .event = single_event,
    .abort = single_abort,
    .answer = single_answer,
    .hear = single_hear,
    .leave = single_stay,
    .rejoin = single_stay,
};

int single_join(struct backend **b)
{
    struct single *s = calloc(1, sizeof(*s));
    int rc = s ? os_random(s->base.gid.b, sizeof(s->base.gid.b)) : -ENOMEM;
    if (!rc)
        rc = os_random(s->base.secret, sizeof(s->base.secret));
    if (rc) {
        os_fail(rc, "cannot start alone");
        free(s);
        return BNR_ERR_NOMEM;
    }
    s->base.ops = &single_ops;
    s->base.size = 1;
    s->base.events = s->base.asks = &no_events;
    s->base.letters = &no_letters;
    *b = &s->base;
    return BNR_SUCCESS;
}

/* A variable that a launcher sets in each process, and one with the number of processes. If that
 * number is 1 or missing, a rank above 0 shows that there are several. A number above 1 without a
 * rank shows it, too, since something has removed the rank. Exceptions are numbers that also stand
 * in the environment of scripts from which jobs are started. */
struct trace {
    const char *launcher, *rank, *size;
    bool needs_rank;
};

static const struct trace traces[] = {
    {"a launcher of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
    {"a launcher of MPICH", "PMI_RANK", "PMI_SIZE", false},
    {"a launcher of MPICH", "PMI_ID", "PMI_SIZE", false},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
    {"a PMIx launcher", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", false},
    {"PALS", "PALS_RANKID", "PALS_LOCAL_SIZE", false},
    {"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", true},
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", false},
    {"MVAPICH's launcher", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", false},
};

int single_is_doubtful(const char *(*value)(const char *name), char *why, size_t size)
{
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        const struct trace *t = &traces[i];
        const char *rank = value(t->rank), *count = value(t->size);
        bool is_many = count && atoi(count) > 1;
        if (is_many && rank) {
            snprintf(why, size, "%s meant %.16s processes (%s=%.16s, %s=%.16s)", t->launcher, count,
                     t->rank, rank, t->size, count);
            return 1;
        }
        if (is_many && !t->needs_rank) {
            snprintf(why, size, "%s meant %.16s processes (%s=%.16s)", t->launcher, count, t->size,
                     count);
            return 1;
        }
        if (rank && atoi(rank) > 0) {
            snprintf(why, size, "%s meant more than one process (%s=%.16s)", t->launcher, t->rank,
                     rank);
            return 1;
        }
    }
    return 0;
}

int single_is_doubtful_to_manager(const char *(*value)(const char *name), char *why, size_t size)
{
    const char *rank = value("SLURM_PROCID"), *count = value("SLURM_STEP_NUM_TASKS");
    const char *nodes = value("SLURM_STEP_NUM_NODES");
    if (!rank || !count || atoi(count) < 2 || (nodes && atoi(nodes) == atoi(count)))
        return 0;
    snprintf(why, size, "srun meant %.16s processes (SLURM_PROCID=%.16s, SLURM_STEP_NUM_TASKS=%.16s)", count, rank, count);
    return 1;
}

int single_is_first(const char *(*value)(const char *name))
{
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        const char *rank = value(traces[i].rank);
        if (rank && atoi(rank) > 0)
            return 0;
    }
    return 1;
}
