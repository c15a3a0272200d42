/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Binding: two cards in, an ordered list of channels out. Pure: no I/O, no state.
 *
 * A card is what a process publishes of itself:
 *
 *   card    = "vireo2" ";" "arch=" arch *( ";" channel )
 *   arch    = ( "le" | "be" ) ( "32" | "64" )
 *   channel = name "(" params ")"         ; params: channel_help.h; three names are none of channels:
 *                                         ; ld(FORMAT), inc(N), equal(NAME=VALUE,...), see doc/wire.md
 *
 * Cards come from other processes: whatever they hold, these functions neither
 * crash nor read beyond the NUL.
 */
#ifndef MPID_BIND_H
#define MPID_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"

enum {
    CARD_MAX = 8192, /* bytes, NUL included */
    BIND_CHANNELS = 8 /* channels that a process may have open at once */
};

/* Candidates to try, best first, and a verdict on each channel of the table. */
struct bind_choice {
    uint8_t count;
    uint8_t candidate[BIND_CHANNELS]; /* indices into the table */
    struct chan_verdict verdict[BIND_CHANNELS];
    bool refused[BIND_CHANNELS]; /* tried, and it could not connect: verdict says so */
};

/* Begin a card for this process. */
int card_start(char *card, size_t size);
/* Append a channel. Returns 0 or -ENOSPC with card unchanged. */
int card_add(char *card, size_t size, const char *name, const char *params);
/* Copy the parameters of the channel called exactly name. Returns 0, -ENOENT if the card has none,
 * or -EINVAL for a text that is no card. */
int card_find(const char *card, const char *name, char params[CHAN_CARD_MAX]);

/* Whether long double of the card's process has another format than ours, or one that is not told. */
bool card_has_other_long_double(const char *card);

/* Whether the card's process has the other byte order, and the same word size. */
bool card_has_other_order(const char *card);

/* Judge every channel of table (count of them) by both cards. Returns 0, or
 * -EHOSTUNREACH if none remains; choice is set in both cases. */
int bind_choose(const char *mine, const char *theirs, const struct chan_ops *const *table,
                int count, struct bind_choice *choice);

#endif
