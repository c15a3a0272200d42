/* SPDX-License-Identifier: BSD-3-Clause */

/* hwloc: its headers are used at build time, its library is loaded only when needed. */
#include "bnr/launch/hardware.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/cpu/cpus.h"

/* The functions that are used: an X(name) each. */
#define FUNCTIONS(X)                                                               \
    X(hwloc_topology_init)                                                         \
    X(hwloc_topology_load)                                                         \
    X(hwloc_topology_destroy)                                                      \
    X(hwloc_topology_is_thissystem)                                                \
    X(hwloc_get_type_depth) X(hwloc_get_nbobjs_by_depth) X(hwloc_get_obj_by_depth) \
        X(hwloc_bitmap_first) X(hwloc_bitmap_isset) X(hwloc_topology_set_io_types_filter)

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
    [PLACEMENT_L3] = HWLOC_OBJ_L3CACHE,     [PLACEMENT_L4] = HWLOC_OBJ_L4CACHE,
    [PLACEMENT_L5] = HWLOC_OBJ_L5CACHE,     [PLACEMENT_NUMA] = HWLOC_OBJ_NUMANODE,
    [PLACEMENT_PACKAGE] = HWLOC_OBJ_PACKAGE};

static int load_library(char why[512])
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
    snprintf(why, 512,
             "the processors of this host cannot be told apart, as there is no %s; install hwloc "
             "(libhwloc15)",
             missing);
    return -ENOENT;
}

/* The number of the object of a level around a hardware thread. Without such an object, the
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

/* ---- devices ---- */

/* The question: a kind of devices, and how many of it come before. */
static const struct device_kind {
    const char *word, *begins; /* begins: of names; NULL: any */
    unsigned types;            /* of hwloc: a bit each */
} kinds[] = {
    {"gpu", NULL, 1u << HWLOC_OBJ_OSDEV_GPU | 1u << HWLOC_OBJ_OSDEV_COPROC},
    {"ib", NULL, 1u << HWLOC_OBJ_OSDEV_OPENFABRICS},
    {"hfi", "hfi", 1u << HWLOC_OBJ_OSDEV_OPENFABRICS},
    {"en", NULL, 1u << HWLOC_OBJ_OSDEV_NETWORK},
};

/* The kind that device names as WORD, WORDN or WORD:N, with N in *number; NULL: none. */
static const struct device_kind *kind_of(const char *device, unsigned long *number)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t len = strlen(kinds[i].word);
        char *end = NULL;
        if (strncasecmp(device, kinds[i].word, len))
            continue;
        device += len;
        device += *device == ':' && device[1];
        *number = isdigit((unsigned char)*device) ? strtoul(device, &end, 10) : 0;
        return !*device || (end && !*end) ? &kinds[i] : NULL;
    }
    return NULL;
}

/* The object at a place among those of a type that lie outside of the tree of processors. */
static hwloc_obj_t io_object(hwloc_topology_t topology, hwloc_obj_type_t type, unsigned at)
{
    int depth = lib.hwloc_get_type_depth(topology, type);
    return at < (unsigned)lib.hwloc_get_nbobjs_by_depth(topology, depth)
               ? lib.hwloc_get_obj_by_depth(topology, depth, at)
               : NULL;
}

static hwloc_obj_t find_pci(hwloc_topology_t topology, const char *id)
{
    unsigned domain = 0, bus, slot, function;
    char end;
    if (sscanf(id, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &end) != 4) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x%c", &bus, &slot, &function, &end) != 3)
            return NULL;
    }
    hwloc_obj_t o;
    for (unsigned i = 0; (o = io_object(topology, HWLOC_OBJ_PCI_DEVICE, i)); i++) {
        const struct hwloc_pcidev_attr_s *pci = &o->attr->pcidev;
        if (pci->domain == domain && pci->bus == bus && pci->dev == slot && pci->func == function)
            return o;
    }
    return NULL;
}

/* A card may be several devices of a kind: it counts once. */
static hwloc_obj_t find_kind(hwloc_topology_t topology, const struct device_kind *kind,
                             unsigned long number)
{
    hwloc_obj_t o, card = NULL;
    for (unsigned i = 0; (o = io_object(topology, HWLOC_OBJ_OS_DEVICE, i)); i++) {
        bool is_it = (kind->types >> o->attr->osdev.type & 1) &&
                     (!kind->begins || !strncmp(o->name, kind->begins, strlen(kind->begins)));
        if (!is_it || o->parent == card)
            continue;
        if (!number--)
            return o;
        card = o->parent->type == HWLOC_OBJ_PCI_DEVICE ? o->parent : NULL;
    }
    return NULL;
}

static hwloc_obj_t find_device(hwloc_topology_t topology, const char *device)
{
    unsigned long number;
    hwloc_obj_t o;
    if (!strncasecmp(device, "pci:", 4))
        return find_pci(topology, device + 4);
    for (unsigned i = 0; (o = io_object(topology, HWLOC_OBJ_OS_DEVICE, i)); i++)
        if (o->name && !strcmp(o->name, device))
            return o;
    const struct device_kind *kind = kind_of(device, &number);
    return kind ? find_kind(topology, kind, number) : NULL;
}

/* Say which devices there are. */
static int no_device(hwloc_topology_t topology, const char *device, char why[512])
{
    size_t at = (size_t)snprintf(why, 512, "there is no device '%.60s' on this host", device);
    hwloc_obj_t o;
    if (!io_object(topology, HWLOC_OBJ_PCI_DEVICE, 0) && !io_object(topology, HWLOC_OBJ_OS_DEVICE, 0))
        snprintf(why + at, 512 - at, "; hwloc tells of none");
    for (unsigned i = 0; (o = io_object(topology, HWLOC_OBJ_OS_DEVICE, i)) && at < 400; i++)
        at += (size_t)snprintf(why + at, 512 - at, "%s%.60s", i ? ", " : "; there are ", o->name);
    for (unsigned i = 0; (o = io_object(topology, HWLOC_OBJ_PCI_DEVICE, i)) && at < 480; i++)
        at += (size_t)snprintf(why + at, 512 - at, "%spci:%04x:%02x:%02x.%x",
                               i ? ", " : ", and by place ", o->attr->pcidev.domain,
                               o->attr->pcidev.bus, o->attr->pcidev.dev, o->attr->pcidev.func);
    return -ENODEV;
}

/* Mark the processors near a device: those of the smallest object that holds both. */
static int mark_near(struct hardware *h, hwloc_topology_t topology, const char *device,
                     char why[512])
{
    hwloc_obj_t o = find_device(topology, device);
    if (!o)
        return no_device(topology, device, why);
    while (o->parent && !o->cpuset)
        o = o->parent;
    for (uint32_t i = 0; i < h->machine.count; i++)
        h->cpus[i].is_near = lib.hwloc_bitmap_isset(o->cpuset, h->cpus[i].os_index) != 0;
    return 0;
}

int hardware_read(struct hardware *h, const char *device, char why[512])
{
    hwloc_topology_t topology;
    *h = (struct hardware){0};
    int rc = os_affinity_refused();
    if (rc) {
        snprintf(why, 512, "the kernel, or a filter of system calls, refuses sched_getaffinity(), which hwloc needs: %s",
                 strerror(-rc));
        return rc;
    }
    rc = load_library(why);
    if (rc)
        return rc;
    rc = lib.hwloc_topology_init(&topology) ? -ENOMEM : 0;
    if (!rc && device)
        (void)lib.hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (!rc && lib.hwloc_topology_load(topology)) {
        rc = errno ? -errno : -EIO;
        lib.hwloc_topology_destroy(topology);
    }
    if (rc) {
        snprintf(why, 512, "hwloc cannot read the hardware of this host: %s", strerror(-rc));
        return rc;
    }
    h->is_own = lib.hwloc_topology_is_thissystem(topology) != 0;
    rc = take_cpus(h, topology);
    if (rc)
        snprintf(why, 512, "out of memory");
    else if (device)
        rc = mark_near(h, topology, device, why);
    lib.hwloc_topology_destroy(topology);
    return rc;
}
