/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the standard ABI lets a program ask and tell (MPI-5.0 chapter 20). All of it may be called
 * at any time, by any thread.
 *
 * The library knows no Fortran compiler: a Fortran binding tells it the compiler's
 * types. It accepts those that equal the predefined datatypes, since messages hold no others.
 */

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm/errh.h"
#include "mpi/info.h"
#include "mpi/type/type.h"

enum { LOGICAL_BYTES = 16 }; /* of the longest Fortran logical */

/* Each is set once, after which it does not change. */
static struct info *_Atomic fortran; /* NULL: not set */
static _Atomic int logical_bytes;    /* of .TRUE. and .FALSE., which are 1 and 0; 0: not set */

/* Release the answers, as the process ends. */
static __attribute__((destructor)) void forget(void)
{
    info_destroy(fortran);
    fortran = NULL;
}

/*
 * Tell the sizes of the ABI's integer types.
 *
 * The keys are mpi_aint_size, mpi_count_size and mpi_offset_size, in bytes. May be called at any
 * time.
 *
 * info: a new info object, which the caller frees
 *
 * MPI_ERR_ARG: info is NULL.
 *
 * MPI-5.0 20.2
 */
int PMPI_Abi_get_info(MPI_Info *info)
{
    static const struct {
        const char *key;
        size_t size;
    } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                 {"mpi_count_size", sizeof(MPI_Count)},
                 {"mpi_offset_size", sizeof(MPI_Offset)}};
    char text[24];
    if (!info)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "info is NULL");
    struct info *made = info_create();
    int rc = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !rc; i++) {
        snprintf(text, sizeof(text), "%zu", sizes[i].size);
        rc = info_set(made, sizes[i].key, text);
    }
    if (rc) {
        info_destroy(made);
        return errh_comm(NULL, rc, __func__, "no memory for an info object");
    }
    *info = info_handle(made);
    return MPI_SUCCESS;
}

/* ---- Fortran ---- */

static const struct {
    const char *key;
    MPI_Datatype type;
} fortran_sizes[] = {
    {"mpi_logical_size", MPI_LOGICAL},
    {"mpi_integer_size", MPI_INTEGER},
    {"mpi_real_size", MPI_REAL},
    {"mpi_double_precision_size", MPI_DOUBLE_PRECISION},
};

/* The key whose value does not fit this library, or NULL. */
static const char *misfit(const struct info *info)
{
    for (size_t i = 0; i < sizeof(fortran_sizes) / sizeof(fortran_sizes[0]); i++) {
        const char *text = info_get(info, fortran_sizes[i].key);
        char right[24];
        snprintf(right, sizeof(right), "%lld",
                 (long long)type_constant_bytes(fortran_sizes[i].type, 1));
        if (text && strcmp(text, right))
            return fortran_sizes[i].key;
    }
    return NULL;
}

/*
 * Say what the types of a Fortran compiler are.
 *
 * A Fortran binding calls it once in the life of a process, after
 * MPI_Abi_get_fortran_info has given MPI_INFO_NULL. Keys are mpi_logical_size, mpi_integer_size,
 * mpi_real_size and mpi_double_precision_size, in bytes, and mpi_integer8_supported and so on,
 * true or false. Sizes are accepted only as the datatypes of this library have them: 4, 4, 4 and
 * 8. May be called at any time.
 *
 * info: an info object, which is copied
 *
 * MPI_ERR_ABI: it was called before.
 * MPI_ERR_INFO_VALUE: a size is not that of the library's datatype.
 *
 * MPI-5.0 20.3.3
 */
int PMPI_Abi_set_fortran_info(MPI_Info info)
{
    const char *wrong = NULL;
    struct info *from = info_from(info), *copy = NULL;
    if (!from)
        return errh_comm(NULL, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    info_lock(from);
    wrong = misfit(from);
    if (!wrong)
        copy = info_copy(from);
    info_unlock(from);
    if (wrong)
        return errh_comm(NULL, MPI_ERR_INFO_VALUE, __func__,
                         "%s is not the size of this library's datatype", wrong);
    if (!copy)
        return errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "no memory for an info object");
    struct info *none = NULL;
    if (atomic_compare_exchange_strong(&fortran, &none, copy))
        return MPI_SUCCESS;
    info_destroy(copy);
    return errh_comm(NULL, MPI_ERR_ABI, __func__, "it has been set already");
}

/*
 * Tell the types of the Fortran compiler, as they were set.
 *
 * May be called at any time.
 *
 * info: a new info object, which the caller frees; MPI_INFO_NULL where nothing was said
 *
 * MPI_ERR_ARG: info is NULL.
 *
 * MPI-5.0 20.3.3
 */
int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
    if (!info)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "info is NULL");
    const struct info *told = fortran;
    struct info *copy = told ? info_copy(told) : NULL;
    if (told && !copy)
        return errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "no memory for an info object");
    *info = info_handle(copy);
    return MPI_SUCCESS;
}

/* MPI_SUCCESS, or the code of an error that was raised. */
static int check_logical(int size, bool null, const char *function)
{
    if (size <= 0 || size > LOGICAL_BYTES || size & (size - 1))
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "logical_size is %d: must be 1, 2, 4, 8 or 16", size);
    return null ? errh_comm(NULL, MPI_ERR_ARG, function, "an argument is NULL") : MPI_SUCCESS;
}

/* Make size bytes this number, in the byte order of the host. */
static void put_number(unsigned char *bytes, int size, int number)
{
    int low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : size - 1;
    memset(bytes, 0, (size_t)size);
    bytes[low] = (unsigned char)number;
}

/* Whether they are. */
static bool is_number(const unsigned char *bytes, int size, int number)
{
    unsigned char expected[LOGICAL_BYTES];
    put_number(expected, size, number);
    return !memcmp(bytes, expected, (size_t)size);
}

/*
 * Say what .TRUE. and .FALSE. are in memory.
 *
 * To be called once in the life of a process, after MPI_Abi_get_fortran_booleans has told that
 * they are not set. Only 1 and 0 are accepted, as reductions on Fortran's logical types give
 * these. May be called at any time.
 *
 * logical_size: bytes of a logical: 1, 2, 4, 8 or 16
 * logical_true (in): address of the value of .TRUE.
 * logical_false (in): address of the value of .FALSE.
 *
 * MPI_ERR_ARG: logical_size is no such size, or an argument is NULL.
 * MPI_ERR_UNSUPPORTED_OPERATION: the values are not 1 and 0.
 * MPI_ERR_ABI: it was called before.
 *
 * MPI-5.0 20.3.3
 */
int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    int rc = check_logical(logical_size, !logical_true || !logical_false, __func__);
    if (rc)
        return rc;
    if (!is_number(logical_true, logical_size, 1) || !is_number(logical_false, logical_size, 0))
        return errh_comm(NULL, MPI_ERR_UNSUPPORTED_OPERATION, __func__,
                         "true must be 1, and false 0");
    int none = 0;
    return atomic_compare_exchange_strong(&logical_bytes, &none, logical_size)
               ? MPI_SUCCESS
               : errh_comm(NULL, MPI_ERR_ABI, __func__, "they have been set already");
}

/*
 * Tell the values of .TRUE. and .FALSE. in memory, as they were set.
 *
 * May be called at any time.
 *
 * logical_size: bytes of a logical: 1, 2, 4, 8 or 16
 * logical_true (out): address of room for the value of .TRUE.
 * logical_false (out): address of room for the value of .FALSE.
 * is_set: 1 if they were set for logicals of this size; 0 if not, and the values are left alone
 *
 * MPI_ERR_ARG: logical_size is no such size, or an argument is NULL.
 *
 * MPI-5.0 20.3.3
 */
int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                  int *is_set)
{
    int rc = check_logical(logical_size, !logical_true || !logical_false || !is_set, __func__);
    if (rc)
        return rc;
    *is_set = logical_bytes == logical_size;
    if (*is_set) {
        put_number(logical_true, logical_size, 1);
        put_number(logical_false, logical_size, 0);
    }
    return MPI_SUCCESS;
}

#include "abi.gen.h"
