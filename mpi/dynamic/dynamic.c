/* SPDX-License-Identifier: BSD-3-Clause */

/* Making and leaving intercommunicators with processes of other jobs; see dynamic.h. */
#include "mpi/dynamic/dynamic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/dynamic/order.h"
#include "mpi/dynamic/port.h"
#include "mpi/left.h"
#include "mpi/make/comm_make.h"
#include "mpi/name.h"

/* A sentence goes in parts, as numbers: the byte orders of the members may differ. */
enum { WORD = 8, PART = DYNAMIC_WHY / 2 };
_Static_assert(PART / WORD <= AGREE_VALUES, "a part is one exchange");

static int hear_part(const struct agree *all, bool is_root, char *text)
{
    uint64_t words[PART / WORD] = {0};
    for (int i = 0; is_root && i < PART; i++)
        words[i / WORD] |= (uint64_t)(uint8_t)text[i] << 8 * (i % WORD);
    int rc = agree_max(all, words, PART / WORD);
    for (int i = 0; !rc && i < PART; i++)
        text[i] = (char)(words[i / WORD] >> 8 * (i % WORD));
    return rc;
}

/* All members hear whether the root has failed, and why. Returns MPI_SUCCESS or an error class. */
static int hear(struct comm *comm, bool is_root, int failed, char why[DYNAMIC_WHY])
{
    struct agree all = comm_everyone(comm);
    uint64_t told = is_root ? (uint64_t)failed : 0;
    int rc = agree_max(&all, &told, 1);
    for (int at = 0; !rc && told && at < DYNAMIC_WHY; at += PART)
        rc = hear_part(&all, is_root, why + at);
    why[DYNAMIC_WHY - 1] = 0;
    return rc ? rc : (int)told;
}

int dynamic_bind(struct comm *comm, int root, int fd, int failed, char why[DYNAMIC_WHY], struct comm **new)
{
    struct agree halves = {
        .comm = comm,
        .context = comm->context + CONTEXT_COLL,
        .tag = COMM_AGREE_TAG,
        .bridged = true,
        .leader = root,
        .pipe = &fd,
    };
    int rc = hear(comm, comm->rank == root, failed, why);
    if (!rc)
        rc = comm_bind_halves(&halves, new);
    if (fd >= 0)
        close(fd);
    return rc;
}

int dynamic_check(MPI_Comm handle, int root, const char *null, const char *function)
{
    struct comm *comm = comm_from(handle);
    if (!comm)
        return errh_bad_comm(handle, function);
    if (comm->remote)
        return errh_comm(comm, MPI_ERR_COMM, function, "comm is an intercommunicator");
    if (root < 0 || root >= comm->size)
        return errh_comm(comm, MPI_ERR_ROOT, function, "root %d: must be 0 to %d", root, comm->size - 1);
    if (null)
        return errh_comm(comm, MPI_ERR_ARG, function, "%s is NULL", null);
    return MPI_SUCCESS;
}

/* ---- spawning ---- */

struct started {
    int id, status;
};

static bool has_ended(void *arg)
{
    struct started *s = arg;
    return mpid_spawn_ended(s->id, &s->status);
}

/* Have the job started, and wait until it calls. Returns a socket or -1, with the reason in why. */
static int start(struct order *order, struct started *s, char *why)
{
    char port[MPI_MAX_PORT_NAME];
    const char *step = "";
    int rc = port_open(port, &step);
    if (rc) {
        snprintf(why, DYNAMIC_WHY, "no port can be opened for the new processes, by %s: %s", step, strerror(-rc));
        return -1;
    }
    rc = mpid_spawn((const char *const *)order->words, port, &s->id);
    int fd = rc ? -1 : port_accept(port, has_ended, s);
    (void)port_close(port);
    if (rc)
        snprintf(why, DYNAMIC_WHY, "mpiexec cannot be started: %s%s", strerror(-rc),
                 rc == -ENOENT ? "; put its folder into PATH" : "");
    else if (fd == -ECANCELED)
        snprintf(why, DYNAMIC_WHY, "the new processes ended without MPI_Init (their mpiexec with exit code %d%s)", s->status,
                 s->status ? ", and a line above says why" : "");
    else if (fd < 0)
        snprintf(why, DYNAMIC_WHY, "the new processes cannot be met: %s", strerror(-fd));
    return fd < 0 ? -1 : fd;
}

int dynamic_spawn(struct comm *comm, int root, struct order *order, int failed, char why[DYNAMIC_WHY],
                  struct comm **new)
{
    struct started s = {0};
    int fd = -1;
    if (comm->rank == root && order) {
        fd = start(order, &s, why);
        failed = fd < 0 ? MPI_ERR_SPAWN : MPI_SUCCESS;
    }
    int rc = dynamic_bind(comm, root, fd, failed, why, new);
    if (!rc && s.id) {
        (*new)->spawned = s.id;
        mpid_spawn_link(s.id);
    }
    return rc;
}

int dynamic_begin(char *why, size_t size)
{
    struct comm *world = comm_from(MPI_COMM_WORLD);
    const char *port = mpid_spawn_note();
    char reason[DYNAMIC_WHY] = "";
    int fd = -1, failed = MPI_SUCCESS;
    if (!port)
        return MPI_SUCCESS;
    if (!world->rank)
        fd = port_call(port, 0);
    if (!world->rank && fd < 0) {
        failed = MPI_ERR_PORT;
        snprintf(reason, sizeof(reason), ": %s", strerror(-fd));
    }
    int rc = dynamic_bind(world, 0, fd < 0 ? -1 : fd, failed, reason, &comm_parent);
    if (rc) {
        snprintf(why, size, "the processes that have spawned this one cannot be met%s", reason);
        return rc;
    }
    left_freed(comm_parent); /* it need not be freed */
    name_set(&comm_parent->name, "MPI_COMM_PARENT");
    return MPI_SUCCESS;
}

/* ---- parting ---- */

void dynamic_part(struct comm *comm)
{
    if (comm->spawned)
        mpid_spawn_unlink(comm->spawned);
    struct agree all = comm_everyone(comm);
    uint64_t nothing = 0;
    (void)agree_max(&all, &nothing, 1);
}
