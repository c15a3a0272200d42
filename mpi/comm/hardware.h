/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The place of this process in its host's hardware, by hwloc. The library is loaded at the first
 * question and not before, since most programs never ask and its start takes longer than ours.
 * If it is not installed, or the process may run in several places of a level, that level is
 * unknown. Any thread may ask; the host's hardware is read once.
 */
#ifndef MPI_HARDWARE_H
#define MPI_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

/* From the outermost to the innermost, in the usual order of machines. */
enum hardware_level {
    HARDWARE_HOST,
    HARDWARE_PACKAGE,
    HARDWARE_DIE,
    HARDWARE_GROUP, /* what hwloc calls a group: of groups in groups, the outermost */
    HARDWARE_NUMA,
    HARDWARE_L5,
    HARDWARE_L4,
    HARDWARE_L3,
    HARDWARE_L2,
    HARDWARE_L1, /* of instructions: none */
    HARDWARE_CORE,
    HARDWARE_PU,
    HARDWARE_LEVELS
};

#define HARDWARE_UNKNOWN UINT64_MAX

/* id[level]: a number that all processes in the same place of that level have, and no others of
 * this host. For the host it is comm_host_id(); otherwise the object's logical index. */
struct hardware_place {
    uint64_t id[HARDWARE_LEVELS];
};

/* The place of this process now. */
void hardware_look(struct hardware_place *place);

/* Whether the host is known to have objects of a level. */
bool hardware_has(enum hardware_level level);

/* Return the level of a name: one of hwloc's types, as it spells them ("hwloc://Package",
 * "hwloc://L3Cache", "hwloc://L3"), with or without the "hwloc://", or "mpi_shared_memory" (the
 * host); HARDWARE_LEVELS if it names none. And back, with the "hwloc://". */
enum hardware_level hardware_level_of(const char *name);
const char *hardware_level_name(enum hardware_level level);

#endif
