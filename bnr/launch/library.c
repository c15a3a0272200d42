/* SPDX-License-Identifier: BSD-3-Clause */

/* The MPI library of this installation; see library.h. */
#include "bnr/launch/library.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/foreign.h"
#include "bnr/launch/launch.h"
#include "include/version.h"
#include "os/log.h"

static const char name[] = "libmpi_abi.so.1", variable[] = "LD_LIBRARY_PATH";
static const char profile[] = "libvireo-profile.so";

/* The folder that has the folder of this program. */
static bool find_top(char own[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", own, PATH_MAX - 1);
    own[len > 0 ? len : 0] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(own, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    return true;
}

/* The folder, from that of this program. Returns whether the library is in it. */
static bool find_folder(char folder[PATH_MAX])
{
    char own[PATH_MAX], file[2 * PATH_MAX];
    if (!find_top(own))
        return false;
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

/* "LD_LIBRARY_PATH=...", with the folder of the MPI library where the program would not find it, and with
 * another (or NULL). NULL where the program does without, or memory is out. */
static char *search_setting(const char *path, char *const *environment, const char *other)
{
    char folder[PATH_MAX], *setting = NULL;
    const char *value = launch_variable(environment, variable);
    bool is_lacking = foreign_lacks(path, name, value) && find_folder(folder) && !is_of_system(folder);
    if (!is_lacking && !other)
        return NULL;
    if (!is_lacking)
        *folder = 0;
    int n = asprintf(&setting, "%s=%s%s%s%s%s", variable, value ? value : "",
                     value && *value ? ":" : "", folder, *folder && other ? ":" : "",
                     other ? other : "");
    return n < 0 ? NULL : setting;
}

/* Beside the MPI library; where nothing is installed, in its folder of the build. */
static bool find_profile(char file[2 * PATH_MAX])
{
    char folder[PATH_MAX], own[PATH_MAX];
    if (find_folder(folder)) {
        snprintf(file, 2 * PATH_MAX, "%s/%s", folder, profile);
        if (!access(file, R_OK))
            return true;
    }
    if (!find_top(own))
        return false;
    snprintf(file, 2 * PATH_MAX, "%s/profile/%s", own, profile);
    return !access(file, R_OK);
}

/* "LD_PRELOAD=...", if wanted. The loader parts that list at blanks, even within quotes: it has to
 * search a folder with a blank, *folder; any other leaves *folder NULL. Returns 0, -ENOMEM or
 * -ENOENT. */
static int profile_setting(char *const *environment, char **setting, char **folder)
{
    static const char preload[] = "LD_PRELOAD";
    const char *wanted[] = {launch_variable(environment, "VIREO_TRACE"),
                            launch_variable(environment, "VIREO_SUMMARY")};
    const char *value = launch_variable(environment, preload);
    char file[2 * PATH_MAX];
    *setting = NULL;
    if (!(wanted[0] && *wanted[0]) && !(wanted[1] && *wanted[1] && strcmp(wanted[1], "0")))
        return 0;
    if (!find_profile(file))
        return os_fail(-ENOENT, "--trace and --summary need %s, which this installation lacks: install "
                                "libjansson-dev, and build again", profile);
    char *slash = strrchr(file, '/');
    if (strpbrk(file, ":;"))
        return os_fail(-ENOENT, "--trace and --summary cannot be with %s: the loader takes ':' and ';' in a "
                                "path for an end; install in another folder", file);
    bool is_searched = strpbrk(file, " \t") != NULL;
    int n = asprintf(setting, "%s=%s%s%s", preload, is_searched ? slash + 1 : file,
                     value && *value ? ":" : "", value ? value : "");
    if (n < 0)
        return -ENOMEM;
    *slash = 0;
    *folder = is_searched ? strdup(file) : NULL;
    return is_searched && !*folder ? -ENOMEM : 0;
}

int library_settings(const char *path, char *const *environment, char *settings[LIBRARY_SETTINGS + 1])
{
    char *folder = NULL;
    memset(settings, 0, (LIBRARY_SETTINGS + 1) * sizeof(*settings));
    int rc = profile_setting(environment, &settings[0], &folder);
    if (!rc)
        settings[settings[0] ? 1 : 0] = search_setting(path, environment, folder);
    free(folder);
    return rc;
}

void library_settings_free(char **settings)
{
    for (; *settings; settings++)
        free(*settings);
}

bool library_is_needed(const char *path)
{
    return foreign_needs(path, name);
}

/* Note whose library a program needs. Returns whether all have one. */
static bool is_one_library(struct library_use *use, const char *path, char why[512])
{
    char library[64];
    if (library_is_needed(path))
        use->own = path;
    else if (foreign_kin(path, library, sizeof(library)))
        use->kin = path;
    if (use->own && use->kin)
        snprintf(why, 512,
                 "'%.150s' is built with this library, and '%.150s' with another MPI library: the programs of one job need "
                 "one; build both with the same mpicc",
                 use->own, use->kin);
    return !use->own || !use->kin;
}

int library_check(struct library_use *use, const char *path, int ranks, char why[512])
{
    char library[64];
    if (ranks == 1)
        return 0;
    if (!foreign_library(path, library, sizeof(library)))
        return is_one_library(use, path, why) ? 0 : LAUNCH_NOT_EXECUTABLE;
    snprintf(why, 512,
             "'%.200s' is built with another MPI library (%s), with which each process would be "
             "rank 0 of 1: it does not speak PMI-1, as MPICH does; start it with Open MPI's mpirun, or build it with "
             "this library's mpicc",
             path, library);
    return LAUNCH_NOT_EXECUTABLE;
}
