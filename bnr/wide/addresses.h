/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where a daemon listens: literal addresses with one port, the likeliest first. As bytes, a u32
 * port, a u32 count, and for each address a u32 family (4 or 6) and 16 bytes; IPv4 has the first
 * four.
 */
#ifndef BNR_ADDRESSES_H
#define BNR_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "bnr/core/bytes.h"
#include "bnr/core/tree/dialing.h"

struct addresses {
    uint32_t count;
    struct sockaddr_storage items[DIALING_ADDRESSES_MAX];
};

enum {
    ADDRESSES_NETWORKS_MAX = 64
};

/* The networks that this machine's interfaces, but for loopback, are in: the first of them. */
struct addresses_networks {
    uint32_t count;
    struct {
        int family;
        uint8_t address[16], mask[16];
    } items[ADDRESSES_NETWORKS_MAX];
};

/* Those of this machine's interfaces that are up, loopback last; and the networks that they are in.
 */
void addresses_own(struct addresses *a, struct addresses_networks *networks, uint16_t port);

void addresses_pack(struct packing *p, const struct addresses *a);
/* Returns 0 or -EPROTO. */
int addresses_unpack(struct unpacking *u, struct addresses *a);

/* Whether a has that address, whatever the port. */
bool addresses_has(const struct addresses *a, const struct sockaddr_storage *address);

/* Put those first that lie in one of the networks. */
void addresses_sort(struct addresses *a, const struct addresses_networks *networks);

/* The packed addresses as hexadecimal digits, malloc()ed; NULL: no memory. */
char *addresses_digits(const struct addresses *a);

#endif
