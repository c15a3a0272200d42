/* SPDX-License-Identifier: BSD-3-Clause */

/* The state of this process in its job, client.c's, for the calls of groups. */
#ifndef BNR_CLIENT_H
#define BNR_CLIENT_H

#include "bnr/client/backend.h"

/* NULL: BNR is not initialized. */
struct backend *client_backend(void);
/* Whether a callback runs. */
bool client_is_calling_back(void);
/* BNR_Fence() of the job's own group. */
int client_fence_world(void);
/* From now on groups have their turns, too, where callbacks run. */
void client_hear_groups(void);

#endif
