/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names for requests that the other side of a rendezvous uses: 32 bits; 8 of them change at each
 * reuse, so that a late or forged packet finds nothing.
 */
#ifndef MPID_IDS_H
#define MPID_IDS_H

#include <stdint.h>

struct mpid_request;

enum { IDS_MAX = (1 << 24) - 1 }; /* names at one time */

struct id_slot {
    struct mpid_request *request;
    uint32_t next; /* free slots: index of the next */
    uint8_t generation;
};

struct ids {
    struct id_slot *slots;
    uint32_t count, free; /* free == count: none */
};

/* A name, never 0; 0 when memory or IDS_MAX names are out. */
uint32_t ids_new(struct ids *ids, struct mpid_request *request);
struct mpid_request *ids_find(const struct ids *ids, uint32_t id);
void ids_drop(struct ids *ids, uint32_t id); /* 0 is ignored */
void ids_fini(struct ids *ids);

#endif
