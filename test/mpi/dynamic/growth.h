/* SPDX-License-Identifier: BSD-3-Clause */

/* What a process holds, by which tests see that it does not grow. */
#ifndef TEST_GROWTH_H
#define TEST_GROWTH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Descriptors that are open, and a few more, always as many. */
static inline int count_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* A value of /proc/self/status: VmRSS in KiB, or Threads. */
static inline long status_of(const char *key)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
            value = atol(line + strlen(key) + 1);
    if (file)
        fclose(file);
    return value;
}

#endif
