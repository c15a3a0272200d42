/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pairs of processes that both live, and have lost the connection between them; see parted.h. A complaint is
 * a message with the ranks of all peers that are lost, 4 bytes each; a close is one with the number of the case;
 * both in network byte order, behind a byte that says which it is.
 */
#include "mpid/peers/parted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpid/conn/vc.h"
#include "mpid/conn/words.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "os/be.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/settings.h"

enum {
    PARTED_TAG = 0x40000002,
    WORD_COMPLAINT = 1,
    WORD_CLOSE = 2,
    HERE_MS = 1000, /* until a process complains of a peer on its host, whose death is heard at once */
    FAR_MS = 1000,  /* of one elsewhere: more than a lost host takes to be known */
    OPEN_MS = 300   /* a case, at least */
};

static struct {
    uint64_t complain_ns, close_ns; /* when that is to be done; 0: it is not */
    uint32_t number;                /* of the case that is open, or comes next */
    struct parted_pair *pairs;      /* that are complained of in it */
    size_t count, room;
} open_case;

/* ---- the end ---- */

void mpid_give_up(const char *why)
{
    os_fail(0, "this process ends, and the job goes on without it: %s", why);
    fflush(NULL);
    _exit(1);
}

/* Whether this process has to end. */
static bool is_chosen(void)
{
    uint32_t size = (uint32_t)device.world.size;
    bool *is_out = calloc(size, sizeof(*is_out));
    if (!is_out)
        return false;
    parted_choose(open_case.pairs, open_case.count, size, is_out);
    bool chosen = is_out[device.env.rank];
    free(is_out);
    return chosen;
}

/* With peers that have died meanwhile it is not parted. */
static void end_if_chosen(void)
{
    char why[128];
    if (!is_chosen())
        return;
    for (size_t i = 0; i < open_case.count; i++) {
        const struct parted_pair *pair = &open_case.pairs[i];
        uint32_t other = pair->by == device.env.rank ? pair->of : pair->by;
        bool is_ours = pair->by == device.env.rank || pair->of == device.env.rank;
        if (!is_ours || device_is_ended_rank(other))
            continue;
        snprintf(why, sizeof(why), "its connection with rank %u is lost, though both live", other);
        mpid_give_up(why);
    }
}

/* ---- what is said ---- */

static void say(const uint8_t *text, size_t len)
{
    unsigned long long caps = 0;
    if (!BNR_Query_caps(&caps) && caps & BNR_CAP_XCAST)
        (void)BNR_Xcast(device.group, PARTED_TAG, text, len, NULL);
}

static void add_lost(struct vc *vc, void *arg)
{
    uint8_t **end = arg;
    bool is_lost = vc->state == VC_FAILED && (vc->failure == MPID_LOST || vc->failure == MPID_UNREACHABLE);
    if (!is_lost || vc->foreign || vc_is_ended(vc) || words_has(vc, "finished"))
        return;
    os_be32_put(*end, vc->peer.rank);
    *end += 4;
}

static void complain(void)
{
    uint8_t *text = malloc(1 + (size_t)device.world.size * 4), *end = text ? text + 1 : NULL;
    if (!text)
        return;
    text[0] = WORD_COMPLAINT;
    vc_each(add_lost, &end);
    if (end > text + 1)
        say(text, (size_t)(end - text));
    free(text);
}

static void say_close(void)
{
    uint8_t text[5] = {WORD_CLOSE};
    os_be32_put(text + 1, open_case.number);
    say(text, sizeof(text));
}

/* ---- what is heard ---- */

static bool add_pair(uint32_t by, uint32_t of)
{
    uint32_t size = (uint32_t)device.world.size;
    if (of >= size || of == by)
        return true;
    if (open_case.count == open_case.room) {
        size_t room = open_case.room ? 2 * open_case.room : 16;
        struct parted_pair *more = realloc(open_case.pairs, room * sizeof(*more));
        if (!more)
            return false;
        open_case.pairs = more;
        open_case.room = room;
    }
    open_case.pairs[open_case.count++] = (struct parted_pair){by, of};
    return true;
}

static void hear_complaint(uint32_t by, const uint8_t *ranks, size_t count)
{
    size_t most = (size_t)device.world.size;
    for (size_t i = 0; i < count && i < most; i++)
        if (!add_pair(by, os_be32_get(ranks + 4 * i)))
            os_log(OS_LOG_WARN, "a complaint of rank %u is lost: no memory", by);
    if (by != device.env.rank)
        return;
    open_case.close_ns = os_now_ns() + OPEN_MS * 1000000ull;
    device.parting = true;
}

/* One that has been closed already was closed by somebody else, too. */
static void hear_close(uint32_t number)
{
    if ((int32_t)(number - open_case.number) < 0)
        return;
    end_if_chosen();
    open_case.number = number + 1;
    open_case.count = 0;
    open_case.close_ns = 0;
}

static void told(BNR_Group group, int from, int tag, const void *data, size_t len, void *arg)
{
    const uint8_t *text = data;
    (void)group, (void)tag, (void)arg;
    if (!text || !len || from < 0 || from >= device.world.size)
        return;
    if (text[0] == WORD_COMPLAINT)
        hear_complaint((uint32_t)from, text + 1, (len - 1) / 4);
    else if (text[0] == WORD_CLOSE && len == 5)
        hear_close(os_be32_get(text + 1));
}

/* ---- the clock ---- */

static bool is_near(const struct vc *vc)
{
    int node;
    return !BNR_Get_locality(device.group, (int)vc->peer.rank, &node, NULL, NULL) && node == device.node;
}

void parted_note(const struct vc *vc)
{
    if (vc->foreign || device.finalizing || device.orphan || device.world.size < 2)
        return;
    uint64_t far_ms = (uint64_t)os_setting(OS_SETTING_LIVENESS_MS) + FAR_MS;
    uint64_t at_ns = os_now_ns() + (is_near(vc) ? HERE_MS : far_ms) * 1000000ull;
    if (!open_case.complain_ns || at_ns < open_case.complain_ns)
        open_case.complain_ns = at_ns;
    device.parting = true;
}

void parted_poll(void)
{
    uint64_t now_ns = os_now_ns();
    if (device.finalizing || device.orphan)
        return;
    if (open_case.complain_ns && now_ns >= open_case.complain_ns && device.tolerant) {
        open_case.complain_ns = 0;
        complain();
    }
    if (open_case.close_ns && now_ns >= open_case.close_ns) {
        open_case.close_ns = 0;
        say_close();
    }
    device.parting = open_case.complain_ns || open_case.close_ns;
}

static void end(void)
{
    free(open_case.pairs);
    open_case.pairs = NULL;
    open_case.count = open_case.room = 0;
    open_case.complain_ns = open_case.close_ns = 0;
    device.parting = false;
}

static int attach(void)
{
    return BNR_Xcast_register(device.group, PARTED_TAG, told, NULL);
}

const struct life parted_life = {.attach = attach, .end = end};
