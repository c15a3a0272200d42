/* SPDX-License-Identifier: BSD-3-Clause */

/* Literal addresses; see addr.h. */
#include "channels/tcp/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/channel_help.h"

int addr_parse(union addr *addr, const char *text, uint16_t port)
{
    memset(addr, 0, sizeof(*addr));
    if (inet_pton(AF_INET, text, &addr->v4.sin_addr) == 1) {
        addr->v4.sin_family = AF_INET;
        addr->v4.sin_port = htons(port);
        return 0;
    }
    if (inet_pton(AF_INET6, text, &addr->v6.sin6_addr) == 1) {
        addr->v6.sin6_family = AF_INET6;
        addr->v6.sin6_port = htons(port);
        return 0;
    }
    return -EINVAL;
}

void addr_print(const union addr *addr, char text[ADDR_TEXT_LEN])
{
    const void *from = addr->any.sa_family == AF_INET ? (const void *)&addr->v4.sin_addr
                                                      : (const void *)&addr->v6.sin6_addr;
    if (!inet_ntop(addr->any.sa_family, from, text, ADDR_TEXT_LEN))
        text[0] = 0;
}

socklen_t addr_len(const union addr *addr)
{
    return addr->any.sa_family == AF_INET ? sizeof(addr->v4) : sizeof(addr->v6);
}

bool addr_is_loopback(const union addr *addr)
{
    if (addr->any.sa_family == AF_INET)
        return ntohl(addr->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&addr->v6.sin6_addr);
}

static bool is_of_use(const struct ifaddrs *entry)
{
    if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
        return false;
    if (entry->ifa_addr->sa_family == AF_INET)
        return true;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)entry->ifa_addr;
    /* A link-local address means nothing without the name of an interface. */
    return entry->ifa_addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
}

int addr_of_host(struct addr_list *list)
{
    struct ifaddrs *all;
    list->count = 0;
    if (getifaddrs(&all))
        return -errno;
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
        if (!is_of_use(entry) || list->count == ADDR_MAX)
            continue;
        union addr *addr = &list->addr[list->count++];
        memset(addr, 0, sizeof(*addr));
        memcpy(addr, entry->ifa_addr,
               entry->ifa_addr->sa_family == AF_INET ? sizeof(addr->v4) : sizeof(addr->v6));
    }
    freeifaddrs(all);
    addr_sort(list, false);
    return 0;
}

int addr_of_text(struct addr_list *list, const char *text, char bad[ADDR_TEXT_LEN])
{
    list->count = 0;
    while (*text) {
        size_t len = strcspn(text, ", ");
        snprintf(bad, ADDR_TEXT_LEN, "%.*s", (int)(len < ADDR_TEXT_LEN ? len : ADDR_TEXT_LEN),
                 text);
        if (len && list->count < ADDR_MAX) {
            if (addr_parse(&list->addr[list->count], bad, 0))
                return -EINVAL;
            list->count++;
        }
        text += len + (text[len] != 0);
    }
    return 0;
}

int addr_of_card(struct addr_list *list, const char *card)
{
    char text[ADDR_TEXT_LEN];
    list->count = 0;
    int rc = chan_params_get(card, "p", 0, text, sizeof(text));
    if (rc)
        return rc == -ENOENT ? rc : -EINVAL;
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    if (*end || text[0] < '0' || text[0] > '9' || port > 65535)
        return -EINVAL;
    while (list->count < ADDR_MAX &&
           !(rc = chan_params_get(card, "a", list->count, text, sizeof(text)))) {
        if (addr_parse(&list->addr[list->count], text, (uint16_t)port))
            return -EINVAL;
        list->count++;
    }
    return rc && rc != -ENOENT ? -EINVAL : list->count ? 0 : -ENOENT;
}

void addr_sort(struct addr_list *list, bool same_host)
{
    struct addr_list sorted = {.count = 0};
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < list->count; i++)
            if (addr_is_loopback(&list->addr[i]) == (turn == 0 ? same_host : !same_host))
                sorted.addr[sorted.count++] = list->addr[i];
    *list = sorted;
}
