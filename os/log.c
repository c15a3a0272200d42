/* SPDX-License-Identifier: BSD-3-Clause */

/* One line per event on stderr; see log.h. */
#include "os/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/settings.h"

static int log_rank = -1;
static const char *log_host;

void os_log_identity(int rank, const char *host)
{
    log_rank = rank;
    log_host = host;
}

void os_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

const char *os_host_name(void)
{
    static char name[256];
    const char *told = log_host ? log_host : getenv("BNR_HOST");
    if (told && *told)
        return told;
    if (!name[0] && (gethostname(name, sizeof(name) - 1) || !name[0]))
        strcpy(name, "localhost");
    return name;
}

void os_log_who(char *text, size_t size)
{
    /* mpiexec's facts about the process. The process may not have read them yet, and may not need
     * them. */
    const char *rank = getenv("BNR_RANK");
    size_t len = rank ? strspn(rank, "0123456789") : 0;
    if (log_rank >= 0)
        snprintf(text, size, "rank %d on %.64s", log_rank, os_host_name());
    else if (len && !rank[len] && len < 10)
        snprintf(text, size, "rank %s on %.64s", rank, os_host_name());
    else
        snprintf(text, size, "%.64s on %.64s", program_invocation_short_name, os_host_name());
}

static void write_line(const char *what, const char *fmt, va_list args, int rc)
{
    char line[1024], who[OS_LOG_WHO];
    os_log_who(who, sizeof(who));
    int n = snprintf(line, sizeof(line), "vireo: %s: %s: ", who, what);
    n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, args);
    if (n >= (int)sizeof(line) - 1)
        n = (int)sizeof(line) - 2;
    if (rc < 0) {
        n += snprintf(line + n, sizeof(line) - (size_t)n, ": %s", strerror(-rc));
        if (n >= (int)sizeof(line) - 1)
            n = (int)sizeof(line) - 2;
    }
    line[n++] = '\n';
    ssize_t unused = write(STDERR_FILENO, line, (size_t)n);
    (void)unused;
}

void os_log(enum os_log_level level, const char *fmt, ...)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    if ((int64_t)level > os_setting(OS_SETTING_LOG))
        return;
    va_list args;
    va_start(args, fmt);
    write_line(words[level], fmt, args, 0);
    va_end(args);
}

int os_fail(int rc, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    write_line("error", fmt, args, rc);
    va_end(args);
    return rc;
}
