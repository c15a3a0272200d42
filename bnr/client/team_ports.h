/* SPDX-License-Identifier: BSD-3-Clause */

/* The ports of BNR_Open_port(): os/net/port.h, by their names. */
#ifndef BNR_TEAM_PORTS_H
#define BNR_TEAM_PORTS_H

#include "bnr/client/team.h"

/* Open one; *name is valid until it is closed. Returns 0 or a BNR code. */
int team_port_open(const char **name);
/* Returns 0, or BNR_ERR_NOT_FOUND: this process has none of that name. */
int team_port_close(const char *name);
void team_ports_end(void);
/* The tie of the next caller, who is a stranger; -1: not yet; -2: there is no such port. */
int team_port_caller(const char *name);

#endif
