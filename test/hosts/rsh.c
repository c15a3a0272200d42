/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A cheap command to start daemons of any launcher with, used as ssh is: options, which are left
 * out, a host of test/hosts/run, and words, which a shell there reads as one line.
 */
#include "test/hosts/hosts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "rsh: ");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static bool has_value(const char *option)
{
    return !strcmp(option, "-o") || !strcmp(option, "-l");
}

int main(int argc, char **argv)
{
    static char line[1 << 17];
    char *words[] = {"sh", "-c", line, NULL};
    size_t len = 0;
    int at = 1;
    while (at < argc && argv[at][0] == '-')
        at += has_value(argv[at]) ? 2 : 1;
    if (at + 1 >= argc)
        die("usage: rsh [OPTIONS] HOST WORDS");
    for (int i = at + 1; i < argc; i++) {
        size_t more = strlen(argv[i]);
        if (len + more + 2 > sizeof(line))
            die("the words are too long");
        memcpy(line + len, argv[i], more);
        len += more;
        line[len++] = i + 1 < argc ? ' ' : 0;
    }
    return enter_host(argv[at], words, false);
}
