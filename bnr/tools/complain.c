/* SPDX-License-Identifier: BSD-3-Clause */

/* Complaints to the user; see complain.h. */
#include "bnr/tools/complain.h"

#include <stdio.h>

#include "os/log.h"

void complain(char *why)
{
    os_one_line(why);
    fprintf(stderr, "mpiexec: %s\n", why);
}
