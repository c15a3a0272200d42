/* SPDX-License-Identifier: BSD-3-Clause */

/* Deaths among the processes of one host whose launcher tells of none. Each process holds a lock on a byte of the memory
 * that they share, which the kernel gives back at the process's end, and says in the same byte whether it leaves well.
 * No process waits for a lock: others test now and then whether it is held. */
#ifndef BNR_PRESENCE_H
#define BNR_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that count processes need. */
uint64_t presence_size(int count);

struct presence;

/* Be present as index of count, at byte `at` of fd, a multiple of the page size; these bytes are zero at first. fd stays
 * open. Returns NULL where the kernel cannot: others then know nothing of this process's end. */
struct presence *presence_begin(int fd, uint64_t at, int index, int count);

/* Whether this process's end, from now on, is a good one. */
void presence_leave(struct presence *p, bool well);

/* Look whether others have ended, if it is time. Calls ended once for each. */
void presence_look(struct presence *p, void (*ended)(int index, bool well, void *arg), void *arg);

#endif
