/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The words of a daemon to mpiexec, as records in a stream (bnr/core/stream/stream.h), so that
 * nothing is lost with a link.
 */
#ifndef BNR_WORDS_H
#define BNR_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/stream/stream.h"

struct mesh;
struct record;

struct words {
    struct mesh *mesh;
    struct stream_out out;
};

void words_init(struct words *w, struct mesh *mesh);
void words_say(struct words *w, const struct record *r);
/* The same in parts: a launch_record of a rank, with a text, or with a number and a text. */
void words_tell(struct words *w, uint32_t kind, int rank, const void *text, size_t len);
void words_tell_number(struct words *w, uint32_t kind, int rank, uint32_t number, const char *text);
/* A CREDIT has come, or it is time to say again messages that may be lost. */
void words_credit(struct words *w, const struct core_message *credit);
void words_tick(struct words *w);

#endif
