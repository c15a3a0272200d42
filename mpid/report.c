/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpiexec --report shows: for each peer the channel, and for each channel
 * that was not used the reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpid/device.h"

static FILE *report_file;

static const char *bound_name(const struct vc *vc)
{
    return vc->bound ? vc->bound->ops->name : vc_state_name((enum vc_state)vc->state);
}

static void put_vc(struct vc *vc)
{
    if (vc->state == VC_UNBOUND)
        return;
    fprintf(report_file, "%u\t%s\t", vc->peer.rank, bound_name(vc));
    const char *separator = "";
    for (int i = 0; i < device.port_count && vc->card; i++) {
        if (vc->bound && vc->bound->ops == device.ops[i])
            continue;
        const char *why = vc->choice.verdict[i].fit == CHAN_NO || vc->choice.verdict[i].why
                              ? vc->choice.verdict[i].why
                              : "a better one was found";
        fprintf(report_file, "%s%s: %s", separator, device.ops[i]->name, why ? why : "");
        separator = "; ";
    }
    for (int i = 0; i < device.closed_count; i++, separator = "; ")
        fprintf(report_file, "%s%s", separator, device.closed[i]);
    fputc('\n', report_file);
}

void report_put(void)
{
    char *text = NULL;
    size_t len = 0;
    report_file = open_memstream(&text, &len);
    if (!report_file)
        return;
    vc_each(put_vc);
    if (!fclose(report_file) && len)
        (void)BNR_Put(device.group, "mpid.report", text, len, BNR_PUT_REPLACE);
    free(text);
}
