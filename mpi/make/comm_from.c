/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators without a parent: how their members meet, and what the API checks and says.
 *
 * Processes without a common communicator meet in a context of context_meeting's, whose lower
 * bits, and the tag, are a hash of the user's text and of the groups: 59 bits, so that two
 * meetings of the same processes at the same time will not be confused. A communicator in that
 * context lives as long as the meeting takes.
 *
 * Two groups meet each in a context of its own, and their leaders in a context of both. Before
 * anything is made all must know whether the arguments fit, since a process that gets an error does
 * not call again, and others would wait for it:
 *
 *   - The groups may overlap. Then some are missing on one side, and no process can forward
 *     messages there. A leader, which alone knows both groups, sends every member a word (at
 *     CONTEXT_LEADER), and also the members of the other group whose leader may be on this side.
 *     Members listen for it while they agree on the next two points.
 *   - Each group agrees on its leader, and on the mistakes that its members have found.
 *   - The leaders greet each other (at CONTEXT_GROUP). So they learn whether the other group agreed
 *     and, as they accept a greeting of any of its members, whether each leader names the other.
 *     They tell their groups the result.
 *
 * A word that no process has received stays: after an error the program should use another text.
 *
 * Members of a communicator that make one of part of it meet likewise: as all of them are in the
 * communicator of the meeting, each hears of one that ends, although it may wait for another; and a
 * word left after an error belongs to that group alone, and not to those that are left.
 */
#include "mpi/make/comm_from.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/comm/hash.h"
#include "mpi/make/comm_make.h"
#include "mpi/make/context_agree.h"
#include "mpi/request/request.h"
#include "mpi/world.h"

/* The same on all machines. */
static uint64_t hash_group(const struct group *group)
{
    uint64_t seed = HASH_START;
    for (int i = 0; group->ranks && i < group->size; i++) {
        struct process process = group_process(group, i);
        process.rank = htobe32(process.rank);
        seed = hash_more(seed, &process, sizeof(process));
    }
    if (group->ranks)
        return seed;
    uint64_t range[] = {htobe64((uint64_t)group->first), htobe64((uint64_t)group->stride), htobe64((uint64_t)group->size)};
    return hash_more(hash_more(seed, &group->gid, sizeof(group->gid)), range, sizeof(range));
}

/* The context in which those meet that have the same text and the same key. */
struct meeting_place {
    uint32_t context;
    int tag;
};

static struct meeting_place find_place(const char *text, uint64_t key)
{
    uint64_t h = hash_more(key ^ UINT64_C(0x9e3779b97f4a7c15), text, strlen(text) + 1);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    uint32_t low = (uint32_t)h & (context_meeting - 1);
    return (struct meeting_place){context_meeting | (low & -(uint32_t)CONTEXT_STEP),
                                  (int)(h >> 33 & INT32_MAX)};
}

/* Make a communicator for the time of a meeting, with all its members. */
static int meet(struct group *group, const char *text, struct comm **there, struct agree *all)
{
    struct meeting_place place = find_place(text, hash_group(group));
    int rc = comm_create(group, place.context, there);
    if (!rc)
        *all = (struct agree){.comm = *there,
                              .context = place.context + CONTEXT_COLL,
                              .tag = place.tag};
    return rc;
}

/* Agree on a context in a meeting of all members. */
static int agree_in_meeting(struct group *group, const char *text, uint32_t *context)
{
    struct comm *there;
    struct agree all;
    int rc = meet(group, text, &there, &all);
    if (rc)
        return rc;
    rc = context_agree_among(&all, NULL, 0, context);
    comm_unref(there);
    return rc;
}

int comm_from_group(struct group *group, const char *text, struct comm **new)
{
    uint32_t context;
    int rc = agree_in_meeting(group, text, &context);
    return rc ? rc : comm_create(group, context, new);
}

int comm_from_members(const struct comm *comm, struct group *group, int tag, uint32_t *context)
{
    char text[64];
    snprintf(text, sizeof(text), "\nmembers of %u, tag %d", comm->context, tag);
    return agree_in_meeting(group, text, context);
}

/* ---- two groups ---- */

struct meeting_side {
    const struct comm_meeting *meeting;
    struct comm *there;  /* this group's */
    struct comm *bridge; /* of the leader: to the other group, in the context of both; or NULL */
    struct agree half;
    struct meeting_place place; /* of the bridge */
};

static bool leads(const struct comm_meeting *meeting)
{
    return meeting->local->rank == meeting->leader;
}

/* What this process alone finds to be wrong. */
static int check_own(const struct comm_meeting *meeting)
{
    const struct group *local = meeting->local, *remote = meeting->remote;
    if (meeting->leader < 0 || meeting->leader >= local->size)
        return COMM_FROM_LOCAL_LEADER;
    if (!leads(meeting))
        return MPI_SUCCESS;
    if (!remote)
        return COMM_FROM_NO_REMOTE;
    if (group_overlap(local, remote))
        return COMM_FROM_OVERLAP;
    if (meeting->remote_leader < 0 || meeting->remote_leader >= remote->size)
        return COMM_FROM_REMOTE_LEADER;
    return MPI_SUCCESS;
}

/* Send a word, and do not wait. A word that cannot be sent is dropped: a process that does not
 * receive it receives no other error either. */
static void say(const struct p2p_side *to, int word)
{
    struct request *request;
    int *words = malloc(sizeof(*words));
    if (!words)
        return;
    *words = word;
    if (p2p_isend(to, words, 1, MPI_INT, &request) || request == &request_done) {
        free(words);
        return;
    }
    request->owned = words;
    (void)request_abandon(request);
}

static void say_to_all(struct comm *comm, uint32_t context, int tag, int word)
{
    for (int i = 0; i < comm->peers; i++)
        if (comm->remote || i != comm->rank)
            say(&(struct p2p_side){comm, context, i, tag}, word);
}

/* The groups overlap, as the leader has found. Which processes are missing where is unknown. */
static void tell_of_overlap(const struct meeting_side *side)
{
    const struct comm_meeting *meeting = side->meeting;
    struct meeting_place over = find_place(meeting->text, hash_group(meeting->remote));
    struct comm *theirs;
    say_to_all(side->there, side->there->context + CONTEXT_LEADER, side->half.tag,
               COMM_FROM_OVERLAP);
    if (meeting->remote_leader < 0 || meeting->remote_leader >= meeting->remote->size)
        return;
    struct process other = group_process(meeting->remote, meeting->remote_leader);
    if (group_find(meeting->local, &other) == MPI_UNDEFINED) /* it tells its own */
        return;
    if (comm_create_inter(meeting->local, meeting->remote, over.context, &theirs))
        return;
    say_to_all(theirs, over.context + CONTEXT_LEADER, over.tag, COMM_FROM_OVERLAP);
    comm_unref(theirs);
}

/* Agree with this group, unless its leader or the other one reports that this has no use. */
static int agree_here(struct meeting_side *side, int own)
{
    int word = MPI_SUCCESS;
    uint64_t leader = (uint32_t)side->meeting->leader;
    uint64_t values[] = {(uint64_t)own, leader, UINT32_MAX - leader};
    struct p2p_side anybody = {side->there, side->there->context + CONTEXT_LEADER, MPI_ANY_SOURCE,
                               side->half.tag};
    struct agree half = side->half;
    int rc = p2p_irecv(&anybody, &word, 1, MPI_INT, &half.give_up);
    if (rc)
        return rc;
    rc = agree_max(&half, values, 3);
    mpid_cancel(&half.give_up->dev);
    (void)p2p_finish(half.give_up, MPI_STATUS_IGNORE);
    if (rc)
        return word == COMM_FROM_OVERLAP ? word : rc;
    if (values[0])
        return (int)values[0];
    return values[1] == UINT32_MAX - values[2] ? MPI_SUCCESS : COMM_FROM_TWO_LEADERS;
}

/* The leader, once its group has agreed, informs the other leader, and hears the same from it. */
static int greet(const struct meeting_side *side, int agreed)
{
    const struct comm_meeting *meeting = side->meeting;
    struct p2p_side other = {side->bridge, side->place.context + CONTEXT_GROUP,
                             meeting->remote_leader, side->place.tag};
    int from, word = MPI_SUCCESS;
    if (other.peer < 0 || other.peer >= side->bridge->peers) { /* one of them listens */
        say_to_all(side->bridge, other.context, other.tag, agreed);
        return agreed;
    }
    say(&other, agreed);
    if (agreed)
        return agreed;
    int rc = agree_hear(&other, &from, &word);
    if (rc)
        return rc;
    if (!word && from != other.peer) {
        other.peer = from;
        say(&other, COMM_FROM_STRANGERS);
        return COMM_FROM_STRANGERS;
    }
    return word < COMM_FROM_LOCAL_LEADER || word == COMM_FROM_STRANGERS ? word
                                                                         : COMM_FROM_ELSEWHERE;
}

/* Both groups have all that they need, or know the mistake. */
static int come_together(struct meeting_side *side)
{
    const struct comm_meeting *meeting = side->meeting;
    int rc = check_own(meeting);
    if (rc == COMM_FROM_OVERLAP) {
        tell_of_overlap(side);
        return rc;
    }
    rc = agree_here(side, rc);
    if (!leads(meeting) || !meeting->remote || rc == COMM_FROM_OVERLAP)
        return rc;
    /* The context of the leaders is the same for both, whichever way round they name the groups. */
    side->place = find_place(meeting->text,
                             hash_group(meeting->local) + hash_group(meeting->remote));
    int made = comm_create_inter(meeting->local, meeting->remote, side->place.context,
                                 &side->bridge);
    if (made)
        return rc ? rc : made;
    side->half.other = (struct p2p_side){side->bridge, side->place.context + CONTEXT_LEADER,
                                         meeting->remote_leader, side->place.tag};
    int greeted = greet(side, rc);
    if (!rc)
        side->half.failed = greeted;
    return rc;
}

int comm_from_groups(const struct comm_meeting *meeting, struct comm **new)
{
    struct meeting_side side = {.meeting = meeting};
    int rc = meet(meeting->local, meeting->text, &side.there, &side.half);
    if (rc)
        return rc;
    rc = come_together(&side);
    side.half.bridged = true;
    side.half.leader = meeting->leader;
    if (!rc)
        rc = comm_bind_halves(&side.half, new);
    comm_unref(side.bridge);
    comm_unref(side.there);
    return rc;
}

/* ---- for the API ---- */

/* A handler is invoked with an object: here with one that is no communicator to any call. */
int comm_from_error(const struct comm_from *from, int error_class, const char *function,
                    const char *fmt, ...)
{
    char what[320];
    va_list args;
    struct comm none = {.errhandler.has = from->errhandler, .rank = (int)group_me().rank};
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return errh_comm(from->errhandler ? &none : NULL, error_class, function, "%s", what);
}

int comm_from_check(const struct comm_from *from, MPI_Group group, const char *what, MPI_Info info,
                    const char *function)
{
    const struct errhandler *errhandler = from->errhandler;
    if (!errhandler && mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (!errhandler || (errhandler->kind == ERRH_USER && errhandler->on != ERRH_COMM))
        return errh_comm(NULL, MPI_ERR_ERRHANDLER, function,
                         "the error handler is none of communicators, or was freed");
    if (!from->group)
        return comm_from_error(from, MPI_ERR_GROUP, function, "%s %s", what,
                               group == MPI_GROUP_NULL ? "MPI_GROUP_NULL" : "is none, or was freed");
    if (!from->info && info != MPI_INFO_NULL)
        return comm_from_error(from, MPI_ERR_INFO, function,
                               "the info object is none, or was freed");
    if (!from->text || strlen(from->text) >= MPI_MAX_STRINGTAG_LEN)
        return comm_from_error(from, MPI_ERR_ARG, function,
                               "stringtag is NULL or has MPI_MAX_STRINGTAG_LEN characters or more");
    if (from->group != group_empty && from->group->rank == MPI_UNDEFINED)
        return comm_from_error(from, MPI_ERR_GROUP, function,
                               "%s: this process is no member of it: only its members may call",
                               what);
    return MPI_SUCCESS;
}

/* As any member says them. */
enum { FIRST = COMM_FROM_LOCAL_LEADER };
static const struct {
    int error_class;
    const char *text;
} wrongs[] = {
    [COMM_FROM_LOCAL_LEADER - FIRST] =
        {MPI_ERR_RANK, "local_leader of a member is no rank of local_group"},
    [COMM_FROM_TWO_LEADERS - FIRST] =
        {MPI_ERR_RANK, "members of local_group name different local_leaders: all must name one"},
    [COMM_FROM_NO_REMOTE - FIRST] =
        {MPI_ERR_GROUP, "remote_group of the local leader is none, or was freed"},
    [COMM_FROM_REMOTE_LEADER - FIRST] =
        {MPI_ERR_RANK, "remote_leader of the local leader is no rank of its remote_group"},
    [COMM_FROM_OVERLAP - FIRST] =
        {MPI_ERR_GROUP, "local_group and remote_group have a process in common: every process may "
                        "be in one of them only"},
    [COMM_FROM_STRANGERS - FIRST] =
        {MPI_ERR_RANK, "remote_leader is not whom the remote group names as its local_leader: each "
                       "leader must name the other"},
    [COMM_FROM_ELSEWHERE - FIRST] =
        {MPI_ERR_OTHER, "an argument is wrong in the remote group, whose processes tell which"},
};

int comm_from_give(const struct comm_from *from, int rc, struct comm *made, MPI_Comm *newcomm,
                   const char *function)
{
    if (!rc && from->info) {
        rc = comm_set_hints(made, from->info);
        if (rc)
            comm_unref(made);
    }
    switch (rc) {
    case MPI_SUCCESS: break;
    case MPI_ERR_NO_MEM:
        return comm_from_error(from, rc, function, "no memory for a communicator");
    case MPI_ERR_OTHER:
        return comm_from_error(from, rc, function, "%s", comm_other_error());
    case MPI_ERR_PROC_ABORTED:
        return comm_from_error(from, rc, function, "a member has ended, and did not take part");
    default:
        if (rc >= FIRST && rc <= COMM_FROM_ELSEWHERE)
            return comm_from_error(from, wrongs[rc - FIRST].error_class, function, "%s",
                                   wrongs[rc - FIRST].text);
        return comm_from_error(from, rc, function, "the members could not agree");
    }
    errh_set(&made->errhandler, from->errhandler);
    *newcomm = comm_handle(made);
    return MPI_SUCCESS;
}
