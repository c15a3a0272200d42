/* SPDX-License-Identifier: BSD-3-Clause */

/* The cases of the conformance suite in which a process ends, or forks. */
#ifndef CONFORM_ENDED_H
#define CONFORM_ENDED_H

struct conform_traits;
struct fake;

void case_killed(struct fake *fake, const struct conform_traits *traits);
void case_ended(struct fake *fake, const struct conform_traits *traits);
void case_ended_early(struct fake *fake, const struct conform_traits *traits);
void case_ended_mute(struct fake *fake, const struct conform_traits *traits);
void case_ended_held(struct fake *fake, const struct conform_traits *traits);
void case_forked(struct fake *fake, const struct conform_traits *traits);

#endif
