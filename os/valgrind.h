/* SPDX-License-Identifier: BSD-3-Clause */

/* Whether valgrind runs this process. It knows some system calls not at all, and does not see what
 * other processes write into this one's memory. */
#ifndef OS_VALGRIND_H
#define OS_VALGRIND_H

#include <stdbool.h>

/* Looks at the environment once. */
bool os_is_under_valgrind(void);

#endif
