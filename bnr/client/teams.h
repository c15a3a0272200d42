/* SPDX-License-Identifier: BSD-3-Clause */

/* All that groups consist of, together: its life, its turns, and who hears of which frame. */
#ifndef BNR_TEAMS_H
#define BNR_TEAMS_H

#include "bnr/client/team.h"

/* BNR_Init has been called, or the last BNR_Finalize. */
void teams_init(struct bnr_group *world, struct backend *b);
void teams_fini(void);
/* Be ready for ties. Returns 0 or a BNR code. */
int teams_begin(void);
/* Go on with all, after waiting for so many ms at most for something to happen. */
void teams_step(int wait_ms);
/* Whether that runs, below. */
bool teams_are_stepping(void);

#endif
