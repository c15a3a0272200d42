/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The conformance suite of channels: what include/channel.h promises, as cases
 * that any channel can be put through. Each case runs in processes of its own
 * under a time limit, so a channel that hangs or crashes fails one case.
 *
 * A porter calls conform_run() with the ops of the new channel, and says in the
 * traits what cannot be read from them.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>

#include "include/channel.h"

enum { CONFORM_NETS = 4 };

struct conform_traits {
    bool joins_processes; /* false: a process and itself only */
    bool notices_death;   /* lost() comes by itself when a peer is killed */
    bool checks_secret;   /* refuses who has another secret, ... */
    bool tells_nothing;   /* ... or does not answer */
    bool hides_descriptors; /* a library beneath has some that forked() cannot close */
    bool needs_receiver; /* what is sent leaves a process only while its receiver calls progress() */
    int patience; /* limits are so many times as long; 0 means once */
    /* Network namespaces, by path: process i of a case is in that of i % net_count. */
    const char *nets[CONFORM_NETS];
    int net_count;
    /* Misuse what a card publishes, as a stranger might; NULL: nothing to misuse. */
    void (*hostile)(const char *card, unsigned round);
};

/* Run every case, or the one called only; write TAP. Returns the number of failures. */
int conform_run(const struct chan_ops *ops, const struct conform_traits *traits, const char *only);

#endif
