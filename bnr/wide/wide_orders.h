/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Orders to all daemons of a job over several machines (wide.h). Each is an xcast; those that the tree cannot take yet
 * wait, and keep their order.
 */
#ifndef BNR_WIDE_ORDERS_H
#define BNR_WIDE_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_ask;
struct packing;
struct wide;
struct winsize;

void wide_ask(struct wide *w, uint32_t number);
void wide_signal(struct wide *w, int rank, int number); /* rank -1: all */
void wide_unread(struct wide *w, int fd);
/* A letter of mpiexec's to a rank. */
void wide_tell(struct wide *w, int rank, uint32_t tag, const void *data, size_t len);
void wide_pause(struct wide *w, bool is_paused);
void wide_go(struct wide *w);
void wide_resize(struct wide *w, const struct winsize *size);

/* Pass a call about a name to all daemons. */
void wide_ask_name(struct wide *w, const struct name_ask *ask);
/* Whether a daemon will answer: it is no lost one's node. */
bool wide_answers(const struct wide *w, uint32_t node);

/* ---- for the other files of a job over several machines ---- */

/* Give an order of this kind (LAUNCH_TAG_), whose bytes are taken over. Without it daemons cannot know what to do: if
 * it fails, they and the job end. */
void wide_orders_give(struct wide *w, uint32_t tag, struct packing *p);
/* The same, but that a failure is the caller's. Returns 0 or -errno. */
int wide_orders_try(struct wide *w, uint32_t tag, struct packing *p);
/* Submit those that wait, as far as there is room. Returns 0 or -errno: one could not be sent, ... */
int wide_orders_flush(struct wide *w);
/* ... which is to be passed on to here. */
void wide_orders_failed(struct wide *w, int rc);
void wide_orders_free(struct wide *w);

#endif
