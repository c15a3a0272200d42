/* SPDX-License-Identifier: BSD-3-Clause */

/* Values that are no handles, of every kind, are errors of the handle's class: numbers that name nothing,
 * and addresses of nothing, of code, of variables and of memory of another kind. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

static int number;

static void communicators(MPI_Comm bad)
{
    MPI_Comm made;
    FAILS(MPI_ERR_COMM, MPI_Comm_rank(bad, &number));
    FAILS(MPI_ERR_COMM, MPI_Barrier(bad));
    FAILS(MPI_ERR_COMM, MPI_Send(&number, 1, MPI_INT, 0, 0, bad));
    FAILS(MPI_ERR_COMM, MPI_Recv(&number, 1, MPI_INT, 0, 0, bad, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(bad, &made));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&bad));
}

static void datatypes(MPI_Datatype bad)
{
    MPI_Datatype made;
    FAILS(MPI_ERR_TYPE, MPI_Type_size(bad, &number));
    FAILS(MPI_ERR_TYPE, MPI_Send(&number, 1, bad, 0, 0, MPI_COMM_SELF));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(&number, 1, bad, 0, MPI_COMM_SELF));
    FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(2, bad, &made));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&bad));
}

static void requests(MPI_Request bad)
{
    MPI_Request copy = bad;
    FAILS(MPI_ERR_REQUEST, MPI_Wait(&copy, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Test(&copy, &number, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Waitall(1, &copy, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&copy));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&copy));
}

static void others(void *bad)
{
    int out = 0;
    MPI_Message message = bad;
    MPI_File file = bad;
    FAILS(MPI_ERR_GROUP, MPI_Group_size(bad, &number));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&number, &out, 1, MPI_INT, bad, MPI_COMM_SELF));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_SELF, bad));
    FAILS(MPI_ERR_INFO, MPI_Info_get_nkeys(bad, &number));
    FAILS(MPI_ERR_SESSION, MPI_Session_get_num_psets(bad, MPI_INFO_NULL, &number));
    FAILS(MPI_ERR_REQUEST, MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_FILE, MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
}

int main(int argc, char **argv)
{
    MPI_Info info;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Info_create(&info));
    char *heap = malloc(4096), on_stack[64];
    memset(heap, 0x43, 4096);
    void *gone = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *const bad[] = {
        NULL, (void *)1, (void *)4095, (void *)5000, (void *)0x44000000, (void *)0x8c000000,
        (void *)0x7fffdeadbee8, (void *)-1, (void *)-8, (void *)INT64_MIN,
        (void *)0xdeadbeefdeadbee8, heap, heap + 64, on_stack, (char *)on_stack + 1, gone,
        (char *)gone + 4096, (void *)main, (char *)info + (1 << 20), (char *)info - (1 << 20),
        (char *)info + (1 << 29)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        communicators((MPI_Comm)bad[i]);
        datatypes((MPI_Datatype)bad[i]);
        if (bad[i]) /* else MPI_REQUEST_NULL may be meant */
            requests((MPI_Request)bad[i]);
        others(bad[i]);
    }
    OK(MPI_Info_free(&info));
    free(heap);
    OK(MPI_Finalize());
    return 0;
}
