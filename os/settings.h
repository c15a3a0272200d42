/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The one table of settings. Each row has a name, a type, a default, a unit and a sentence; the
 * environment (VIREO_<NAME>), mpiexec's option --set NAME=VALUE and doc/settings.md are views of
 * it. A name that starts with VIREO_ and is neither in the table nor one of the few that wrappers
 * and tests have, or a value that does not parse, is an error, and is never ignored.
 *
 * Values are read from the environment once, at the first os_settings_load(); after
 * that only os_setting_put() changes them.
 */
#ifndef OS_SETTINGS_H
#define OS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum os_setting_type {
    OS_TYPE_INT,
    OS_TYPE_SIZE,
    OS_TYPE_BOOL,
    OS_TYPE_CHOICE,
    OS_TYPE_TEXT
};

/* Index of each setting in the table, in its order. */
enum os_setting_id {
    OS_SETTING_LOG,
    OS_SETTING_CHANNELS,
    OS_SETTING_CHANNEL_PATH,
    OS_SETTING_CHANNEL_PARAMS,
    OS_SETTING_BYTE_ORDER,
    OS_SETTING_SINGLE_COPY,
    OS_SETTING_SPIN_US,
    OS_SETTING_YIELDS,
    OS_SETTING_EAGER_CREDIT,
    OS_SETTING_CONNECT_TIMEOUT_MS,
    OS_SETTING_CONNECTIONS_MOST,
    OS_SETTING_CONNECTIONS_IDLE_MS,
    OS_SETTING_REPORT,
    OS_SETTING_CRASH_LINES,
    OS_SETTING_SINGLETON,
    OS_SETTING_TCP_ADDRESSES,
    OS_SETTING_INITIAL_ERRHANDLER,
    OS_SETTING_MEMORY_ALLOC_KINDS,
    OS_SETTING_KILL_AFTER_MS,
    OS_SETTING_LEAVE_LIMIT_MS,
    OS_SETTING_OUTPUT_UNREAD,
    OS_SETTING_READER_WAIT_MS,
    OS_SETTING_STREAM_WINDOW,
    OS_SETTING_IO_REPORT,
    OS_SETTING_STREAM_BUFFERING,
    OS_SETTING_PSETS,
    OS_SETTING_SUMMARY,
    OS_SETTING_TRACE,
    OS_SETTING_REGION_AFTER,
    OS_SETTING_RMA_THREAD,
    OS_SETTING_COLL_BARRIER,
    OS_SETTING_COLL_BCAST,
    OS_SETTING_COLL_REDUCE,
    OS_SETTING_COLL_ALLREDUCE,
    OS_SETTING_COLL_GATHER,
    OS_SETTING_COLL_SCATTER,
    OS_SETTING_COLL_ALLGATHER,
    OS_SETTING_COLL_ALLTOALL,
    OS_SETTING_COLL_REDUCE_SCATTER,
    OS_SETTING_COLL_SCAN,
    OS_SETTING_COLL_EXSCAN,
    OS_SETTING_COLL_TUNING,
    OS_SETTING_CHECK,
    OS_SETTING_LIVENESS_MS,
    OS_SETTING_TREE_RADIX,
    OS_SETTING_XCAST_MODE,
    OS_SETTING_XCAST_DIRECT_HOSTS,
    OS_SETTING_XCAST_LINEAR_HOSTS,
    OS_SETTING_XCAST_LINEAR_BYTES,
    OS_SETTING_XCAST_RADIX_BYTES,
    OS_SETTING_XCAST_BINOMIAL_BYTES,
    OS_SETTING_LAUNCH_FAN_OUT,
    OS_SETTING_LAUNCH_LIMIT_MS,
    OS_SETTING_COUNT
};

/* How long a program can change a setting by os_setting_put(), as a tool does. */
enum os_setting_until {
    OS_UNTIL_START, /* until the library starts, which reads it once */
    OS_UNTIL_END,   /* at any time: each use reads it */
    OS_UNTIL_NEVER  /* it is for mpiexec */
};

struct os_setting_row {
    const char *name; /* lower case, without the VIREO_ prefix */
    enum os_setting_type type;
    const char *initial; /* default, as text */
    const char *unit;    /* "" without one; a choice lists its words */
    const char *about;   /* one sentence */
    enum os_setting_until until;
    bool equal; /* all processes of a job must have the same value: settings_equal.h */
};

extern const struct os_setting_row os_settings[OS_SETTING_COUNT];

/* Read every setting from the environment. On a bad name or value, write a
 * sentence with the cure into why and return -EINVAL; later calls return the
 * first call's result. */
int os_settings_load(char *why, size_t size);

/* The value of an int, size, bool or choice setting (a choice's index). */
int64_t os_setting(enum os_setting_id id);
/* The same of its initial value. */
int64_t os_setting_initial(enum os_setting_id id);
/* The text of any setting; never NULL. */
const char *os_setting_text(enum os_setting_id id);

/* Replace a value from now on. Any thread may call this at any time. Returns 0, -EINVAL where the
 * text does not parse, or -ENOMEM; then nothing has changed. */
int os_setting_put(enum os_setting_id id, const char *text);

/* Check one NAME=VALUE pair as os_settings_load does. */
int os_setting_check(const char *name, const char *value, char *why, size_t size);

#endif
