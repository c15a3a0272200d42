/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Descriptors of the layer above whose news wakes sleeping threads: mpid_watch_fd(). They lie in one
 * epoll set, each told of once for each change. Under the device's lock.
 */
#ifndef MPID_WATCHED_H
#define MPID_WATCHED_H

#include <stdbool.h>

void watched_add(int fd);
void watched_remove(int fd);
/* The set, to be polled; -1: it is empty. */
int watched_fd(void);
/* Take the news. Returns whether there was any. */
bool watched_take(void);
/* In a forked child: it has none. */
void watched_forget(void);

#endif
