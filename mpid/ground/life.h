/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a module of the device does as the device begins and ends. It says so in a row of its own, which has its name;
 * mpid/start/start.c has the order. So nobody else needs to know of it.
 */
#ifndef MPID_LIFE_H
#define MPID_LIFE_H

/* Any of these may be NULL. The last two are called in reverse order, also where the device could not start. */
struct life {
    int (*attach)(void); /* the process has joined its job, at first or again; returns 0 or a code of BNR */
    int (*start)(void);  /* the device starts, and no channel is open; returns 0 or negative */
    void (*open)(void);  /* the channels are open */
    void (*close)(void); /* they are about to be closed */
    void (*end)(void);   /* they are closed */
};

extern const struct life connect_life, crash_life, deaths_life, ended_life, facts_life, hang_life, idle_life, lost_life,
    notice_life, parted_life, recv_life, region_life, rndv_life, stats_life, vc_life;

#endif
