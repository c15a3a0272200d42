/* SPDX-License-Identifier: BSD-3-Clause */

/* Limits of resources; see resources.h. */
#include "bnr/io/resources.h"

#include <sys/resource.h>

#include "bnr/launch/limit.h"
#include "bnr/wire/launch_message.h"

_Static_assert((int)RESOURCES_COUNT == (int)LAUNCH_LIMITS, "daemons are told of all");

static const int kinds[RESOURCES_COUNT] = {RLIMIT_CORE, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_MEMLOCK,
                                         RLIMIT_AS,   RLIMIT_DATA,  RLIMIT_FSIZE,  RLIMIT_CPU};

void resources_get(uint64_t limits[RESOURCES_COUNT])
{
    for (int i = 0; i < RESOURCES_COUNT; i++)
        limits[i] = limit_started(kinds[i]);
}

void resources_set(const uint64_t limits[RESOURCES_COUNT])
{
    struct rlimit limit;
    for (int i = 0; i < RESOURCES_COUNT; i++) {
        if (getrlimit((unsigned)kinds[i], &limit))
            continue;
        rlim_t wanted = limits[i] == UINT64_MAX ? RLIM_INFINITY : (rlim_t)limits[i];
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        (void)setrlimit((unsigned)kinds[i], &limit);
    }
}

int resources_take(const uint64_t limits[RESOURCES_COUNT], uint32_t ranks, int each, char why[512])
{
    resources_set(limits);
    limit_remember();
    limit_raise();
    return limit_check_files(LIMIT_FILES_OWN + each * (int)ranks, why);
}
