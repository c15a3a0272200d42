/* SPDX-License-Identifier: BSD-3-Clause */

/* What errors say: the function, the argument or handle that is wrong by its name, and the rank. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static char rank_text[32];

static void says(int code, const char *call, const char *what, int line)
{
    char text[MPI_MAX_ERROR_STRING], function[64];
    int len = 0, n = (int)strcspn(call, "(");
    snprintf(function, sizeof(function), "%.*s: ", n, call);
    OK(MPI_Error_string(code, text, &len));
    if (code && !strncmp(text, function, (size_t)n + 2) && strstr(text, what) &&
        strstr(text, rank_text))
        return;
    fprintf(stderr, "line %d: %s: '%s' does not say '%s'\n", line, call, text, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define SAYS(what, call) says(call, #call, what, __LINE__)

static MPI_Comm world;
static int one = 1, n;
static void *buf = &one;
static MPI_Request request;
static MPI_Status status;

static void datatypes(void)
{
    const char *null = "MPI_DATATYPE_NULL";
    MPI_Datatype type, freed;
    MPI_Message message;
    MPI_Count wide;
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_set_name(type, "three"));
    SAYS(null, MPI_Send(buf, 1, MPI_DATATYPE_NULL, 0, 0, world));
    SAYS(null, MPI_Ssend(buf, 1, MPI_DATATYPE_NULL, 0, 0, world));
    SAYS(null, MPI_Isend(buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &request));
    SAYS(null, MPI_Recv(buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &status));
    SAYS(null, MPI_Irecv(buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &request));
    SAYS(null,
         MPI_Sendrecv(buf, 1, MPI_DATATYPE_NULL, 0, 0, buf, 1, MPI_INT, 0, 0, world, &status));
    SAYS("recvtype is MPI_DATATYPE_NULL",
         MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &status));
    SAYS("sendtype is MPI_DATATYPE_NULL",
         MPI_Sendrecv(buf, 1, MPI_DATATYPE_NULL, 0, 0, buf, 1, MPI_INT, 0, 0, world, &status));
    SAYS(null,
         MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &status));
    SAYS(null, MPI_Isendrecv_replace(buf, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, world, &request));
    SAYS(null, MPI_Bsend(buf, 1, MPI_DATATYPE_NULL, 0, 0, world));
    SAYS(null, MPI_Psend_init(buf, 1, 1, MPI_DATATYPE_NULL, 0, 0, world, MPI_INFO_NULL, &request));
    SAYS(null, MPI_Reduce_local(buf, &n, 1, MPI_DATATYPE_NULL, MPI_SUM));
    SAYS(null, MPI_Pack_size(1, MPI_DATATYPE_NULL, world, &n));
    SAYS(null, MPI_Pack(buf, 1, MPI_DATATYPE_NULL, buf, 4, &n, world));
    SAYS(null, MPI_Get_count(&status, MPI_DATATYPE_NULL, &n));
    SAYS(null, MPI_Send_init(buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &request));
    SAYS(null, MPI_Send_c(buf, 1, MPI_DATATYPE_NULL, 0, 0, world));
    SAYS(null, MPI_Recv_c(buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &status));
    SAYS(null, MPI_Allreduce_c(buf, &n, 1, MPI_DATATYPE_NULL, MPI_SUM, world));
    SAYS(null, MPI_Ibcast_c(buf, 1, MPI_DATATYPE_NULL, 0, world, &request));
    SAYS(null, MPI_Type_size(MPI_DATATYPE_NULL, &n));
    SAYS(null, MPI_Type_size_c(MPI_DATATYPE_NULL, &wide));
    SAYS(null, MPI_Type_size_x(MPI_DATATYPE_NULL, &wide));
    SAYS(null, MPI_Type_get_extent_x(MPI_DATATYPE_NULL, &wide, &wide));
    SAYS(null, MPI_Get_elements_x(&status, MPI_DATATYPE_NULL, &wide));
    SAYS(null, MPI_Get_elements(&status, MPI_DATATYPE_NULL, &n));
    SAYS("count", MPI_Send_init_c(buf, (MPI_Count)1 << 60, MPI_INT, 0, 0, world, &request));
    SAYS("request is NULL", MPI_Recv_init(buf, 1, MPI_INT, 0, 0, world, NULL));
    SAYS(null, MPI_Bcast(buf, 1, MPI_DATATYPE_NULL, 0, world));
    SAYS("recvbuf: its datatype is MPI_DATATYPE_NULL",
         MPI_Alltoall(buf, 1, MPI_INT, &n, 1, MPI_DATATYPE_NULL, world));
    SAYS("'three' is not committed: call MPI_Type_commit", MPI_Send(buf, 1, type, 0, 0, world));
    OK(MPI_Isend(buf, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request));
    OK(MPI_Mprobe(0, 3, MPI_COMM_SELF, &message, &status));
    SAYS(null, MPI_Mrecv(buf, 1, MPI_DATATYPE_NULL, &message, &status));
    OK(MPI_Mrecv(buf, 1, MPI_INT, &message, &status));
    OK(MPI_Wait(&request, &status));
    freed = type;
    OK(MPI_Type_free(&type));
    SAYS("was freed", MPI_Send(buf, 1, freed, 0, 0, world));
    SAYS("NULL", MPI_Send(buf, 1, (MPI_Datatype)NULL, 0, 0, world));
}

static void groups(void)
{
    const char *null = "MPI_GROUP_NULL";
    MPI_Group group;
    MPI_Comm comm;
    SAYS(null, MPI_Group_size(MPI_GROUP_NULL, &n));
    SAYS(null, MPI_Group_union(MPI_GROUP_EMPTY, MPI_GROUP_NULL, &group));
    SAYS(null, MPI_Comm_create(world, MPI_GROUP_NULL, &comm));
    SAYS(null, MPI_Comm_create_group(world, MPI_GROUP_NULL, 0, &comm));
    SAYS(null,
         MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
}

static void others(void)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Errhandler none = MPI_ERRHANDLER_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Session session;
    SAYS("MPI_COMM_NULL", MPI_Comm_size(MPI_COMM_NULL, &n));
    SAYS("MPI_COMM_NULL", MPI_Comm_dup(MPI_COMM_NULL, &comm));
    SAYS("MPI_COMM_NULL", MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_NULL, 0, 0, &comm));
    SAYS("MPI_COMM_NULL", MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &n));
    SAYS("MPI_COMM_NULL", MPI_Pack(buf, 1, MPI_INT, buf, 4, &n, MPI_COMM_NULL));
    SAYS("MPI_ERRHANDLER_NULL", MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL));
    SAYS("MPI_ERRHANDLER_NULL", MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL));
    SAYS("MPI_ERRHANDLER_NULL", MPI_Errhandler_free(&none));
    SAYS("MPI_ERRHANDLER_NULL", MPI_Session_init(MPI_INFO_NULL, none, &session));
    SAYS("MPI_OP_NULL", MPI_Op_free(&op));
    SAYS("MPI_OP_NULL", MPI_Reduce_local(buf, &n, 1, MPI_INT, MPI_OP_NULL));
    SAYS("MPI_INFO_NULL", MPI_Info_dup(MPI_INFO_NULL, &info));
    SAYS("MPI_INFO_NULL", MPI_Info_set(MPI_INFO_NULL, "a", "b"));
    SAYS("MPI_INFO_ENV", MPI_Info_set(MPI_INFO_ENV, "a", "b"));
    SAYS("MPI_SESSION_NULL", MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &n));
}

static void pointers(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    SAYS("request is NULL", MPI_Wait(NULL, &status));
    SAYS("flag is NULL", MPI_Test(&none, NULL, &status));
    SAYS("flag is NULL", MPI_Testall(1, &none, NULL, MPI_STATUSES_IGNORE));
    SAYS("array_of_requests is NULL", MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
    SAYS("indx is NULL", MPI_Waitany(1, &none, NULL, &status));
    SAYS("flag is NULL", MPI_Testany(1, &none, &n, NULL, &status));
    SAYS("outcount is NULL", MPI_Waitsome(1, &none, NULL, &n, MPI_STATUSES_IGNORE));
    SAYS("array_of_indices is NULL", MPI_Testsome(1, &none, &n, NULL, MPI_STATUSES_IGNORE));
    SAYS("request is NULL", MPI_Start(NULL));
    SAYS("array_of_requests is NULL", MPI_Startall(1, NULL));
    SAYS("request is NULL", MPI_Isend(buf, 1, MPI_INT, 0, 0, world, NULL));
    SAYS("request is NULL", MPI_Issend(buf, 1, MPI_INT, 0, 0, world, NULL));
    SAYS("request is NULL", MPI_Irsend(buf, 1, MPI_INT, 0, 0, world, NULL));
    SAYS("request is NULL", MPI_Ibsend(buf, 1, MPI_INT, 0, 0, world, NULL));
    SAYS("request is NULL", MPI_Irecv(buf, 1, MPI_INT, 0, 0, world, NULL));
    SAYS("request is NULL", MPI_Imrecv(buf, 1, MPI_INT, &message, NULL));
    SAYS("flag is NULL", MPI_Iprobe(0, 0, world, NULL, &status));
    SAYS("flag is NULL", MPI_Improbe(0, 0, world, NULL, &message, &status));
    SAYS("message is NULL", MPI_Improbe(0, 0, world, &n, NULL, &status));
    SAYS("message is NULL", MPI_Mprobe(0, 0, world, NULL, &status));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    world = MPI_COMM_WORLD;
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    snprintf(rank_text, sizeof(rank_text), "rank %d on ", check_rank(world));
    datatypes();
    groups();
    pointers();
    others();
    OK(MPI_Finalize());
    return 0;
}
