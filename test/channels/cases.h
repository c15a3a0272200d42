/* SPDX-License-Identifier: BSD-3-Clause */

/* Cases of one channel, for two processes each, that the suite for all channels does not have. */
#ifndef CASES_H
#define CASES_H

#include "test/channels/fake.h"

struct fake_case {
    const char *claim;
    void (*run)(struct fake *fake);
    const char *setting, *value;  /* in the environment of both, or NULL */
    const char *(*misses)(void); /* what this machine has not, or NULL; may be NULL */
};

/* Run each case in two processes under a limit of time; write TAP. Returns how many fail. */
int cases_run(const struct chan_ops *ops, const struct fake_case *cases, int count);

#endif
