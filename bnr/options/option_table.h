/* SPDX-License-Identifier: BSD-3-Clause */

/* The rows of mpiexec's options, and how to find one. */
#ifndef BNR_OPTION_TABLE_H
#define BNR_OPTION_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum option_action {
    OPTION_COUNT,
    OPTION_PER_NODE,
    OPTION_PER_HOST,
    OPTION_WDIR,
    OPTION_ENV,
    OPTION_GENV,
    OPTION_EXPORT,
    OPTION_ENVLIST,
    OPTION_GENVLIST,
    OPTION_ENVALL,
    OPTION_GENVALL,
    OPTION_ENVNONE,
    OPTION_ENVEXCL,
    OPTION_GENVEXCL,
    OPTION_APPEND,
    OPTION_PREPEND,
    OPTION_ERRHANDLER,
    OPTION_PSET,
    OPTION_MEMORY,
    OPTION_GENVNONE,
    OPTION_LABEL,
    OPTION_STAMP,
    OPTION_PREFIX,
    OPTION_OUTPUT,
    OPTION_XML,
    OPTION_BACKGROUND,
    OPTION_SHOW_SETTINGS,
    OPTION_OUT_FOLDER,
    OPTION_OUT_FILE,
    OPTION_ERR_FILE,
    OPTION_MERGE,
    OPTION_STDIN,
    OPTION_TIMEOUT,
    OPTION_SET,
    OPTION_UNIVERSE,
    OPTION_PRETEND,
    OPTION_RMK,
    OPTION_DAEMON,
    PLAN_LAUNCHER_COMMAND,
    OPTION_LAUNCHER,
    PLAN_LAUNCHER_PROGRAM,
    OPTION_REMOTE_PREFIX,
    OPTION_DAEMON_LINK,
    OPTION_GO_ON,
    OPTION_ON_FAILURE,
    OPTION_REPORT,
    OPTION_CHECK,
    OPTION_PATH,
    OPTION_PTY,
    OPTION_SESSION,
    OPTION_KEEPALIVE,
    OPTION_OUTPUT_FROM,
    OPTION_REPORT_PID,
    OPTION_PROCTABLE,
    OPTION_SUMMARY,
    OPTION_TRACE,
    OPTION_NAME_RANKS,
    OPTION_GPUS,
    OPTION_CODES,
    OPTION_TIMES,
    OPTION_VERBOSE,
    OPTION_PROGRESS,
    OPTION_VERSION,
    OPTION_ATTACH,
    OPTION_HELP,
    OPTION_HOST,
    OPTION_HOSTFILE,
    OPTION_DEFAULT_HOSTFILE,
    OPTION_MORE_HOSTS,
    OPTION_MORE_HOSTS_FILE,
    OPTION_ARCH,
    OPTION_MAP, /* from here to OPTION_DRY: where ranks run */
    OPTION_RANK_BY,
    OPTION_BIND,
    OPTION_MEMBIND,
    OPTION_CPU_SET,
    OPTION_CPU_LIST,
    OPTION_RANKFILE,
    OPTION_LIMITED,
    OPTION_ELSEWHERE,
    OPTION_OVERSUBSCRIBE,
    OPTION_BY_THREAD,
    OPTION_SHOW_BINDINGS,
    OPTION_SHOW_MAP,
    OPTION_SHOW_HARDWARE,
    OPTION_DRY,
    OPTION_XTERM, /* from here to OPTION_AGENT: the surroundings of ranks */
    OPTION_GDB,
    OPTION_DEBUGGER,
    OPTION_TOTALVIEW,
    OPTION_STOP_EXEC,
    OPTION_STOP_INIT,
    OPTION_AGENT,
    OPTION_MCA,
    OPTION_MCA_FILE,
    OPTION_IFACE,
    OPTION_DISPLAY,
    OPTION_RUNTIME,
    OPTION_SIGNALS,
    OPTION_OFF,
    OPTION_S,
    OPTION_CONFIG,
    OPTION_ALIAS, /* for other options */
    OPTION_IGNORED,
    OPTION_REFUSED,
};

enum option_section {
    OPTION_PROGRAM, /* holds for the program after it */
    OPTION_JOB,
    OPTION_PLACE, /* where ranks run */
    OPTION_STREAMS,
    OPTION_INFORMATION,
    OPTION_FOREIGN, /* from other launchers */
    OPTION_SECTIONS,
};

struct option_row {
    const char *names; /* spellings without dashes, separated by blanks; the first is shown first */
    const char *value; /* its words as help shows them; NULL: none; "[...]": only after "=" */
    enum option_section section;
    enum option_action action;
    const char *about; /* one sentence; of OPTION_REFUSED: why, and the cure; no period */
};

extern const struct option_row option_table[];
extern const int option_table_count;
extern const char *const option_section_titles[OPTION_SECTIONS];

/* The row that has name (len bytes, no dashes) among its spellings, or NULL. */
const struct option_row *option_find(const char *name, size_t len);

/* The options that a name (len bytes) of OPTION_ALIAS stands for, with "%" for its value. */
const char *option_alias(const char *name, size_t len);

/* The spelling nearest to name, with its dashes, into near (at least 64 bytes); "" if none is near,
 * or the nearest is refused. */
void option_nearest(const char *name, size_t len, char *near, size_t size);

/* Write a spelling with the dashes it is usually written with: one for a
 * single letter and for the first dialect's words, two with a "-" inside. */
void option_spell(const char *name, size_t len, char *text, size_t size);

/* For programs: print a line for each parameter of Open MPI that is known by name, as the table of
 * options is printed. */
void option_mca_print(FILE *to);

#endif
