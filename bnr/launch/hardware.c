/* SPDX-License-Identifier: BSD-3-Clause */

/* hwloc: its headers are used at build time, its library is loaded only when needed. */
#include "bnr/launch/hardware.h"

#include <dlfcn.h>
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions that are used: an X(name) each. */
#define FUNCTIONS(X)                                                               \
    X(hwloc_topology_init)                                                         \
    X(hwloc_topology_load)                                                         \
    X(hwloc_topology_destroy)                                                      \
    X(hwloc_topology_is_thissystem)                                                \
    X(hwloc_get_type_depth) X(hwloc_get_nbobjs_by_depth) X(hwloc_get_obj_by_depth) \
        X(hwloc_bitmap_first)

#define MEMBER(name) __typeof__(&(name)) name;
static struct {
    void *handle;
    FUNCTIONS(MEMBER)
} lib;

enum {
    CPUS_MAX = 1 << 16 /* that an affinity is asked for */
};

/* hwloc's names for the objects of each level. */
static const hwloc_obj_type_t types[PLACEMENT_NODE] = {
    [PLACEMENT_HWTHREAD] = HWLOC_OBJ_PU,    [PLACEMENT_CORE] = HWLOC_OBJ_CORE,
    [PLACEMENT_L1] = HWLOC_OBJ_L1CACHE,     [PLACEMENT_L2] = HWLOC_OBJ_L2CACHE,
    [PLACEMENT_L3] = HWLOC_OBJ_L3CACHE,     [PLACEMENT_NUMA] = HWLOC_OBJ_NUMANODE,
    [PLACEMENT_PACKAGE] = HWLOC_OBJ_PACKAGE};

static int load_library(char why[256])
{
    const char *missing = "libhwloc.so.15";
    lib.handle = dlopen(missing, RTLD_NOW | RTLD_LOCAL);
    void *symbol = NULL;
#define LOOK_UP(name)                                      \
    if (lib.handle && (symbol = dlsym(lib.handle, #name))) \
        memcpy(&lib.name, &symbol, sizeof(symbol));        \
    else if (lib.handle)                                   \
        missing = #name;
    FUNCTIONS(LOOK_UP)
    if (lib.handle && !strcmp(missing, "libhwloc.so.15"))
        return 0;
    snprintf(why, 256,
             "the processors of this host cannot be told apart, as there is no %s; install hwloc "
             "(libhwloc15)",
             missing);
    return -ENOENT;
}

/* The number of the object of a level around a hardware thread. Where there is no such object, the
 * thread's own number. */
static uint32_t number_of(hwloc_obj_t pu, enum placement_level level, bool *lacks)
{
    if (level == PLACEMENT_NUMA) {
        int node = pu->nodeset ? lib.hwloc_bitmap_first(pu->nodeset) : -1;
        return node < 0 ? 0 : (uint32_t)node;
    }
    for (hwloc_obj_t o = pu; o; o = o->parent)
        if (o->type == types[level])
            return o->logical_index;
    *lacks = level != PLACEMENT_CORE && level != PLACEMENT_PACKAGE;
    return level == PLACEMENT_CORE ? pu->logical_index : 0;
}

/* The processors that this process may use: a set to CPU_FREE(), of *count. */
static cpu_set_t *own_affinity(int *count)
{
    for (*count = CPU_SETSIZE; *count <= CPUS_MAX; *count *= 2) {
        cpu_set_t *set = CPU_ALLOC(*count);
        if (!set || !sched_getaffinity(0, CPU_ALLOC_SIZE(*count), set))
            return set;
        CPU_FREE(set);
        if (errno != EINVAL)
            return NULL;
    }
    return NULL;
}

static int take_cpus(struct hardware *h, hwloc_topology_t topology)
{
    int depth = lib.hwloc_get_type_depth(topology, HWLOC_OBJ_PU), usable = 0;
    unsigned all = lib.hwloc_get_nbobjs_by_depth(topology, depth);
    cpu_set_t *own = h->is_own ? own_affinity(&usable) : NULL;
    h->cpus = calloc(all ? all : 1, sizeof(*h->cpus));
    for (unsigned i = 0; h->cpus && i < all; i++) {
        hwloc_obj_t pu = lib.hwloc_get_obj_by_depth(topology, depth, i);
        struct placement_cpu *cpu = &h->cpus[h->machine.count];
        if (own && !CPU_ISSET_S(pu->os_index, CPU_ALLOC_SIZE(usable), own))
            continue;
        cpu->os_index = pu->os_index;
        for (enum placement_level level = 0; level < PLACEMENT_NODE; level++) {
            bool lacks = false;
            cpu->object[level] = number_of(pu, level, &lacks);
            h->machine.lacks |= (uint32_t)lacks << level;
        }
        h->machine.count++;
    }
    if (own)
        CPU_FREE(own);
    h->machine.cpus = h->cpus;
    return h->cpus ? 0 : -ENOMEM;
}

int hardware_read(struct hardware *h, char why[256])
{
    hwloc_topology_t topology;
    *h = (struct hardware){0};
    int rc = load_library(why);
    if (rc)
        return rc;
    rc = lib.hwloc_topology_init(&topology) ? -ENOMEM : 0;
    if (!rc && lib.hwloc_topology_load(topology)) {
        rc = errno ? -errno : -EIO;
        lib.hwloc_topology_destroy(topology);
    }
    if (rc) {
        snprintf(why, 256, "hwloc cannot read the hardware of this host: %s", strerror(-rc));
        return rc;
    }
    h->is_own = lib.hwloc_topology_is_thissystem(topology) != 0;
    rc = take_cpus(h, topology);
    lib.hwloc_topology_destroy(topology);
    if (rc)
        snprintf(why, 256, "out of memory");
    return rc;
}

void hardware_fini(struct hardware *h)
{
    free(h->cpus);
    *h = (struct hardware){0};
}
