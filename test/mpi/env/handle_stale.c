/* SPDX-License-Identifier: BSD-3-Clause */

/* Copies of a handle that was freed: freeing them, or using them, is an error, and takes nothing
 * away from what the library itself still has of the object. */
#include <malloc.h>

#include "check.h"

/* Bytes of the size of such objects, so that what was freed wrongly is overwritten. */
static void stir(void)
{
    MPI_Info infos[64];
    for (int i = 0; i < 64; i++)
        OK(MPI_Info_create(&infos[i]));
    for (int i = 0; i < 64; i++)
        OK(MPI_Info_free(&infos[i]));
}

static void use(MPI_Comm comm)
{
    int rank = check_rank(comm), size = check_size(comm), from = -1;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    stir();
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, comm,
                    MPI_STATUS_IGNORE));
    CHECK(from == left);
}

/* The group of a communicator, which holds it. */
static void groups_of(MPI_Comm comm)
{
    MPI_Group first, second, copy;
    int n;
    OK(MPI_Comm_group(comm, &first));
    copy = first;
    OK(MPI_Group_free(&first));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&copy));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(copy, &n));
    CHECK(copy != MPI_GROUP_NULL);
    OK(MPI_Comm_group(comm, &first));
    OK(MPI_Comm_group(comm, &second));
    OK(MPI_Group_free(&first));
    OK(MPI_Group_size(second, &n));
    CHECK(n == check_size(comm));
    OK(MPI_Group_free(&second));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&copy));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&copy));
    use(comm);
}

/* A group of the user's own, which a communicator was made of. */
static void own_group(void)
{
    MPI_Group world, mine, copy;
    MPI_Comm comm;
    int rank = check_rank(MPI_COMM_WORLD);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &rank, &mine));
    OK(MPI_Group_free(&world)); /* which mine may be */
    copy = mine;
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, mine, 1, &comm));
    OK(MPI_Group_free(&mine));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&copy));
    FAILS(MPI_ERR_GROUP, MPI_Group_incl(copy, 0, NULL, &mine));
    use(comm);
    OK(MPI_Comm_free(&comm));
}

static int calls;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    calls++;
}

static void handlers(void)
{
    MPI_Errhandler made, copy, got;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(on_error, &made));
    copy = made;
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Errhandler_free(&made));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&copy));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_SELF, copy));
    stir();
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == copy);
    OK(MPI_Errhandler_free(&got));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&copy));
    stir();
    calls = 0;
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(calls == 1);
    OK(MPI_Comm_free(&comm));
}

/* A communicator and an operation that requests have need of. */
static void in_use(void)
{
    MPI_Comm comm, copy;
    MPI_Request request, send;
    int in = -1, out = check_rank(MPI_COMM_WORLD);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    copy = comm;
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 3, comm, &request));
    OK(MPI_Send_init(&out, 1, MPI_INT, 0, 3, comm, &send));
    OK(MPI_Comm_free(&comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&copy));
    FAILS(MPI_ERR_COMM, MPI_Comm_set_name(copy, "gone"));
    stir();
    OK(MPI_Start(&send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == out);
    OK(MPI_Request_free(&send));
}

/* A datatype that a request and another datatype have need of. */
static void types(void)
{
    MPI_Datatype type, copy, two;
    MPI_Request request;
    int in[6] = {0}, out[2] = {7, 8};
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_contiguous(2, type, &two));
    copy = type;
    OK(MPI_Irecv(in, 1, type, 0, 3, MPI_COMM_SELF, &request));
    OK(MPI_Type_free(&type));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&copy));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&copy));
    stir();
    OK(MPI_Send(out, 2, MPI_INT, 0, 3, MPI_COMM_SELF));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == 7 && in[1] == 0 && in[2] == 8);
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&copy));
    stir();
    OK(MPI_Type_commit(&two));
    OK(MPI_Sendrecv(out, 0, MPI_INT, 0, 3, in, 1, two, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&two));
}

/* Datatypes that nothing has need of any more. */
static void types_gone(void)
{
    enum { MANY = 300 };
    static MPI_Datatype types[MANY], copies[MANY];
    MPI_Datatype other;
    int word = 1, size;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Type_contiguous(i, MPI_INT, &types[i]));
    for (int i = 0; i < MANY; i++) {
        copies[i] = types[i];
        OK(MPI_Type_free(&types[i]));
    }
    for (int i = 0; i < MANY; i++) {
        FAILS(MPI_ERR_TYPE, MPI_Type_free(&copies[i]));
        FAILS(MPI_ERR_TYPE, MPI_Type_commit(&copies[i]));
        FAILS(MPI_ERR_TYPE, MPI_Type_size(copies[i], &size));
        FAILS(MPI_ERR_TYPE, MPI_Type_dup(copies[i], &other));
        FAILS(MPI_ERR_TYPE, MPI_Send(&word, 1, copies[i], 0, 3, MPI_COMM_SELF));
    }
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
}

/* The same of all other kinds. malloc() gives such memory back to the system at once: see main(). */
static void all_gone(void)
{
    MPI_Info info, old_info;
    MPI_Op op, old_op;
    MPI_Errhandler handler, old_handler;
    MPI_Session session, old_session;
    MPI_Group group, old_group;
    MPI_Comm comm, old_comm;
    MPI_Message message, old_message;
    int n, in = 1, out, zero = 0;
    OK(MPI_Info_create(&info));
    old_info = info;
    OK(MPI_Info_free(&info));
    FAILS(MPI_ERR_INFO, MPI_Info_get_nkeys(old_info, &n));
    OK(MPI_Op_create(add, 1, &op));
    old_op = op;
    OK(MPI_Op_free(&op));
    FAILS(MPI_ERR_OP, MPI_Op_commutative(old_op, &n));
    OK(MPI_Comm_create_errhandler(on_error, &handler));
    old_handler = handler;
    OK(MPI_Errhandler_free(&handler));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_SELF, old_handler));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    old_session = session;
    OK(MPI_Session_finalize(&session));
    FAILS(MPI_ERR_SESSION, MPI_Session_get_num_psets(old_session, MPI_INFO_NULL, &n));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &old_group));
    OK(MPI_Group_incl(old_group, 1, &zero, &group));
    OK(MPI_Group_free(&old_group));
    old_group = group;
    OK(MPI_Group_free(&group));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(old_group, &n));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    old_comm = comm;
    OK(MPI_Comm_free(&comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(old_comm, &n));
    OK(MPI_Send(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    OK(MPI_Mprobe(0, 3, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    old_message = message;
    OK(MPI_Mrecv(&out, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Mrecv(&out, 1, MPI_INT, &old_message, MPI_STATUS_IGNORE));
}

static void asking(MPI_Comm *comm, int *code, ...)
{
    calls++;
    CHECK(check_class(*code) == MPI_ERR_TRUNCATE);
    CHECK(check_size(*comm) == 1 && check_rank(*comm) == 0);
}

/* An error of a request whose communicator was freed: its handler can use it as ever. */
static void error_after_free(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm, copy;
    MPI_Request request;
    int in = -1, out[2] = {1, 2}, size;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(asking, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 3, comm, &request));
    OK(MPI_Send(out, 2, MPI_INT, 0, 3, comm));
    copy = comm;
    OK(MPI_Comm_free(&comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(copy, &size));
    calls = 0;
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(calls == 1 && in == 1);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    (void)mallopt(M_MMAP_THRESHOLD, 0); /* so that what is freed is gone */
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    groups_of(MPI_COMM_WORLD);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    groups_of(dup);
    use(MPI_COMM_WORLD);
    OK(MPI_Comm_free(&dup));
    own_group();
    handlers();
    in_use();
    types();
    types_gone();
    all_gone();
    error_after_free();
    OK(MPI_Finalize());
    return 0;
}
