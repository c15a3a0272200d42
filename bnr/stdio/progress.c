/* SPDX-License-Identifier: BSD-3-Clause */

/* A line on a terminal that says how far something is; see progress.h. */
#include "bnr/stdio/progress.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "os/clock.h"

enum {
    EACH_NS = 50000000
};

void progress_init(struct progress *p, bool is_wanted)
{
    *p = (struct progress){.is_on = is_wanted && isatty(STDERR_FILENO), .done = UINT32_MAX};
}

/* A write to a terminal that was stopped (Ctrl-S) would wait. */
static bool is_ready(void)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && p.revents == POLLOUT;
}

void progress_show(struct progress *p, uint32_t done, uint32_t all)
{
    char text[64];
    uint64_t now_ns = os_now_ns();
    if (!p->is_on || (done == p->done && p->shown) || now_ns < p->next_ns || !is_ready())
        return;
    int len = snprintf(text, sizeof(text), "\r%u of %u hosts", (unsigned)done, (unsigned)all);
    p->done = done;
    p->next_ns = now_ns + EACH_NS;
    if (write(STDERR_FILENO, text, (size_t)len) == len)
        p->shown = len - 1; /* a later line is never shorter */
}

void progress_clear(struct progress *p)
{
    char text[128];
    if (!p->shown)
        return;
    int len = snprintf(text, sizeof(text), "\r%*s\r", p->shown, "");
    p->shown = 0;
    if (is_ready())
        (void)!write(STDERR_FILENO, text, (size_t)len);
}
