/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The plan of a job: its programs, their environments, the hosts, and what is to become of its output. It is
 * all that running a job needs to know of what the user wants. The options of mpiexec make one
 * (bnr/options/options.h), and so may any other program.
 *
 * Strings are borrowed and outlive the plan, but for those of NULL-terminated lists, which it owns.
 */
#ifndef BNR_PLAN_H
#define BNR_PLAN_H

#include <stdbool.h>

#include "bnr/core/place/start_wish.h"
#include "bnr/stdio/outfile.h"
#include "bnr/wire/hosts.h"

struct remote;

/* Which of mpiexec's own variables a process gets. */
enum plan_pass {
    PLAN_PASS_DEFAULT,
    PLAN_PASS_ALL,
    PLAN_PASS_NONE,
    PLAN_PASS_LIST
};

/* Changes of the environment, in the order given. */
struct plan_env {
    enum plan_pass pass;
    char **list;    /* names that pass when pass is PLAN_PASS_LIST; NULL-terminated */
    char **without; /* names that do not pass; NAME* for all that begin so; NULL-terminated */
    char **set;     /* "NAME=VALUE", a later one replaces an earlier; NULL-terminated */
};

/* One program of the job: its ranks follow those of the program before. */
struct plan_app {
    int count;        /* processes, at least 1 */
    int per_node;     /* at most so many on each host; 0: not given */
    char **argv;      /* NULL-terminated; argv[0] as the user wrote it */
    const char *path; /* folders to seek it in before those of PATH, or NULL */
    const char *wdir; /* directory to start in, as written, or NULL */
    bool in_session;  /* without it, each process starts in a folder of its own */
    const char *pset; /* the name of its process set, or NULL */
    const char *behind; /* the option before it that could have had a value, or NULL */
    struct plan_env env;
};

enum plan_launcher {
    PLAN_LAUNCHER_ANY, /* while options are read: chosen by the list of hosts */
    PLAN_LAUNCHER_SSH,
    PLAN_LAUNCHER_SRUN
};

/* How daemons are started on other hosts. */
struct plan_remote {
    const char *command;  /* of --launcher-cmd, or NULL */
    enum plan_launcher launcher;
    const char *program;  /* in place of ssh or srun, or NULL */
    const char *agent;    /* in place of ssh alone: a program with its options, or NULL */
    const char *ssh_more, *srun_more; /* words behind those of ssh and of srun, or NULL */
    const char *prefix;   /* this library's folder there, or NULL: as here */
    bool is_piped;        /* daemons are linked by the launcher's own pipes */
    int per_host;         /* -ppn; 0: not given */
};

struct plan {
    struct plan_app *apps;
    int napps;
    int nranks;            /* sum of the apps' counts */
    struct hosts hosts;    /* those named, or allocated; none: this host alone */
    struct plan_env env;   /* for every program, before its own */
    char **settings;       /* "VIREO_NAME=VALUE" of the ranks; NULL-terminated */
    struct start_wish start;
    struct plan_remote remote;
    int universe_size;     /* at least nranks; 0: not given */
    int pretend_hosts;     /* 0: not given */
    double timeout_s;      /* 0: none */
    bool goes_on;          /* when a rank fails, the others are left alone */
    bool is_strict;        /* they are not, whatever the ranks ask for */
    bool has_keepalive;    /* the job ends with what the descriptor reads */
    int keepalive_fd;
    struct outfile files;  /* of what ranks write */
    bool merge;            /* stderr goes where stdout goes */
    bool json, xml;        /* each line becomes a JSON object, or an XML element */
    const char *prefix;    /* each line's beginning, as prefix.h has it; NULL: nothing */
    bool verbose, shows_progress, report;
    const char *proctable; /* where to write the processes: -, + or a file; NULL: nowhere */
    bool tells_codes, tells_times;
};

/* A plan of nothing: no program, one host, and what holds where nothing else is wished. */
void plan_init(struct plan *plan);
/* Release what it owns. Accepts a zeroed one. */
void plan_fini(struct plan *plan);

/* Release what the environment, and the program, of a plan own. */
void plan_free_env(struct plan_env *env);
void plan_free_app(struct plan_app *app);
/* Free a NULL-terminated list and its strings; NULL: nothing. */
void plan_free_list(char **list);

/* Compose the environment of app's processes: the passed part of base (environ), then settings, the
 * plan's variables, the app's, and last extra (the launcher's own; may be NULL). A later value of a
 * name replaces an earlier. Returns a NULL-terminated array to release with one free(); its strings
 * are borrowed from the arguments. NULL when memory is out. */
char **plan_environ(const struct plan *plan, const struct plan_app *app, char *const *base,
                       char *const *extra);

/* How daemons, and debuggers, are to be started on other machines. */
struct remote plan_remote(const struct plan *plan);

#endif
