/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The I/O library as a whole. It is started once in a process. Its start makes an operation and two
 * keyvals, which stay when MPI ends and begins again; a start that has failed is made again.
 */
#include <mpioimpl.h>

#include <adio_cb_config_list.h>
#include <adio_extern.h>
#include <pthread.h>

#include "romio/datarep.h"
#include "romio/file.h"
#include "romio/library.h"
#include "romio/system.h"

const struct io_hooks *library_hooks;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void library_lock(void)
{
    pthread_mutex_lock(&lock);
}

void library_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static const struct io_library library = {
    .open = file_open,
    .close = file_close,
    .delete_file = file_delete,
    .register_datarep = datarep_register,
    .access = access_run,
    .end = access_end,
    .has_threads = access_has_threads,
    .end_threads = access_end_threads,
    .set_view = file_set_view,
    .get_view = file_get_view,
    .get_byte_offset = file_get_byte_offset,
    .get_type_extent = file_get_type_extent,
    .seek = file_seek,
    .get_position = file_get_position,
    .get_size = file_get_size,
    .set_size = file_set_size,
    .sync = file_sync,
    .set_atomicity = file_set_atomicity,
    .get_atomicity = file_get_atomicity,
    .set_info = file_set_info,
    .get_info = file_get_info,
    .get_group = file_get_group,
    .comm = file_comm,
    .get_amode = file_get_amode,
};

/* ROMIO's lists of host names are counted, and shared by communicators that several threads use. */
static int copy_names(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag)
{
    library_lock();
    int rc = ADIOI_cb_copy_name_array(comm, keyval, extra, from, to, flag);
    library_unlock();
    return rc;
}

static int delete_names(MPI_Comm comm, int keyval, void *names, void *extra)
{
    library_lock();
    int rc = ADIOI_cb_delete_name_array(comm, keyval, names, extra);
    library_unlock();
    return rc;
}

__attribute__((visibility("default"))) const struct io_library *
vireo_io_start(const struct io_hooks *hooks, struct io_error *why)
{
    int rc = MPI_SUCCESS;
    library_hooks = hooks;
    if (ADIO_same_amode == MPI_OP_NULL)
        ADIO_Init(NULL, NULL, &rc);
    if (ADIO_same_amode == MPI_OP_NULL)
        rc = MPI_ERR_NO_MEM;
    if (!rc && ADIOI_cb_config_list_keyval == MPI_KEYVAL_INVALID)
        rc = PMPI_Comm_create_keyval(copy_names, delete_names, &ADIOI_cb_config_list_keyval, NULL);
    if (!rc && ADIOI_Flattened_type_keyval == MPI_KEYVAL_INVALID)
        rc = PMPI_Type_create_keyval(ADIOI_Flattened_type_copy, ADIOI_Flattened_type_delete,
                                     &ADIOI_Flattened_type_keyval, NULL);
    if (rc) {
        (void)file_wrong(why, 0, "the library for files cannot start: no memory");
        return NULL;
    }
    system_install();
    return &library;
}
