/* SPDX-License-Identifier: BSD-3-Clause */

/* Distances between processors and adapters, as the kernel tells them; see near.h. */
#include "channels/ofi/near.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's own distances are 10 (the same node) to 255. */
enum { ADAPTERS_MAX = 64, NODES_MAX = 1024, UNKNOWN = 256, DOWN };

/* The first line of a file below root, without its end. */
static bool read_line(const char *root, const char *path, char *line, int size)
{
    char name[512];
    snprintf(name, sizeof(name), "%s/%s", root, path);
    FILE *file = fopen(name, "re");
    bool is_read = file && fgets(line, size, file);
    if (file)
        fclose(file);
    if (is_read)
        line[strcspn(line, "\n")] = 0;
    return is_read;
}

/* Whether one of the processors is in a list like "0-3,8". */
static bool is_among(const char *list, const cpu_set_t *cpus)
{
    while (*list) {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (end == list)
            return false;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, cpus))
                return true;
        if (*end != ',')
            return false;
        list = end + 1;
    }
    return false;
}

/* From a memory node to the nearest one of the processors. The file has a distance for each node that is
 * online, in their order. */
static int distance_of_node(const char *root, int node, const cpu_set_t *cpus)
{
    char path[64], distances[8192], list[4096];
    int least = UNKNOWN;
    snprintf(path, sizeof(path), "devices/system/node/node%d/distance", node);
    if (!read_line(root, path, distances, sizeof(distances)))
        return UNKNOWN;
    char *at = distances;
    for (int other = 0; other < NODES_MAX && *at; other++) {
        snprintf(path, sizeof(path), "devices/system/node/node%d/cpulist", other);
        if (!read_line(root, path, list, sizeof(list)))
            continue;
        long distance = strtol(at, &at, 10);
        if (distance > 0 && distance < least && is_among(list, cpus))
            least = (int)distance;
    }
    return least;
}

static int distance_of(const struct fi_info *info, const char *root, const cpu_set_t *cpus)
{
    const struct fid_nic *nic = info->nic;
    char path[96], text[32];
    if (nic && nic->link_attr && nic->link_attr->state == FI_LINK_DOWN)
        return DOWN;
    if (!nic || !nic->bus_attr || nic->bus_attr->bus_type != FI_BUS_PCI)
        return UNKNOWN;
    const struct fi_pci_attr *pci = &nic->bus_attr->attr.pci;
    snprintf(path, sizeof(path), "bus/pci/devices/%04x:%02x:%02x.%x/numa_node", pci->domain_id,
             pci->bus_id, pci->device_id, pci->function_id);
    if (!read_line(root, path, text, sizeof(text)))
        return UNKNOWN;
    char *end;
    long node = strtol(text, &end, 10);
    return end == text || node < 0 || node >= NODES_MAX ? UNKNOWN
                                                        : distance_of_node(root, (int)node, cpus);
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Whether two offers are adapters of one kind, which reach the same peers. */
static bool is_alike(const struct fi_info *a, const struct fi_info *b)
{
    return a->addr_format == b->addr_format &&
           is_same(a->fabric_attr->prov_name, b->fabric_attr->prov_name) &&
           is_same(a->fabric_attr->name, b->fabric_attr->name);
}

/* A provider may offer an adapter several times, in different ways: its first way counts. */
static bool is_repeated(const struct fi_info *found, const struct fi_info *info)
{
    for (; found != info; found = found->next)
        if (is_alike(found, info) && is_same(found->domain_attr->name, info->domain_attr->name))
            return true;
    return false;
}

struct fi_info *ofi_near_choose(struct fi_info *found, const char *root, const cpu_set_t *cpus,
                                unsigned index)
{
    struct fi_info *nearest[ADAPTERS_MAX];
    unsigned count = 0;
    int least = DOWN + 1;
    for (struct fi_info *info = found; info; info = info->next) {
        if (!is_alike(found, info) || is_repeated(found, info))
            continue;
        int distance = distance_of(info, root, cpus);
        if (distance < least)
            count = 0;
        if (distance <= least && count < ADAPTERS_MAX)
            nearest[count++] = info;
        if (distance < least)
            least = distance;
    }
    return least < UNKNOWN ? nearest[index % count] : nearest[0];
}
