/* SPDX-License-Identifier: BSD-3-Clause */

/* What rooms of the device, and the channels, have done by the rooms above them. */
#ifndef MPID_ROOMS_H
#define MPID_ROOMS_H

/* Fill the tables by which they call upwards. */
void rooms_connect(void);

#endif
