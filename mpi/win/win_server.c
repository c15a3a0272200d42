/* SPDX-License-Identifier: BSD-3-Clause */

/* Who uses a window's target, and answers; see win_server.h. */
#include "mpi/win/win_server.h"

#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/request/request.h"
#include "mpi/win/win.h"
#include "os/turn.h"

void win_server_unref(struct win_server *server)
{
    struct win_origin *origin, *next;
    if (atomic_fetch_sub(&server->references, 1) > 1)
        return;
    HASH_ITER(hh, server->origins, origin, next)
    {
        HASH_DEL(server->origins, origin);
        free(origin);
    }
    comm_unref(server->comm);
    free(server);
}

void win_server_use(struct win_server *server)
{
    atomic_fetch_add(&server->users, 1);
    atomic_fetch_add(&server->references, 1);
}

bool win_server_begin_use(struct win_server *server)
{
    os_lock(&server->lock);
    bool may = !server->closed;
    if (may)
        win_server_use(server);
    os_unlock(&server->lock);
    return may;
}

void win_server_end_use(struct win_server *server)
{
    if (atomic_fetch_sub(&server->users, 1) == 1)
        mpid_wake(); /* win_serve_end() may wait */
    win_server_unref(server);
}

struct win_origin *win_server_origin(struct win_server *server, int rank)
{
    struct win_origin *origin;
    HASH_FIND_INT(server->origins, &rank, origin);
    if (!origin && (origin = calloc(1, sizeof(*origin)))) {
        origin->server = server;
        origin->rank = rank;
        HASH_ADD_INT(server->origins, rank, origin);
        if (!os_hash_has(hh, origin)) {
            free(origin);
            origin = NULL;
        }
    }
    return origin;
}

/* ---- answers ---- */

struct p2p_side win_server_side(const struct win_server *server, int rank, uint32_t tag)
{
    return (struct p2p_side){server->comm, server->comm->context + CONTEXT_WIN, rank, (int)tag};
}

void win_server_answer(struct win_server *server, int rank, uint32_t tag, const void *bytes, size_t len,
                       void *owned)
{
    struct p2p_side to = win_server_side(server, rank, tag);
    struct request *request = NULL;
    if (p2p_isend(&to, bytes, (MPI_Count)len, MPI_BYTE, &request) || request == &request_done) {
        free(owned); /* an origin that cannot be reached is told so by its own receive */
        return;
    }
    request->owned = owned;
    request_let_go(request);
}

void win_server_answer_nothing(struct win_server *server, int rank, uint32_t tag)
{
    win_server_answer(server, rank, tag, NULL, 0, NULL);
}

bool win_server_answer_word(struct win_server *server, int rank, uint32_t tag, int32_t word)
{
    int32_t *owned = malloc(sizeof(*owned));
    if (!owned) {
        win_server_answer_nothing(server, rank, tag);
        return false;
    }
    *owned = (int32_t)os_turned32((uint32_t)word);
    win_server_answer(server, rank, tag, owned, sizeof(*owned), owned);
    return true;
}

struct win_queue *win_server_queue(const struct win *win)
{
    return win->near[win->near_me].queue;
}
