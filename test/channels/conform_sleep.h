/* SPDX-License-Identifier: BSD-3-Clause */

/* The cases of the conformance suite in which processes sleep. */
#ifndef CONFORM_SLEEP_H
#define CONFORM_SLEEP_H

struct conform_traits;
struct fake;

void case_sleep(struct fake *fake, const struct conform_traits *traits);
void case_sleep_stream(struct fake *fake, const struct conform_traits *traits);
void case_sleep_accept(struct fake *fake, const struct conform_traits *traits);
void case_sleep_rearmed(struct fake *fake, const struct conform_traits *traits);

#endif
