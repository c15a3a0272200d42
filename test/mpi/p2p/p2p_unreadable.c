/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Long messages from and to memory that no other process can read or write, after some of which it
 * could: secret memory, or that of a process that has closed itself to others.
 *
 *   p2p_unreadable secret|closed
 */
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum {
    SKIPPED = 77,
    LEN = 256 << 10,
    OPEN = 5,   /* messages before */
    CLOSED = 30 /* messages afterwards */
};

/* Returns NULL where the kernel has no secret memory, or not so much. */
static unsigned char *make_secret(void)
{
    int fd = (int)syscall(SYS_memfd_secret, 0);
    if (fd < 0 || ftruncate(fd, LEN))
        return NULL;
    void *at = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* Close this process to others of its user; and let it not be above that. */
static void close_self(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    CHECK(!syscall(SYS_capget, &head, caps));
    caps[0].effective &= ~(1u << CAP_SYS_PTRACE);
    CHECK(!syscall(SYS_capset, &head, caps));
    CHECK(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

static unsigned char byte_of(int number, int i)
{
    return (unsigned char)(number * 31 + i * 7 + (i >> 9));
}

/* One message each way in turn. */
static void exchange(unsigned char *buffer, int number, int rank)
{
    for (int from = 0; from < 2; from++) {
        for (int i = 0; i < LEN; i++)
            buffer[i] = rank == from ? byte_of(2 * number + from, i) : 0;
        if (rank == from)
            OK(MPI_Send(buffer, LEN, MPI_BYTE, 1 - rank, number, MPI_COMM_WORLD));
        else
            OK(MPI_Recv(buffer, LEN, MPI_BYTE, 1 - rank, number, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        int wrong = 0;
        for (int i = 0; i < LEN; i++)
            wrong += buffer[i] != byte_of(2 * number + from, i);
        CHECK(!wrong);
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), able, all, is_secret = !strcmp(argv[1], "secret");
    unsigned char *heap = malloc(LEN), *secret = is_secret ? make_secret() : heap;
    CHECK(heap && check_size(MPI_COMM_WORLD) == 2);
    able = secret != NULL;
    OK(MPI_Allreduce(&able, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    for (int number = 0; all && number < OPEN + CLOSED; number++) {
        if (number == OPEN && !is_secret)
            close_self();
        exchange(number < OPEN ? heap : secret, number, rank);
    }
    free(heap);
    OK(MPI_Finalize());
    return all ? 0 : SKIPPED;
}
