/* SPDX-License-Identifier: BSD-3-Clause */

/* What channels are told of this process, and may ask of the device: struct chan_env. */
#ifndef MPID_ENV_H
#define MPID_ENV_H

/* Fill device.env, once device.world is known. */
void env_fill(void);

#endif
