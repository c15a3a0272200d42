/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Diagnostics. The function that first sees a failure writes one line about it with os_fail() and
 * returns the code; its callers forward the code and write nothing. Lines go to stderr, one write()
 * each, and name the writer (os_log_who()).
 *
 * Any thread may call these. Nothing is written below the level that
 * VIREO_LOG sets (error, warn, info, debug; default warn).
 */
#ifndef OS_LOG_H
#define OS_LOG_H

#include <stddef.h>

enum os_log_level {
    OS_LOG_ERROR,
    OS_LOG_WARN,
    OS_LOG_INFO,
    OS_LOG_DEBUG
};

/* Name this process and its host in every later line; rank < 0 means none. The host's name is kept,
 * not copied. */
void os_log_identity(int rank, const char *host);

/* This process's name: "rank 3 on host", as os_log_identity() or mpiexec has told it, or "program
 * on host". */
enum {
    OS_LOG_WHO = 160
}; /* bytes are enough */
void os_log_who(char *text, size_t size);

/* Write one line if level is enabled. */
void os_log(enum os_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Write one error line, with the meaning of rc (-errno) appended; return rc. */
int os_fail(int rc, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* Put "?" for each control character, so that text from others cannot send commands to a terminal.
 */
void os_one_line(char *text);

/* This host's name, as os_log_identity() or mpiexec has told it, or as the kernel has it, cut to
 * 255 bytes. It is never resolved, and the call never fails. */
const char *os_host_name(void);

#endif
