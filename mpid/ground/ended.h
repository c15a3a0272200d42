/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes of any group that have ended, and those among them that have failed. Guarded by the
 * device's lock.
 */
#ifndef MPID_ENDED_H
#define MPID_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"

/* Note an end. Without memory it is forgotten: waits for the process then end by its connection. */
void ended_note(const struct chan_gid *gid, uint32_t rank);
/* Note a failure. Returns whether it is news, and there is memory for that. */
bool ended_note_failed(const struct chan_gid *gid, uint32_t rank);

bool ended_has_failed(const struct chan_gid *gid, uint32_t rank);
bool ended_has(const struct chan_gid *gid, uint32_t rank);
/* How many have failed; and the index-th of them. */
size_t ended_failed_count(void);
void ended_failed(size_t index, struct chan_gid *gid, uint32_t *rank);

#endif
