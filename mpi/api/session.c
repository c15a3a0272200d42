/* SPDX-License-Identifier: BSD-3-Clause */

/* Sessions, process sets, and the groups that begin with them (MPI-5.0 11.3). */

#include <stdio.h>
#include <string.h>

#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/comm/session.h"
#include "mpi/info.h"
#include "mpi/request/buffer.h"
#include "mpi/start/init.h"
#include "mpi/world.h"

/* The thread level that info asks for, or -1 and what it says. */
static int wanted_level(const struct info *info, char *said, size_t size)
{
    int level = MPI_THREAD_MULTIPLE;
    if (info && info_read(info, "thread_level", said, size) >= 0)
        level = world_level_of(said);
    return level;
}

/* Begin a session. Returns it, or NULL and a sentence in why: "" where the error was reported already. */
static struct session *begin(int level, struct errhandler *errhandler, char *why, size_t size)
{
    struct session *session = session_create();
    if (!session) {
        snprintf(why, size, "no memory for a session");
        return NULL;
    }
    if (init_start_session(why, size)) {
        session_free(session);
        return NULL;
    }
    session_begin(session, level, errhandler);
    return session;
}

/*
 * Begin a session.
 *
 * Sessions are a way into MPI beside MPI_Init, before, while and after that is used, as often
 * as one likes; any thread may begin one at any time. Communicators come from process sets: see
 * MPI_Group_from_session_pset and MPI_Comm_create_from_group. Until MPI_Finalize after
 * MPI_Init, or MPI_Init_thread with MPI_THREAD_FUNNELED, the first session must begin in the thread
 * that called it.
 *
 * info: MPI_INFO_NULL, or hints; thread_level is the name of a level, MPI_THREAD_MULTIPLE
 *   without that key
 * errhandler: handler of MPI_Session_create_errhandler, or a predefined one; also for errors of
 *   this call, whose session is then MPI_SESSION_NULL
 * session: the session, to be ended with MPI_Session_finalize
 *
 * MPI_ERR_ERRHANDLER: errhandler is no error handler for sessions.
 * MPI_ERR_INFO: not an info object.
 * MPI_ERR_INFO_VALUE: thread_level is the name of none.
 * MPI_ERR_ARG: session is NULL.
 * MPI_ERR_OTHER: MPI cannot be started, or it runs for one thread, which is another one; the text
 *   says why.
 *
 * MPI-5.0 11.3.1
 */
int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    char why[512] = "", said[64] = "";
    struct errhandler *handler = errh_for(errhandler, ERRH_SESSION);
    if (!handler)
        return errh_comm(NULL, MPI_ERR_ERRHANDLER, __func__, "errhandler %s is no error handler%s",
                         errh_name(errhandler).text, errh_from(errhandler) ? " for sessions" : "");
    const struct info *hints = info_from(info);
    int rc = MPI_SUCCESS, level = wanted_level(hints, said, sizeof(said));
    struct session *made = NULL;
    if (!session) {
        rc = MPI_ERR_ARG;
        snprintf(why, sizeof(why), "session is NULL");
    } else if (!hints && info != MPI_INFO_NULL) {
        rc = MPI_ERR_INFO;
        snprintf(why, sizeof(why), "info %s is no info object, or was freed", errh_name(info).text);
    } else if (level < 0) {
        rc = MPI_ERR_INFO_VALUE;
        snprintf(why, sizeof(why), "thread_level '%s': must be MPI_THREAD_MULTIPLE, or the name of "
                                   "another level", said);
    } else if (!(made = begin(level, handler, why, sizeof(why)))) {
        rc = MPI_ERR_OTHER;
        if (!why[0])
            snprintf(why, sizeof(why), "MPI cannot be started (a line above says why)");
    }
    if (rc) {
        errh_ref(handler);
        return errh_on(handler, MPI_SESSION_NULL, rc, __func__, "%s", why);
    }
    *session = session_handle(made);
    return MPI_SUCCESS;
}

/*
 * End a session.
 *
 * Objects derived from it must not be used any more, and should have been freed. Messages in its
 * buffer are sent first. The last session, where MPI_Init is not in use, also waits until what
 * this process has sent is out; it waits for no other process to call anything. MPI may
 * then be used again, by another session.
 *
 * session (inout): the session; then MPI_SESSION_NULL
 *
 * MPI_ERR_SESSION: not a session, or session is NULL.
 * MPI_ERR_OTHER: the library could not end in good order.
 *
 * MPI-5.0 11.3.1
 */
int PMPI_Session_finalize(MPI_Session *session)
{
    struct session *on = session ? session_from(*session) : NULL;
    if (!on)
        return session_bad(session ? *session : MPI_SESSION_NULL, __func__);
    struct errhandler *errhandler = errh_get(&on->errhandler);
    session_close(on);
    buffer_end(&on->buffer);
    session_destroy(on);
    int rc = init_end_session();
    *session = MPI_SESSION_NULL;
    if (rc)
        return errh_on(errhandler, MPI_SESSION_NULL, rc, __func__,
                       "the process manager could not be told");
    errh_unref(errhandler);
    return MPI_SUCCESS;
}

/*
 * Tell the hints of a session.
 *
 * thread_level is the level asked for: all calls may come from any thread in any case.
 * mpi_memory_alloc_kinds is mpi,system: the library knows of no other kinds of memory.
 *
 * info_used: a new info object, which the caller frees
 *
 * MPI_ERR_ARG: info_used is NULL.
 *
 * MPI-5.0 11.3.3
 */
int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    struct session *on = session_from(session);
    if (!on)
        return session_bad(session, __func__);
    if (!info_used)
        return session_error(on, MPI_ERR_ARG, __func__, "info_used is NULL");
    struct info *info = session_info(on);
    if (!info)
        return session_error(on, MPI_ERR_NO_MEM, __func__, "no memory for an info object");
    *info_used = info_handle(info);
    return MPI_SUCCESS;
}

/* ---- process sets ---- */

static bool is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL || info_from(info);
}

/*
 * Tell how many process sets this process is in.
 *
 * mpi://WORLD are all processes of the job, mpi://SELF is this one; vireo://app/N, which is not
 * there in a process that mpiexec has not started, are those that run the same program of mpiexec's
 * command line, number N from 0 on, and have the name that mpiexec --pset gives them, too. The number
 * stays the same.
 *
 * info: MPI_INFO_NULL, or an info object, whose keys are not used
 * npset_names: number of sets
 *
 * MPI_ERR_ARG: npset_names is NULL.
 *
 * MPI-5.0 11.3.3
 */
int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    struct session *on = session_from(session);
    if (!on)
        return session_bad(session, __func__);
    if (!is_info(info))
        return session_error(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                             errh_name(info).text);
    if (!npset_names)
        return session_error(on, MPI_ERR_ARG, __func__, "npset_names is NULL");
    *npset_names = session_pset_count();
    return MPI_SUCCESS;
}

/*
 * Tell the name of a process set by its number.
 *
 * This call is local: no other process takes part. MPI_Session_get_num_psets tells how many there
 * are. Called with a length of 0, it tells how long the name is.
 *
 * info: MPI_INFO_NULL, or an info object, whose keys are not used
 * n: 0 to the number of sets less 1
 * pset_len (inout): room in pset_name, in bytes, the 0 at the end included; then what all of the
 *   name needs
 * pset_name: the name, as much as there is room for, with a 0 after it; left alone, and maybe
 *   NULL, where the room is 0
 *
 * MPI_ERR_ARG: there is no such set, the room is negative, or an argument is NULL.
 *
 * MPI-5.0 11.3.3
 */
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
                              char *pset_name)
{
    char name[MPI_MAX_PSET_NAME_LEN];
    struct session *on = session_from(session);
    if (!on)
        return session_bad(session, __func__);
    if (!is_info(info))
        return session_error(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                             errh_name(info).text);
    if (n < 0 || n >= session_pset_count())
        return session_error(on, MPI_ERR_ARG, __func__, "n is %d: must be 0 to %d", n,
                             session_pset_count() - 1);
    if (!pset_len || *pset_len < 0 || (*pset_len && !pset_name))
        return session_error(on, MPI_ERR_ARG, __func__,
                             "an argument is NULL, or *pset_len is negative");
    session_pset_name(n, name);
    if (*pset_len)
        snprintf(pset_name, (size_t)*pset_len, "%s", name);
    *pset_len = (int)strlen(name) + 1;
    return MPI_SUCCESS;
}

/* Find the session, and its set of a name. Returns MPI_SUCCESS, or the code of an error that was
 * raised. */
static int find_set(MPI_Session session, const char *name, struct session **found,
                    struct session_pset *set, const char *function)
{
    struct session *on = *found = session_from(session);
    if (!on)
        return session_bad(session, function);
    if (!name)
        return session_error(on, MPI_ERR_ARG, function, "pset_name is NULL");
    if (!session_pset(name, set))
        return session_error(on, MPI_ERR_ARG, function, "there is no process set '%.128s'", name);
    return MPI_SUCCESS;
}

/*
 * Describe a process set.
 *
 * This call is local: no other process takes part. The object is new, and the caller's to free. Its
 * key mpi_size is the number of processes.
 *
 * pset_name: name of a set; this process need not be in it
 * info: a new info object, which the caller frees; mpi_size is the number of processes
 *
 * MPI_ERR_ARG: there is no such set, or an argument is NULL.
 *
 * MPI-5.0 11.3.3
 */
int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    char text[16];
    struct session_pset set;
    struct session *on;
    int rc = find_set(session, pset_name, &on, &set, __func__);
    if (rc)
        return rc;
    if (!info)
        return session_error(on, MPI_ERR_ARG, __func__, "info is NULL");
    struct info *made = info_create();
    snprintf(text, sizeof(text), "%d", set.size);
    if (!made || info_set(made, "mpi_size", text)) {
        info_destroy(made);
        return session_error(on, MPI_ERR_NO_MEM, __func__, "no memory for an info object");
    }
    *info = info_handle(made);
    return MPI_SUCCESS;
}

/*
 * Make a group of a process set.
 *
 * The call waits for nobody. Ranks are in the order of those of mpi://WORLD.
 *
 * pset_name: name of a set; this process need not be in it
 * newgroup: the new group, to be freed with MPI_Group_free before the session ends
 *
 * MPI_ERR_ARG: there is no such set, or an argument is NULL.
 *
 * MPI-5.0 7.3.2
 */
int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    struct session_pset set;
    struct session *on;
    int rc = find_set(session, pset_name, &on, &set, __func__);
    if (rc)
        return rc;
    if (!newgroup)
        return session_error(on, MPI_ERR_ARG, __func__, "newgroup is NULL");
    struct group *made = group_create_range(&world_facts.gid, set.first, 1, set.size);
    if (!made)
        return session_error(on, MPI_ERR_NO_MEM, __func__, "no memory for a group");
    made->session = on->number;
    *newgroup = group_give(made);
    return MPI_SUCCESS;
}

#include "session.gen.h"
