/* SPDX-License-Identifier: BSD-3-Clause */

/* hwloc: its headers are used at build time, its library is loaded at the first question. */
#include "mpi/comm/hardware.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/comm_hosts.h"
#include "os/cpu/cpus.h"

/* The functions that are used: an X(name) each. */
#define FUNCTIONS(X)                                                                               \
    X(hwloc_topology_init) X(hwloc_topology_set_flags)                                             \
    X(hwloc_topology_load) X(hwloc_topology_destroy)                                               \
    X(hwloc_get_type_depth) X(hwloc_get_obj_by_depth)                                              \
    X(hwloc_get_depth_type) X(hwloc_get_cpubind)                                                   \
    X(hwloc_bitmap_alloc) X(hwloc_bitmap_intersects) X(hwloc_bitmap_free)

#define MEMBER(name) __typeof__(&(name)) name;
static struct {
    FUNCTIONS(MEMBER)
} lib;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t topology; /* NULL: not known */

#define PREFIX "hwloc://"
#define KIND(type, name, others) {HWLOC_OBJ_##type, PREFIX name, others}
#define CACHE(n) KIND(L##n##CACHE, "L" #n "Cache", "L" #n " L" #n "d L" #n "dCache")

/* The names that hwloc gives the types, and other words that it prints or reads for them: words
 * between blanks. */
static const struct {
    hwloc_obj_type_t type;
    const char *name, *others;
} levels[HARDWARE_LEVELS] = {
    [HARDWARE_HOST] = KIND(MACHINE, "Machine", ""),
    [HARDWARE_PACKAGE] = KIND(PACKAGE, "Package", "Socket"),
    [HARDWARE_DIE] = KIND(DIE, "Die", ""),
    [HARDWARE_GROUP] = KIND(GROUP, "Group", "Group0"),
    [HARDWARE_NUMA] = KIND(NUMANODE, "NUMANode", "NUMA Node"),
    [HARDWARE_L5] = CACHE(5),
    [HARDWARE_L4] = CACHE(4),
    [HARDWARE_L3] = CACHE(3),
    [HARDWARE_L2] = CACHE(2),
    [HARDWARE_L1] = CACHE(1),
    [HARDWARE_CORE] = KIND(CORE, "Core", ""),
    [HARDWARE_PU] = KIND(PU, "PU", ""),
};

static bool load_library(void)
{
    void *handle = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    bool good = handle != NULL;
    void *symbol;
#define LOOK_UP(name)                            \
    symbol = good ? dlsym(handle, #name) : NULL; \
    memcpy(&lib.name, &symbol, sizeof(symbol));  \
    good = symbol != NULL;
    FUNCTIONS(LOOK_UP)
    return good;
}

/* All of the host, also processors that this process may not use: then all processes number alike.
 */
static void load_topology(void)
{
    hwloc_topology_t made;
    if (os_affinity_refused() || !load_library() || lib.hwloc_topology_init(&made))
        return;
    if (lib.hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
        lib.hwloc_topology_load(made))
        lib.hwloc_topology_destroy(made);
    else
        topology = made;
}

/* The depth at which hwloc keeps the objects of a level. Groups may lie in groups: the outermost
 * count. */
static int depth_of(enum hardware_level level)
{
    hwloc_obj_type_t type = levels[level].type;
    int depth = lib.hwloc_get_type_depth(topology, type);
    if (depth == HWLOC_TYPE_DEPTH_MULTIPLE)
        for (depth = 0; lib.hwloc_get_depth_type(topology, depth) != type;)
            depth++;
    return depth;
}

/* The one object of a level that has some of these processors, or HARDWARE_UNKNOWN. */
static uint64_t find_object(enum hardware_level level, hwloc_const_cpuset_t cpus)
{
    uint64_t found = HARDWARE_UNKNOWN;
    int depth = depth_of(level);
    for (unsigned i = 0;; i++) {
        hwloc_obj_t object = lib.hwloc_get_obj_by_depth(topology, depth, i);
        if (!object)
            return found;
        if (!object->cpuset || !lib.hwloc_bitmap_intersects(object->cpuset, cpus))
            continue;
        if (found != HARDWARE_UNKNOWN)
            return HARDWARE_UNKNOWN;
        found = i;
    }
}

void hardware_look(struct hardware_place *place)
{
    pthread_once(&once, load_topology);
    for (int level = 0; level < HARDWARE_LEVELS; level++)
        place->id[level] = HARDWARE_UNKNOWN;
    place->id[HARDWARE_HOST] = comm_host_id();
    hwloc_cpuset_t cpus = topology ? lib.hwloc_bitmap_alloc() : NULL;
    if (!cpus)
        return;
    if (!lib.hwloc_get_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS))
        for (int level = HARDWARE_HOST + 1; level < HARDWARE_LEVELS; level++)
            place->id[level] = find_object(level, cpus);
    lib.hwloc_bitmap_free(cpus);
}

bool hardware_has(enum hardware_level level)
{
    pthread_once(&once, load_topology);
    if (level == HARDWARE_HOST)
        return true;
    return topology && lib.hwloc_get_obj_by_depth(topology, depth_of(level), 0);
}

/* Whether words has name in it. */
static bool has_word(const char *words, const char *name)
{
    size_t len = strlen(name), n;
    for (; *words; words += n, words += *words == ' ') {
        n = strcspn(words, " ");
        if (n == len && !memcmp(words, name, n))
            return true;
    }
    return false;
}

enum hardware_level hardware_level_of(const char *name)
{
    size_t skip = sizeof(PREFIX) - 1;
    if (!strcmp(name, "mpi_shared_memory"))
        return HARDWARE_HOST;
    if (!strncmp(name, PREFIX, skip))
        name += skip;
    int level = 0;
    while (level < HARDWARE_LEVELS && strcmp(name, levels[level].name + skip) &&
           !has_word(levels[level].others, name))
        level++;
    return level;
}

const char *hardware_level_name(enum hardware_level level)
{
    return levels[level].name;
}
