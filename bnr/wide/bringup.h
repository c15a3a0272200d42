/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starting the daemons: commands that mpiexec runs, so many at a time, as bnr/core/launching.h
 * says. A command gets the order by its stdin; what the daemon says first on stdout is its version.
 * The command lives as long as the daemon does.
 */
#ifndef BNR_BRINGUP_H
#define BNR_BRINGUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "bnr/core/bytes.h"
#include "bnr/core/launching.h"
#include "bnr/launch/remote.h"
#include "bnr/wide/login.h"

struct bringup_host {
    const char *name, *user; /* user may be NULL */
};

struct bringup_hooks {
    /* The order for a host. NULL: no memory. */
    struct bytes *(*order)(void *arg, uint32_t host);
    /* The link is piped: take over what the daemon's stdin and stdout are. Returns 0 or -errno. */
    int (*piped)(void *arg, uint32_t host, int in_fd, int out_fd);
    /* The daemon's address, in hexadecimal digits; see addresses.h. */
    void (*found)(void *arg, uint32_t host, const char *digits);
    /* A line of what it tells of its machine (survey.h). Returns whether that was the last. */
    bool (*told)(void *arg, uint32_t host, const char *digits);
    /* It cannot be started; text: why, in a sentence or a few lines. */
    void (*failed)(void *arg, uint32_t host, const char *text);
    /* For some seconds hosts have been awaited; text: which. May be NULL. */
    void (*waiting)(void *arg, const char *text);
    /* All daemons are there, or have failed. */
    void (*complete)(void *arg, bool are_all_up);
    void *arg;
};

struct bringup_command;

struct bringup {
    uv_loop_t *loop;
    struct remote remote;
    bool is_piped;
    const struct bringup_host *hosts;
    uint32_t count, failures;
    struct bringup_hooks hooks;
    struct launching launching;
    struct launching_effects effects;
    bool is_carrying;
    struct bringup_command *commands; /* by host */
    struct login login;
    uv_timer_t ask;   /* runs while a login may ask a person */
    uv_timer_t timer; /* runs while a command has a time limit, or rests */
    bool is_asking;    /* a login asks its user something */
    uv_timer_t notice; /* until it is time to name the awaited hosts */
};

/* Begin. The hosts and what remote names outlive it. Returns 0 or -errno. */
int bringup_start(struct bringup *b, uv_loop_t *loop, const struct launching_settings *settings);

/* The daemon of a host has told who it is. */
void bringup_dialed(struct bringup *b, uint32_t host);

/* It was there, and is lost; before all are there, that is a failure. */
void bringup_lost(struct bringup *b, uint32_t host);

/* This process has stood still for so long. */
void bringup_paused(struct bringup *b, uint64_t ns);

/* A child of this process has ended. Returns whether it was a command of these. */
bool bringup_ended(struct bringup *b, pid_t pid, int status);

/* Whether the command of a host runs. */
bool bringup_lives(const struct bringup *b, uint32_t host);
uint32_t bringup_living(const struct bringup *b);
/* Write the numbers of commands that run, at most max. Returns how many. */
uint32_t bringup_pids(const struct bringup *b, pid_t *pids, uint32_t max);

/* Kill all that still run. */
void bringup_kill(struct bringup *b);
/* Close everything; the loop must run once more, then bringup_destroy(). */
void bringup_stop(struct bringup *b);
void bringup_destroy(struct bringup *b);

#endif
