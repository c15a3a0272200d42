/* SPDX-License-Identifier: BSD-3-Clause */

/* Which adapter a process takes, on a machine of four memory nodes that is described by files. */
#include <rdma/fabric.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ofi/near.h"

enum { NODES = 4, OFFERS = 8 };

static int number, failures;

static void claim(int truth, const char *what)
{
    printf("%s %d - %s\n", truth ? "ok" : "not ok", ++number, what);
    failures += !truth;
}

/* ---- the machine: nodes 0, 1, 3 and 5 with processors 0-3, 4-7, none, and 8-11 ---- */

static char root[] = "near.XXXXXX"; /* in the working folder */

static void put(const char *path, const char *text)
{
    char name[256];
    snprintf(name, sizeof(name), "%s/%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        (void)mkdir(name, 0700);
    }
    FILE *file = fopen(name, "w");
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
        abort();
}

static void make_machine(void)
{
    static const struct {
        int node;
        const char *cpus, *distances;
    } nodes[NODES] = {{0, "0-3", "10 12 32 32"},
                      {1, "4,5,6-7", "12 10 32 32"},
                      {3, "", "32 32 10 12"},
                      {5, "8-11", "32 32 12 10"}};
    char path[64];
    if (!mkdtemp(root))
        abort();
    for (int n = 0; n < NODES; n++) {
        snprintf(path, sizeof(path), "devices/system/node/node%d/cpulist", nodes[n].node);
        put(path, nodes[n].cpus);
        snprintf(path, sizeof(path), "devices/system/node/node%d/distance", nodes[n].node);
        put(path, nodes[n].distances);
    }
    put("bus/pci/devices/0000:00:00.0/numa_node", "0");
    put("bus/pci/devices/0000:01:00.0/numa_node", "1");
    put("bus/pci/devices/0000:03:00.0/numa_node", "3");
    put("bus/pci/devices/0000:05:00.0/numa_node", "5");
    put("bus/pci/devices/0000:06:00.0/numa_node", "-1");
    put("bus/pci/devices/0000:07:00.0/numa_node", "9");
    put("bus/pci/devices/0000:08:00.0/numa_node", "");
}

static void remove_machine(void)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    if (system(command))
        abort();
}

/* ---- what the provider offers ---- */

static struct offer {
    struct fi_info info;
    struct fi_fabric_attr fabric;
    struct fi_domain_attr domain;
    struct fid_nic nic;
    struct fi_bus_attr bus;
    struct fi_link_attr line;
} offers[OFFERS];
static int offer_count;

/* One more, with an adapter on that bus; -1: its bus is not known. */
static struct offer *offer(const char *domain, int bus)
{
    struct offer *o = &offers[offer_count];
    *o = (struct offer){.bus = {.bus_type = bus < 0 ? FI_BUS_UNKNOWN : FI_BUS_PCI},
                        .line = {.state = FI_LINK_UP},
                        .fabric = {.name = "net", .prov_name = "verbs"},
                        .domain = {.name = (char *)domain}};
    o->bus.attr.pci.bus_id = (uint8_t)bus;
    o->nic.bus_attr = &o->bus;
    o->nic.link_attr = &o->line;
    o->info = (struct fi_info){.fabric_attr = &o->fabric, .domain_attr = &o->domain, .nic = &o->nic};
    if (offer_count)
        offers[offer_count - 1].info.next = &o->info;
    offer_count++;
    return o;
}

/* Whether a process on processors first to last takes the offer of that domain. */
static int takes(const char *domain, int first, int last, unsigned index)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (int cpu = first; cpu <= last; cpu++)
        CPU_SET((unsigned)cpu, &cpus);
    const char *taken = ofi_near_choose(&offers[0].info, root, &cpus, index)->domain_attr->name;
    if (!strcmp(taken, domain))
        return 1;
    printf("# %s\n", taken);
    return 0;
}

static void test_distance(void)
{
    offer_count = 0;
    offer("a", 0), offer("b", 1), offer("c", 3);
    claim(takes("a", 0, 3, 0) && takes("a", 2, 2, 5), "the adapter of one's own node");
    claim(takes("b", 4, 4, 0) && takes("b", 7, 7, 1), "of the second node");
    claim(takes("c", 8, 11, 0), "the nearest where one's own node has none");
    claim(takes("a", 0, 7, 0) && takes("b", 0, 7, 1) && takes("a", 0, 7, 2),
          "processes on two nodes share the adapters of both");
    offer("d", 5);
    claim(takes("d", 9, 9, 0) && takes("d", 9, 9, 1), "own before near");
    claim(takes("d", 0, 11, 2), "an unbound process takes one of all that have processors beside them");
}

static void test_unknown(void)
{
    offer_count = 0;
    offer("first", -1), offer("second", -1);
    claim(takes("first", 0, 0, 0) && takes("first", 0, 0, 1), "without places the order holds");
    offer("third", 6), offer("fourth", 7), offer("fifth", 8), offer("sixth", 9);
    claim(takes("first", 0, 0, 3), "as with files that say nothing, or none");
    offer("far", 5);
    claim(takes("far", 0, 0, 1), "far is better than not known");
    offers[0].line.state = FI_LINK_DOWN;
    offers[6].line.state = FI_LINK_DOWN;
    claim(takes("second", 0, 0, 1), "a line that is down comes last");
    offers[1].info.nic = NULL;
    offers[2].nic.bus_attr = NULL;
    offers[3].nic.link_attr = NULL;
    claim(takes("second", 0, 0, 0), "an offer may tell nothing of its adapter");
    offer_count = 0;
    offer("down", 0)->line.state = FI_LINK_DOWN;
    claim(takes("down", 0, 0, 0), "where all are down, the first is taken");
}

static void test_kinds(void)
{
    offer_count = 0;
    offer("a", 5), offer("b", 0), offer("c", 0), offer("d", 0), offer("e", 1);
    offers[1].fabric.prov_name = "other";
    offers[2].fabric.name = "elsewhere";
    offers[3].info.addr_format = 7;
    claim(takes("e", 0, 0, 0), "other providers, networks and addresses are not considered");
    offer_count = 0;
    offer("a", 0), offer("a", 0), offer("b", 0), offer("b", 0);
    claim(takes("a", 0, 0, 0) && takes("b", 0, 0, 1) && takes("a", 0, 0, 2),
          "an adapter that is offered twice counts once");
}

int main(void)
{
    make_machine();
    test_distance();
    test_unknown();
    test_kinds();
    remove_machine();
    printf("1..%d\n", number);
    return failures != 0;
}
