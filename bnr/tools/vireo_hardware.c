/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * vireo-hardware: the program that tells a daemon of the processors of its host. The daemon is linked
 * without libraries, and runs this program where a placement needs hwloc.
 */
#include <errno.h>
#include <stdio.h>

#include "bnr/launch/hardware.h"
#include "bnr/wire/machine_message.h"

int main(int argc, char **argv)
{
    struct hardware h;
    struct packing p = {0};
    char why[512];
    int rc = hardware_read(&h, argc > 1 ? argv[1] : NULL, why);
    if (!rc && h.machine.count > MACHINE_CPUS_MAX) {
        snprintf(why, sizeof(why), "it has more than %d hardware threads", MACHINE_CPUS_MAX);
        rc = -E2BIG;
    }
    machine_pack(&p, &(struct machine_told){.problem = rc ? why : NULL,
                                            .machine = rc ? (struct placement_machine){0} : h.machine,
                                            .is_own = h.is_own});
    struct bytes *all = pack_end(&p);
    bool is_written = all && fwrite(all->at, 1, all->len, stdout) == all->len && !fflush(stdout);
    bytes_unref(all);
    hardware_fini(&h);
    return is_written ? 0 : 1;
}
