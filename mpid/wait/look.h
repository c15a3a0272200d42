/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Looks: words awaited in shared memory while threads do other things; see mpid_look(). Every turn
 * of progress looks at each. A thread that is about to sleep on the channels takes all of them,
 * tells the others that this process is to be rung for them, and gives them back behind its sleep.
 * Locked, unless a function says otherwise.
 */
#ifndef MPID_LOOK_H
#define MPID_LOOK_H

#include <stdbool.h>

struct chan;
struct mpid_look;

/* Looks that no sleeper has taken, the latest first. */
extern struct mpid_look *look_first;

void look_add(struct mpid_look *look);
/* Complete the requests of those that are over. Returns how many. chan is NULL: it stands among the
 * ports that are polled. */
int look_poll(struct chan *chan);
/* Take all of them; give them back. */
struct mpid_look *look_take(void);
void look_give_back(struct mpid_look *looks);
/* Tell that this process begins, or ends, to sleep for each of those taken; unlocked. */
void look_sleeps(struct mpid_look *looks, bool begins);
/* Whether none of those taken is over; unlocked. */
bool look_all_wait(const struct mpid_look *looks);

#endif
