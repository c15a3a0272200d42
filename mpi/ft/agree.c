/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPIX_Comm_agree: the AND of a number of each member, and whether all who take part have acknowledged
 * the failures of the others. The words that come last have ones for acknowledged failures.
 */
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/ft/accord.h"
#include "mpi/request/request.h"

struct agreed {
    struct deed deed;
    int *flag;
};

/* Bits of the members whose failure this process has acknowledged. */
static void put_acknowledged(const struct crew *crew, uint64_t *bits)
{
    struct process process;
    uint32_t end = atomic_load_explicit(&crew->comm->acked, memory_order_relaxed);
    for (uint32_t i = 0; i < crew_words(crew); i++)
        bits[i] = 0;
    for (uint32_t i = 0; i < end && mpid_failed((int)i, &process.gid, &process.rank); i++) {
        int64_t rank = crew_rank(crew, &process);
        if (rank >= 0)
            crew_set_bit(bits, (uint32_t)rank);
    }
}

static int *flag_of(struct deed *deed)
{
    return ((struct agreed *)deed)->flag;
}

static void give(struct deed *deed, const struct crew *crew, uint64_t *first, uint64_t *rest)
{
    *first = (unsigned)*flag_of(deed);
    put_acknowledged(crew, rest);
}

static bool take(struct deed *deed, const struct crew *crew, uint64_t first, const uint64_t *rest,
                 const uint64_t *left)
{
    *flag_of(deed) = (int)(uint32_t)first;
    for (uint32_t i = 0; i < crew->size; i++)
        if (!crew_bit(left, i) && !crew_bit(rest, i))
            deed->error_class = MPIX_ERR_PROC_FAILED;
    return true;
}

static void run(struct crew_task *task)
{
    struct deed *deed = (struct deed *)task;
    request_complete(deed->request, deed->error_class);
    free(deed);
}

int agree_begin(struct comm *comm, int *flag, struct request **request)
{
    struct agreed *agreed = calloc(1, sizeof(*agreed));
    if (!agreed)
        return MPI_ERR_NO_MEM;
    agreed->flag = flag;
    agreed->deed = (struct deed){.task = {.run = run}, .kind = ACCORD_AGREE, .give = give, .take = take};
    int rc = accord_begin(&agreed->deed, request, comm);
    if (rc)
        free(agreed);
    return rc;
}
