/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pairs of processes that both live, and have lost the connection between them. In a job that goes on
 * after failures, one of each pair ends, and is then a process that has failed, for all others alike.
 *
 * Nobody decides that alone. A process that has lost a connection first gives the launcher the time to
 * say that the peer is dead. Then it complains, by a message to all processes of the job; all get such
 * messages in one order. The first complaint opens a case, and a while later those who have complained
 * close it. From the complaints before the first close all processes find the same ones to end: again
 * and again the process that is in most pairs; of several, one that has not complained, and then the
 * one with the highest rank. These end themselves when they hear of it; the others hear of their end as of any
 * other one.
 *
 * All of it concerns processes of this group alone. The device's lock guards it.
 */
#ifndef MPID_PARTED_H
#define MPID_PARTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vc;

/* A process has lost sight of another. */
struct parted_pair {
    uint32_t by, of;
};

/* Find the ranks that have to end, of size ranks. pairs may be sorted. is_out[rank] is set for each.
 * Returns how many. */
size_t parted_choose(struct parted_pair *pairs, size_t count, uint32_t size, bool *is_out);

void parted_note(const struct vc *vc); /* a connection has failed */
void parted_poll(void);                /* to be called now and then while device.parting is set */

#endif
