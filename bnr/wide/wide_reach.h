/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reaching the daemons of a job over several machines (wide.h): commands start them (bringup.h), each says who it is,
 * and when all have, they are told of each other, and the tree begins.
 */
#ifndef BNR_WIDE_REACH_H
#define BNR_WIDE_REACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct packing;
struct unpacking;
struct wide;
struct wide_settings;

/* How many machines are there by now, this one included. */
uint32_t wide_up_count(const struct wide *w);
/* Once all are up: whether their machines, this one among them, have both byte orders. */
bool wide_has_both_orders(const struct wide *w);
/* Whether the daemons are all there, and know of each other. */
bool wide_is_up(const struct wide *w);
/* This process has stood still for so long. */
void wide_stood_still(struct wide *w, uint64_t ns);
/* Write the numbers of the commands that daemons were started with, and that run: at most max. Returns how many run,
 * if max is 0. */
uint32_t wide_commands(const struct wide *w, pid_t *pids, uint32_t max);

/* A child has ended. Returns whether it was one of w's. */
bool wide_reaped(struct wide *w, int pid, int status);

/* ---- for the other files of a job over several machines ---- */

/* Nothing is started. Returns 0 or -ENOMEM. */
int wide_reach_create(struct wide *w);
/* Start the commands. Returns 0 or -errno. */
int wide_reach_start(struct wide *w, const struct wide_settings *settings);
/* A daemon says who it is, and where it listens. */
void wide_reach_contact(struct wide *w, uint32_t node, struct unpacking u);
/* The link to a node has broken before all were there. */
void wide_reach_lost(struct wide *w, uint32_t node);
/* Pack where a node listens. */
void wide_reach_pack(struct wide *w, struct packing *p, uint32_t node);
/* Wait until all commands have ended, and kill those that run at until_ns; at once, if the daemons are not up. */
void wide_reach_end(struct wide *w, uint64_t until_ns);
/* The loop must run once more, then wide_reach_free(). */
void wide_reach_stop(struct wide *w);
void wide_reach_free(struct wide *w);

#endif
