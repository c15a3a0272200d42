/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lists of texts that share most of them, as bytes: the arguments and environments of programs. Each
 * text travels once, and lists say which ones they hold by number. No I/O.
 */
#ifndef BNR_TEXTS_H
#define BNR_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bnr/core/bytes.h"

struct texts_entry; /* where a text is in the table */

/* All texts of some lists. Begin with zeros. */
struct texts {
    char **at;
    uint32_t count, room;
    bool is_owner; /* they are copies */
    struct texts_entry *known;
};

void texts_fini(struct texts *t);

/* Add the texts of a list, which ends in NULL. A text is known by its address: lists that share it hold
 * the same pointer. Returns 0 or -ENOMEM. */
int texts_add(struct texts *t, char *const *list);

void texts_pack(struct packing *p, const struct texts *t);
/* Pack a list whose texts were added. */
void texts_pack_list(struct packing *p, const struct texts *t, char *const *list);

/* Copies of them all. u->failed where the bytes are wrong, or memory is out. */
void texts_unpack(struct unpacking *u, struct texts *t);
/* A list of at least so many texts, which stay the table's; free() it. NULL: u->failed. */
char **texts_unpack_list(struct unpacking *u, const struct texts *t, uint32_t least);

#endif
