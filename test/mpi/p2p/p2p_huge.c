/* SPDX-License-Identifier: BSD-3-Clause */

/* Counts beyond 2^31: one message of 2^31 + 5 bytes. The sender's pages are one page, mapped
 * again and again, so that half of the memory is enough; without 8 GB the test is skipped. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum {
    SKIPPED = 77,
    CHUNK = 1 << 20
};

#define HUGE_LEN ((MPI_Count)2147483648 + 5)

/* What a sanitizer keeps about each byte takes memory too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ENOUGH 40000000000ll
#else
#define ENOUGH 8000000000ll
#endif

/* A chunk of memory again and again, as one place; the last bytes are others. */
static unsigned char *map_repeated(size_t len)
{
    size_t whole = (len + CHUNK - 1) / CHUNK * CHUNK;
    int fd = memfd_create("huge", 0);
    unsigned char *at = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fd >= 0 && at != MAP_FAILED && !ftruncate(fd, 2 * CHUNK));
    for (size_t i = 0; i < whole; i += CHUNK)
        CHECK(mmap(at + i, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                   i + CHUNK < whole ? 0 : CHUNK) != MAP_FAILED);
    close(fd);
    return at;
}

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i % CHUNK * 7 % 251);
}

static void send_huge(size_t len)
{
    unsigned char *out = map_repeated(len);
    for (size_t i = 0; i < CHUNK; i++)
        out[i] = byte_at(i);
    memcpy(out + len / CHUNK * CHUNK, "after", len % CHUNK);
    OK(MPI_Send_c(out, HUGE_LEN, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
}

static void recv_huge(size_t len)
{
    MPI_Status status;
    MPI_Count count = -1;
    int narrow = 0;
    unsigned char *chunk,
        *in = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(in != MAP_FAILED);
    OK(MPI_Probe(0, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
    CHECK(count == HUGE_LEN);
    OK(MPI_Recv_c(in, HUGE_LEN, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
    OK(MPI_Get_count(&status, MPI_BYTE, &narrow));
    CHECK(count == HUGE_LEN && narrow == MPI_UNDEFINED);
    for (size_t i = 0; i < CHUNK; i++)
        CHECK(in[i] == byte_at(i));
    for (chunk = in + CHUNK; chunk + CHUNK <= in + len; chunk += CHUNK)
        CHECK(!memcmp(chunk, in, CHUNK));
    CHECK(!memcmp(chunk, "after", len % CHUNK));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD);
    long long free_bytes = (long long)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int enough = free_bytes >= ENOUGH;
    OK(MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (enough && me == 0)
        send_huge((size_t)HUGE_LEN);
    if (enough && me == 1)
        recv_huge((size_t)HUGE_LEN);
    OK(MPI_Finalize());
    return enough ? 0 : SKIPPED;
}
