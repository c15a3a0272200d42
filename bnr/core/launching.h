/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starting a daemon on each host: so many at a time, each within a time limit, again after a while
 * if it fails for a reason that may pass. Which hosts come first has nothing to do with the routing
 * tree.
 *
 *     WAITING --a place is free--> STARTING --dialed back--> UP
 *        ^                            | failed, time is up
 *        +--- rest is over --- RESTING+--no try is left--> FAILED
 *
 * A daemon that is lost before all are up has failed, too.
 */
#ifndef BNR_LAUNCHING_H
#define BNR_LAUNCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum launching_state {
    LAUNCHING_WAITING,
    LAUNCHING_STARTING,
    LAUNCHING_RESTING,
    LAUNCHING_UP,
    LAUNCHING_FAILED,
    LAUNCHING_STATE_END
};

/* How far it got; what a failure is told with. */
enum launching_stage {
    LAUNCHING_RESOLVE,
    LAUNCHING_CONNECT,
    LAUNCHING_AUTHENTICATE,
    LAUNCHING_EXECUTE,
    LAUNCHING_DIAL_BACK,
    LAUNCHING_STAY /* until all are up */
};

enum launching_event {
    LAUNCHING_REACHED, /* a stage, with its number */
    LAUNCHING_DIALED,  /* the daemon is there */
    LAUNCHING_ENDED,   /* the command ended, for a reason that may pass */
    LAUNCHING_REFUSED, /* the command ended, for one that will not: no such host, key, program */
    LAUNCHING_LATE,    /* its time is up */
    LAUNCHING_LOST,    /* the daemon was there, and is not any more */
    LAUNCHING_RESTED,
    LAUNCHING_PLACE, /* it is its turn */
    LAUNCHING_EVENT_END
};

enum launching_action {
    LAUNCHING_START = 1, /* run the command for host; attempt counts from 1 */
    LAUNCHING_STOP,      /* end the command of host */
    LAUNCHING_GIVE_UP,   /* host has failed: stage says how far it got at its best */
    LAUNCHING_COMPLETE,  /* all hosts are up, or have failed */
};

struct launching_effect {
    enum launching_action action;
    uint32_t host, attempt;
    enum launching_stage stage;
};

struct launching_effects {
    struct launching_effect *items;
    size_t count, room;
    bool failed; /* memory ran out */
};

struct launching_host {
    uint8_t state, stage, attempts;
    int64_t until_ns; /* STARTING: late; RESTING: rested */
};

struct launching_settings {
    uint32_t fan_out;  /* at a time */
    uint32_t attempts; /* for each host */
    int64_t limit_ns;  /* for each attempt */
    int64_t rest_ns;   /* before the second; doubles */
};

extern const struct launching_settings launching_settings_default;

struct launching {
    struct launching_settings settings;
    struct launching_host *hosts;
    uint32_t count, starting, settled; /* settled: up or failed */
    uint32_t next;                     /* no host before it is WAITING */
};

/* Begin with all hosts. Effects are appended; the caller empties them. Returns 0 or -ENOMEM. */
int launching_begin(struct launching *l, uint32_t count, const struct launching_settings *settings,
                    int64_t now, struct launching_effects *effects);
void launching_fini(struct launching *l);

/* Something was seen of a host; stage counts for REACHED. */
void launching_step(struct launching *l, uint32_t host, enum launching_event event,
                    enum launching_stage stage, int64_t now, struct launching_effects *effects);

/* Time has passed. */
void launching_tick(struct launching *l, int64_t now, struct launching_effects *effects);

/* The caller has stood still for so long: no limit ran meanwhile. */
void launching_paused(struct launching *l, int64_t ns);

/* A person is asked for this host now: its time begins anew. */
void launching_hold(struct launching *l, uint32_t host, int64_t now);

/* When launching_tick() has something to do; INT64_MAX: nothing. */
int64_t launching_next(const struct launching *l);

void launching_effects_fini(struct launching_effects *effects);

/* The word for a stage, as messages have it. */
const char *launching_stage_word(enum launching_stage stage);

#endif
