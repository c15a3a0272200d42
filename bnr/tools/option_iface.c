/* SPDX-License-Identifier: BSD-3-Clause */

/* Interfaces, by name or by network, as the addresses that the tcp channel is to use. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/tools/option_reader.h"

/* The bytes of an address; NULL for other families, and for those of a link alone. */
static const uint8_t *bytes_of(const struct sockaddr *address, size_t *len)
{
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

/* Whether an address is in a network, as 10.0.0.0/8. */
static bool is_in(const uint8_t *address, size_t len, const char *network)
{
    char text[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    const char *slash = strchr(network, '/');
    char *end;
    if (!slash || slash - network >= (ptrdiff_t)sizeof(text))
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)(slash - network), network);
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (*end || end == slash + 1 || bits > 8 * len ||
        inet_pton(len == 4 ? AF_INET : AF_INET6, text, bytes) != 1)
        return false;
    for (unsigned long i = 0; i < bits; i++)
        if ((address[i / 8] ^ bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

/* Write the addresses of what word names behind those that are there. Returns how many. */
static int add_addresses(const struct ifaddrs *all, const char *word, FILE *to, int before)
{
    int found = 0;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        char text[INET6_ADDRSTRLEN];
        size_t len;
        const uint8_t *bytes = bytes_of(i->ifa_addr, &len);
        if (!bytes || (strcmp(i->ifa_name, word) && !is_in(bytes, len, word)))
            continue;
        if (inet_ntop(len == 4 ? AF_INET : AF_INET6, bytes, text, sizeof(text)))
            fprintf(to, "%s%s", before + found++ ? "," : "", text);
    }
    return found;
}

int option_iface(struct reader *r, const char *option, const char *list)
{
    struct ifaddrs *all = NULL;
    char *addresses = NULL, *copy = strdup(list), *rest = copy, *word;
    size_t len;
    FILE *to = open_memstream(&addresses, &len);
    int rc = copy && to ? 0 : -ENOMEM, found = 0;
    if (!rc && getifaddrs(&all))
        rc = reader_refuse(r, "'%s': the interfaces cannot be listed: %s", option, strerror(errno));
    while (!rc && (word = strsep(&rest, ","))) {
        int more = add_addresses(all, word, to, found);
        if (!more)
            rc = reader_refuse(r,
                               "'%s %s': this host has no interface '%s' with an address, and none "
                               "in such a network; ip addr lists them",
                               option, list, word);
        found += more;
    }
    if (to && fclose(to) && !rc)
        rc = -ENOMEM;
    if (!rc)
        rc = reader_words(r, "--set tcp_addresses=%", addresses);
    if (all)
        freeifaddrs(all);
    free(addresses);
    free(copy);
    return rc;
}
