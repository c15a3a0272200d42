/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions that ROMIO needs of the MPI library around it: memory of its files, error codes,
 * checks.
 *
 * Its error codes are broadcast and reduced among processes, so they must mean the same in all:
 * they are error classes. The callers of ROMIO write the text; the system's error number is kept
 * for them.
 */
#include <mpioimpl.h>

#include <adio_extern.h>
#include <setjmp.h>
#include <string.h>

#include "romio/failure.h"
#include "romio/romio.h"
#include "romio/types.h"

/* ---- files ---- */

/* ROMIO itself frees a file that it could not open, so this is memory and nothing else. */
MPI_File MPIO_File_create(int size)
{
    MPI_File file = calloc(1, (size_t)size);
    if (!file) /* ROMIO would go on with it */
        failure_no_memory("a file");
    return file;
}

/* Null handles, ours and ROMIO's, are small numbers. */
ADIO_File MPIO_File_resolve(MPI_File file)
{
    return (uintptr_t)file < 4096 ? ADIO_FILE_NULL : file;
}

void MPIO_File_free(MPI_File *file)
{
    free(*file);
    *file = ADIO_FILE_NULL;
}

int ROMIO_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    (void)file;
    (void)errhandler;
    return MPI_SUCCESS;
}

int ROMIO_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types,
                            int *combiner)
{
    *integers = *addresses = *types = 0;
    *combiner = types_is_predefined(type) ? MPI_COMBINER_NAMED : MPI_COMBINER_DUP;
    return MPI_SUCCESS;
}

/* ROMIO uses what it makes without a look at the outcome. */
int ROMIO_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype *made)
{
    *made = types_many(count, type);
    if (*made == MPI_DATATYPE_NULL)
        failure_no_memory("a datatype of a file's view");
    return MPI_SUCCESS;
}

/* ---- messages ---- */

/* A collective access that is under way in this thread; NULL: none. */
static _Thread_local jmp_buf *access_of;

int romio_checked(int rc)
{
    if (rc && access_of)
        longjmp(*access_of, 1);
    return rc;
}

int romio_collective(MPI_File file, bool write, MPI_Offset offset, const struct romio_data *data, MPI_Status *status)
{
    jmp_buf leave;
    int rc;
    if (!setjmp(leave)) {
        access_of = &leave;
        rc = write ? ROMIO_File_write_at_all(file, offset, data->buf, data->count, data->type, status)
                   : ROMIO_File_read_at_all(file, offset, data->buf, data->count, data->type, status);
    } else {
        rc = MPI_ERR_PROC_ABORTED;
    }
    access_of = NULL;
    return rc;
}

/* ---- errors ---- */

int MPIO_Err_create_code(int lastcode, int fatal, const char fcname[], int line, int error_class,
                         const char generic_msg[], const char specific_msg[], ...)
{
    (void)lastcode;
    (void)fatal;
    (void)fcname;
    (void)line;
    (void)specific_msg;
    failure_note_errno(generic_msg);
    return error_class;
}

/* The caller of ROMIO calls the error handler. */
int MPIO_Err_return_file(MPI_File file, int error_code)
{
    (void)file;
    return error_code;
}

/* ---- checks and locks ---- */

int MPIR_Ext_init(void)
{
    return MPI_SUCCESS;
}

/* There is no lock around all of ROMIO: two threads that access two files together with other
 * processes would wait for each other. */
void MPIR_Ext_cs_enter(void)
{
}

void MPIR_Ext_cs_exit(void)
{
}

int MPIR_Ext_datatype_iscommitted(MPI_Datatype datatype)
{
    return datatype == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : MPI_SUCCESS; /* access.c has looked */
}

int MPIR_Ext_assert_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "vireo: ROMIO has found itself wrong at %s:%d: %s\n", file, line, condition);
    return PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* library.c has started it. */
void MPIR_MPIOInit(int *error_code)
{
    *error_code = MPI_SUCCESS;
}

/* ROMIO reads these from the environment at each open, in any thread; most of them choose parts
 * that are not built. */
int romio_write_aggmethod, romio_read_aggmethod, romio_onesided_no_rmw, romio_onesided_always_rmw,
    romio_onesided_inform_rmw, romio_tunegather = 1;

void ad_get_env_vars(void)
{
}

/* Nothing one-sided is built. */
int ADIOI_OneSidedCleanup(ADIO_File fd)
{
    (void)fd;
    return MPI_SUCCESS;
}

/* ---- MPL ---- */

int MPL_strnapp(char *dest, const char *src, size_t size)
{
    size_t have = strnlen(dest, size);
    size_t room = size - have;
    if (!room)
        return 1;
    return snprintf(dest + have, room, "%s", src) >= (int)room;
}

/* The name of the file of ROMIO's shared pointer, which is never made: pointer.c replaces it. */
void MPL_create_pathname(char *dest, const char *dir, const char *prefix, const int is_dir)
{
    (void)is_dir;
    snprintf(dest, PATH_MAX, "%s%s%s", dir ? dir : "", dir ? "/" : "", prefix);
}
