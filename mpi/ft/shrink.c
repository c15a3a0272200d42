/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPIX_Comm_shrink: a communicator of the members that are left. They agree on who these are, and in
 * the same words on a context: each lends the contexts of one stretch that it has free, and the first
 * that all have lent is taken. If there is none, another stretch is tried.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/ft/accord.h"
#include "mpi/make/comm_make.h"
#include "mpi/request/request.h"

struct shrink {
    struct deed deed;
    MPI_Comm *newcomm;
    struct group *group[2]; /* as the crew has them; those that are left */
    struct context_loan loan;
    uint32_t context;
};

static struct shrink *shrink_of(struct deed *deed)
{
    return (struct shrink *)deed;
}

static void give(struct deed *deed, const struct crew *crew, uint64_t *first, uint64_t *rest)
{
    struct shrink *shrink = shrink_of(deed);
    (void)first;
    context_lend(&shrink->loan, (uint64_t)crew->context << 32 | deed->key, deed->round);
    memcpy(rest, shrink->loan.lent, sizeof(shrink->loan.lent));
}

/* Those of one group that are left; begin: its first member's rank in the crew. */
static struct group *pick(struct group *from, const uint64_t *left, uint32_t begin)
{
    int *ranks = malloc((size_t)from->size * sizeof(*ranks)), count = 0;
    for (int i = 0; ranks && i < from->size; i++)
        if (crew_bit(left, begin + (uint32_t)i))
            ranks[count++] = i;
    struct group *group = ranks ? group_pick(from, ranks, count) : NULL;
    free(ranks);
    return group;
}

/* A group without a member makes no communicator, at any of the other members. */
static int pick_both(struct shrink *shrink, const struct crew *crew, const uint64_t *left)
{
    uint32_t begin = 0;
    bool empty = !crew_bit(left, crew->rank);
    for (int i = 0; i < 2 && crew->group[i]; i++) {
        shrink->group[i] = pick(crew->group[i], left, begin);
        if (!shrink->group[i])
            return MPI_ERR_NO_MEM;
        empty |= !shrink->group[i]->size;
        begin += (uint32_t)crew->group[i]->size;
    }
    return empty ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

static bool take(struct deed *deed, const struct crew *crew, uint64_t first, const uint64_t *rest,
                 const uint64_t *left)
{
    struct shrink *shrink = shrink_of(deed);
    (void)first;
    shrink->context = context_settle_loan(&shrink->loan, rest);
    if (shrink->context == CONTEXT_NONE)
        return false;
    deed->error_class = pick_both(shrink, crew, left);
    return true;
}

/* The new communicator; both groups of an intercommunicator are in the order of the crew. */
static int make(struct shrink *shrink, struct comm **made)
{
    struct comm *comm = shrink->deed.comm;
    struct group *mine = shrink->group[0], *theirs = shrink->group[1];
    if (theirs && mine->rank == MPI_UNDEFINED) {
        mine = shrink->group[1];
        theirs = shrink->group[0];
    }
    return comm_create_like(comm, mine, theirs, shrink->context, made);
}

static void run(struct crew_task *task)
{
    struct shrink *shrink = (struct shrink *)task;
    struct comm *made = NULL;
    int rc = shrink->deed.error_class;
    if (!rc)
        rc = make(shrink, &made);
    else if (shrink->context)
        context_release(shrink->context);
    *shrink->newcomm = rc ? MPI_COMM_NULL : comm_handle(made);
    group_unref(shrink->group[0]);
    group_unref(shrink->group[1]);
    request_complete(shrink->deed.request, rc);
    free(shrink);
}

int shrink_begin(struct comm *comm, MPI_Comm *newcomm, struct request **request)
{
    struct shrink *shrink = calloc(1, sizeof(*shrink));
    if (!shrink)
        return MPI_ERR_NO_MEM;
    shrink->newcomm = newcomm;
    shrink->deed = (struct deed){.task = {.run = run}, .kind = ACCORD_SHRINK, .give = give, .take = take};
    int rc = accord_begin(&shrink->deed, request, comm);
    if (rc)
        free(shrink);
    return rc;
}
