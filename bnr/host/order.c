/* SPDX-License-Identifier: BSD-3-Clause */

/* The environment of an mpiexec that a job has ordered; see order.h. */
#include "bnr/host/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char from[] = "BNR_SPAWN_NOTE", to[] = "BNR_NOTE";

char **order_environ(char *const *base, const char *note)
{
    size_t count = 0, len = sizeof(from) + strlen(note) + 1, at = 0;
    while (base[count])
        count++;
    char **all = malloc((count + 2) * sizeof(*all) + len);
    if (!all)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(base[i], from, sizeof(from) - 1) != 0)
            all[at++] = base[i];
    if (*note) {
        all[at] = (char *)(all + count + 2);
        snprintf(all[at++], len, "%s=%s", from, note);
    }
    all[at] = NULL;
    return all;
}

void order_take_note(void)
{
    const char *note = getenv(from);
    if (note)
        (void)setenv(to, note, 1);
    else
        (void)unsetenv(to);
    (void)unsetenv(from);
}
