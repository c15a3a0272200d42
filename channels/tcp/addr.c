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
#include "os/net/interface.h"

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

/* Its bytes, without the port. */
static const void *bytes_of(const union addr *addr, size_t *len)
{
    bool is_v4 = addr->any.sa_family == AF_INET;
    *len = is_v4 ? sizeof(addr->v4.sin_addr) : sizeof(addr->v6.sin6_addr);
    return is_v4 ? (const void *)&addr->v4.sin_addr : (const void *)&addr->v6.sin6_addr;
}

bool addr_is_same(const union addr *a, const union addr *b)
{
    size_t len;
    const void *bytes = bytes_of(a, &len);
    return a->any.sa_family == b->any.sa_family && !memcmp(bytes, bytes_of(b, &len), len);
}

uint32_t addr_hash(const union addr *addr)
{
    size_t len;
    uint32_t hash = 2166136261u;
    for (const uint8_t *byte = bytes_of(addr, &len); len; byte++, len--)
        hash = (hash ^ *byte) * 16777619u;
    return hash ^ hash >> 16;
}

/* Add an address of this host, unless it is there. Returns whether it could be used. */
static bool add_entry(struct addr_list *list, const struct ifaddrs *entry)
{
    union addr addr;
    size_t len;
    memset(&addr, 0, sizeof(addr));
    if (!(entry->ifa_flags & IFF_UP) || !os_interface_bytes(entry, &len))
        return false;
    memcpy(&addr, entry->ifa_addr, len == 4 ? sizeof(addr.v4) : sizeof(addr.v6));
    for (int i = 0; i < list->count; i++)
        if (!memcmp(&list->addr[i], &addr, sizeof(addr)))
            return true;
    if (list->count < ADDR_MAX)
        list->addr[list->count++] = addr;
    return true;
}

/* Whether a word of a list names an address of this host. */
static bool is_listed(const struct ifaddrs *entry, const char *text)
{
    for (size_t len; *text; text += len + (text[len] != 0)) {
        len = strcspn(text, ", ");
        if (os_interface_is(entry, text, len))
            return true;
    }
    return false;
}

/* All of this host but those that without names. */
static int add_all(struct addr_list *list, const char *without)
{
    struct ifaddrs *all;
    if (getifaddrs(&all))
        return -errno;
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next)
        if (!is_listed(entry, without))
            (void)add_entry(list, entry);
    freeifaddrs(all);
    addr_sort(list, false);
    return 0;
}

int addr_of_host(struct addr_list *list)
{
    list->count = 0;
    return add_all(list, "");
}

/* Add what one word names. Returns false if that is nothing. */
static bool add_word(struct addr_list *list, const struct ifaddrs *all, const char *word)
{
    union addr addr;
    bool found = !addr_parse(&addr, word, 0);
    if (found && list->count < ADDR_MAX)
        list->addr[list->count++] = addr;
    for (const struct ifaddrs *entry = found ? NULL : all; entry; entry = entry->ifa_next)
        if (os_interface_is(entry, word, strlen(word)))
            found |= add_entry(list, entry);
    return found;
}

int addr_of_text(struct addr_list *list, const char *text, char bad[ADDR_TEXT_LEN])
{
    struct ifaddrs *all;
    int rc = 0;
    list->count = 0;
    bad[0] = 0;
    if (*text == '^')
        return add_all(list, text + 1);
    if (getifaddrs(&all))
        return -errno;
    for (size_t len; !rc && *text; text += len + (text[len] != 0)) {
        len = strcspn(text, ", ");
        snprintf(bad, ADDR_TEXT_LEN, "%.*s", (int)(len < ADDR_TEXT_LEN ? len : ADDR_TEXT_LEN - 1), text);
        if (len && !add_word(list, all, bad))
            rc = -EINVAL;
    }
    freeifaddrs(all);
    return rc;
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
