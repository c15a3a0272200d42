/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that a program does not receive; see unreceived.h. */
#include "mpi/request/unreceived.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/context.h"
#include "mpi/left.h"
#include "mpi/request/compared.h"
#include "mpi/world.h"

enum { LINES_MAX = 64 };

static void tell_message(void *arg, const struct mpid_envelope *env, uint64_t bytes)
{
    char name[MPI_MAX_OBJECT_NAME];
    int *told = arg;
    if (env->context % CONTEXT_STEP != CONTEXT_P2P || (*told)++ == LINES_MAX)
        return;
    comm_list_name(env->context, name);
    dprintf(STDERR_FILENO,
            "--check: rank %d leaves a message from rank %d unreceived at MPI_Finalize: %" PRIu64
            " bytes, tag %d, %s\n",
            world_facts.rank, env->rank, (uint64_t)compared_bytes((int64_t)bytes), env->tag, name);
}

void unreceived_tell(void)
{
    int told = 0;
    if (left_is_watched)
        mpid_each_unreceived(tell_message, &told);
}
