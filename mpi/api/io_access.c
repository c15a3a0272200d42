/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading and writing files (MPI-5.0 14.4): what each function asks of the I/O library. */
#include <mpi.h>

#include "mpi/comm/errh.h"
#include "mpi/io/file.h"

static int run_access(MPI_File fh, struct io_access *what, const char *function)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, function);
    if (what->form == IO_NONBLOCKING && !what->request)
        return file_no_pointer(file, "request", function);
    what->function = function;
    int revoked = file_check_revoked(file, function);
    return revoked ? revoked : file_end(file, file_io->access(file->io, fh, what, &error), &error, function);
}

static int end_access(MPI_File fh, const struct io_access *begun, const char *function)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, function);
    int revoked = file_check_revoked(file, function);
    return revoked ? revoked : file_end(file, file_io->end(file->io, begun, &error), &error, function);
}

/* ---- reading ---- */

/*
 * Read from a file at an offset.
 *
 * Returns when the data are in buf.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: place for the data
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    struct io_access what = {.pointer = IO_AT, .offset = offset, .buf = buf, .count = count,
                             .type = datatype, .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Read from a file at an offset, all processes together.
 *
 * Returns when the data are in buf.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: place for the data
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    struct io_access what = {.collective = true, .pointer = IO_AT, .offset = offset, .buf = buf,
                             .count = count, .type = datatype, .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Read from a file at the individual file pointer.
 *
 * Returns when the data are in buf. The pointer moves on by the length asked for.
 *
 * buf: place for the data
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    struct io_access what = {.pointer = IO_INDIVIDUAL, .buf = buf, .count = count, .type = datatype,
                             .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Read from a file at the individual file pointer, all processes together.
 *
 * Returns when the data are in buf. The pointer moves on by the length asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: place for the data
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct io_access what = {.collective = true, .pointer = IO_INDIVIDUAL, .buf = buf,
                             .count = count, .type = datatype, .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Read from a file at the shared file pointer.
 *
 * Returns when the data are in buf. The pointer moves on by the length asked for, for all processes;
 * which of several comes first is left open.
 *
 * buf: place for the data
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    struct io_access what = {.pointer = IO_SHARED, .buf = buf, .count = count, .type = datatype,
                             .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Read from a file at the shared file pointer, in the order of ranks.
 *
 * Returns when the data are in buf. Each process comes after those of lower rank, and the pointer
 * moves on by what all have asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: place for the data
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    struct io_access what = {.collective = true, .pointer = IO_ORDERED, .buf = buf, .count = count,
                             .type = datatype, .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at an offset.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: place for the data
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    struct io_access what = {.pointer = IO_AT, .form = IO_NONBLOCKING, .offset = offset, .buf = buf,
                             .count = count, .type = datatype, .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at an offset, all processes together.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: place for the data
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    struct io_access what = {.collective = true, .pointer = IO_AT, .form = IO_NONBLOCKING,
                             .offset = offset, .buf = buf, .count = count, .type = datatype,
                             .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at the individual file pointer.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete. The pointer moves on by the length asked for, now.
 *
 * buf: place for the data
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    struct io_access what = {.pointer = IO_INDIVIDUAL, .form = IO_NONBLOCKING, .buf = buf,
                             .count = count, .type = datatype, .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at the individual file pointer, all processes together.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete. The pointer moves on by the length asked for, now.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: place for the data
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    struct io_access what = {.collective = true, .pointer = IO_INDIVIDUAL, .form = IO_NONBLOCKING,
                             .buf = buf, .count = count, .type = datatype, .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at the shared file pointer.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete. The pointer moves on by the length asked for, for all processes; which of several comes
 * first is left open.
 *
 * buf: place for the data
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    struct io_access what = {.pointer = IO_SHARED, .form = IO_NONBLOCKING, .buf = buf,
                             .count = count, .type = datatype, .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at an offset, all processes together.
 *
 * buf is left alone until the function that ends in _end is called. One such access may be under
 * way on a file.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: place for the data
 *
 * MPI_ERR_OTHER: another split access is under way.
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    struct io_access what = {.collective = true, .pointer = IO_AT, .form = IO_BEGIN,
                             .offset = offset, .buf = buf, .count = count, .type = datatype};
    return run_access(fh, &what, __func__);
}

/*
 * End a split collective read.
 *
 * That which MPI_File_read_at_all_begin began. The data are in buf then. Collective.
 *
 * buf: that of the call that began it
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_OTHER: no such access is under way.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct io_access what = {.collective = true, .pointer = IO_AT, .form = IO_BEGIN,
                             .buf = buf, .status = status};
    return end_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at the individual file pointer, all processes together.
 *
 * buf is left alone until the function that ends in _end is called. One such access may be under
 * way on a file. The pointer moves on by the length asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: place for the data
 *
 * MPI_ERR_OTHER: another split access is under way.
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct io_access what = {.collective = true, .pointer = IO_INDIVIDUAL, .form = IO_BEGIN,
                             .buf = buf, .count = count, .type = datatype};
    return run_access(fh, &what, __func__);
}

/*
 * End a split collective read.
 *
 * That which MPI_File_read_all_begin began. The data are in buf then. Collective.
 *
 * buf: that of the call that began it
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_OTHER: no such access is under way.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct io_access what = {.collective = true, .pointer = IO_INDIVIDUAL, .form = IO_BEGIN,
                             .buf = buf, .status = status};
    return end_access(fh, &what, __func__);
}

/*
 * Begin to read from a file at the shared file pointer, in the order of ranks.
 *
 * buf is left alone until the function that ends in _end is called. One such access may be under
 * way on a file. Each process comes after those of lower rank, and the pointer moves on by what all
 * have asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: place for the data
 *
 * MPI_ERR_OTHER: another split access is under way.
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    struct io_access what = {.collective = true, .pointer = IO_ORDERED, .form = IO_BEGIN,
                             .buf = buf, .count = count, .type = datatype};
    return run_access(fh, &what, __func__);
}

/*
 * End a split collective read.
 *
 * That which MPI_File_read_ordered_begin began. The data are in buf then. Collective.
 *
 * buf: that of the call that began it
 * status: how much was read, which is less at the end of the file; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_OTHER: no such access is under way.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    struct io_access what = {.collective = true, .pointer = IO_ORDERED, .form = IO_BEGIN,
                             .buf = buf, .status = status};
    return end_access(fh, &what, __func__);
}

/* ---- writing ---- */

/*
 * Write to a file at an offset.
 *
 * Returns when buf may be changed again.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: data to write; it is only read
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    struct io_access what = {.write = true, .pointer = IO_AT, .offset = offset,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Write to a file at an offset, all processes together.
 *
 * Returns when buf may be changed again.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: data to write; it is only read
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_AT, .offset = offset,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Write to a file at the individual file pointer.
 *
 * Returns when buf may be changed again. The pointer moves on by the length asked for.
 *
 * buf: data to write; it is only read
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    struct io_access what = {.write = true, .pointer = IO_INDIVIDUAL, .buf = (void *)(uintptr_t)buf,
                             .count = count, .type = datatype, .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Write to a file at the individual file pointer, all processes together.
 *
 * Returns when buf may be changed again. The pointer moves on by the length asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: data to write; it is only read
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_INDIVIDUAL,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Write to a file at the shared file pointer.
 *
 * Returns when buf may be changed again. The pointer moves on by the length asked for, for all
 * processes; which of several comes first is left open.
 *
 * buf: data to write; it is only read
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    struct io_access what = {.write = true, .pointer = IO_SHARED, .buf = (void *)(uintptr_t)buf,
                             .count = count, .type = datatype, .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Write to a file at the shared file pointer, in the order of ranks.
 *
 * Returns when buf may be changed again. Each process comes after those of lower rank, and the
 * pointer moves on by what all have asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: data to write; it is only read
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_ORDERED,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .status = status};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at an offset.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: data to write; it is only read
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    struct io_access what = {.write = true, .pointer = IO_AT, .form = IO_NONBLOCKING,
                             .offset = offset, .buf = (void *)(uintptr_t)buf, .count = count,
                             .type = datatype, .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at an offset, all processes together.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: data to write; it is only read
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.2
 */
int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request *request)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_AT,
                             .form = IO_NONBLOCKING, .offset = offset,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at the individual file pointer.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete. The pointer moves on by the length asked for, now.
 *
 * buf: data to write; it is only read
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    struct io_access what = {.write = true, .pointer = IO_INDIVIDUAL, .form = IO_NONBLOCKING,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at the individual file pointer, all processes together.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete. The pointer moves on by the length asked for, now.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: data to write; it is only read
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_INDIVIDUAL,
                             .form = IO_NONBLOCKING, .buf = (void *)(uintptr_t)buf, .count = count,
                             .type = datatype, .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at the shared file pointer.
 *
 * Returns at once; a thread of the library does it, and buf is left alone until the request is
 * complete. The pointer moves on by the length asked for, for all processes; which of several comes
 * first is left open.
 *
 * buf: data to write; it is only read
 *
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request)
{
    struct io_access what = {.write = true, .pointer = IO_SHARED, .form = IO_NONBLOCKING,
                             .buf = (void *)(uintptr_t)buf, .count = count, .type = datatype,
                             .request = request};
    return run_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at an offset, all processes together.
 *
 * buf is left alone until the function that ends in _end is called. One such access may be under
 * way on a file.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * offset: where, in elementary types of the view, from its beginning
 * buf: data to write; it is only read
 *
 * MPI_ERR_OTHER: another split access is under way.
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the offset is negative, or the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_AT, .form = IO_BEGIN,
                             .offset = offset, .buf = (void *)(uintptr_t)buf, .count = count,
                             .type = datatype};
    return run_access(fh, &what, __func__);
}

/*
 * End a split collective write.
 *
 * That which MPI_File_write_at_all_begin began. buf may be changed again then. Collective.
 *
 * buf: that of the call that began it
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_OTHER: no such access is under way.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_AT, .form = IO_BEGIN,
                             .buf = (void *)(uintptr_t)buf, .status = status};
    return end_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at the individual file pointer, all processes together.
 *
 * buf is left alone until the function that ends in _end is called. One such access may be under
 * way on a file. The pointer moves on by the length asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: data to write; it is only read
 *
 * MPI_ERR_OTHER: another split access is under way.
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_INDIVIDUAL,
                             .form = IO_BEGIN, .buf = (void *)(uintptr_t)buf, .count = count,
                             .type = datatype};
    return run_access(fh, &what, __func__);
}

/*
 * End a split collective write.
 *
 * That which MPI_File_write_all_begin began. buf may be changed again then. Collective.
 *
 * buf: that of the call that began it
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_OTHER: no such access is under way.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_INDIVIDUAL,
                             .form = IO_BEGIN,
                             .buf = (void *)(uintptr_t)buf, .status = status};
    return end_access(fh, &what, __func__);
}

/*
 * Begin to write to a file at the shared file pointer, in the order of ranks.
 *
 * buf is left alone until the function that ends in _end is called. One such access may be under
 * way on a file. Each process comes after those of lower rank, and the pointer moves on by what all
 * have asked for.
 *
 * Collective: all processes that have opened the file call it, each with data of its own, maybe
 * none. If one of them fails all return an error.
 *
 * buf: data to write; it is only read
 *
 * MPI_ERR_OTHER: another split access is under way.
 * MPI_ERR_ACCESS: the file was not opened for that.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 * MPI_ERR_ARG: the data are no whole number of elementary types.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                    MPI_Datatype datatype)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_ORDERED,
                             .form = IO_BEGIN, .buf = (void *)(uintptr_t)buf, .count = count,
                             .type = datatype};
    return run_access(fh, &what, __func__);
}

/*
 * End a split collective write.
 *
 * That which MPI_File_write_ordered_begin began. buf may be changed again then. Collective.
 *
 * buf: that of the call that began it
 * status: how much was written; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_OTHER: no such access is under way.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not do it; the text says what it
 *   says.
 *
 * MPI-5.0 14.4.5
 */
int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    struct io_access what = {.write = true, .collective = true, .pointer = IO_ORDERED,
                             .form = IO_BEGIN,
                             .buf = (void *)(uintptr_t)buf, .status = status};
    return end_access(fh, &what, __func__);
}

#include "io_access.gen.h"
