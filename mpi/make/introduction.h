/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An introduction (struct mpid_introduction) as bytes: group id 16, key 16, rank 4, length of the card 4, length of the
 * host's name 4, card, name; zeros may follow. Numbers are in network byte order. Without I/O.
 */
#ifndef MPI_INTRODUCTION_H
#define MPI_INTRODUCTION_H

#include <stddef.h>
#include <stdint.h>

#include "include/mpid.h"

enum { INTRODUCTION_MIN = 16 + 16 + 3 * 4, INTRODUCTION_MAX = 64 << 10 };

size_t introduction_size(const struct mpid_introduction *who);
void introduction_put(uint8_t *at, const struct mpid_introduction *who);
/* Read one of size bytes (at least INTRODUCTION_MIN), from anywhere: card and host are then texts to be freed. Returns 0,
 * -EPROTO or -ENOMEM. */
int introduction_get(const uint8_t *at, size_t size, struct mpid_introduction *who);
void introduction_free(struct mpid_introduction *who);

#endif
