/* SPDX-License-Identifier: BSD-3-Clause */

/* Each bad argument of each point-to-point call, and the class of the error that it returns;
 * and that a refused call leaves nothing behind. */
#include <limits.h>

#include "check.h"

static int buf[4];
static int size;

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const send_fn sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
static const isend_fn isends[] = {MPI_Isend,     MPI_Issend,     MPI_Irsend,     MPI_Ibsend,
                                  MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
typedef int (*irecv_fn)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static const irecv_fn irecvs[] = {MPI_Irecv, MPI_Recv_init};

static MPI_Datatype uncommitted;

/* The arguments of a call, of which one is bad. */
struct bad {
    const void *buf;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
    int error_class;
};

static void send_all(const struct bad *b)
{
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++)
        FAILS(b->error_class, sends[i](b->buf, b->count, b->type, b->peer, b->tag, b->comm));
    for (int i = 0; i < 8; i++) {
        FAILS(b->error_class,
              isends[i](b->buf, b->count, b->type, b->peer, b->tag, b->comm, &request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    FAILS(b->error_class, MPI_Sendrecv(b->buf, b->count, b->type, b->peer, b->tag, buf, 1, MPI_INT,
                                       0, 0, b->comm, MPI_STATUS_IGNORE));
    FAILS(b->error_class, MPI_Isendrecv(b->buf, b->count, b->type, b->peer, b->tag, buf, 1, MPI_INT,
                                        0, 0, b->comm, &request));
}

static void recv_all(const struct bad *b)
{
    MPI_Request request = MPI_REQUEST_NULL;
    void *to = (void *)(uintptr_t)b->buf;
    FAILS(b->error_class,
          MPI_Recv(to, b->count, b->type, b->peer, b->tag, b->comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        FAILS(b->error_class, irecvs[i](to, b->count, b->type, b->peer, b->tag, b->comm, &request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    FAILS(b->error_class, MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, to, b->count, b->type, b->peer,
                                       b->tag, b->comm, MPI_STATUS_IGNORE));
    FAILS(b->error_class, MPI_Isendrecv(buf, 1, MPI_INT, 0, 0, to, b->count, b->type, b->peer,
                                        b->tag, b->comm, &request));
    FAILS(b->error_class, MPI_Sendrecv_replace(to, b->count, b->type, 0, 0, b->peer, b->tag,
                                               b->comm, MPI_STATUS_IGNORE));
    FAILS(b->error_class,
          MPI_Isendrecv_replace(to, b->count, b->type, 0, 0, b->peer, b->tag, b->comm, &request));
    CHECK(request == MPI_REQUEST_NULL);
}

static void probe_all(const struct bad *b)
{
    MPI_Message message;
    int flag;
    FAILS(b->error_class, MPI_Probe(b->peer, b->tag, b->comm, MPI_STATUS_IGNORE));
    FAILS(b->error_class, MPI_Iprobe(b->peer, b->tag, b->comm, &flag, MPI_STATUS_IGNORE));
    FAILS(b->error_class, MPI_Mprobe(b->peer, b->tag, b->comm, &message, MPI_STATUS_IGNORE));
    FAILS(b->error_class,
          MPI_Improbe(b->peer, b->tag, b->comm, &flag, &message, MPI_STATUS_IGNORE));
}

static void arguments(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    const struct bad both[] = {
        {buf, -1, MPI_INT, 0, 0, world, MPI_ERR_COUNT},
        {buf, 1, MPI_DATATYPE_NULL, 0, 0, world, MPI_ERR_TYPE},
        {buf, 1, uncommitted, 0, 0, world, MPI_ERR_TYPE},
        {NULL, 1, MPI_INT, 0, 0, world, MPI_ERR_BUFFER},
        {buf, 1, MPI_INT, size, 0, world, MPI_ERR_RANK},
        {buf, 1, MPI_INT, -77, 0, world, MPI_ERR_RANK},
        {buf, 1, MPI_INT, INT_MIN, 0, world, MPI_ERR_RANK},
        {buf, 1, MPI_INT, 0, -77, world, MPI_ERR_TAG},
        {buf, 1, MPI_INT, 0, INT_MIN, world, MPI_ERR_TAG},
        {buf, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_ERR_COMM},
    };
    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
        send_all(&both[i]);
        recv_all(&both[i]);
        if (i >= 4)
            probe_all(&both[i]);
    }
    const struct bad only_send[] = {
        {buf, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_ERR_RANK},
        {buf, 1, MPI_INT, 0, MPI_ANY_TAG, world, MPI_ERR_TAG},
    };
    for (size_t i = 0; i < sizeof(only_send) / sizeof(only_send[0]); i++)
        send_all(&only_send[i]);
}

static void requests(void)
{
    MPI_Request null = MPI_REQUEST_NULL,
                several[2] = {MPI_REQUEST_NULL, (MPI_Request)MPI_COMM_WORLD};
    MPI_Request once;
    MPI_Status status;
    int flag, index, count, indices[2], me = check_rank(MPI_COMM_WORLD);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&null));
    FAILS(MPI_ERR_REQUEST, MPI_Startall(1, &null));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&null));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&null));
    FAILS(MPI_ERR_REQUEST, MPI_Wait(&several[1], &status));
    FAILS(MPI_ERR_REQUEST, MPI_Test(&several[1], &flag, &status));
    FAILS(MPI_ERR_REQUEST, MPI_Request_get_status(several[1], &flag, &status));
    FAILS(MPI_ERR_REQUEST, MPI_Waitall(2, several, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Testall(2, several, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Waitany(2, several, &index, &status));
    FAILS(MPI_ERR_REQUEST, MPI_Testany(2, several, &index, &flag, &status));
    FAILS(MPI_ERR_REQUEST, MPI_Waitsome(2, several, &count, indices, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Testsome(2, several, &count, indices, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Waitall(-1, several, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Waitany(-1, several, &index, &status));
    FAILS(MPI_ERR_COUNT, MPI_Startall(-1, several));
    /* Not persistent; started twice; cancelled before it is started. */
    OK(MPI_Irecv(buf, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &once));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&once));
    OK(MPI_Cancel(&once));
    OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    OK(MPI_Recv_init(buf, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &once));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&once));
    OK(MPI_Start(&once));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&once));
    OK(MPI_Cancel(&once));
    OK(MPI_Wait(&once, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&once));
}

static void messages(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request, sent;
    int me = check_rank(MPI_COMM_WORLD);
    FAILS(MPI_ERR_REQUEST, MPI_Mrecv(buf, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Imrecv(buf, 1, MPI_INT, &message, &request));
    OK(MPI_Isend(&me, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &sent));
    OK(MPI_Mprobe(me, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Mrecv(buf, -1, MPI_INT, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_TYPE, MPI_Mrecv(buf, 1, MPI_DATATYPE_NULL, &message, MPI_STATUS_IGNORE));
    CHECK(message != MPI_MESSAGE_NULL);
    OK(MPI_Mrecv(buf, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(buf[0] == me);
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

static void no_pointers(void)
{
    int flag, index;
    MPI_Request none = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_ARG, MPI_Wait(NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Test(&none, NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status(none, NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_free(NULL));
    FAILS(MPI_ERR_ARG, MPI_Cancel(NULL));
    FAILS(MPI_ERR_ARG, MPI_Start(NULL));
    FAILS(MPI_ERR_ARG, MPI_Startall(1, NULL));
    FAILS(MPI_ERR_ARG, MPI_Testall(1, &none, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Waitany(1, &none, NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Testany(1, &none, &index, NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Testany(1, &none, NULL, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Waitsome(1, &none, NULL, &index, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Testsome(1, &none, NULL, &index, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_all(1, &none, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_any(1, &none, NULL, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG,
          MPI_Request_get_status_some(1, &none, NULL, &index, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Waitsome(1, &none, &flag, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Testsome(1, &none, &flag, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_some(1, &none, &flag, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Waitsome(0, NULL, &flag, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Mrecv(&flag, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Imrecv(&flag, 1, MPI_INT, NULL, &none));
}

int main(int argc, char **argv)
{
    int flag = 1;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    size = check_size(MPI_COMM_WORLD);
    arguments();
    requests();
    messages();
    FAILS(MPI_ERR_ARG, MPI_Buffer_iflush(NULL));
    no_pointers();
    FAILS(MPI_ERR_ARG, MPI_Comm_iflush_buffer(MPI_COMM_WORLD, NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag); /* nothing has been sent */
    OK(MPI_Type_free(&uncommitted));
    OK(MPI_Finalize());
    return 0;
}
