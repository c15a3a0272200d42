/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffered sends: the process's buffer and a communicator's, room for just what MPI promises,
 * overflow, room that comes back, flush and detach that wait, and automatic buffers. */
#include <string.h>

#include "pattern.h"

enum {
    LONG = 1200000 /* no channel sends that before it is received */
};

static char *out, *in;
static int me, to, from;

static void expect(int len, int tag, MPI_Comm comm, uint32_t seed)
{
    OK(MPI_Recv(in, LONG, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
    CHECK(pattern_is(in, (size_t)len, seed));
}

/* A buffer of exactly the size that the standard tells users to take: all messages fit, though
 * none is received, and the next one does not. */
static void exact(int count, int len, size_t shift)
{
    int packed = 0, size;
    void *back;
    OK(MPI_Pack_size(len, MPI_BYTE, MPI_COMM_WORLD, &packed));
    CHECK(packed == len);
    size = count * (packed + MPI_BSEND_OVERHEAD);
    char *memory = pattern_alloc((size_t)size + shift);
    OK(MPI_Buffer_attach(memory + shift, size));
    for (int i = 0; i < count; i++) {
        pattern_fill(out, (size_t)len, (uint32_t)i);
        OK(MPI_Bsend(out, len, MPI_BYTE, to, i, MPI_COMM_WORLD));
    }
    if (len == LONG) /* none of these can have left */
        FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, len, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = count - 1; i >= 0; i--)
        expect(len, i, MPI_COMM_WORLD, (uint32_t)i);
    OK(MPI_Buffer_flush());
    for (int i = 0; i < count; i++) /* the room has come back */
        OK(MPI_Bsend(out, len, MPI_BYTE, to, i, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        expect(len, i, MPI_COMM_WORLD, (uint32_t)(count - 1));
    OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == memory + shift && size == count * (packed + MPI_BSEND_OVERHEAD));
    free(memory);
}

static void none(void)
{
    void *back;
    int size;
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_detach(&back, &size));
    OK(MPI_Bsend(out, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Buffer_flush());
    char little[8];
    OK(MPI_Buffer_attach(little, sizeof(little)));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(little, sizeof(little)));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == little && size == 8);
}

/* The communicator's own buffer is used, and only it. */
static void of_comm(void)
{
    MPI_Comm comm;
    MPI_Request request;
    void *back;
    int size, flag = 0;
    char *memory = pattern_alloc(LONG + MPI_BSEND_OVERHEAD);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_BYTE, to, 0, comm));
    OK(MPI_Comm_attach_buffer(comm, memory, LONG + MPI_BSEND_OVERHEAD));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    pattern_fill(out, LONG, 5);
    OK(MPI_Bsend(out, LONG, MPI_BYTE, to, 0, comm));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, LONG, MPI_BYTE, to, 0, comm));
    OK(MPI_Comm_iflush_buffer(comm, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    expect(LONG, 0, comm, 5);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_flush_buffer(comm));
    OK(MPI_Bsend(out, LONG, MPI_BYTE, to, 1, comm));
    expect(LONG, 1, comm, 5);
    OK(MPI_Comm_iflush_buffer(comm, &request));
    OK(MPI_Comm_detach_buffer(comm, &back, &size));
    CHECK(back == memory && size == LONG + MPI_BSEND_OVERHEAD);
    memset(memory, 0x55, LONG); /* it is nothing of the request's any more */
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* Freed with a message in it: that is sent first. */
    OK(MPI_Comm_attach_buffer(comm, memory, LONG + MPI_BSEND_OVERHEAD));
    MPI_Request recv;
    OK(MPI_Irecv(in, LONG, MPI_BYTE, from, 2, comm, &recv));
    OK(MPI_Bsend(out, LONG, MPI_BYTE, to, 2, comm));
    OK(MPI_Comm_free(&comm));
    memset(memory, 0, LONG);
    OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK(pattern_is(in, LONG, 5));
    free(memory);
}

static void automatic(void)
{
    enum {
        COUNT = 50
    };
    MPI_Request requests[COUNT];
    void *back = NULL;
    int size = -1;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < COUNT; i++) {
        pattern_fill(out, LONG, (uint32_t)i);
        OK(MPI_Ibsend(out, LONG, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]));
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    for (int i = COUNT - 1; i >= 0; i--)
        expect(LONG, i, MPI_COMM_WORLD, (uint32_t)i);
    OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
}

/* Messages of many sizes come and go in any order: pieces are cut and joined. */
static void churn(void)
{
    enum {
        COUNT = 600,
        AT_ONCE = 8,
        BYTES = 20000
    };
    uint64_t state = (uint64_t)me, theirs = (uint64_t)from;
    int size = AT_ONCE * (BYTES + MPI_BSEND_OVERHEAD);
    char *memory = pattern_alloc((size_t)size);
    void *back;
    OK(MPI_Buffer_attach(memory, size));
    for (int i = 0; i < COUNT; i++) {
        int len = (int)(pattern_random(&state) % BYTES);
        pattern_fill(out, (size_t)len, (uint32_t)i);
        OK(MPI_Bsend(out, len, MPI_BYTE, to, i, MPI_COMM_WORLD));
        if (i % AT_ONCE != AT_ONCE - 1)
            continue;
        for (int j = i - AT_ONCE + 1; j <= i; j++)
            expect((int)(pattern_random(&theirs) % BYTES), j, MPI_COMM_WORLD, (uint32_t)j);
        OK(MPI_Buffer_flush());
    }
    OK(MPI_Buffer_detach(&back, &size));
    free(memory);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    me = check_rank(MPI_COMM_WORLD);
    int size = check_size(MPI_COMM_WORLD);
    out = pattern_alloc(LONG);
    in = pattern_alloc(LONG);
    for (int distance = 0; distance < 2; distance++) {
        to = (me + distance) % size;
        from = (me + size - distance) % size;
        none();
        for (size_t shift = 0; shift < 16; shift += 5) {
            exact(10, 1, shift);
            exact(7, 1001, shift);
            exact(5, LONG, shift);
        }
        of_comm();
        automatic();
        churn();
    }
    free(in);
    /* A message is still in the buffer: MPI_Finalize sends it. */
    static char last[100 + MPI_BSEND_OVERHEAD];
    OK(MPI_Buffer_attach(last, sizeof(last)));
    OK(MPI_Bsend(out, 100, MPI_BYTE, me, 1, MPI_COMM_WORLD));
    free(out);
    OK(MPI_Recv(last, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Finalize());
    return 0;
}
