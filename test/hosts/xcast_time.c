/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long messages to many take: rank 0 sends, by BNR_Xcast, lengths from 64 B to 8 MiB in each
 * shape, and prints when the last rank has each, in ms: the shortest of some rounds, which are more
 * for short ones, as other work on the machine changes those more. The clock is that of one machine,
 * which all hosts of test/hosts/run share. usage: xcast_time ROUNDS [MAX]; see xcast.py.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "include/bnr.h"

enum { SHORT = 64 << 10, MORE = 4 };

static BNR_Group group;
static int rank, size;
static double took; /* the message of this round; below 0: it has not come */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "xcast_time: %s: %s\n", what, BNR_Strerror(rc));
    exit(1);
}

static void take(BNR_Group g, int from, int tag, const void *data, size_t len, void *arg)
{
    double sent;
    (void)g, (void)from, (void)tag, (void)arg;
    if (!data || len < sizeof(sent))
        must(BNR_ERR_TRUNC, "a message");
    memcpy(&sent, data, sizeof(sent));
    took = now_ms() - sent;
}

/* When the last rank has a message. All ranks call this. */
static double time_one(uint8_t *bytes, size_t len, int mode)
{
    const BNR_Xcast_attr attr = {.size = sizeof(attr), .mode = mode};
    double last = 0, all;
    took = -1;
    must(BNR_Fence(group), "a fence");
    if (rank == 0) {
        double sent = now_ms();
        memcpy(bytes, &sent, sizeof(sent));
        must(BNR_Xcast(group, 1, bytes, len, &attr), "an xcast");
    }
    for (int did; took < 0; did ? 0 : usleep(200))
        must(BNR_Progress(&did), "progress");
    must(BNR_Put(group, "took", &took, sizeof(took), BNR_PUT_REPLACE), "a put");
    must(BNR_Fence(group), "a fence");
    for (int r = 0; rank == 0 && r < size; r++) {
        size_t room = sizeof(all);
        must(BNR_Get(group, r, "took", &all, &room, 0), "a get");
        last = all > last ? all : last;
    }
    return last;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"auto", "direct", "linear", "binomial", "radix", "binary"};
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    size_t most = argc > 2 ? strtoul(argv[2], NULL, 0) : BNR_MAX_XCAST;
    uint8_t *bytes = calloc(1, most);
    must(BNR_Init(NULL), "BNR_Init");
    must(BNR_Get_group(&group), "the group");
    must(BNR_Get_rank(group, &rank), "the rank");
    must(BNR_Get_size(group, &size), "the size");
    must(BNR_Xcast_register(group, 1, take, NULL), "the handler");
    if (!bytes || rounds < 1)
        must(BNR_ERR_NOMEM, "memory");
    for (size_t len = 64; len <= most; len *= 2)
        for (int mode = BNR_XCAST_DIRECT; mode <= BNR_XCAST_BINARY; mode++) {
            double least = time_one(bytes, len, mode);
            for (int i = 1; i < (len <= SHORT ? MORE * rounds : rounds); i++) {
                double one = time_one(bytes, len, mode);
                least = one < least ? one : least;
            }
            if (rank == 0)
                printf("%zu,%s,%.3f\n", len, names[mode], least);
            fflush(stdout);
        }
    free(bytes);
    return BNR_Finalize();
}
