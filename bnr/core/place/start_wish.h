/* SPDX-License-Identifier: BSD-3-Clause */

/* The user's wishes about the start of ranks, beside their programs: their places (placement.h has
 * the words) and their surroundings. */
#ifndef BNR_START_WISH_H
#define BNR_START_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "bnr/core/place/placement.h"

enum start_memory {
    START_MEMORY_ANY,
    START_MEMORY_LOCAL, /* on the node of the first touch */
    START_MEMORY_BIND,
    START_MEMORY_INTERLEAVE
};

/* Where ranks wait until a debugger lets them go on. */
enum start_stop {
    START_STOP_NOWHERE,
    START_STOP_EXEC, /* at the program's first instruction */
    START_STOP_INIT  /* in MPI_Init */
};

enum {
    START_NODES_MAX = 1024 /* of memory */
};

struct start_wish {
    bool is_wanted; /* something here asks for ranks to be placed */
    enum placement_level map, rank_by, bind;
    bool is_mapped, is_ranked, is_bound; /* the user has said so */
    uint32_t ppr, pe;                    /* 0: not said */
    uint32_t width, map_width;           /* objects for each rank; 0: not said */
    bool is_spread, is_spanning, is_filling, is_limited, may_overload; /* as a placement_request has them */
    bool by_thread;       /* hardware threads count as cores do */
    bool if_supported;    /* where binding is not possible, go on without */
    const char *allowed;  /* cores that may be used; NULL: all */
    const char *list;     /* cores to bind to; NULL: none */
    bool is_ordered;      /* each rank to one of the list */
    bool is_listed;       /* --bind-to cpu-list was said */
    const char *user;     /* processors for each rank, "" for one after the other; NULL */
    const char *device;   /* bound to the processors near it; NULL */
    bool by_distance;     /* each rank to one core, those near the device first */
    bool is_file;         /* mapped by a rankfile */
    bool is_sequential;   /* mapped by a file of hosts */
    const char *rankfile; /* its text, or NULL */
    struct placement_file file; /* the lines of that */
    enum start_memory memory;
    uint64_t nodes[START_NODES_MAX / 64];
    bool shows_bindings, shows_map, shows_hardware;
    bool is_dry; /* show, and start nothing */

    const char *xterm;       /* ranks that get a window, or NULL */
    const char *terminals;   /* ranks that get a terminal of their own, or NULL */
    uint32_t rows, columns;  /* of these, at the start */
    const char *output_from; /* ranks whose output is taken; NULL: all */
    const char *stdin_to;    /* ranks that read mpiexec's stdin; NULL: none */
    bool debugs;             /* each rank by gdb */
    const char *agent;       /* words that run each program; NULL: none */
    enum start_stop stop;
    bool names_ranks;        /* the rank ends argv[0] */
    bool limits_gpus;
    uint32_t gpus; /* that each rank sees; meant with limits_gpus */
};

/* Whether ranks are bound to processors that the user names, or that are near a device. */
static inline bool start_wish_names_cpus(const struct start_wish *wish)
{
    return wish->list || wish->user || wish->device;
}

#endif
