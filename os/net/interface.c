/* SPDX-License-Identifier: BSD-3-Clause */

/* The addresses of interfaces; see interface.h. */
#include "os/net/interface.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

const uint8_t *os_interface_bytes(const struct ifaddrs *entry, size_t *len)
{
    const struct sockaddr *address = entry->ifa_addr;
    if (address && address->sa_family == AF_INET) {
        *len = 4;
        return (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
    }
    if (!address || address->sa_family != AF_INET6)
        return NULL;
    const struct in6_addr *wide = &((const struct sockaddr_in6 *)address)->sin6_addr;
    *len = 16;
    return IN6_IS_ADDR_LINKLOCAL(wide) ? NULL : wide->s6_addr;
}

/* Whether an address is in a network; one without a length is the address itself. */
static bool is_in(const uint8_t *address, size_t len, const char *network)
{
    char text[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    size_t name_len = strcspn(network, "/");
    unsigned long bits = 8 * len;
    char *end;
    if (name_len >= sizeof(text))
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)name_len, network);
    if (network[name_len]) {
        const char *digits = network + name_len + 1;
        bits = strtoul(digits, &end, 10);
        if (*end || strspn(digits, "0123456789") == 0 || bits > 8 * len)
            return false;
    }
    if (inet_pton(len == 4 ? AF_INET : AF_INET6, text, bytes) != 1)
        return false;
    for (unsigned long i = 0; i < bits; i++)
        if ((address[i / 8] ^ bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

bool os_interface_is(const struct ifaddrs *entry, const char *word, size_t word_len)
{
    char text[INET6_ADDRSTRLEN + 8];
    size_t len;
    const uint8_t *bytes = os_interface_bytes(entry, &len);
    if (!bytes || !word_len || word_len >= sizeof(text))
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)word_len, word);
    return !strcmp(entry->ifa_name, text) || is_in(bytes, len, text);
}
