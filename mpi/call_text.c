/* SPDX-License-Identifier: BSD-3-Clause */

/* A call of MPI in words; see call_text.h. */
#include "mpi/call_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "os/clock.h"
#include "os/source_line.h"

enum { LINE_MS = 2000 };

void call_text_clean(char *to, const char *from, size_t size)
{
    snprintf(to, size, "%.*s", (int)size - 1, from);
    for (char *c = to; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

void call_text(char text[CALL_TEXT], int rank, const struct mpid_call_site *site,
               const struct mpid_call_site *mine)
{
    char line[80] = "", function[sizeof(site->function)], module[sizeof(site->module)];
    call_text_clean(function, site->function, sizeof(function));
    if (!memcmp(site->module, mine->module, sizeof(mine->module)))
        (void)os_source_line(mine->module, site->offset, os_now_ns() + LINE_MS * 1000000ull, line,
                             sizeof(line));
    call_text_clean(module, site->module, sizeof(module));
    const char *slash = strrchr(module, '/'), *name = slash ? slash + 1 : module;
    if (!*line && *name)
        snprintf(line, sizeof(line), "%.50s+0x%" PRIx64, name, site->offset);
    snprintf(text, CALL_TEXT, "rank %d calls %s%s%s%s", rank, function, *line ? " (" : "", line,
             *line ? ")" : "");
}
