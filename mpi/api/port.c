/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communication between jobs that were started apart: ports, names, connect and accept (MPI-5.0 11.9
 * and 11.10).
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/dynamic/port.h"
#include "mpi/info.h"
#include "mpi/make/comm_make.h"
#include "mpi/world.h"

/* Returns MPI_SUCCESS, or MPI_ERR_INFO with a sentence in why. */
static int check_info(MPI_Info info, char why[DYNAMIC_WHY])
{
    if (info == MPI_INFO_NULL || info_from(info))
        return MPI_SUCCESS;
    snprintf(why, DYNAMIC_WHY, "info %s is no info object, or was freed", errh_name(info).text);
    return MPI_ERR_INFO;
}

/* What every function here needs. Returns MPI_SUCCESS or the error's code. */
static int check(MPI_Info info, const char *function)
{
    char why[DYNAMIC_WHY];
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (check_info(info, why))
        return errh_comm(NULL, MPI_ERR_INFO, function, "%s", why);
    return MPI_SUCCESS;
}

/*
 * Open a port, at which processes of other jobs can connect.
 *
 * Local. The port is a TCP socket on every address of this host. Its name carries those addresses and a secret:
 * whoever has the name can connect, from any host that reaches this one, and nobody without it. The port stays
 * until MPI_Close_port, or the process ends.
 *
 * info: no key has a meaning here
 * port_name: gets the name, MPI_MAX_PORT_NAME characters at most
 *
 * MPI_ERR_ARG: port_name is NULL.
 * MPI_ERR_OTHER: no socket can be had.
 *
 * MPI-5.0 11.9.2
 */
int PMPI_Open_port(MPI_Info info, char *port_name)
{
    const char *step;
    int rc = check(info, __func__);
    if (rc)
        return rc;
    if (!port_name)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "port_name is NULL");
    rc = port_open(port_name, &step);
    if (rc)
        return errh_comm(NULL, MPI_ERR_OTHER, __func__, "no port can be opened, by %s: %s", step,
                         strerror(-rc));
    return MPI_SUCCESS;
}

/*
 * Close a port.
 *
 * Local. Nobody can connect there any more; what is connected stays so.
 *
 * port_name: the name of a port that this process has opened
 *
 * MPI_ERR_PORT: it is none.
 *
 * MPI-5.0 11.9.2
 */
int PMPI_Close_port(const char *port_name)
{
    int rc = check(MPI_INFO_NULL, __func__);
    if (rc)
        return rc;
    if (!port_name || port_close(port_name))
        return errh_comm(NULL, MPI_ERR_PORT, __func__,
                         "'%.80s' is no port that this process has opened, or it is closed",
                         port_name ? port_name : "NULL");
    return MPI_SUCCESS;
}

/* ---- accept and connect ---- */

/* The error class of a socket, or of the reason why there is none. */
static int class_of(int fd)
{
    return fd >= 0 ? MPI_SUCCESS : fd == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_PORT;
}

/* Give the user the new communicator, or say why there is none. why: the root's sentence. */
static int give(struct comm *comm, int rc, const char *why, struct comm *new, MPI_Comm *newcomm,
                const char *function)
{
    switch (rc) {
    case MPI_SUCCESS: *newcomm = comm_handle(new); return MPI_SUCCESS;
    case MPI_ERR_NO_MEM: return errh_comm(comm, rc, function, "no memory for a communicator");
    case MPI_ERR_GROUP:
        return errh_comm(comm, MPI_ERR_COMM, function, "the two groups have a process in common");
    case MPI_ERR_OTHER: return errh_comm(comm, rc, function, "%s", comm_other_error());
    case MPI_ERR_PORT:
    case MPI_ERR_INFO: return errh_comm(comm, rc, function, "%s", why);
    case MPI_ERR_PROC_ABORTED:
        return errh_comm(comm, rc, function, "a process of either group has ended meanwhile");
    default: return errh_comm(comm, rc, function, "the two groups could not agree");
    }
}

/*
 * Wait for a group of processes that connects, and make an intercommunicator with it.
 *
 * Collective over comm. The root waits until some group calls MPI_Comm_connect with the name of the
 * port; several that do are taken one after the other, by as many calls. In the root, and in whatever else
 * waits, communication goes on.
 *
 * port_name: at root, a port that it has opened
 * info: no key has a meaning here
 * root: the rank in comm that has the port
 * comm: an intracommunicator
 * newcomm: gets the intercommunicator; its error handler is comm's
 *
 * MPI_ERR_COMM: comm is no intracommunicator, or the two groups have a process in common.
 * MPI_ERR_ROOT: root is no rank in comm.
 * MPI_ERR_PORT: the root has no such port, or it was closed meanwhile.
 * MPI_ERR_ARG: newcomm is NULL.
 *
 * MPI-5.0 11.9.2
 */
int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *new = NULL, *on = comm_from(comm);
    char why[DYNAMIC_WHY] = "";
    int fd = -1, failed = MPI_SUCCESS, rc = dynamic_check(comm, root, newcomm ? NULL : "newcomm", __func__);
    if (rc)
        return rc;
    if (on->rank == root)
        failed = check_info(info, why);
    if (on->rank == root && !failed) {
        fd = port_name ? port_accept(port_name, NULL, NULL) : -ENOENT;
        failed = class_of(fd);
        snprintf(why, sizeof(why), "%s", fd == -EBADF ? "the port was closed while the root waited"
                                                      : "port_name is no port that the root has opened, or it is closed");
    }
    rc = dynamic_bind(on, root, fd < 0 ? -1 : fd, failed, why, &new);
    return give(on, rc, why, new, newcomm, __func__);
}

enum { PATIENCE_S = 600 };

/* The value of key timeout, in seconds, or the usual limit. */
static double timeout_of(MPI_Info handle)
{
    char text[32];
    struct info *info = handle == MPI_INFO_NULL ? NULL : info_from(handle);
    if (!info || info_read(info, "timeout", text, sizeof(text)) < 0)
        return PATIENCE_S;
    double seconds = strtod(text, NULL);
    return isfinite(seconds) && seconds > 0 && seconds < 1e9 ? seconds : PATIENCE_S;
}

static const char *why_not(int rc)
{
    switch (rc) {
    case -EINVAL: return "port_name is no name that MPI_Open_port has given";
    case -ETIMEDOUT: return "nobody accepted within the time that info says, or the network allows";
    case -ECONNREFUSED: return "nobody has this port open: it was closed, or its process has ended";
    default: return strerror(-rc);
    }
}

/*
 * Connect to a group of processes that accepts, and make an intercommunicator with it.
 *
 * Collective over comm. The call waits until the owner of the port calls MPI_Comm_accept, in
 * its turn; it fails at once if the port is not open.
 *
 * port_name: at root, the name of a port of the other group's
 * info: at root, key "timeout": the seconds to wait at most; without it ten minutes
 * root: the rank in comm that connects
 * comm: an intracommunicator
 * newcomm: gets the intercommunicator; its error handler is comm's
 *
 * MPI_ERR_COMM: comm is no intracommunicator, or the two groups have a process in common.
 * MPI_ERR_ROOT: root is no rank in comm.
 * MPI_ERR_PORT: port_name is no name of a port, nobody has it open, or nobody accepted in time.
 * MPI_ERR_ARG: newcomm is NULL.
 *
 * MPI-5.0 11.9.3
 */
int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *new = NULL, *on = comm_from(comm);
    char why[DYNAMIC_WHY] = "";
    int fd = -1, failed = MPI_SUCCESS, rc = dynamic_check(comm, root, newcomm ? NULL : "newcomm", __func__);
    if (rc)
        return rc;
    if (on->rank == root)
        failed = check_info(info, why);
    if (on->rank == root && !failed) {
        fd = port_name ? port_call(port_name, timeout_of(info)) : -EINVAL;
        failed = class_of(fd);
        if (failed)
            snprintf(why, sizeof(why), "%s", why_not(fd));
    }
    rc = dynamic_bind(on, root, fd < 0 ? -1 : fd, failed, why, &new);
    return give(on, rc, why, new, newcomm, __func__);
}

/*
 * Make an intercommunicator of this process and the one at the other end of a socket.
 *
 * Both call it; each is alone in its group. The socket must be a connected stream on which nothing is under way;
 * it is as before afterwards, and still the program's.
 *
 * fd: the socket
 * intercomm: gets the intercommunicator
 *
 * MPI_ERR_ARG: fd is no connected stream socket, or intercomm is NULL.
 * MPI_ERR_PROC_ABORTED: the other end was closed.
 *
 * MPI-5.0 11.10.4
 */
int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    struct comm *new = NULL, *self = comm_from(MPI_COMM_SELF);
    if (!self)
        return errh_not_ready(__func__);
    if (!intercomm)
        return errh_comm(self, MPI_ERR_ARG, __func__, "intercomm is NULL");
    int copy = dup(fd);
    if (copy < 0)
        return errh_comm(self, MPI_ERR_ARG, __func__, "fd %d: %s", fd, strerror(errno));
    char why[DYNAMIC_WHY] = "";
    int rc = dynamic_bind(self, 0, copy, MPI_SUCCESS, why, &new);
    return give(self, rc, why, new, intercomm, __func__);
}

/*
 * Free a communicator, and be connected no more by it.
 *
 * Collective over comm, both groups of an intercommunicator: it waits until all members have called it.
 * Processes that no other communicator connects are independent then: the end of one, or its failure, is
 * nothing to the other.
 *
 * comm (inout): the communicator; then MPI_COMM_NULL
 *
 * MPI_ERR_COMM: not a communicator, or a predefined one; or comm is NULL.
 *
 * MPI-5.0 11.10.4
 */
int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return comm_end(comm, dynamic_part, __func__);
}

/* ---- names ---- */

static int check_service(const char *service_name, const char *function)
{
    if (!service_name || !*service_name || strlen(service_name) >= MPI_MAX_PORT_NAME)
        return errh_comm(NULL, MPI_ERR_ARG, function,
                         "service_name is NULL, empty, or has MPI_MAX_PORT_NAME characters or more");
    return MPI_SUCCESS;
}

/*
 * Publish a port under a name that others can look up.
 *
 * Waits for mpiexec and its daemons alone. The name is kept on all hosts of this job and on mpiexec's (of a process without
 * mpiexec: its own). All jobs of the same user that have such a host, too, see it, and no other user does. It goes with
 * MPI_Unpublish_name, or when this process ends.
 *
 * service_name: the name
 * info: no key has a meaning here
 * port_name: the port
 *
 * MPI_ERR_ARG: service_name or port_name is NULL, empty or too long.
 * MPI_ERR_SERVICE: the name is published already, or cannot be on some host; then it is published on none.
 *
 * MPI-5.0 11.9.4
 */
int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    char text[MPID_NAME_MAX + 1];
    int rc = check(info, __func__);
    if (!rc)
        rc = check_service(service_name, __func__);
    if (rc)
        return rc;
    if (!port_name || !*port_name || strlen(port_name) >= MPI_MAX_PORT_NAME || strchr(port_name, '\n'))
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "port_name is no name of a port");
    strcpy(text, port_name);
    rc = mpid_name(MPID_PUBLISH, service_name, text);
    if (rc == -EEXIST)
        return errh_comm(NULL, MPI_ERR_SERVICE, __func__, "'%.80s' is published already, by a process that lives, on host %.200s",
                         service_name, text);
    if (rc == -EPERM)
        return errh_comm(NULL, MPI_ERR_SERVICE, __func__,
                         "the folder /tmp/vireo-names-%u on host %.200s is not this user's alone; remove it", (unsigned)geteuid(),
                         text);
    if (rc)
        return errh_comm(NULL, MPI_ERR_SERVICE, __func__, "'%.80s' cannot be published on host %.200s: %s", service_name,
                         text, strerror(-rc));
    return MPI_SUCCESS;
}

/*
 * Take a published name back.
 *
 * Waits for mpiexec and its daemons alone.
 *
 * service_name: the name
 * info: no key has a meaning here
 * port_name: the port
 *
 * MPI_ERR_ARG: service_name is NULL, empty or too long.
 * MPI_ERR_SERVICE: no process of this job has published that name.
 *
 * MPI-5.0 11.9.4
 */
int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    int rc = check(info, __func__);
    (void)port_name;
    if (!rc)
        rc = check_service(service_name, __func__);
    if (rc)
        return rc;
    if (mpid_name(MPID_UNPUBLISH, service_name, NULL))
        return errh_comm(NULL, MPI_ERR_SERVICE, __func__, "this job has not published '%.80s'",
                         service_name);
    return MPI_SUCCESS;
}

/*
 * Look a published name up, on all hosts of this job and on mpiexec's.
 *
 * Waits for mpiexec and its daemons alone.
 *
 * service_name: the name
 * info: no key has a meaning here
 * port_name: gets the port, MPI_MAX_PORT_NAME characters at most
 *
 * MPI_ERR_ARG: service_name is NULL, empty or too long, or port_name is NULL.
 * MPI_ERR_NAME: no living process of this user has published that name there.
 *
 * MPI-5.0 11.9.4
 */
int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    int rc = check(info, __func__);
    if (!rc)
        rc = check_service(service_name, __func__);
    if (rc)
        return rc;
    if (!port_name)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "port_name is NULL");
    if (mpid_name(MPID_LOOKUP, service_name, port_name))
        return errh_comm(NULL, MPI_ERR_NAME, __func__, "no process of this user has published '%.80s' on a host of this job",
                         service_name);
    return MPI_SUCCESS;
}

#include "port.gen.h"
