/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Info objects are arrays of pairs in the order of their first setting: a handful
 * of keys is usual, and MPI_Info_get_nthkey wants them by number.
 */
#include "mpi/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "mpi/errh_handler.h"
#include "mpi/handle.h"
#include "mpi/store.h"
#include "os/memory/cache.h"
#include "os/lock.h"
#include "os/log.h"
#include "os/settings.h"

struct info_pair {
    char *key, *value;
    size_t len; /* of the value */
};

struct info {
    struct object object;
    int count, room;
    struct info_pair *pairs;
    /* Lines that hold a lock are read only once it is taken. */
    char apart[OS_CACHE_LINE];
    struct os_lock lock; /* guards the rest, where other threads know this info */
};

static struct store store = {.lock = OS_LOCK_INIT};
static struct info *_Atomic env; /* MPI_INFO_ENV; tools use infos while MPI starts */

struct info *info_from(MPI_Info handle)
{
    if (handle_is_constant(handle))
        return handle == MPI_INFO_ENV ? env : NULL;
    return handle_leads_to(handle, OBJECT_INFO) ? (struct info *)handle : NULL;
}

MPI_Info info_handle(struct info *info)
{
    if (!info)
        return MPI_INFO_NULL;
    return info == env ? MPI_INFO_ENV : (MPI_Info)info;
}

bool info_is_fixed(const struct info *info)
{
    return info == env;
}

static struct os_lock *lock_of(const struct info *info)
{
    return (struct os_lock *)(uintptr_t)&info->lock;
}

void info_lock(const struct info *info)
{
    if (!info_is_fixed(info))
        os_lock_slow(lock_of(info));
}

void info_unlock(const struct info *info)
{
    if (!info_is_fixed(info))
        os_unlock_slow(lock_of(info));
}

struct info *info_create(void)
{
    return store_make(&store, sizeof(struct info), OBJECT_INFO);
}

void info_destroy(struct info *info)
{
    if (!info)
        return;
    object_set_word(&info->object, 0);
    for (int i = 0; i < info->count; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    store_free(&store, info);
}

static int find(const struct info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (!strcmp(info->pairs[i].key, key))
            return i;
    return -1;
}

const char *info_get(const struct info *info, const char *key)
{
    int i = find(info, key);
    return i < 0 ? NULL : info->pairs[i].value;
}

int info_read(const struct info *info, const char *key, char *value, size_t size)
{
    int len = -1;
    info_lock(info);
    int i = find(info, key);
    if (i >= 0) {
        const struct info_pair *pair = &info->pairs[i];
        size_t n = pair->len < size ? pair->len : size - 1;
        len = (int)pair->len;
        if (size > 0) {
            memcpy(value, pair->value, n);
            value[n] = 0;
        }
    }
    info_unlock(info);
    return len;
}

/* A pair without a value. NULL: no memory. */
static struct info_pair *append(struct info *info, const char *key)
{
    if (info->count == info->room) {
        int room = info->room ? 2 * info->room : 4;
        struct info_pair *more = realloc(info->pairs, (size_t)room * sizeof(*more));
        if (!more)
            return NULL;
        info->pairs = more;
        info->room = room;
    }
    char *copy = strdup(key);
    if (!copy)
        return NULL;
    info->pairs[info->count] = (struct info_pair){.key = copy};
    return &info->pairs[info->count++];
}

int info_set(struct info *info, const char *key, const char *value)
{
    int i = find(info, key);
    char *copy = strdup(value);
    struct info_pair *pair = !copy ? NULL : i < 0 ? append(info, key) : &info->pairs[i];
    if (!pair) {
        free(copy);
        return MPI_ERR_NO_MEM;
    }
    free(pair->value);
    pair->value = copy;
    pair->len = strlen(copy);
    return MPI_SUCCESS;
}

bool info_delete(struct info *info, const char *key)
{
    int i = find(info, key);
    if (i < 0)
        return false;
    free(info->pairs[i].key);
    free(info->pairs[i].value);
    info->count--;
    memmove(&info->pairs[i], &info->pairs[i + 1],
            (size_t)(info->count - i) * sizeof(info->pairs[0]));
    return true;
}

int info_count(const struct info *info)
{
    return info->count;
}

const char *info_key(const struct info *info, int n)
{
    return n >= 0 && n < info->count ? info->pairs[n].key : NULL;
}

struct info *info_copy(const struct info *info)
{
    struct info *copy = info_create();
    for (int i = 0; copy && info && i < info->count; i++) {
        if (info_set(copy, info->pairs[i].key, info->pairs[i].value)) {
            info_destroy(copy);
            copy = NULL;
        }
    }
    return copy;
}

/* ---- MPI_INFO_ENV ---- */

/* The strings from first on, with a blank between them, cut to the longest value. */
static void join(char *text, size_t size, char **first, int count)
{
    size_t len = 0;
    text[0] = 0;
    for (int i = 0; i < count && first[i] && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, i ? " %s" : "%s", first[i]);
}

/* What the system knows of the command line: the command, and its arguments with blanks between
 * them. */
static void read_command(char *command, char *args, size_t size)
{
    char bytes[2 * MPI_MAX_INFO_VAL] = "";
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t len = file ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0;
    if (file)
        fclose(file);
    snprintf(command, size, "%.*s", (int)size - 1, bytes);
    size_t start = strlen(bytes) + 1;
    for (size_t i = start; i + 1 < len; i++)
        if (!bytes[i])
            bytes[i] = ' ';
    snprintf(args, size, "%.*s", (int)size - 1, start < len ? bytes + start : "");
}

int info_describe(struct info *info, int argc, char **argv)
{
    char command[MPI_MAX_INFO_VAL], args[MPI_MAX_INFO_VAL], wdir[MPI_MAX_INFO_VAL];
    struct utsname name;
    if (argc > 0 && argv && argv[0]) {
        snprintf(command, sizeof(command), "%s", argv[0]);
        join(args, sizeof(args), argv + 1, argc - 1);
    } else {
        read_command(command, args, sizeof(command));
    }
    int rc = MPI_SUCCESS;
    if (command[0])
        rc = info_set(info, "command", command);
    if (!rc && args[0])
        rc = info_set(info, "argv", args);
    if (!rc)
        rc = info_set(info, "host", os_host_name());
    if (!rc && !uname(&name))
        rc = info_set(info, "arch", name.machine);
    if (!rc && getcwd(wdir, sizeof(wdir)))
        rc = info_set(info, "wdir", wdir);
    if (!rc)
        rc = info_set(info, "mpi_initial_errhandler", errh_initial_name());
    if (!rc)
        rc = info_set(info, "mpi_memory_alloc_kinds",
                      os_setting_text(OS_SETTING_MEMORY_ALLOC_KINDS));
    return rc;
}

void info_init(struct info *info)
{
    env = info;
}

void info_fini(void)
{
    info_destroy(env);
    env = NULL;
}
