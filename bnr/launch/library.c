/* SPDX-License-Identifier: BSD-3-Clause */

/* The MPI library of this installation; see library.h. */
#include "bnr/launch/library.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/foreign.h"
#include "include/version.h"

static const char name[] = "libmpi_abi.so.1", variable[] = "LD_LIBRARY_PATH=";

static const char *value_of(char *const *environment)
{
    for (; *environment; environment++)
        if (!strncmp(*environment, variable, strlen(variable)))
            return *environment + strlen(variable);
    return NULL;
}

/* The folder, from that of this program. Returns whether the library is in it. */
static bool find_folder(char folder[PATH_MAX])
{
    char own[PATH_MAX], file[2 * PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[len > 0 ? len : 0] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(own, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    if (VIREO_LIBDIR[0] == '/')
        snprintf(file, sizeof(file), "%s", VIREO_LIBDIR);
    else
        snprintf(file, sizeof(file), "%s/%s", own, VIREO_LIBDIR);
    if (!realpath(file, folder))
        return false;
    snprintf(file, sizeof(file), "%s/%s", folder, name);
    return !access(file, R_OK);
}

/* Whether the loader looks there by itself; what else lies there must not come before the rest. */
static bool is_of_system(const char *folder)
{
    return !strncmp(folder, "/usr/lib", 8) || !strncmp(folder, "/lib", 4);
}

char *library_setting(const char *path, char *const *environment)
{
    char folder[PATH_MAX], *setting = NULL;
    const char *value = value_of(environment);
    if (!foreign_lacks(path, name, value) || !find_folder(folder) || is_of_system(folder))
        return NULL;
    int n = asprintf(&setting, "%s%s%s%s", variable, value ? value : "", value && *value ? ":" : "",
                     folder);
    return n < 0 ? NULL : setting;
}
