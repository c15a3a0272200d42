/* SPDX-License-Identifier: BSD-3-Clause */

/* uthash, for mpiexec and daemons: where memory runs out for a table the process says so, and ends. */
#ifndef BNR_CORE_HASH_H
#define BNR_CORE_HASH_H

#include <errno.h>
#include <stdlib.h>

#include "os/log.h"

#define uthash_fatal(text)                                                                       \
    do {                                                                                         \
        (void)os_fail(-ENOMEM, "no memory for what is known of the job; fewer ranks need less"); \
        exit(1);                                                                                 \
    } while (0)
#include <uthash.h>

#endif
