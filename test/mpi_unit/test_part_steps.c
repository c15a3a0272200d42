/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A partitioned message that one thread completes and starts again, while another asks whether it
 * has arrived, in every order of their steps: it is not complete before its data are there. The
 * device is the test; includes the module, to look into it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/request/part.c"
#include "test/steps/steps.h"

enum { CHUNKS = 2 };

static struct part part;
static struct request own = {.state = &part};

/* ---- beneath and beside the module ---- */

size_t mpid_space_seal(enum mpid_space kind)
{
    (void)kind;
    return sizeof(struct request) - offsetof(struct request, dev);
}

void mpid_start_recv(struct mpid_request *request)
{
    atomic_store_explicit(&request->pending, 1, memory_order_relaxed);
}

bool mpid_when_done(struct mpid_request *request, void (*done)(struct mpid_request *request))
{
    return request && done;
}

void mpid_complete(struct mpid_request *request, enum mpid_error error)
{
    (void)error;
    atomic_store_explicit(&request->pending, 0, memory_order_release);
}

/* What it does not call here. */
struct request request_done;
struct request_store request_store;
uint8_t type_placed_size[256];
uint8_t type_quick_size[256], type_quick_whole[256];

#define NEVER(type, name, ...) \
    type name(__VA_ARGS__)     \
    {                          \
        abort();               \
    }

NEVER(int, mpid_send, struct vc *vc, const struct mpid_envelope *env,
      const struct mpid_bytes *bytes, unsigned mode, struct mpid_request *request)
NEVER(void, mpid_tell_request, struct mpid_wait_report *report, const struct mpid_request *request)
NEVER(void, mpid_watch_request, struct sleeper *sleeper, const struct mpid_request *request)
NEVER(void, mpid_tell_receive, struct mpid_wait_report *report, const struct mpid_envelope *want)
NEVER(void, mpid_tell_unready, struct mpid_wait_report *report, const struct mpid_envelope *to,
      uint64_t parts)
NEVER(int, p2p_isend_mode, const struct p2p_side *to, const void *buf, MPI_Count count,
      MPI_Datatype type, unsigned mode, struct request **request)
NEVER(void, request_release, struct request *request)
NEVER(int, request_abandon, struct request *request)
NEVER(int, request_class, const struct mpid_request *dev)
NEVER(void, comm_destroy, struct comm *comm)
NEVER(struct vc *, comm_vc_slow, struct comm *comm, int rank)
NEVER(bool, comm_misreads, struct comm *comm, int rank, MPI_Datatype handle)
NEVER(struct type *, type_from, MPI_Datatype handle)
NEVER(void, type_ref, struct type *type)
NEVER(void, type_unref, struct type *type)
NEVER(int, type_place_slow, MPI_Datatype handle, const void *buf, MPI_Count count,
      struct mpid_bytes *bytes, struct type **used)

/* ---- the two threads ---- */

/* A receive that has been started once, and is complete. */
static void begin(void)
{
    static struct comm comm;
    free(part.slots);
    part = (struct part){.comm = &comm,
                         .partitions = 1,
                         .partition_len = 2 * PART_CHUNK_LEN,
                         .whole = {.len = 2 * PART_CHUNK_LEN},
                         .cut = {.chunks = CHUNKS,
                                 .chunk_len = PART_CHUNK_LEN,
                                 .total = 2 * PART_CHUNK_LEN}};
    atomic_store(&part.refs, 1);
    atomic_store(&part.active, true);
    atomic_store(&part.state, MATCHED | WANTED | POSTED);
    if (make_slots(&part))
        abort();
}

static void ask(void)
{
    for (int i = 0; i < 2; i++)
        (void)part_arrived(&part, 0);
}

static void wait_and_start(void)
{
    for (int round = 0; round < 2; round++) {
        if (!is_complete(&own))
            steps_fail("not complete though all chunks are here");
        (void)stop(&own, MPI_SUCCESS, NULL);
        (void)start(&own);
        for (int i = 0; i < CHUNKS; i++) {
            if (is_complete(&own))
                steps_fail("complete though a chunk is not here");
            mpid_complete(&slot_at(&part, i)->dev, MPID_OK);
        }
    }
}

static void end(void)
{
    if (!is_complete(&own))
        steps_fail("not complete at the end");
}

int main(void)
{
    static const struct steps steps = {begin, {ask, wait_and_start}, end, 3, 1};
    printf("1..1\n");
    long orders = steps_run(&steps);
    printf("# %ld orders\n%s 1 - a start is not taken for the one before\n", orders,
           orders > 1000 ? "ok" : "not ok");
    fflush(stdout);
    _exit(0);
}
