/* SPDX-License-Identifier: BSD-3-Clause */

/* Addresses of daemons; see addresses.h. */
#include "bnr/wide/addresses.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES = 16
};

static const uint8_t *bytes_of(const struct sockaddr *address, size_t *len)
{
    if (address->sa_family == AF_INET) {
        *len = 4;
        return (const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    }
    *len = BYTES;
    return (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static void set(struct sockaddr_storage *to, int family, const uint8_t *bytes, uint16_t port)
{
    memset(to, 0, sizeof(*to));
    if (family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)(void *)to;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, bytes, 4);
    } else {
        struct sockaddr_in6 *in = (struct sockaddr_in6 *)(void *)to;
        in->sin6_family = AF_INET6;
        in->sin6_port = htons(port);
        memcpy(&in->sin6_addr, bytes, BYTES);
    }
}

static uint16_t port_of(const struct addresses *a)
{
    if (!a->count)
        return 0;
    const struct sockaddr_storage *first = &a->items[0];
    return ntohs(first->ss_family == AF_INET
                     ? ((const struct sockaddr_in *)(const void *)first)->sin_port
                     : ((const struct sockaddr_in6 *)(const void *)first)->sin6_port);
}

/* An address that others may reach: of an interface that is up, and no link-local one. */
static bool is_useful(const struct ifaddrs *i, bool is_loopback)
{
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) ||
        is_loopback != ((i->ifa_flags & IFF_LOOPBACK) != 0))
        return false;
    if (i->ifa_addr->sa_family == AF_INET)
        return true;
    return i->ifa_addr->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LINKLOCAL(
               &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr);
}

static void add_network(struct addresses_networks *networks, const struct ifaddrs *i)
{
    size_t len;
    if (!i->ifa_netmask || networks->count == ADDRESSES_NETWORKS_MAX)
        return;
    const uint8_t *address = bytes_of(i->ifa_addr, &len), *mask = bytes_of(i->ifa_netmask, &len);
    networks->items[networks->count].family = i->ifa_addr->sa_family;
    memcpy(networks->items[networks->count].address, address, len);
    memcpy(networks->items[networks->count].mask, mask, len);
    networks->count++;
}

void addresses_own(struct addresses *a, struct addresses_networks *networks, uint16_t port)
{
    struct ifaddrs *list;
    size_t len;
    a->count = networks->count = 0;
    if (getifaddrs(&list))
        return;
    for (int is_loopback = 0; is_loopback < 2; is_loopback++)
        for (struct ifaddrs *i = list; i; i = i->ifa_next) {
            if (!is_useful(i, is_loopback))
                continue;
            if (a->count < DIALING_ADDRESSES_MAX)
                set(&a->items[a->count++], i->ifa_addr->sa_family, bytes_of(i->ifa_addr, &len),
                    port);
            if (!is_loopback)
                add_network(networks, i);
        }
    freeifaddrs(list);
}

void addresses_pack(struct packing *p, const struct addresses *a)
{
    pack_u32(p, port_of(a));
    pack_u32(p, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        uint8_t all[BYTES] = {0};
        size_t len;
        const uint8_t *bytes = bytes_of((const struct sockaddr *)&a->items[i], &len);
        memcpy(all, bytes, len);
        pack_u32(p, len == 4 ? 4 : 6);
        pack_raw(p, all, BYTES);
    }
}

int addresses_unpack(struct unpacking *u, struct addresses *a)
{
    uint32_t port = unpack_u32(u), count = unpack_u32(u);
    a->count = 0;
    if (u->failed || !port || port > UINT16_MAX || count > DIALING_ADDRESSES_MAX)
        return -EPROTO;
    for (; a->count < count; a->count++) {
        uint32_t family = unpack_u32(u);
        const uint8_t *bytes = unpack_raw(u, BYTES);
        if (!bytes || (family != 4 && family != 6))
            return -EPROTO;
        set(&a->items[a->count], family == 4 ? AF_INET : AF_INET6, bytes, (uint16_t)port);
    }
    return 0;
}

bool addresses_has(const struct addresses *a, const struct sockaddr_storage *address)
{
    size_t len, other;
    const uint8_t *bytes = bytes_of((const struct sockaddr *)address, &len);
    for (uint32_t i = 0; i < a->count; i++) {
        const uint8_t *mine = bytes_of((const struct sockaddr *)&a->items[i], &other);
        if (len == other && !memcmp(bytes, mine, len))
            return true;
    }
    return false;
}

/* Whether one of the networks holds the address. */
static bool is_near(const struct addresses_networks *networks,
                    const struct sockaddr_storage *address)
{
    size_t len;
    const uint8_t *bytes = bytes_of((const struct sockaddr *)address, &len);
    for (uint32_t i = 0; i < networks->count; i++) {
        const uint8_t *own = networks->items[i].address, *mask = networks->items[i].mask;
        size_t same = 0;
        if (networks->items[i].family != address->ss_family)
            continue;
        while (same < len && !((own[same] ^ bytes[same]) & mask[same]))
            same++;
        if (same == len)
            return true;
    }
    return false;
}

void addresses_sort(struct addresses *a, const struct addresses_networks *networks)
{
    struct addresses sorted = {0};
    for (int near = 1; near >= 0; near--)
        for (uint32_t i = 0; i < a->count; i++)
            if (is_near(networks, &a->items[i]) == near)
                sorted.items[sorted.count++] = a->items[i];
    *a = sorted;
}

char *addresses_digits(const struct addresses *a)
{
    struct packing p = {0};
    addresses_pack(&p, a);
    struct bytes *all = pack_end(&p);
    char *text = all ? malloc(2 * (size_t)all->len + 1) : NULL;
    if (text)
        bytes_digits(text, all->at, all->len);
    bytes_unref(all);
    return text;
}
