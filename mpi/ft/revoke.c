/* SPDX-License-Identifier: BSD-3-Clause */

/* Revoking; see revoke.h. */
#include "mpi/ft/revoke.h"

#include "mpi/comm/comm.h"
#include "mpi/ft/crew.h"

/* Tell the nearest that live at or behind each power of two. */
static void spread(struct crew *crew)
{
    for (uint32_t step = 1; step < crew->size; step *= 2) {
        uint32_t to = (crew->rank + step) % crew->size;
        while (to != crew->rank && crew_bit(crew->gone, to))
            to = to + 1 < crew->size ? to + 1 : 0;
        if (to == crew->rank || crew_bit(crew->told, to))
            continue;
        crew_set_bit(crew->told, to);
        crew_send(crew, to, CREW_REVOKE, 0, NULL, 0);
    }
}

static void start(struct crew *crew)
{
    if (crew->revoked)
        return;
    crew->revoked = true;
    crew_update(crew);
    spread(crew);
    if (crew->comm)
        comm_revoke(crew->comm);
}

static void arrived(struct crew *crew, uint32_t from, const struct mpid_notice *notice)
{
    (void)notice;
    crew_set_bit(crew->told, from);
    start(crew);
}

static void lost(struct crew *crew)
{
    if (crew->revoked)
        spread(crew);
}

int revoke_comm(struct comm *comm)
{
    crew_enter();
    struct crew *crew = crew_of(comm);
    if (crew)
        start(crew);
    crew_leave();
    return crew ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static __attribute__((constructor)) void begin(void)
{
    static const struct crew_ops ops = {.arrived = arrived, .lost = lost};
    crew_add_kind(CREW_REVOKE, &ops);
}
