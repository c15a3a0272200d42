/* SPDX-License-Identifier: BSD-3-Clause */

/* Channels that are to be refused: HOW says what is wrong with this one. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/channel.h"

#ifdef NOTHING
extern const int nothing;
const int nothing = 0;
#else

#ifndef HOW
#error "HOW says what is wrong: one of these"
#endif
enum { CRASH, EXIT, VERSION, SIZE, NAME, CARD, ABSENT, TAKEN, RESERVED, LACKS };

static struct chan chan = {.fd = -1};

static int open_it(struct chan **made, const struct chan_env *env, char *why, size_t size)
{
    (void)env, (void)size;
    if (HOW == CRASH)
        raise(SIGSEGV);
    if (HOW == EXIT)
        _exit(0);
    if (HOW == ABSENT) {
        strcpy(why, "there is no such network");
        return -ENODEV;
    }
    chan.ops = &vireo_channel;
    *made = &chan;
    return 0;
}

static void close_it(struct chan *made)
{
    (void)made;
}

static int card(struct chan *made, char params[CHAN_CARD_MAX])
{
    (void)made;
    strcpy(params, HOW == CARD ? "a=b);shm(a=b" : "a=b");
    return 0;
}

static struct chan_verdict match(const char *mine, const char *theirs)
{
    (void)mine, (void)theirs;
    return (struct chan_verdict){CHAN_NO, 0, "never"};
}

static int link_to(struct chan *made, struct chan_peer *peer, const char *theirs,
                   struct chan_link **link)
{
    (void)made, (void)peer, (void)theirs, (void)link;
    return -EHOSTUNREACH;
}

static void unlink_it(struct chan_link *link)
{
    (void)link;
}

static int progress(struct chan *made)
{
    (void)made;
    return 0;
}

static int arm(struct chan *made, enum chan_sleep how)
{
    (void)made, (void)how;
    return 0;
}

const struct chan_ops vireo_channel = {
    .version = CHAN_VERSION + (HOW == VERSION),
    .size = sizeof(struct chan_ops) - 8 * (HOW == SIZE),
    .name = HOW == NAME ? "a;b" : HOW == TAKEN ? "tcp" : HOW == RESERVED ? "impi" : "bad",
    .open = open_it,
    .close = close_it,
    .card = card,
    .match = match,
    .link = link_to,
    .unlink = HOW == LACKS ? NULL : unlink_it,
    .progress = progress,
    .arm = arm,
    .disarm = close_it,
};

#endif
