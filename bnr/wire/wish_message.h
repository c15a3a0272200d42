/* SPDX-License-Identifier: BSD-3-Clause */

/* The user's wishes about the start of ranks (core/start_wish.h) as bytes, for daemons. Those
 * that place ranks of several hosts (ppr, spans) are settled before, and do not travel; of a rankfile
 * each host reads the lines of its own ranks. No I/O. */
#ifndef BNR_WISH_MESSAGE_H
#define BNR_WISH_MESSAGE_H

#include "bnr/core/bytes.h"
#include "bnr/core/place/start_wish.h"

void wish_pack(struct packing *p, const struct start_wish *wish);
/* Texts are copies, and the lines of a rankfile are read. u->failed where the bytes are wrong, or memory is out. */
void wish_unpack(struct unpacking *u, struct start_wish *wish);
void wish_fini(struct start_wish *wish);

#endif
