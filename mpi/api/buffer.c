/* SPDX-License-Identifier: BSD-3-Clause */

/* Attaching buffers for MPI_Bsend (MPI-5.0 3.6): of the process, of a session, and of a
 * communicator. */
#include <limits.h>
#include <mpi.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/session.h"
#include "mpi/request/buffer.h"
#include "mpi/request/request.h"

/* What a buffer is attached to, where errors are told: a communicator, a session, or neither. */
struct owner {
    struct comm *comm;
    struct session *session;
};

static int fail(const struct owner *owner, int error_class, const char *function, const char *what)
{
    if (owner->session)
        return session_error(owner->session, error_class, function, "%s", what);
    return errh_comm(owner->comm, error_class, function, "%s", what);
}

static struct buffer **slot_of(const struct owner *owner)
{
    return owner->session ? &owner->session->buffer
           : owner->comm  ? &owner->comm->buffer
                          : &buffer_process;
}

static int attach(struct owner owner, void *memory, MPI_Count size, const char *function)
{
    if (size < 0)
        return fail(&owner, MPI_ERR_ARG, function, "size: must be 0 or more");
    if (!memory && size)
        return fail(&owner, MPI_ERR_BUFFER, function, "buffer: NULL, but size is not 0");
    int rc = buffer_attach(slot_of(&owner), memory, size);
    if (rc)
        return fail(&owner, rc, function,
                    rc == MPI_ERR_BUFFER ? "a buffer is attached already: detach it first"
                                         : "out of memory");
    return MPI_SUCCESS;
}

/* buffer_addr is the address of a pointer. */
static int detach(struct owner owner, void *buffer_addr, MPI_Count *size, const char *function)
{
    if (!buffer_addr || !size)
        return fail(&owner, MPI_ERR_ARG, function,
                    buffer_addr ? "size is NULL" : "buffer_addr is NULL");
    if (buffer_detach(slot_of(&owner), buffer_addr, size))
        return fail(&owner, MPI_ERR_BUFFER, function, "no buffer is attached");
    return MPI_SUCCESS;
}

/* A size that an int cannot hold is reported as INT_MAX: the caller asked with too small a type. */
static int detach_int(struct owner owner, void *buffer_addr, int *size, const char *function)
{
    MPI_Count wide = 0;
    int rc = detach(owner, buffer_addr, size ? &wide : NULL, function);
    if (!rc)
        *size = wide > INT_MAX ? INT_MAX : (int)wide;
    return rc;
}

static int iflush(struct owner owner, MPI_Request *request, const char *function)
{
    if (!request)
        return fail(&owner, MPI_ERR_ARG, function, "request is NULL");
    struct request *made = buffer_iflush(*slot_of(&owner), owner.comm);
    if (!made)
        return fail(&owner, MPI_ERR_NO_MEM, function, "out of memory");
    *request = request_handle(made);
    return MPI_SUCCESS;
}

/* ---- of the process ---- */

static const struct owner of_process;

/*
 * Attach a buffer for buffered sends to the process.
 *
 * Messages of MPI_Bsend and its kin go through it, on communicators that have no buffer of their
 * own. The memory must be left alone until it is detached. Only one may be attached at a time.
 *
 * buffer (in): the memory, for each message its size by MPI_Pack_size and MPI_BSEND_OVERHEAD; or
 *   MPI_BUFFER_AUTOMATIC: the library takes memory as it needs it
 * size: bytes, 0 or more; without meaning for MPI_BUFFER_AUTOMATIC
 *
 * MPI_ERR_ARG: size is negative.
 * MPI_ERR_BUFFER: a buffer is attached already, or buffer is NULL and size is not 0.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 3.6
 */
int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    return attach(of_process, buffer, size, __func__);
}

/*
 * Detach the process's buffer, once every message in it is out.
 *
 * The call waits for that; then the memory is the program's again.
 *
 * buffer_addr (out): address of a pointer, which is set to the memory, or to
 *   MPI_BUFFER_AUTOMATIC
 * size: bytes, as they were attached; 0 for MPI_BUFFER_AUTOMATIC; INT_MAX where an int cannot
 *   hold it
 *
 * MPI_ERR_ARG: an argument is NULL.
 * MPI_ERR_BUFFER: no buffer is attached.
 *
 * MPI-5.0 3.6
 */
int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    return detach(of_process, buffer_addr, size, __func__);
}

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    return detach_int(of_process, buffer_addr, size, __func__);
}

/*
 * Wait until every message in the process's buffer is out.
 *
 * Then all of the buffer is free. Returns at once if none is attached.
 *
 * MPI-5.0 3.6
 */
int PMPI_Buffer_flush(void)
{
    buffer_flush(buffer_process);
    return MPI_SUCCESS;
}

/*
 * Start to wait until every message in the process's buffer is out.
 *
 * The call returns at once; the request is complete as soon as no message is in the buffer.
 *
 * MPI-5.0 3.6
 */
int PMPI_Buffer_iflush(MPI_Request *request)
{
    return iflush(of_process, request, __func__);
}

/* ---- of a communicator ---- */

/*
 * Attach a buffer for buffered sends to a communicator.
 *
 * Its messages of MPI_Bsend and its kin go through this buffer alone. The memory must be left
 * alone until it is detached. Only one may be attached at a time.
 *
 * buffer (in): the memory, for each message its size by MPI_Pack_size and MPI_BSEND_OVERHEAD; or
 *   MPI_BUFFER_AUTOMATIC: the library takes memory as it needs it
 * size: bytes, 0 or more; without meaning for MPI_BUFFER_AUTOMATIC
 *
 * MPI_ERR_ARG: size is negative.
 * MPI_ERR_BUFFER: a buffer is attached already, or buffer is NULL and size is not 0.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 3.6
 */
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    struct comm *c = comm_any(comm);
    return c ? attach((struct owner){c, NULL}, buffer, size, __func__)
             : errh_bad_comm(comm, __func__);
}

/*
 * Detach a communicator's buffer, once every message in it is out.
 *
 * The call waits for that; then the memory is the program's again. MPI_Comm_free does the same.
 *
 * buffer_addr (out): address of a pointer, which is set to the memory, or to
 *   MPI_BUFFER_AUTOMATIC
 * size: bytes, as they were attached; 0 for MPI_BUFFER_AUTOMATIC; INT_MAX where an int cannot
 *   hold it
 *
 * MPI_ERR_ARG: buffer_addr or size is NULL.
 * MPI_ERR_BUFFER: no buffer is attached.
 *
 * MPI-5.0 3.6
 */
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    struct comm *c = comm_any(comm);
    return c ? detach((struct owner){c, NULL}, buffer_addr, size, __func__)
             : errh_bad_comm(comm, __func__);
}

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
    struct comm *c = comm_any(comm);
    return c ? detach_int((struct owner){c, NULL}, buffer_addr, size, __func__)
             : errh_bad_comm(comm, __func__);
}

/*
 * Wait until every message in a communicator's buffer is out.
 *
 * Then all of the buffer is free. Returns at once if none is attached.
 *
 * MPI-5.0 3.6
 */
int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    struct comm *c = comm_any(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    buffer_flush(c->buffer);
    return MPI_SUCCESS;
}

/*
 * Start to wait until every message in a communicator's buffer is out.
 *
 * The call returns at once; the request is complete as soon as no message is in the buffer.
 *
 * MPI-5.0 3.6
 */
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_any(comm);
    return c ? iflush((struct owner){c, NULL}, request, __func__) : errh_bad_comm(comm, __func__);
}

/* ---- of a session ---- */

/*
 * Attach a buffer for buffered sends to a session.
 *
 * Messages of MPI_Bsend and its kin go through it, on communicators that come from the session
 * and have no buffer of their own. The memory must be left alone until it is detached. Only one may
 * be attached at a time.
 *
 * buffer (in): the memory, for each message its size by MPI_Pack_size and MPI_BSEND_OVERHEAD; or
 *   MPI_BUFFER_AUTOMATIC: the library takes memory as it needs it
 * size: bytes, 0 or more; without meaning for MPI_BUFFER_AUTOMATIC
 *
 * MPI_ERR_ARG: size is negative.
 * MPI_ERR_BUFFER: a buffer is attached already, or buffer is NULL and size is not 0.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 3.6
 */
int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    struct session *s = session_from(session);
    return s ? attach((struct owner){NULL, s}, buffer, size, __func__)
             : session_bad(session, __func__);
}

/*
 * Detach a session's buffer, once every message in it is out.
 *
 * The call waits for that; then the memory is the program's again. MPI_Session_finalize does the
 * same.
 *
 * buffer_addr (out): address of a pointer, which is set to the memory, or to
 *   MPI_BUFFER_AUTOMATIC
 * size: bytes, as they were attached; 0 for MPI_BUFFER_AUTOMATIC; INT_MAX where an int cannot
 *   hold it
 *
 * MPI_ERR_ARG: buffer_addr or size is NULL.
 * MPI_ERR_BUFFER: no buffer is attached.
 *
 * MPI-5.0 3.6
 */
int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    struct session *s = session_from(session);
    return s ? detach((struct owner){NULL, s}, buffer_addr, size, __func__)
             : session_bad(session, __func__);
}

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
    struct session *s = session_from(session);
    return s ? detach_int((struct owner){NULL, s}, buffer_addr, size, __func__)
             : session_bad(session, __func__);
}

/*
 * Wait until every message in a session's buffer is out.
 *
 * Then all of the buffer is free. Returns at once if none is attached.
 *
 * MPI-5.0 3.6
 */
int PMPI_Session_flush_buffer(MPI_Session session)
{
    struct session *s = session_from(session);
    if (!s)
        return session_bad(session, __func__);
    buffer_flush(s->buffer);
    return MPI_SUCCESS;
}

/*
 * Start to wait until every message in a session's buffer is out.
 *
 * The call returns at once; the request is complete as soon as no message is in the buffer.
 *
 * MPI-5.0 3.6
 */
int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    struct session *s = session_from(session);
    return s ? iflush((struct owner){NULL, s}, request, __func__) : session_bad(session, __func__);
}

#include "buffer.gen.h"
