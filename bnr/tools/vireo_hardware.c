/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * vireo-hardware: the program that tells a daemon of the processors of its host. The daemon is linked
 * without libraries, and runs this program where a placement needs hwloc.
 */
#include <stdio.h>

#include "bnr/launch/hardware_text.h"

int main(int argc, char **argv)
{
    struct hardware hardware;
    char why[512];
    int rc = hardware_read(&hardware, argc > 1 ? argv[1] : NULL, why);
    hardware_put(&hardware, rc, why, stdout);
    hardware_fini(&hardware);
    return fflush(stdout) ? 1 : 0;
}
