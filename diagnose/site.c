/* SPDX-License-Identifier: BSD-3-Clause */

/* Places in programs as file:line; see site.h. */
#include "diagnose/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "os/source_line.h"

enum {
    SITES_MAX = 32,
    LINE_MAX_BYTES = 200,
    LIMIT_MS = 1500
};

struct site {
    char *module;
    uint64_t offset;
    char line[LINE_MAX_BYTES];
};

struct site_cache {
    struct site site[SITES_MAX];
    int count;
    uint64_t until_ns; /* when patience ends */
};

struct site_cache *site_create(void)
{
    struct site_cache *cache = calloc(1, sizeof(*cache));
    if (cache)
        cache->until_ns = os_now_ns() + (uint64_t)LIMIT_MS * 1000000u;
    return cache;
}

void site_destroy(struct site_cache *cache)
{
    for (int i = 0; cache && i < cache->count; i++)
        free(cache->site[i].module);
    free(cache);
}

void site_name(void *arg, const char *module, uint64_t offset, char *text, size_t size)
{
    struct site_cache *cache = arg;
    struct site *site = NULL;
    for (int i = 0; i < cache->count && !site; i++)
        if (cache->site[i].offset == offset && !strcmp(cache->site[i].module, module))
            site = &cache->site[i];
    if (!site && cache->count < SITES_MAX && os_now_ns() < cache->until_ns) {
        site = &cache->site[cache->count];
        site->offset = offset;
        site->module = strdup(module);
        if (!site->module)
            return;
        cache->count++;
        (void)os_source_line(module, offset, cache->until_ns, site->line, sizeof(site->line));
    }
    if (site && site->line[0])
        snprintf(text, size, "%s", site->line);
}
