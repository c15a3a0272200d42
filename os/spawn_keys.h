/* SPDX-License-Identifier: BSD-3-Clause */

/* Info keys of those that start jobs, MPI_Comm_spawn and BNR_Spawn, as options of mpiexec. */
#ifndef OS_SPAWN_KEYS_H
#define OS_SPAWN_KEYS_H

#include <stdbool.h>

/* Keys that are options of mpiexec, with the value behind them. */
static const struct {
    const char *keys; /* separated by blanks */
    const char *option;
    bool of_job, places;
} os_spawn_keys[] = {
    {"wdir wd", "-wdir", false, false},
    {"path", "-path", false, false},
    {"host hosts add-host add_host", "-host", true, false},
    {"hostfile add-hostfile add_hostfile", "-hostfile", true, false},
    {"map_by map-by mapper", "-map-by", true, true},
    {"bind_to bind-to", "-bind-to", true, true},
    {"ppr", "-ppr", true, true},
    {"rank_by rank-by ranker", "-rank-by", true, false},
    {"npernode", "-npernode", false, false},
    {"mpi_initial_errhandler", "-initial-errhandler", false, false},
};

#endif
