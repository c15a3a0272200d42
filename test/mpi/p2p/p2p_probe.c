/* SPDX-License-Identifier: BSD-3-Clause */

/* Probes of all kinds: what they tell, that they take nothing, and that what a matching probe
 * has taken only its own receive gets. */
#include <string.h>

#include "pattern.h"

enum {
    MOST = 300000
};

static char *out, *in;

static const int sizes[] = {0, 8, 100, 1000, 20000, 70000, MOST};
enum {
    SIZES = sizeof(sizes) / sizeof(sizes[0])
};

static void expect(const MPI_Status *status, int from, int tag, int len)
{
    int count = -1;
    OK(MPI_Get_count(status, MPI_BYTE, &count));
    CHECK(status->MPI_SOURCE == from && status->MPI_TAG == tag && count == len);
}

static void poll_until(int from, int tag, MPI_Status *status)
{
    int flag = 0;
    while (!flag)
        OK(MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, status));
}

static void plain(int to, int from, int len)
{
    MPI_Request send;
    MPI_Status status;
    int flag = 1;
    OK(MPI_Iprobe(from, 99, MPI_COMM_WORLD, &flag, &status));
    CHECK(!flag);
    pattern_fill(out, (size_t)len, 1);
    OK(MPI_Isend(out, len, MPI_BYTE, to, 6, MPI_COMM_WORLD, &send));
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    expect(&status, from, 6, len);
    poll_until(from, MPI_ANY_TAG, &status);
    expect(&status, from, 6, len);
    poll_until(MPI_ANY_SOURCE, 6, &status);
    expect(&status, from, 6, len);
    OK(MPI_Probe(from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, MOST, MPI_BYTE, from, 6, MPI_COMM_WORLD, &status));
    expect(&status, from, 6, len);
    CHECK(pattern_is(in, (size_t)len, 1));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* Two messages of one envelope: the first is taken, so a receive gets the second; then the
 * first, by both ways of receiving what was taken. */
static void matching(int to, int from, int len)
{
    MPI_Request sends[3], recv;
    MPI_Message first = MPI_MESSAGE_NULL, third = MPI_MESSAGE_NULL;
    MPI_Status status;
    char *other = pattern_alloc(MOST);
    int flag = 0;
    pattern_fill(out, (size_t)len, 2);
    pattern_fill(other, (size_t)len, 3);
    OK(MPI_Isend(out, len, MPI_BYTE, to, 7, MPI_COMM_WORLD, &sends[0]));
    OK(MPI_Isend(other, len, MPI_BYTE, to, 7, MPI_COMM_WORLD, &sends[1]));
    OK(MPI_Isend(out, len, MPI_BYTE, to, 8, MPI_COMM_WORLD, &sends[2]));
    OK(MPI_Mprobe(from, 7, MPI_COMM_WORLD, &first, &status));
    expect(&status, from, 7, len);
    CHECK(first != MPI_MESSAGE_NULL);
    OK(MPI_Recv(in, MOST, MPI_BYTE, from, 7, MPI_COMM_WORLD, &status));
    CHECK(pattern_is(in, (size_t)len, 3));
    while (!flag)
        OK(MPI_Improbe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, &third, &status));
    expect(&status, from, 8, len);
    OK(MPI_Imrecv(in, MOST, MPI_BYTE, &third, &recv));
    CHECK(third == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&recv, &status));
    expect(&status, from, 8, len);
    memset(in, 0, (size_t)len);
    OK(MPI_Mrecv(in, MOST, MPI_BYTE, &first, &status));
    CHECK(first == MPI_MESSAGE_NULL && pattern_is(in, (size_t)len, 2));
    expect(&status, from, 7, len);
    OK(MPI_Improbe(from, 7, MPI_COMM_WORLD, &flag, &third, &status));
    CHECK(!flag && third == MPI_MESSAGE_NULL);
    OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    free(other);
}

/* A taken message is longer than its receive. */
static void truncated(int to, int from, int len)
{
    MPI_Request send;
    MPI_Message message;
    MPI_Status status;
    OK(MPI_Isend(out, len, MPI_BYTE, to, 9, MPI_COMM_WORLD, &send));
    OK(MPI_Mprobe(from, 9, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_TRUNCATE, MPI_Mrecv(in, len - 1, MPI_BYTE, &message, &status));
    expect(&status, from, 9, len - 1);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

static void nobody(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    OK(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    expect(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    OK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status));
    CHECK(flag);
    OK(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(in, 1, MPI_BYTE, &message, &status));
    expect(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK(message == MPI_MESSAGE_NULL);
    flag = 0;
    OK(MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Imrecv(in, 1, MPI_BYTE, &message, &request));
    OK(MPI_Wait(&request, &status));
    expect(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    out = pattern_alloc(MOST);
    in = pattern_alloc(MOST);
    for (int distance = 0; distance < 2; distance++) {
        int to = (me + distance) % size, from = (me + size - distance) % size;
        for (int i = 0; i < SIZES; i++) {
            OK(MPI_Barrier(MPI_COMM_WORLD));
            plain(to, from, sizes[i]);
            matching(to, from, sizes[i]);
            if (sizes[i])
                truncated(to, from, sizes[i]);
        }
    }
    nobody();
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}
