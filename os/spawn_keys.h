/* SPDX-License-Identifier: BSD-3-Clause */

/* Info keys of those that start jobs, MPI_Comm_spawn and BNR_Spawn, as options of mpiexec. */
#ifndef OS_SPAWN_KEYS_H
#define OS_SPAWN_KEYS_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Keys that are options of mpiexec, with the value behind them. */
static const struct {
    const char *keys; /* separated by blanks */
    const char *option;
    bool of_job, places;
    const char *yes; /* the key's value is true or false: what stands behind the option if it is true; "": nothing */
} os_spawn_keys[] = {
    {"wdir wd", "-wdir", false, false, NULL},
    {"path", "-path", false, false, NULL},
    {"host hosts add-host add_host", "-host", true, false, NULL},
    {"hostfile add-hostfile add_hostfile", "-hostfile", true, false, NULL},
    {"map_by map-by mapper", "-map-by", true, true, NULL},
    {"bind_to bind-to", "-bind-to", true, true, NULL},
    {"ppr", "-ppr", true, true, NULL},
    {"rank_by rank-by ranker", "-rank-by", true, false, NULL},
    {"npernode", "-npernode", false, false, NULL},
    {"pernode", "-npernode", false, false, "1"},
    {"npersocket", "-npersocket", true, true, NULL},
    {"display_map display-map", "-display-map", true, false, ""},
    {"mpi_initial_errhandler", "-initial-errhandler", false, false, NULL},
};

/* The words of key i with this value. Returns how many. */
static inline int os_spawn_key_words(size_t i, const char *value, const char *words[2])
{
    const char *yes = os_spawn_keys[i].yes;
    if (yes && strcasecmp(value, "true") != 0 && strcasecmp(value, "yes") != 0 && strcmp(value, "1") != 0)
        return 0;
    words[0] = os_spawn_keys[i].option;
    words[1] = yes ? yes : value;
    return yes && !*yes ? 1 : 2;
}

#endif
