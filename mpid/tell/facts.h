/* SPDX-License-Identifier: BSD-3-Clause */

/* Facts for tools: counts, gathered from their owners on request; and events. */
#ifndef MPID_FACTS_H
#define MPID_FACTS_H

struct vc;

/* A VC is about to be freed: keep its counts; locked. */
void facts_vc_gone(const struct vc *vc);

#endif
