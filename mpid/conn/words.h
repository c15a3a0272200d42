/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Words that processes put into the key-value space, and that say how far they are; start/epoch.c has
 * the list.
 */
#ifndef MPID_WORDS_H
#define MPID_WORDS_H

#include <stdbool.h>

struct vc;

/* Whether the peer has put this word, as far as is known on this host. */
bool words_has(const struct vc *vc, const char *key);
/* Whether the peer's host has answered that it had not put the word. Neither waits for that. */
bool words_lacks(const struct vc *vc, const char *key);

#endif
