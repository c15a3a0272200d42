/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Channels that lie in shared objects: finding, checking, loading. A module exports CHAN_ENTRY, as
 * channel.h says. Once loaded it stays, as what it has started may hold on to it.
 *
 * The device's lock guards nothing here: the caller sees to it that one thread loads at a time.
 */
#ifndef MPID_MODULE_H
#define MPID_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "include/channel.h"

/* Whether this process runs with other rights than those of the user who has started it: then it
 * loads nothing. */
bool module_is_forbidden(void);

/* Load one file. Returns 0; or -EINVAL with a sentence in why. */
int module_load(const char *file, const struct chan_ops **ops, char *why, size_t size);

/* The fault in a channel's table, or NULL. */
const char *module_misfit(const struct chan_ops *ops);
/* The fault in a card that a channel has written into CHAN_CARD_MAX bytes, or NULL. */
const char *module_lie(const struct chan_ops *ops, const char *card);

/* Load, open and close the channel in a copy of this process. Returns 0, or -EINVAL with a sentence
 * in why, also if the copy crashed or did not come back. */
int module_try(const char *file, const struct chan_env *env, char *why, size_t size);

/* Call visit for each shared object of a list of files and folders, with ':' between them; for a folder
 * without one, for that, which module_load() refuses. */
void module_each(const char *path, void (*visit)(const char *file, void *arg), void *arg);

/* The file of a module that is installed with this library; size bytes. */
void module_own_file(const char *name, char *file, size_t size);
/* Whether there is anything of what one of these patterns of glob() names. */
bool module_is_wanted(const char *const *patterns);

#endif
