/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processes of the ranks that run on this machine: mpiexec has them, and so has each daemon.
 * They are started with the host table in their hands, reaped in the order of their ends, and what
 * they leave behind is ended with them, as leftovers.h says.
 */
#ifndef BNR_RANKS_H
#define BNR_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bnr/host/table.h"
#include "bnr/launch/library.h"

struct job_facts;
struct launch;
struct ranks_care;
struct ranks_pipes;
struct termios;
struct uv_loop_s;
struct winsize;

enum {
    RANKS_GUARDS = 2 /* wardens */
};

struct ranks_app {
    const char *path; /* as launch_resolve() found it */
    char *const *argv;
    char **environment; /* without the launcher's own words */
    char *library[LIBRARY_SETTINGS + 1]; /* in there, for the loader; NULL-terminated */
    const char *wdir;   /* NULL: stay */
    bool has_pmi;       /* each process has a socket for PMI-1: its library may be another MPI */
    bool in_session;    /* each process starts in a folder of its own instead */
};

struct ranks_hooks {
    /* Make pipes. Those ends that the rank has are closed once it runs. Returns 0 or -errno. */
    int (*open)(void *arg, int rank, struct ranks_pipes *pipes);
    /* The rank runs: take the ends [0][1], [1][0] and [2][0]. Returns 0 or -errno. */
    int (*attach)(void *arg, int rank, const struct ranks_pipes *pipes);
    /* Say how the rank is to be started, beside what its program says; NULL: nothing more.
     * Returns 0 or -errno. */
    int (*amend)(void *arg, int rank, struct launch *l);
    void (*ended)(void *arg, int rank, const struct job_facts *facts);
    /* A child that is no rank has ended. */
    void (*other_ended)(void *arg, int pid, int status);
    void *arg;
};

struct ranks_extra;

struct ranks {
    struct table table;
    struct ranks_care *care; /* the wardens, and what is to be ended or removed behind the ranks */
    struct ranks_hooks hooks;
    const struct ranks_app *apps;
    bool is_in_grace; /* signals that end them have been sent, and they have time to obey */
    struct ranks_extra *extra;
    char **environment; /* of the program being started */
    int environment_app;
    int *terminals; /* by rank: our side of its terminal, to change the size; -1: none */
    int (*open_pmi)(void *arg, int rank); /* make a socket for PMI-1: the end that a rank inherits, or -errno; NULL: none */
    void *open_pmi_arg;
    int bell; /* ranks write to it to ask a daemon; -1: there is none */
};

/* Make the segments; then, with apps set, the folder in which some ranks start, if any; then the
 * wardens, which guard all that; name: see wardens_start(). Returns 0, or -errno with the failed
 * step in *step. */
int ranks_create(struct ranks *r, const struct table_spec *spec, const struct ranks_hooks *hooks,
                 const char **step);
int ranks_make_folder(struct ranks *r, const char **step);
int ranks_guard(struct ranks *r, char *name, size_t name_size, const char **step);
/* A child has been reaped. If it was a warden, another is started; returns 0, or -errno: none can be. */
int ranks_guard_again(struct ranks *r, int pid);
/* mpiexec has changed the modes of its terminal, from the first to the second of two; NULL: they are as they were
 * again. See wardens_know(). */
void ranks_guard_terminal(struct ranks *r, const struct termios *modes);
/* Write the numbers of the wardens' processes. Returns how many there are; none of a zeroed r. */
uint32_t ranks_guards(const struct ranks *r, pid_t pids[RANKS_GUARDS]);
/* All ranks have ended: remove what the wardens guard, and let them go. Accepts a zeroed r. */
void ranks_unguard(struct ranks *r);

/* Look after groups that outlive their rank's process, by a loop's timer, and give those that hold output so long;
 * see leftovers.h. */
void ranks_watch_groups(struct ranks *r, struct uv_loop_s *loop, uint64_t hold_ms);
/* The loop must run once more. */
void ranks_unwatch_groups(struct ranks *r);
void ranks_destroy(struct ranks *r);

/* Terminals of ranks here have another size now. */
void ranks_resize(struct ranks *r, const struct winsize *size);

/* Begin the numbers of descriptors that ranks inherit; -errno: it stays as it was. */
int ranks_lift(int fd);

/* The end of a slice of time that begins now, os_now_ns(). Ranks are started and reaped in slices, and
 * between them the loop hears of all else: a host that did nothing else with many ranks would be taken
 * for lost. */
uint64_t ranks_slice(void);

/* Start one; apps is set. Returns 0, or -errno with the failed step in *step. */
int ranks_start(struct ranks *r, int rank, const char **step);

/* Have ranks wait in MPI_Init, from before they are started; let them go on. */
void ranks_hold(struct ranks *r);
void ranks_release(struct ranks *r);

/* Whether it runs, here. */
bool ranks_lives(const struct table *t, int rank);

/* Whether a rank of this host has come to MPI_Init, or its like. */
bool ranks_has_begun(const struct ranks *r, int rank);
/* Whether a rank that lives here has asked that others go on when ranks fail. */
bool ranks_some_tolerate(const struct ranks *r);
/* A rank that is in the midst of its MPI calls, here; -1: there is none. */
int ranks_communicating(const struct ranks *r);
/* Signal the process groups of all that run here. */
void ranks_signal(struct ranks *r, int number);
/* The same of one rank, if it does. */
void ranks_signal_one(struct ranks *r, int rank, int number);
/* Children have ended: reap them. Returns whether the slice was over before all were. */
bool ranks_reap(struct ranks *r);
/* Write "0-3,7": those that run here. */
void ranks_list_running(const struct table *t, char *text, size_t size);

/* Write the numbers below count that are in the set as "0-3,7". */
void ranks_list(char *text, size_t size, int count, bool (*is_in)(const void *set, int i),
                const void *set);

#endif
