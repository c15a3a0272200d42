/* SPDX-License-Identifier: BSD-3-Clause */

/* The order of modules: each is started after those that it needs, and ended before. */
#include "mpi/start/modules.h"

#include <stdio.h>

#include "mpi/attr.h"
#include "mpi/coll/tuning.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/known.h"
#include "mpi/region/region.h"
#include "mpi/request/persist.h"
#include "mpi/request/request.h"
#include "mpi/type/type.h"
#include "mpi/world.h"
#include "os/settings.h"

int modules_start(char *why, size_t size)
{
    struct process me = {world_facts.gid, (uint32_t)world_facts.rank};
    request_init();
    persist_init();
    comm_open_space();
    if (region_reserve()) {
        snprintf(why, size, "no space in communicators and regions");
        return -1;
    }
    group_init(&me);
    attr_init(&world_facts);
    if (type_init()) {
        snprintf(why, size, "no memory");
        return -1;
    }
    if (os_setting(OS_SETTING_CHECK))
        known_begin(world_facts.rank);
    return tuning_load(why, size) ? -1 : 0;
}

void modules_end(void)
{
    attr_fini();
    type_fini();
    request_fini();
}
