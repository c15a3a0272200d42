/* SPDX-License-Identifier: BSD-3-Clause */

/* The case of the conformance suite that reads and writes a peer's memory. */
#ifndef CONFORM_ONESIDED_H
#define CONFORM_ONESIDED_H

struct fake;
struct conform_traits;

void case_onesided(struct fake *fake, const struct conform_traits *traits);
void case_onesided_unlink(struct fake *fake, const struct conform_traits *traits);
void case_atomic(struct fake *fake, const struct conform_traits *traits);

#endif
