/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files (MPI-5.0 chapter 14): what each function asks of the I/O library. Reading and writing are
 * in io_access.c.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/ft/asked.h"
#include "mpi/ft/revoke.h"
#include "mpi/io/file.h"
#include "mpi/info.h"
#include "mpi/world.h"

/* A sentence of our own, on MPI_FILE_NULL. */
static int refuse(int error_class, const char *text, const char *function)
{
    struct io_error error;
    file_say(&error, text);
    return file_raise(NULL, error_class, &error, function);
}

/* Whether info is one; MPI_INFO_NULL is. */
static bool is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL || info_from(info);
}

/* ---- opening and closing ---- */

/*
 * Open a file.
 *
 * Collective over comm, whose processes give the same amode and the same file; if one cannot
 * open it all return an error, and none has it open. The file has the error handler that
 * MPI_FILE_NULL has; its view is of bytes, from the beginning. comm may be freed while the file is
 * open.
 *
 * filename: its path. Names of drivers before a colon, ufs: and nfs:, choose how it is accessed.
 * amode: MPI_MODE_RDONLY, MPI_MODE_WRONLY or MPI_MODE_RDWR, and the sum of any of MPI_MODE_CREATE,
 *   MPI_MODE_EXCL, MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_UNIQUE_OPEN, MPI_MODE_SEQUENTIAL and
 *   MPI_MODE_APPEND
 * info: hints as in doc/io.md, or MPI_INFO_NULL
 * fh: the file, to be closed with MPI_File_close; MPI_FILE_NULL after an error
 *
 * MPI_ERR_COMM: comm is no communicator, or an intercommunicator.
 * MPI_ERR_AMODE: amode is no such sum.
 * MPI_ERR_NOT_SAME: the processes give different amodes.
 * MPI_ERR_NO_SUCH_FILE: there is none, and amode lacks MPI_MODE_CREATE.
 * MPI_ERR_FILE_EXISTS: there is one, and amode has MPI_MODE_EXCL.
 * MPI_ERR_ACCESS, MPI_ERR_READ_ONLY, MPI_ERR_BAD_FILE, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA, MPI_ERR_IO:
 *   the system does not open it.
 *
 * MPI-5.0 14.2.1
 */
int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    struct io_error error;
    struct comm *on = comm_from(comm);
    if (fh)
        *fh = MPI_FILE_NULL;
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!on || on->remote)
        return refuse(MPI_ERR_COMM, on ? "comm is an intercommunicator: a file is opened by one group"
                                       : "comm is no communicator, or was freed", __func__);
    if (!filename || !fh)
        return file_no_pointer(NULL, filename ? "fh" : "filename", __func__);
    if (!is_info(info))
        return refuse(MPI_ERR_INFO, "info is no info object, or was freed", __func__);
    const struct io_library *library = file_library(&error);
    if (!library)
        return file_raise(NULL, MPI_ERR_UNSUPPORTED_OPERATION, &error, __func__);
    struct file *file = file_create();
    if (!file)
        return refuse(MPI_ERR_NO_MEM, "out of memory", __func__);
    struct io_file *io;
    int rc = library->open(comm, filename, amode, info, &io, &error);
    if (rc) {
        file_destroy(file);
        return file_raise(NULL, rc, &error, __func__);
    }
    file_opened(file, io);
    *fh = (MPI_File)file;
    return MPI_SUCCESS;
}

/*
 * Close a file.
 *
 * Collective. The file is closed also if an error is returned. All written data have reached the
 * file system, but maybe not its disk: MPI_File_sync sees to that. Accesses that are under way are
 * waited for; their requests are completed as usual, even later.
 *
 * fh (inout): the file; then MPI_FILE_NULL
 *
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not write the rest of the
 *   data.
 * MPI_ERR_OTHER: a split access is under way.
 *
 * MPI-5.0 14.2.2
 */
int PMPI_File_close(MPI_File *fh)
{
    struct io_error error;
    if (!fh)
        return file_no_pointer(NULL, "fh", __func__);
    struct file *file = file_from(*fh);
    if (!file)
        return file_bad(*fh, __func__);
    int rc = file_io->close(file->io, &error);
    if (file_is_revoked(file)) /* nobody could agree */
        rc = MPI_SUCCESS;
    rc = file_end(file, rc, &error, __func__);
    *fh = MPI_FILE_NULL;
    file_destroy(file);
    return rc;
}

/*
 * Revoke a file: end accesses to it, in all processes that have it open.
 *
 * One process calls this, and the call returns at once. Soon every process that lives knows. From then on accesses
 * end in MPIX_ERR_REVOKED, also collective ones that wait for others. The contents of the file that accesses were under way
 * to are undefined. MPI_File_close works on, and waits for nobody.
 *
 * Beyond MPI-5.0
 */
int PMPIX_File_revoke(MPI_File fh)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    asked_call();
    if (!file->comm || revoke_comm(file->comm)) {
        file_say(&error, "no memory to tell the other processes");
        return file_raise(file, MPI_ERR_NO_MEM, &error, __func__);
    }
    return MPI_SUCCESS;
}

/*
 * Delete a file.
 *
 * By the calling process alone. The file system decides how this affects processes that have it
 * open.
 *
 * filename: its path, as MPI_File_open takes it
 *
 * MPI_ERR_NO_SUCH_FILE, MPI_ERR_ACCESS, MPI_ERR_READ_ONLY, MPI_ERR_FILE_IN_USE, MPI_ERR_IO: the
 *   system does not delete it.
 *
 * MPI-5.0 14.2.3
 */
int PMPI_File_delete(const char *filename, MPI_Info info)
{
    struct io_error error;
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!filename)
        return file_no_pointer(NULL, "filename", __func__);
    if (!is_info(info))
        return refuse(MPI_ERR_INFO, "info is no info object, or was freed", __func__);
    const struct io_library *library = file_library(&error);
    int rc = library ? library->delete_file(filename, &error) : MPI_ERR_UNSUPPORTED_OPERATION;
    return file_end(NULL, rc, &error, __func__);
}

/* ---- what a file is ---- */

/*
 * Set the size of a file.
 *
 * Collective, with the same size in all processes. Data beyond a smaller size are lost; the content
 * of new bytes is undefined until they are written. No file pointer moves.
 *
 * size: in bytes
 *
 * MPI_ERR_ARG: the size is negative.
 * MPI_ERR_NOT_SAME: the processes give different sizes.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA, MPI_ERR_ACCESS: the system could not do it.
 *
 * MPI-5.0 14.2.4
 */
int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    return file_end(file, file_io->set_size(file->io, size, false, &error), &error, __func__);
}

/*
 * Have room on the storage for the first bytes of a file.
 *
 * Collective, with the same size in all processes. The file grows to that size if it is smaller,
 * and does not change otherwise.
 *
 * size: in bytes
 *
 * MPI_ERR_ARG: the size is negative.
 * MPI_ERR_NOT_SAME: the processes give different sizes.
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA, MPI_ERR_ACCESS: the system could not do it.
 *
 * MPI-5.0 14.2.5
 */
int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    return file_end(file, file_io->set_size(file->io, size, true, &error), &error, __func__);
}

/*
 * Tell the size of a file.
 *
 * This call is local: no other process takes part. The size counts bytes. What other processes have
 * written may not be counted before they have called MPI_File_sync or closed the file.
 *
 * size: in bytes
 *
 * MPI_ERR_ARG: size is NULL.
 *
 * MPI-5.0 14.2.6
 */
int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!size)
        return file_no_pointer(file, "size", __func__);
    return file_end(file, file_io->get_size(file->io, size, &error), &error, __func__);
}

/*
 * Give the group of the processes that have opened a file.
 *
 * This call is local: no other process takes part. The group is the caller's to free, and outlives
 * the file.
 *
 * group: the group; free it with MPI_Group_free
 *
 * MPI_ERR_ARG: group is NULL.
 *
 * MPI-5.0 14.2.7
 */
int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!group)
        return file_no_pointer(file, "group", __func__);
    return file_end(file, file_io->get_group(file->io, group, &error), &error, __func__);
}

/*
 * Tell how a file was opened.
 *
 * This call is local: no other process takes part. The answer is the sum of modes that was given to
 * MPI_File_open.
 *
 * amode: as MPI_File_open was given it
 *
 * MPI_ERR_ARG: amode is NULL.
 *
 * MPI-5.0 14.2.7
 */
int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!amode)
        return file_no_pointer(file, "amode", __func__);
    *amode = file_io->get_amode(file->io);
    return MPI_SUCCESS;
}

/*
 * Set hints of an open file.
 *
 * Collective. Hints that can only be set by MPI_File_open are left as they are.
 *
 * info: hints as in doc/io.md
 *
 * MPI-5.0 14.2.8
 */
int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    int rc = MPI_SUCCESS;
    if (!info_from(info)) {
        rc = MPI_ERR_INFO;
        file_say(&error, "info is no info object, or was freed");
    } else {
        rc = file_io->set_info(file->io, info, &error);
    }
    return file_end(file, rc, &error, __func__);
}

/*
 * Tell the hints that a file is accessed by.
 *
 * This call is local: no other process takes part. The object is new, and the caller's to free. It
 * has all hints that are in force with their values, as doc/io.md lists them.
 *
 * info_used: a new info object; free it with MPI_Info_free
 *
 * MPI_ERR_ARG: info_used is NULL.
 *
 * MPI-5.0 14.2.8
 */
int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!info_used)
        return file_no_pointer(file, "info_used", __func__);
    return file_end(file, file_io->get_info(file->io, info_used, &error), &error, __func__);
}

/* ---- views ---- */

/*
 * Set which part of a file the process sees, and as what.
 *
 * Collective: datarep and the extent of etype are the same in all processes, the rest may differ.
 * The file's pointers go to the beginning of the view.
 *
 * disp: byte where the view begins; MPI_DISPLACEMENT_CURRENT with MPI_MODE_SEQUENTIAL
 * etype: unit of offsets
 * filetype: made of etype, shows parts of the file; repeated from disp on
 * datarep: "native" (as in memory), "internal" (as in memory; the same on all machines of a job, if these differ in their
 *   byte order), "external32", or one of MPI_Register_datarep
 * info: hints as in doc/io.md, or MPI_INFO_NULL
 *
 * MPI_ERR_TYPE: a type is none or not committed.
 * MPI_ERR_IO: a type has offsets that are negative or decrease, or, for writing, parts that
 *   overlap.
 * MPI_ERR_ARG: disp is negative, datarep is NULL, or filetype is not made of whole etypes.
 * MPI_ERR_UNSUPPORTED_DATAREP: there is no such representation, or it is not for these types.
 * MPI_ERR_NOT_SAME: datarep, or the extent of etype, is not the same in all processes.
 *
 * MPI-5.0 14.3
 */
int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    struct io_view view = {disp, etype, filetype, datarep, is_info(info) ? info : MPI_INFO_NULL};
    int rc = file_io->set_view(file->io, &view, &error);
    if (!rc && !is_info(info)) {
        rc = MPI_ERR_INFO;
        file_say(&error, "info is no info object, or was freed");
    }
    return file_end(file, rc, &error, __func__);
}

/*
 * Tell the view of a file.
 *
 * This call is local: no other process takes part. The types are copies, which are the caller's to
 * free if they are not predefined.
 *
 * disp: byte where the view begins
 * etype, filetype: new types that are to be freed; or the predefined ones
 * datarep (out): room for MPI_MAX_DATAREP_STRING characters
 *
 * MPI_ERR_ARG: a pointer is NULL.
 *
 * MPI-5.0 14.3
 */
int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep)
{
    struct io_error error;
    struct io_view view;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!disp || !etype || !filetype || !datarep)
        return file_no_pointer(file, !disp ? "disp" : !etype ? "etype" : !filetype ? "filetype"
                                                                                  : "datarep",
                               __func__);
    int rc = file_io->get_view(file->io, &view, datarep, &error);
    if (!rc) {
        *disp = view.disp;
        *etype = view.etype;
        *filetype = view.filetype;
    }
    return file_end(file, rc, &error, __func__);
}

/*
 * Tell where an offset of the view is in the file.
 *
 * This call is local: no other process takes part. An offset counts elementary types of the view,
 * past its holes; the answer counts bytes from the beginning of the file.
 *
 * offset: in elementary types of the view
 * disp: in bytes of the file
 *
 * MPI_ERR_ARG: disp is NULL, or the offset is negative.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!disp)
        return file_no_pointer(file, "disp", __func__);
    return file_end(file, file_io->get_byte_offset(file->io, offset, disp, &error),
                    &error, __func__);
}

static int type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent, const char *function)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, function);
    return file_end(file, file_io->get_type_extent(file->io, datatype, extent, &error), &error,
                    function);
}

/*
 * Tell the extent of a type in the file.
 *
 * That is its extent in the data representation of the view.
 *
 * extent: in bytes
 *
 * MPI_ERR_ARG: extent is NULL.
 *
 * MPI-5.0 14.5.1
 */
int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Count wide;
    if (!extent)
        return file_no_pointer(file_from(fh), "extent", __func__);
    int rc = type_extent(fh, datatype, &wide, __func__);
    if (!rc)
        *extent = wide;
    return rc;
}

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    if (!extent)
        return file_no_pointer(file_from(fh), "extent", __func__);
    return type_extent(fh, datatype, extent, __func__);
}

static int register_datarep(const char *name, const struct io_datarep *datarep,
                            const char *function)
{
    struct io_error error;
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (!name)
        return file_no_pointer(NULL, "datarep", function);
    const struct io_library *library = file_library(&error);
    int rc = library ? library->register_datarep(name, datarep, &error)
                     : MPI_ERR_UNSUPPORTED_OPERATION;
    return file_end(NULL, rc, &error, function);
}

/*
 * Make a data representation known.
 *
 * For this process, as long as it lives. The conversion functions are called while data are read and
 * written, maybe by a thread of the library.
 *
 * datarep (in): its name, for MPI_File_set_view
 * read_conversion_fn: makes data of the file those of memory; or MPI_CONVERSION_FN_NULL: they are the
 *   same
 * write_conversion_fn: the inverse
 * dtype_file_extent_fn: tells the extent of a predefined type in the file
 *
 * MPI_ERR_DUP_DATAREP: there is one of that name.
 * MPI_ERR_ARG: a pointer is NULL, or the name is longer than MPI_MAX_DATAREP_STRING - 1 characters.
 *
 * MPI-5.0 14.5.3
 */
int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                          MPI_Datarep_conversion_function *write_conversion_fn,
                          MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct io_datarep what = {.read = read_conversion_fn, .write = write_conversion_fn,
                              .extent = dtype_file_extent_fn, .extra_state = extra_state};
    return register_datarep(datarep, &what, __func__);
}

int PMPI_Register_datarep_c(const char *datarep,
                            MPI_Datarep_conversion_function_c *read_conversion_fn,
                            MPI_Datarep_conversion_function_c *write_conversion_fn,
                            MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct io_datarep what = {.read_c = read_conversion_fn, .write_c = write_conversion_fn,
                              .extent = dtype_file_extent_fn, .extra_state = extra_state};
    return register_datarep(datarep, &what, __func__);
}

/* ---- pointers ---- */

static int seek(MPI_File fh, enum io_pointer pointer, MPI_Offset offset, int whence,
                const char *function)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, function);
    return file_end(file, file_io->seek(file->io, pointer, offset, whence, &error),
                    &error, function);
}

static int position(MPI_File fh, enum io_pointer pointer, MPI_Offset *offset, const char *function)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, function);
    if (!offset)
        return file_no_pointer(file, "offset", function);
    return file_end(file, file_io->get_position(file->io, pointer, offset, &error),
                    &error, function);
}

/*
 * Move the individual file pointer.
 *
 * This call is local: no other process takes part. Nothing is read or written. The pointer may lie
 * past the end of the file, and not before its beginning.
 *
 * offset: in elementary types of the view
 * whence: MPI_SEEK_SET: from the beginning; MPI_SEEK_CUR: from where it is; MPI_SEEK_END: from the
 *   end of the file
 *
 * MPI_ERR_ARG: whence is none of them, or the pointer would go before the beginning.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    return seek(fh, IO_INDIVIDUAL, offset, whence, __func__);
}

/*
 * Tell where the individual file pointer is.
 *
 * This call is local: no other process takes part. The position counts elementary types of the
 * view. MPI_File_get_byte_offset makes bytes of it.
 *
 * offset: in elementary types of the view
 *
 * MPI_ERR_ARG: offset is NULL.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 *
 * MPI-5.0 14.4.3
 */
int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    return position(fh, IO_INDIVIDUAL, offset, __func__);
}

/*
 * Move the shared file pointer.
 *
 * Collective, with the same arguments in all processes.
 *
 * offset: in elementary types of the view
 * whence: MPI_SEEK_SET: from the beginning; MPI_SEEK_CUR: from where it is; MPI_SEEK_END: from the
 *   end of the file
 *
 * MPI_ERR_ARG: whence is none of them, or the pointer would go before the beginning.
 * MPI_ERR_NOT_SAME: the processes give different arguments.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    return seek(fh, IO_SHARED, offset, whence, __func__);
}

/*
 * Tell where the shared file pointer is.
 *
 * This call is local: no other process takes part. The position counts elementary types of the
 * view. Another process may move the pointer before the answer is used.
 *
 * offset: in elementary types of the view
 *
 * MPI_ERR_ARG: offset is NULL.
 * MPI_ERR_UNSUPPORTED_OPERATION: the file was opened with MPI_MODE_SEQUENTIAL.
 *
 * MPI-5.0 14.4.4
 */
int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    return position(fh, IO_SHARED, offset, __func__);
}

/* ---- visibility to others ---- */

/*
 * Choose whether accesses are atomic.
 *
 * Collective, with the same flag in all processes. In atomic mode what one process has written all
 * processes of the file read from then on, and accesses that overlap come one after the other. A
 * new file is not in it.
 *
 * flag (in): 1: it is; 0: it is not
 *
 * MPI_ERR_NOT_SAME: the processes give different flags.
 * MPI_ERR_UNSUPPORTED_OPERATION: several processes have the file open, and its file system has no
 *   locks.
 *
 * MPI-5.0 14.6.1
 */
int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    return file_end(file, file_io->set_atomicity(file->io, flag != 0, &error), &error, __func__);
}

/*
 * Tell whether accesses are atomic.
 *
 * This call is local: no other process takes part. A file that was opened anew is not atomic.
 *
 * flag: 1 if they are, 0 if not
 *
 * MPI_ERR_ARG: flag is NULL.
 *
 * MPI-5.0 14.6.1
 */
int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    if (!flag)
        return file_no_pointer(file, "flag", __func__);
    *flag = file_io->get_atomicity(file->io);
    return MPI_SUCCESS;
}

/*
 * Write all data to the storage, and show them to others.
 *
 * Collective. What the processes wrote before the call others read after it.
 *
 * MPI_ERR_IO, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA: the system could not write it.
 * MPI_ERR_OTHER: a split access or a request is under way.
 *
 * MPI-5.0 14.6.1
 */
int PMPI_File_sync(MPI_File fh)
{
    struct io_error error;
    struct file *file = file_from(fh);
    if (!file)
        return file_bad(fh, __func__);
    return file_end(file, file_io->sync(file->io, &error), &error, __func__);
}

#include "io.gen.h"
