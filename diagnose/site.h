/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Places in programs as file:line (os/source_line.h). A job has few different places: each is
 * looked up once, and all lookups together take at most a second or two.
 */
#ifndef DIAGNOSE_SITE_H
#define DIAGNOSE_SITE_H

#include <stddef.h>
#include <stdint.h>

struct site_cache;

struct site_cache *site_create(void);
void site_destroy(struct site_cache *cache); /* accepts NULL */

/* Write the name of a place into text; text stays as it is without one. cache: as site_create()
 * gave it. */
void site_name(void *cache, const char *module, uint64_t offset, char *text, size_t size);

#endif
