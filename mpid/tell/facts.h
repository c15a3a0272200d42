/* SPDX-License-Identifier: BSD-3-Clause */

/* Facts for tools: counts, gathered from their owners on request; and events. */
#ifndef MPID_FACTS_H
#define MPID_FACTS_H

struct vc;

/* The device is there, from here on; or not any more. Before and after, counts are 0. */
void facts_open(void);
void facts_close(void);

/* A VC is about to be freed: keep its counts; locked. */
void facts_vc_gone(const struct vc *vc);

#endif
