/* SPDX-License-Identifier: BSD-3-Clause */

/* ROMIO's requests to the system: contiguous bytes and locks, which replace those of its drivers.
 */
#ifndef ROMIO_SYSTEM_H
#define ROMIO_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

struct ADIOI_FileD;

/* Move contiguous bytes. Returns how many were moved: fewer at the end of the file, or where an error
 * was noted by failure_add(), after which nothing is moved any more. */
int64_t system_move(struct ADIOI_FileD *fd, bool write, char *buf, int64_t len, int64_t offset);
/* Put these functions into ROMIO's tables of operations; once. */
void system_install(void);

#endif
