/* SPDX-License-Identifier: BSD-3-Clause */

/* ROMIO's requests to the system: contiguous bytes and locks, which replace those of its drivers.
 */
#ifndef ROMIO_SYSTEM_H
#define ROMIO_SYSTEM_H

/* Put these functions into ROMIO's tables of operations; once. */
void system_install(void);

#endif
