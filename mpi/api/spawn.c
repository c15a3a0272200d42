/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Process creation.
 */

#include <mpi.h>

#include "mpi/errh.h"
#include "mpi/init.h"

/*
 * Give the intercommunicator to the processes that have spawned this one.
 *
 * Local. No process is spawned in this version of Vireo, so no process has a parent.
 *
 * parent: gets MPI_COMM_NULL
 *
 * MPI_ERR_ARG: parent is NULL.
 *
 * MPI-5.0 11.8.2
 */
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    if (init_world_state() != INIT_READY && init_world_state() != INIT_ENDING)
        return errh_comm(NULL, MPI_ERR_OTHER, __func__,
                         "MPI_Init has not been called, or MPI_Finalize has");
    if (!parent)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "parent is NULL");
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

#include "spawn.gen.h"
