/* SPDX-License-Identifier: BSD-3-Clause */

/* Literal addresses: those of this host, those in a card, and the order in which a
 * peer's are tried. No name is ever resolved. */
#ifndef TCP_ADDR_H
#define TCP_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    ADDR_MAX = 32,
    ADDR_TEXT_LEN = 48
};

/* Room for either family; sin_port and sin6_port lie at the same place. */
union addr {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct addr_list {
    union addr addr[ADDR_MAX];
    int count;
};

/* Read a literal address. Returns 0 or -EINVAL. */
int addr_parse(union addr *addr, const char *text, uint16_t port);
void addr_print(const union addr *addr, char text[ADDR_TEXT_LEN]);
socklen_t addr_len(const union addr *addr);
bool addr_is_loopback(const union addr *addr);
/* Whether both are the same but for their ports; a number that is the same then. */
bool addr_is_same(const union addr *a, const union addr *b);
uint32_t addr_hash(const union addr *addr);

/* All addresses of this host that are up, those of real interfaces first. */
int addr_of_host(struct addr_list *list);
/* Those of a list with commas: literal ones as they are, and this host's at an interface or in a
 * network; after "^" all that this host has but these. Returns 0, -EINVAL with the word that names none
 * in bad, or -errno with bad empty. */
int addr_of_text(struct addr_list *list, const char *text, char bad[ADDR_TEXT_LEN]);
/* Those of a card, with its port. Returns 0, -ENOENT (no port, no address) or -EINVAL. */
int addr_of_card(struct addr_list *list, const char *card);

/* Order for connecting: loopback addresses first on the same host, last elsewhere. */
void addr_sort(struct addr_list *list, bool same_host);

#endif
