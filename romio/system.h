/* SPDX-License-Identifier: BSD-3-Clause */

/* What ROMIO asks of the system: contiguous bytes and locks, in place of its drivers' own. */
#ifndef ROMIO_SYSTEM_H
#define ROMIO_SYSTEM_H

/* Put ours into ROMIO's tables of operations; once. */
void system_install(void);

#endif
