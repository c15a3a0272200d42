/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 of a job whose rank 1 is another implementation of the wire, wire_peer.py: tells it where to
 * find us, receives from it, answers, and ends with it.
 *
 * usage: wire_peer FILE
 */
#include <bnr.h>
#include <stdlib.h>
#include <string.h>

#include "test/mpi/check.h"

static void put_hex(FILE *file, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        fprintf(file, "%02x", ((const unsigned char *)bytes)[i]);
    fputc('\n', file);
}

/* Our card, the group, and the job's secret: what the other would have from the process manager. */
static void tell(const char *path)
{
    unsigned char secret[16];
    char name[4096];
    BNR_Group group;
    BNR_Gid gid;
    void *card;
    size_t len;
    CHECK(!BNR_Init(NULL));
    CHECK(!BNR_Get_group(&group));
    CHECK(!BNR_Get_gid(group, &gid));
    CHECK(!BNR_Get_secret(group, secret));
    CHECK(!BNR_Get_alloc(group, 0, "card", &card, &len, BNR_GET_NOWAIT));
    snprintf(name, sizeof(name), "%s.new", path);
    FILE *file = fopen(name, "w");
    CHECK(file);
    fprintf(file, "%s\n", (const char *)card);
    put_hex(file, &gid, sizeof(gid));
    put_hex(file, secret, sizeof(secret));
    CHECK(!fclose(file) && !rename(name, path));
    free(card);
    CHECK(!BNR_Finalize());
}

int main(int argc, char **argv)
{
    char text[64] = "";
    MPI_Status status;
    int count;
    OK(MPI_Init(&argc, &argv));
    CHECK(argc == 2 && check_size(MPI_COMM_WORLD) == 2 && check_rank(MPI_COMM_WORLD) == 0);
    tell(argv[1]);
    OK(MPI_Recv(text, sizeof(text), MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 4711 && count == 19);
    CHECK(!strcmp(text, "hello from the wire"));
    OK(MPI_Send("and back", 8, MPI_CHAR, 1, 99, MPI_COMM_WORLD));
    OK(MPI_Finalize());
    return 0;
}
