/* SPDX-License-Identifier: BSD-3-Clause */

/* Introductions; see introduce.h. The blocks of a half are equally long. */
#include "mpi/make/introduce.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/make/introduction.h"

static bool is_of(const struct group *group, int i, const struct mpid_gid *gid)
{
    struct process process = group_process(group, i);
    return !memcmp(&process.gid, gid, sizeof(*gid));
}

/* Whether all members are of this job. */
static bool is_all_of(const struct group *group, const struct mpid_gid *gid)
{
    int i = 0;
    if (!group->gids)
        return !group->size || is_of(group, 0, gid);
    while (i < group->size && is_of(group, i, gid))
        i++;
    return i == group->size;
}

/* ---- writing ---- */

/* Gather the blocks of this half, of *size bytes each, to be freed. Returns MPI_SUCCESS or an error class. */
static int gather(const struct agree *half, const struct mpid_introduction *me, int failed,
                  uint8_t **blocks, size_t *size)
{
    const struct comm *comm = half->comm;
    uint64_t values[] = {failed ? 0 : introduction_size(me), (uint64_t)failed};
    int rc = agree_max(half, values, 2);
    if (rc || values[1])
        return rc ? rc : (int)values[1];
    *size = (size_t)values[0];
    *blocks = calloc((size_t)comm->size, *size);
    if (*blocks)
        introduction_put(*blocks + (size_t)comm->rank * *size, me);
    values[0] = !*blocks;
    rc = agree_max(half, values, 1); /* a gather is not begun that one of them cannot join */
    if (rc || values[0])
        return rc ? rc : MPI_ERR_NO_MEM;
    return agree_gather(half, AGREE_BYTES, *blocks, *size);
}

/* ---- reading ---- */

/* Take in the process that the block is to be of. Returns MPI_SUCCESS or an error class. */
static int read_block(const uint8_t *at, size_t size, const struct process *member, struct vc **vc)
{
    struct mpid_introduction who;
    int rc = introduction_get(at, size, &who);
    if (rc)
        return rc == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
    bool is_member = !memcmp(&who.gid, &member->gid, sizeof(who.gid)) && who.rank == member->rank;
    *vc = is_member ? mpid_introduce(&who) : NULL;
    introduction_free(&who);
    return *vc ? MPI_SUCCESS : is_member ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
}

static int read_blocks(const uint8_t *bytes, size_t len, const struct group *remote,
                       struct introduced *introduced)
{
    size_t count = (size_t)remote->size, size = len / count;
    if (size * count != len || size < INTRODUCTION_MIN || size > INTRODUCTION_MAX)
        return MPI_ERR_INTERN;
    introduced->vcs = calloc(count, sizeof(*introduced->vcs));
    if (!introduced->vcs)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < remote->size; i++) {
        struct process process = group_process(remote, i);
        int rc = read_block(bytes + (size_t)i * size, size, &process, &introduced->vcs[i]);
        if (rc)
            return rc;
        introduced->count++;
    }
    return MPI_SUCCESS;
}

/* ---- both ---- */

int introduce(const struct agree *halves, const struct group *remote, struct introduced *introduced)
{
    const struct group *local = halves->comm->group;
    struct process first = group_process(local, 0);
    struct agree half = *halves, both = *halves;
    struct mpid_introduction me = {.card = NULL};
    uint8_t *blocks = NULL;
    void *theirs = NULL;
    size_t size = 0, len = 0;
    *introduced = (struct introduced){0};
    if (!remote->size || (is_all_of(local, &first.gid) && is_all_of(remote, &first.gid)))
        return MPI_SUCCESS;
    introduced->was_needed = true;
    half.bridged = false;
    int failed = mpid_present(&me) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    both.failed = gather(&half, &me, failed, &blocks, &size);
    int rc = agree_swap(&both, AGREE_BYTES, blocks, (size_t)local->size * size, &theirs, &len);
    if (!rc)
        introduced->rc = read_blocks(theirs, len, remote, introduced);
    free((void *)(uintptr_t)me.card);
    free(blocks);
    free(theirs);
    return rc;
}

void introduce_end(struct introduced *introduced)
{
    for (int i = 0; i < introduced->count; i++)
        mpid_vc_put(introduced->vcs[i]);
    free(introduced->vcs);
}
