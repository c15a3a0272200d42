/* SPDX-License-Identifier: BSD-3-Clause */

/* What it takes to open a connection; see opening.h. */
#include "mpid/conn/opening.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "include/mpid.h"
#include "mpid/conn/foreign.h"
#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/wait/wake.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/settings.h"

int opening_get_card(const struct chan_gid *gid, uint32_t rank, char **got)
{
    void *card;
    size_t len;
    BNR_Group group = device_group_of(gid, rank);
    const struct vc *vc = group ? NULL : vc_find(gid, rank);
    if (vc && vc->foreign) {
        *got = strdup(vc->foreign->card);
        return *got ? 0 : -ENOMEM;
    }
    if (!group)
        return -1;
    if (device_is_own_group(gid) && rank == device.env.rank) {
        *got = strdup(device.card);
        return *got ? 0 : -ENOMEM;
    }
    switch (BNR_Get_alloc(group, (int)rank, "card", &card, &len, BNR_GET_LATER)) {
    case BNR_SUCCESS: *got = card; return 0;
    case BNR_ERR_NOT_FOUND:
    case BNR_ERR_AGAIN:
    case BNR_ERR_PROC_FAILED: return 1;
    case BNR_ERR_NOMEM: return -ENOMEM;
    default: return -1;
    }
}

/* Returns enum vc_format. */
static uint8_t look_up(struct vc *vc, bool (*differs)(const char *card))
{
    char *card;
    int rc = opening_get_card(&vc->peer.gid, vc->peer.rank, &card);
    if (rc)
        return rc > 0 && !vc_is_ended(vc) ? VC_FORMAT_UNKNOWN : VC_FORMAT_ALIKE;
    rc = differs(card);
    free(card);
    return rc ? VC_FORMAT_OTHER : VC_FORMAT_ALIKE;
}

/* kept: where the VC has the answer. */
static bool has_other(struct vc *vc, uint8_t *kept, bool (*differs)(const char *card))
{
    const struct timespec a_while = {.tv_nsec = 50000};
    for (;;) {
        os_lock(&device.lock);
        if (*kept == VC_FORMAT_UNKNOWN)
            *kept = look_up(vc, differs);
        uint8_t found = *kept;
        os_unlock(&device.lock);
        if (found != VC_FORMAT_UNKNOWN)
            return found == VC_FORMAT_OTHER;
        if (!mpid_progress())
            nanosleep(&a_while, NULL);
    }
}

bool mpid_has_other_long_double(struct vc *vc)
{
    return has_other(vc, &vc->long_double, card_has_other_long_double);
}

bool mpid_has_other_order(struct vc *vc)
{
    return has_other(vc, &vc->order, card_has_other_order);
}

/* The next one of the walk that goes on. */
static struct opening *walk_next;

void opening_walk(void)
{
    walk_next = device.openings;
}

struct opening *opening_walk_next(void)
{
    struct opening *opening = walk_next;
    if (opening)
        walk_next = opening->next;
    return opening;
}

static void unlist(struct opening *opening)
{
    if (!opening->listed)
        return;
    if (opening == walk_next)
        walk_next = opening->next;
    DL_DELETE(device.openings, opening);
    opening->listed = false;
}

struct opening *opening_get(struct vc *vc)
{
    struct opening *opening = vc->opening ? vc->opening : calloc(1, sizeof(*opening));
    if (!opening) {
        vc_give_up_for_now(vc);
        return NULL;
    }
    vc->opening = opening;
    opening->vc = vc;
    if (!opening->listed) {
        DL_APPEND(device.openings, opening);
        opening->began_ns = os_now_ns();
        if (wake_is_wanted())
            wake_on_channels(); /* it sleeps without hearing of cards, and knows no time of this one */
    }
    opening->listed = true;
    return opening;
}

void opening_add_reason(struct opening *opening, const char *channel, const char *why)
{
    char *text;
    if (asprintf(&text, "%s%s%s%s%s", opening->refusals ? opening->refusals : "",
                 opening->refusals ? "; " : "", channel, *channel ? ": " : "", why) < 0)
        return;
    free(opening->refusals);
    opening->refusals = text;
}

void opening_end(struct vc *vc)
{
    struct opening *opening = vc->opening;
    if (!opening || !os_setting(OS_SETTING_REPORT)) {
        opening_free(vc);
        return;
    }
    unlist(opening);
    opening->wait_ns = opening->crossings = 0;
}

void opening_free(struct vc *vc)
{
    struct opening *opening = vc->opening;
    if (!opening)
        return;
    unlist(opening);
    vc->opening = NULL;
    free(opening->card);
    free(opening->refusals);
    free(opening);
}
