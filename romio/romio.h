/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions of ROMIO's that are called here: those of MPI under other names (mpio.h). They return
 * error classes and call no error handler. */
#ifndef ROMIO_ROMIO_H
#define ROMIO_ROMIO_H

#include <mpi.h>
#include <stdbool.h>

int ROMIO_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *file);
int ROMIO_File_close(MPI_File *file);
int ROMIO_File_set_view(MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                        const char *datarep, MPI_Info info);
int ROMIO_File_set_info(MPI_File file, MPI_Info info);
int ROMIO_File_get_info(MPI_File file, MPI_Info *info);
int ROMIO_File_read_at(MPI_File file, MPI_Offset offset, void *buf, int count, MPI_Datatype type,
                       MPI_Status *status);
int ROMIO_File_read_at_all(MPI_File file, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype type, MPI_Status *status);
int ROMIO_File_write_at(MPI_File file, MPI_Offset offset, const void *buf, int count,
                        MPI_Datatype type, MPI_Status *status);
int ROMIO_File_write_at_all(MPI_File file, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype type, MPI_Status *status);

/* ROMIO_File_write_at_all or _read_at_all, which ends in MPI_ERR_PROC_ABORTED where a message of it fails. Its memory is
 * not freed then, as ROMIO knows no such end. */
struct romio_data {
    void *buf;
    int count;
    MPI_Datatype type;
};
int romio_collective(MPI_File file, bool write, MPI_Offset offset, const struct romio_data *data, MPI_Status *status);

#endif
