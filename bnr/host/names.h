/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Published names: each is a file in a folder of the user's on this host, which no other user can read.
 * The file is locked by the process that has published it, which is mpiexec for the ranks of a job of its, and on its
 * other hosts their daemons, and so means nothing once that has ended.
 */
#ifndef BNR_NAMES_H
#define BNR_NAMES_H

#include <stddef.h>

#include "bnr/wire/name_message.h"

enum { NAMES_MAX = NAME_MAX_LEN };

/* Publish. Returns 0; -EEXIST: a living process has published this name; -EPERM: the folder is not this user's
 * alone; or another -errno. */
int names_publish(const char *service, const char *text);
/* Take it back. Returns 0, or -ENOENT: this process has not published it. */
int names_unpublish(const char *service);
/* Find a name. Returns 0, -ENOENT or another -errno. */
int names_find(const char *service, char text[NAMES_MAX + 1]);
/* One of these; found: the text of a name that was found; where a name could not be published, this host; or "". */
int names_call(enum name_task call, const char *service, const char *text, char found[NAMES_MAX + 1]);

#endif
