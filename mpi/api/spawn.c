/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starting processes (MPI-5.0 11.8).
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/dynamic/keys.h"
#include "mpi/dynamic/order.h"
#include "mpi/info.h"
#include "mpi/make/comm_make.h"
#include "mpi/start/init.h"

/*
 * Give the intercommunicator to the processes that have spawned this one.
 *
 * Local. After MPI_Comm_free or MPI_Comm_disconnect of it there is none any more.
 *
 * parent: gets it, or MPI_COMM_NULL: this process was not spawned
 *
 * MPI_ERR_ARG: parent is NULL.
 *
 * MPI-5.0 11.8.2
 */
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    if (init_world_state() != INIT_READY && init_world_state() != INIT_ENDING)
        return errh_comm(NULL, MPI_ERR_OTHER, __func__,
                         "MPI_Init has not been called, or MPI_Finalize has");
    if (!parent)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "parent is NULL");
    *parent = comm_parent && !comm_parent->freed ? comm_handle(comm_parent) : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* ---- spawn ---- */

/* What the root is to start. */
struct spawn_wish {
    int count;
    char *const *commands;
    char ***argvs; /* NULL: MPI_ARGVS_NULL */
    const int *maxprocs;
    const MPI_Info *infos;
};

/* Read command number i. Returns MPI_SUCCESS or an error class, with the reason in why. */
static int read_program(const struct spawn_wish *wish, int i, struct order *order, int *total, char why[DYNAMIC_WHY])
{
    const struct info *info =
        wish->infos && wish->infos[i] != MPI_INFO_NULL ? info_from(wish->infos[i]) : NULL;
    if (!wish->commands || !wish->commands[i]) {
        snprintf(why, DYNAMIC_WHY, "command %d is NULL", i);
        return MPI_ERR_ARG;
    }
    if (wish->maxprocs[i] < 0) {
        snprintf(why, DYNAMIC_WHY, "maxprocs %d of command %d: must be 0 or more", wish->maxprocs[i], i);
        return MPI_ERR_ARG;
    }
    if (wish->infos && wish->infos[i] != MPI_INFO_NULL && !info) {
        snprintf(why, DYNAMIC_WHY, "the info of command %d is no info object, or was freed", i);
        return MPI_ERR_INFO;
    }
    struct info *keys = info ? keys_read(info, wish->commands[i]) : NULL;
    if (info && !keys) {
        snprintf(why, DYNAMIC_WHY, "no memory");
        return MPI_ERR_NO_MEM;
    }
    int count = order_count(keys, wish->maxprocs[i]);
    if (count < 0) {
        info_destroy(keys);
        snprintf(why, DYNAMIC_WHY, "key soft of command %d allows no number up to %d", i, wish->maxprocs[i]);
        return MPI_ERR_SPAWN;
    }
    *total += wish->maxprocs[i];
    if (count)
        order_add(order, &(struct order_program){.command = wish->commands[i],
                                                 .argv = wish->argvs ? wish->argvs[i] : NULL,
                                                 .info = keys}, count);
    info_destroy(keys);
    return MPI_SUCCESS;
}

/* The root reads its arguments. Returns MPI_SUCCESS or an error class, with the reason in why. */
static int read_wish(const struct spawn_wish *wish, struct order *order, int *total, char why[DYNAMIC_WHY])
{
    int rc = MPI_SUCCESS;
    if (wish->count < 1 || !wish->maxprocs) {
        snprintf(why, DYNAMIC_WHY, "count %d: must be 1 or more", wish->count);
        return MPI_ERR_ARG;
    }
    for (int i = 0; i < wish->count && !rc; i++)
        rc = read_program(wish, i, order, total, why);
    if (rc)
        return rc;
    if (!order->program_count) {
        snprintf(why, DYNAMIC_WHY, "no process is to be started");
        return MPI_ERR_SPAWN;
    }
    int ended = order_end(order);
    if (ended)
        snprintf(why, DYNAMIC_WHY, "%s", order->why[0] ? order->why : "no memory");
    return !ended ? MPI_SUCCESS : order->why[0] ? MPI_ERR_SPAWN : MPI_ERR_NO_MEM;
}

/* All hear from the root how many processes are wanted. Returns MPI_SUCCESS or an error class. */
static int share(struct comm *comm, int *total)
{
    struct agree all = comm_everyone(comm);
    uint64_t value = (uint64_t)*total;
    int rc = agree_max(&all, &value, 1);
    if (!rc)
        *total = (int)value;
    return rc;
}

/* Set the outcome of each process: those that were not wanted after all have none. */
static void fill_codes(int *codes, int total, int started, int rc)
{
    for (int i = 0; codes && codes != MPI_ERRCODES_IGNORE && i < total; i++)
        codes[i] = rc ? rc : i < started ? MPI_SUCCESS : MPI_ERR_SPAWN;
}

static int spawn(const struct spawn_wish *wish, int root, MPI_Comm handle, MPI_Comm *intercomm, int *codes,
                 const char *function)
{
    struct comm *new = NULL, *comm = comm_from(handle);
    struct order order = {0};
    char why[DYNAMIC_WHY] = "";
    int total = 0, failed = MPI_SUCCESS, rc = dynamic_check(handle, root, intercomm ? NULL : "intercomm", function);
    if (rc)
        return rc;
    bool is_root = comm->rank == root;
    if (is_root)
        failed = read_wish(wish, &order, &total, why);
    rc = share(comm, &total);
    if (!rc)
        rc = dynamic_spawn(comm, root, is_root && !failed ? &order : NULL, failed, why, &new);
    order_free(&order);
    fill_codes(codes, total, rc ? 0 : new->peers, rc ? MPI_ERR_SPAWN : MPI_SUCCESS);
    if (rc)
        return errh_comm(comm, rc, function, "%s",
                         why[0]                      ? why
                         : rc == MPI_ERR_PROC_ABORTED ? "a process of either group has ended meanwhile"
                                                      : "no communicator can be made with the new processes");
    *intercomm = comm_handle(new);
    return MPI_SUCCESS;
}

/*
 * Start processes of a program, and make an intercommunicator with them.
 *
 * Collective over comm; the call waits until the new processes have called MPI_Init. They are a job with
 * an mpiexec of its own, and have their own MPI_COMM_WORLD. They end with this job, unless MPI_Comm_disconnect
 * has parted the two; if one of the jobs fails before that, both end. A process that was started alone, or by another
 * launcher, starts an mpiexec for them.
 *
 * command: at root, the program; a relative name starts in root's working folder, or that of key wdir, or
 *   is sought along PATH
 * argv: at root, its arguments, without the name; NULL-terminated, or MPI_ARGV_NULL
 * maxprocs: at root, how many processes
 * info: at root, keys: wdir, path, host, hostfile, add-host, soft, env (NAME=VALUE, one a line), map_by, rank_by,
 *   bind_to, ppr, npernode, pernode, npersocket, display_map, mpi_initial_errhandler, and file, which has further ones, a line
 *   each, "key = value"; others mean nothing, and mpiexec --report tells of them
 * root: the rank in comm whose arguments count
 * comm: an intracommunicator
 * intercomm: gets the intercommunicator; its error handler is comm's
 * array_of_errcodes: gets MPI_SUCCESS or MPI_ERR_SPAWN for each of maxprocs processes, or
 *   MPI_ERRCODES_IGNORE
 *
 * MPI_ERR_SPAWN: the processes cannot be started, or ended before MPI_Init.
 * MPI_ERR_ARG: command is NULL, maxprocs is negative, or intercomm is NULL.
 * MPI_ERR_INFO: info is none.
 * MPI_ERR_ROOT: root is no rank in comm.
 *
 * MPI-5.0 11.8.2
 */
int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *intercomm, int array_of_errcodes[])
{
    char *commands[] = {(char *)(uintptr_t)command};
    char **argvs[] = {argv};
    const struct spawn_wish wish = {1, commands, argv == MPI_ARGV_NULL ? NULL : argvs, &maxprocs, &info};
    return spawn(&wish, root, comm, intercomm, array_of_errcodes, __func__);
}

/*
 * Start processes of several programs, and make an intercommunicator with all of them.
 *
 * As MPI_Comm_spawn. All new processes are in one MPI_COMM_WORLD, in the order of the commands; MPI_APPNUM is
 * the number of a process's command.
 *
 * count: at root, how many commands
 * array_of_commands, array_of_argv, array_of_maxprocs, array_of_info: at root, as for MPI_Comm_spawn, of each
 *   command; array_of_argv may be MPI_ARGVS_NULL
 * root: the rank in comm whose arguments count
 * comm: an intracommunicator
 * intercomm: gets the intercommunicator; its error handler is comm's
 * array_of_errcodes: gets MPI_SUCCESS or MPI_ERR_SPAWN for each process of all commands, or
 *   MPI_ERRCODES_IGNORE
 *
 * MPI_ERR_SPAWN: the processes cannot be started, or ended before MPI_Init.
 * MPI_ERR_ARG: count is below 1, a command is NULL, a number is negative, or intercomm is NULL.
 * MPI_ERR_INFO: an info is none.
 * MPI_ERR_ROOT: root is no rank in comm.
 *
 * MPI-5.0 11.8.3
 */
int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
    int array_of_errcodes[])
{
    const struct spawn_wish wish = {count, array_of_commands, array_of_argv == MPI_ARGVS_NULL ? NULL : array_of_argv,
                              array_of_maxprocs, array_of_info};
    return spawn(&wish, root, comm, intercomm, array_of_errcodes, __func__);
}

#include "spawn.gen.h"
