/* SPDX-License-Identifier: BSD-3-Clause */

/* Interfaces, by name or by network, which each host of the job looks up for itself. */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

#include "bnr/options/option_reader.h"
#include "os/net/interface.h"

static bool is_here(const struct ifaddrs *all, const char *word, size_t len)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (os_interface_is(i, word, len))
            return true;
    return false;
}

/* Whether this host has an address beside those that the list names. */
static bool leaves_some(const struct ifaddrs *all, const char *list)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        bool is_named = false;
        size_t len;
        if (!os_interface_bytes(i, &len))
            continue;
        for (const char *at = list; *at; at += len + (at[len] != 0)) {
            len = strcspn(at, ",");
            is_named |= os_interface_is(i, at, len);
        }
        if (!is_named)
            return true;
    }
    return false;
}

static int check(struct reader *r, const char *option, const char *list)
{
    struct ifaddrs *all = NULL;
    int rc = 0;
    if (getifaddrs(&all))
        return reader_refuse(r, "'%s': the interfaces cannot be listed: %s", option, strerror(errno));
    if (*list == '^' && !leaves_some(all, list + 1))
        rc = reader_refuse(r, "'%s %s' leaves no address of this host; leave one of them out", option,
                           list);
    for (const char *at = *list == '^' ? "" : list; !rc && *at;) {
        size_t len = strcspn(at, ",");
        if (!is_here(all, at, len))
            rc = reader_refuse(r,
                               "'%s %s': this host has no interface '%.*s' with an address, and none "
                               "in such a network; ip addr lists them",
                               option, list, (int)len, at);
        at += len + (at[len] != 0);
    }
    freeifaddrs(all);
    return rc;
}

int option_iface(struct reader *r, const char *option, const char *list)
{
    if (!*list || !strcmp(list, "^"))
        return reader_refuse(r, "'%s' needs names of interfaces after it; ip addr lists them", option);
    /* A variable is obeyed if possible; an option waits until the hosts are known. */
    int rc = r->is_environment ? check(r, option, list) : 0;
    if (!rc)
        rc = reader_words(r, "--set tcp_addresses=%", list);
    r->iface = r->is_environment ? NULL : list;
    return rc;
}

int option_iface_settle(struct reader *r)
{
    const struct hosts *hosts = &r->o->plan.hosts;
    for (size_t i = 0; i < hosts->count; i++)
        if (!hosts->items[i].is_here)
            return 0;
    return r->iface ? check(r, "-iface", r->iface) : 0;
}
