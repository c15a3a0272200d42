/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The words of a daemon to mpiexec, as records in a stream (bnr/core/stream/stream.h), so that
 * nothing is lost with a link.
 */
#ifndef BNR_WORDS_H
#define BNR_WORDS_H

#include <stdbool.h>

#include "bnr/core/stream/stream.h"

struct mesh;
struct record;

struct words {
    struct mesh *mesh;
    struct stream_out out;
};

void words_init(struct words *w, struct mesh *mesh);
void words_say(struct words *w, const struct record *r);
/* A CREDIT has come, or it is time to say again messages that may be lost. */
void words_credit(struct words *w, const struct core_message *credit);
void words_tick(struct words *w);

#endif
