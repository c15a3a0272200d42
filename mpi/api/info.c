/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects (MPI-5.0 chapter 10). All of it may be called at any time, by any thread. */

#include <string.h>

#include "mpi/comm/errh.h"
#include "mpi/info.h"

static int bad_info(MPI_Info handle, const char *function)
{
    if (handle == MPI_INFO_ENV)
        return errh_comm(NULL, MPI_ERR_INFO, function,
                         "info is MPI_INFO_ENV, which is there from MPI_Init on, and cannot be "
                         "changed or freed");
    return errh_comm(NULL, MPI_ERR_INFO, function, "info %s is no info object, or was freed",
                     errh_name(handle).text);
}

static bool key_is_wrong(const char *key)
{
    return !key || !key[0] || strlen(key) >= MPI_MAX_INFO_KEY;
}

static int bad_key(const char *key, const char *function)
{
    if (!key)
        return errh_comm(NULL, MPI_ERR_INFO_KEY, function, "the key is NULL");
    return errh_comm(NULL, MPI_ERR_INFO_KEY, function, "the key has %zu characters: must be 1 to %d",
                     strlen(key), MPI_MAX_INFO_KEY - 1);
}

static int null_argument(const char *function)
{
    return errh_comm(NULL, MPI_ERR_ARG, function, "an argument is NULL");
}

static int give(struct info *info, MPI_Info *newinfo, const char *function)
{
    if (!info)
        return errh_comm(NULL, MPI_ERR_NO_MEM, function, "no memory for an info object");
    *newinfo = info_handle(info);
    return MPI_SUCCESS;
}

/*
 * Make an empty info object.
 *
 * May be called at any time.
 *
 * info: the info object, to be freed with MPI_Info_free
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_create(MPI_Info *info)
{
    return info ? give(info_create(), info, __func__) : null_argument(__func__);
}

/*
 * Make an info object that tells how this process was started.
 *
 * Keys are command, argv, host, arch and wdir, as far as they are known, and two that
 * mpiexec sets: mpi_initial_errhandler and mpi_memory_alloc_kinds. May be called at any time.
 *
 * argc: number of arguments, or 0: the system is asked
 * argv (in): arguments that main() got, or NULL: the system is asked
 * info: the info object, to be freed with MPI_Info_free
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    if (!info)
        return null_argument(__func__);
    struct info *made = info_create();
    if (made && info_describe(made, argc, argv)) {
        info_destroy(made);
        made = NULL;
    }
    return give(made, info, __func__);
}

/*
 * Copy an info object.
 *
 * May be called at any time.
 *
 * newinfo: the copy, with the same keys in the same order; to be freed with MPI_Info_free
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    struct info *from = info_from(info);
    if (!from)
        return bad_info(info, __func__);
    if (!newinfo)
        return null_argument(__func__);
    info_lock(from);
    struct info *copy = info_copy(from);
    info_unlock(from);
    return give(copy, newinfo, __func__);
}

/*
 * Free an info object.
 *
 * May be called at any time.
 *
 * info (inout): the info object; then MPI_INFO_NULL
 *
 * MPI_ERR_INFO: not an info object, or MPI_INFO_ENV; or info is NULL.
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_free(MPI_Info *info)
{
    struct info *old = info ? info_from(*info) : NULL;
    if (!old || info_is_fixed(old))
        return bad_info(info ? *info : MPI_INFO_NULL, __func__);
    info_destroy(old);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

/*
 * Set the value of a key.
 *
 * It replaces the one before. May be called at any time.
 *
 * key: 1 to MPI_MAX_INFO_KEY - 1 characters
 * value: at most MPI_MAX_INFO_VAL - 1 characters
 *
 * MPI_ERR_INFO: not an info object, or MPI_INFO_ENV.
 * MPI_ERR_INFO_KEY: key is NULL, empty or too long.
 * MPI_ERR_INFO_VALUE: value is NULL or too long.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    struct info *to = info_from(info);
    if (!to || info_is_fixed(to))
        return bad_info(info, __func__);
    if (key_is_wrong(key))
        return bad_key(key, __func__);
    if (!value || strlen(value) >= MPI_MAX_INFO_VAL)
        return errh_comm(NULL, MPI_ERR_INFO_VALUE, __func__,
                         "the value of '%s' is NULL, or longer than %d characters", key,
                         MPI_MAX_INFO_VAL - 1);
    info_lock(to);
    int rc = info_set(to, key, value);
    info_unlock(to);
    return rc ? errh_comm(NULL, rc, __func__, "no memory for key '%s'", key) : MPI_SUCCESS;
}

/*
 * Remove a key and its value.
 *
 * May be called at any time.
 *
 * key: the key
 *
 * MPI_ERR_INFO: not an info object, or MPI_INFO_ENV.
 * MPI_ERR_INFO_KEY: key is NULL, empty or too long.
 * MPI_ERR_INFO_NOKEY: there is no such key.
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_delete(MPI_Info info, const char *key)
{
    struct info *from = info_from(info);
    if (!from || info_is_fixed(from))
        return bad_info(info, __func__);
    if (key_is_wrong(key))
        return bad_key(key, __func__);
    info_lock(from);
    bool found = info_delete(from, key);
    info_unlock(from);
    return found ? MPI_SUCCESS
                 : errh_comm(NULL, MPI_ERR_INFO_NOKEY, __func__, "there is no key '%s'", key);
}

/*
 * Read the value of a key.
 *
 * May be called at any time.
 *
 * key: the key
 * buflen (inout): room in value, in bytes, the 0 at the end included; then, if there is such
 *   a key, what all of the value needs; where the room is 0, nothing else is told
 * value: the value, as much as there is room for, with a 0 after it
 * flag: 1 if there is such a key, 0 if not: then the others are left as they are
 *
 * MPI_ERR_INFO_KEY: key is NULL, empty or too long.
 * MPI_ERR_ARG: buflen is negative, or an argument is NULL.
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    const struct info *from = info_from(info);
    if (!from)
        return bad_info(info, __func__);
    if (key_is_wrong(key))
        return bad_key(key, __func__);
    if (!buflen || !flag || *buflen < 0 || (*buflen > 0 && !value))
        return errh_comm(NULL, MPI_ERR_ARG, __func__,
                         "an argument is NULL, or *buflen is negative");
    int len = info_read(from, key, value, (size_t)*buflen);
    *flag = len >= 0;
    if (*flag)
        *buflen = len + 1;
    return MPI_SUCCESS;
}

/*
 * Read the value of a key.
 *
 * MPI_Info_get_string replaces it. May be called at any time.
 *
 * key: the key
 * valuelen: at most so many characters of the value are read, and value has one byte more
 * value: the value, with a 0 after it
 * flag: 1 if there is such a key, 0 if not
 *
 * MPI_ERR_INFO_KEY: key is NULL, empty or too long.
 * MPI_ERR_ARG: valuelen is negative, or an argument is NULL.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    const struct info *from = info_from(info);
    if (!from)
        return bad_info(info, __func__);
    if (key_is_wrong(key))
        return bad_key(key, __func__);
    if (valuelen < 0 || !value || !flag)
        return errh_comm(NULL, MPI_ERR_ARG, __func__,
                         "valuelen is %d, or an argument is NULL", valuelen);
    /* The user's buffer has one more byte than valuelen; no value needs more than this. */
    int size = valuelen < MPI_MAX_INFO_VAL ? valuelen + 1 : MPI_MAX_INFO_VAL;
    *flag = info_read(from, key, value, (size_t)size) >= 0;
    return MPI_SUCCESS;
}

/*
 * Tell the length of the value of a key.
 *
 * MPI_Info_get_string replaces it. May be called at any time.
 *
 * key: the key
 * valuelen: characters, without the 0 at the end
 * flag: 1 if there is such a key, 0 if not
 *
 * MPI_ERR_INFO_KEY: key is NULL, empty or too long.
 *
 * MPI-5.0 chapter 16
 */
int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    const struct info *from = info_from(info);
    if (!from)
        return bad_info(info, __func__);
    if (key_is_wrong(key))
        return bad_key(key, __func__);
    if (!valuelen || !flag)
        return null_argument(__func__);
    int len = info_read(from, key, NULL, 0);
    *flag = len >= 0;
    if (*flag)
        *valuelen = len;
    return MPI_SUCCESS;
}

/*
 * Tell how many keys an info object has.
 *
 * May be called at any time.
 *
 * nkeys: number of keys
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    const struct info *from = info_from(info);
    if (!from)
        return bad_info(info, __func__);
    if (!nkeys)
        return null_argument(__func__);
    info_lock(from);
    *nkeys = info_count(from);
    info_unlock(from);
    return MPI_SUCCESS;
}

/*
 * Tell a key by its number.
 *
 * They are numbered in the order in which they were first set. May be called at any time.
 *
 * n: 0 to the number of keys less 1
 * key: room for MPI_MAX_INFO_KEY characters; gets the key, with a 0 after it
 *
 * MPI_ERR_ARG: there is no such key, or key is NULL.
 *
 * MPI-5.0 chapter 10
 */
int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    const struct info *from = info_from(info);
    if (!from)
        return bad_info(info, __func__);
    if (!key)
        return null_argument(__func__);
    info_lock(from);
    int count = info_count(from);
    const char *found = info_key(from, n);
    if (found)
        memcpy(key, found, strlen(found) + 1);
    info_unlock(from);
    return found ? MPI_SUCCESS
                 : errh_comm(NULL, MPI_ERR_ARG, __func__, "n is %d: must be 0 to %d", n,
                             count - 1);
}

#include "info.gen.h"
