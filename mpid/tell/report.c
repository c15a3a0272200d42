/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpiexec --report shows: for each peer the channel, and for each channel
 * that was not used the reason. */
#include "mpid/tell/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpid/conn/opening.h"
#include "mpid/conn/ports.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "os/settings.h"

/* The channel in use; or, where the peer has left or was lost, the one that was. NULL: none. */
static const struct chan_ops *channel_of(const struct vc *vc)
{
    if (vc->bound)
        return vc->bound->ops;
    return vc->state == VC_FAILED && !vc->was_open ? NULL : vc->last_ops;
}

/* The peer that began the connection chose: find out how we would have. */
static const struct bind_choice *choose_again(struct vc *vc)
{
    struct opening *opening = opening_get(vc);
    if (opening && !opening->card && !opening_get_card(&vc->peer.gid, vc->peer.rank, &opening->card))
        (void)bind_choose(device.card, opening->card, device.ops, device.port_count, &opening->choice);
    return opening ? &opening->choice : NULL;
}

/* The text that parts this reason from the last one. */
static void put_reason(FILE *file, const char **separator, const char *channel, const char *why)
{
    fprintf(file, "%s%s%s%s", *separator, channel, *channel ? ": " : "", why);
    *separator = "; ";
}

static void put_vc(struct vc *vc, void *arg)
{
    FILE *file = arg;
    const struct chan_ops *used = channel_of(vc);
    if (vc->state == VC_UNBOUND && !used)
        return;
    if (vc->foreign) {
        fprintf(file, "note\tconnected with a process of another job%s%s\t1\n", used ? " over " : ", in vain",
                used ? used->name : "");
        return;
    }
    const struct bind_choice *choice = choose_again(vc);
    fprintf(file, "%u\t%s\t", vc->peer.rank,
            used ? used->name : vc_state_name((enum vc_state)vc->state));
    const char *separator = "";
    for (int i = 0; i < device.port_count && choice; i++) {
        const struct chan_verdict *verdict = &choice->verdict[i];
        if (used == device.ops[i])
            continue;
        bool better = verdict->fit != CHAN_NO && !choice->refused[i];
        put_reason(file, &separator, device.ops[i]->name,
                   better          ? "would do, but another is better"
                   : verdict->why ? verdict->why
                                  : "loaded after the choice");
    }
    const char *closed;
    for (int i = 0; (closed = ports_closed(i)) != NULL; i++)
        put_reason(file, &separator, "", closed);
    fputc('\n', file);
    opening_end(vc);
}

/* Of the layer above; NULL: it tells nothing. */
static void (*put_more)(FILE *file);

void mpid_set_report(void (*put)(FILE *file))
{
    put_more = put;
}

enum { NOTES = 32 };
static char *notes[NOTES];

void mpid_report_note(const char *text)
{
    int i = 0;
    if (!os_setting(OS_SETTING_REPORT))
        return;
    os_lock(&device.lock);
    while (i < NOTES && notes[i] && strcmp(notes[i], text) != 0)
        i++;
    if (i < NOTES && !notes[i])
        notes[i] = strdup(text);
    os_unlock(&device.lock);
}

static void put_notes(FILE *file)
{
    for (int i = 0; i < NOTES && notes[i]; i++)
        fprintf(file, "note\t%s\t1\n", notes[i]);
}

static void count_open(struct vc *vc, void *arg)
{
    *(int *)arg += vc_is_up(vc) && vc->bound->ops->scarce;
}

static void put_left(FILE *file)
{
    int open = 0;
    if (!device.stats.left)
        return;
    vc_each(count_open, &open);
    fprintf(file, "note\t%" PRIu64 " idle connections were let go; %d are open at the end\t1\n", device.stats.left, open);
}

void report_put(void)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    if (!file)
        return;
    vc_each(put_vc, file);
    if (put_more)
        put_more(file);
    put_notes(file);
    put_left(file);
    if (!fclose(file) && len)
        (void)BNR_Put(device.group, "mpid.report", text, len, BNR_PUT_REPLACE);
    free(text);
}
