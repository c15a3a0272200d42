/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A schedule: what one process does in one collective, as a list of steps in order. An
 * algorithm appends the steps and is done; running them is the same for every algorithm and for
 * every way to call it.
 *
 *   send, recv     started when reached; the steps behind them go on at once
 *   copy, reduce   done when reached
 *   call           a function is called when reached; it may append steps
 *   task           goes on by itself, in several goes; nothing behind it starts before its end
 *   wait           nothing behind it starts before the sends and receives before it are complete
 *
 * Invariants
 *   - A schedule ends with all of its sends and receives complete.
 *   - What a step names (buffers, datatypes, the operation, the communicator) outlives the
 *     schedule; counts and displacements are read while it is built.
 *   - A message has just the length that its receive asks for: a longer or shorter one is an error.
 *   - An error does not end the run, unless stops is set or a process is lost: other processes count
 *     on the messages to come. The first one is told at the end.
 *   - Memory that runs out while building makes the run do nothing and say so.
 *
 * Small schedules need no memory but their own.
 */
#ifndef MPI_COLL_SCHED_H
#define MPI_COLL_SCHED_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comm;
struct op;
struct request;
struct type;

enum sched_kind { SCHED_SEND = 1, SCHED_RECV, SCHED_COPY, SCHED_REDUCE, SCHED_CALL, SCHED_TASK, SCHED_WAIT };

struct sched;

/* Returns MPI_SUCCESS, or the error class of a failure. */
typedef int (*sched_fn)(struct sched *s, void *arg);

/* Where messages go: ranks of a communicator, in one of its contexts. */
struct sched_place {
    struct comm *comm;
    unsigned use;     /* enum context_use: added to the communicator's context */
    int tag;
    const int *ranks; /* ranks in comm of those who take part; NULL: all. It outlives the building */
};

struct sched_step {
    uint8_t kind; /* enum sched_kind */
    uint8_t use;  /* of a send or receive, as peer, tag and comm */
    int peer;     /* of a wait: the one step to wait for, or SCHED_ALL; of a task: itself */
    int tag;
    const void *from;
    void *to;        /* of a call: its argument; of a task: that */
    MPI_Count count; /* of type: of the data sent or received, or copied or reduced to */
    MPI_Datatype type;
    union {
        struct request *request; /* of a send, receive or task under way */
        MPI_Count from_count;    /* of a copy */
        sched_fn call;
    };
    union {
        struct comm *comm;      /* of a send or receive */
        MPI_Datatype from_type; /* of a copy */
    };
};

enum { SCHED_ALL = -1, SCHED_STEPS = 24, SCHED_BYTES = 1024 };

struct sched_memory; /* a temporary buffer */

/* A message of another length than its receive asks for. */
struct sched_misfit {
    int peer;           /* that has sent it; -1: there is none */
    MPI_Count due, len; /* in bytes; a longer one has more than is due, however many */
};

enum { SCHED_WAITS = -1 }; /* besides MPI_SUCCESS and error classes */

/* A task, which is begun when it is reached. It outlives the schedule. */
struct sched_task {
    /* Begin, or go on. Returns an outcome, after which it can begin anew, or SCHED_WAITS: it can go on
     * once the request is complete. misfit is set with an error. */
    int (*go_on)(struct sched_task *task, struct sched_misfit *misfit);
    /* Call change for each datatype that it uses. */
    void (*each_type)(const struct sched_task *task, void (*change)(struct type *type));
    struct request *request;
    uint64_t awaits; /* sched_awaits() of the awaited peer */
};

/* Whom a schedule waits for: a rank of the communicator of a context, or -1: unknown. */
static inline uint64_t sched_awaits(uint32_t context, int rank)
{
    return (uint64_t)context << 32 | (uint32_t)rank;
}

struct sched {
    struct sched_place place; /* of the steps that are appended */
    const struct op *op;      /* of the reduce steps */
    void (*ended)(struct sched *s);
    _Atomic uint64_t awaits; /* sched_awaits() in the background; any thread may read it */
    bool stops;  /* at the first failure: pending requests are cancelled, as far as they can be */
    bool broken; /* memory ran out while building */
    bool empties; /* messages of nothing are sent: the other side may expect something */
    bool lacks;   /* a message failed: later ones get a wrong length */
    int error;       /* error class of the first failure */
    struct sched_misfit misfit; /* of MPI_ERR_COUNT or MPI_ERR_TRUNCATE */
    int count, room; /* of steps */
    int next;        /* the step to do */
    int settled;     /* no send or receive before this step is under way */
    int held;        /* the datatypes of so many steps, and the operation, are referenced */
    size_t used;     /* bytes of own_bytes */
    struct sched_step *steps;
    struct sched_memory *memory;
    struct sched_step own_steps[SCHED_STEPS];
    _Alignas(max_align_t) char own_bytes[SCHED_BYTES]; /* as malloc() gives, for the schedule may lie there */
};

/* Begin; takes the communicator's next number as its tag. op: NULL if none is needed. */
void sched_init(struct sched *s, struct comm *comm, const struct op *op);
/* The same for one that is run again and again, beside others: it has a number of its own kind. */
void sched_init_kept(struct sched *s, struct comm *comm, const struct op *op);
/* The same at any place. */
void sched_init_at(struct sched *s, const struct sched_place *place, const struct op *op);
/* Give back all memory. Nothing may be under way. */
void sched_fini(struct sched *s);

/* ---- building ---- */

/* The steps from here on are over comm: that of sched_init(), or the one inside it with the same
 * tag. */
void sched_over(struct sched *s, struct comm *comm);
/* The same for any place. */
void sched_go(struct sched *s, const struct sched_place *place);
/* Append a step; return its index, for sched_wait_for(). With count 0 there is none to append, nor
 * to wait for; so it is where elements have no data. */
int sched_send(struct sched *s, int peer, const void *buf, MPI_Count count, MPI_Datatype type);
int sched_recv(struct sched *s, int peer, void *buf, MPI_Count count, MPI_Datatype type);
/* A message without data. */
void sched_signal(struct sched *s, int peer);
void sched_await(struct sched *s, int peer);
void sched_copy(struct sched *s, const void *from, void *to, MPI_Count count, MPI_Datatype type);
void sched_copy_as(struct sched *s, const void *from, MPI_Count from_count,
                   MPI_Datatype from_type, void *to, MPI_Count count, MPI_Datatype type);
/* to[i] = from[i] op to[i] */
void sched_reduce(struct sched *s, const void *from, void *to, MPI_Count count,
                  MPI_Datatype type);
void sched_call(struct sched *s, sched_fn call, void *arg);
void sched_task(struct sched *s, struct sched_task *task);
/* Wait for all before; for one step. */
void sched_wait(struct sched *s);
void sched_wait_for(struct sched *s, int step);

/* A buffer of so many bytes, aligned for any type, that lives as long as the schedule. */
void *sched_temp(struct sched *s, MPI_Count size);
/* A buffer that count elements of type fit in, as they lie in user memory. */
void *sched_temp_of(struct sched *s, MPI_Count count, MPI_Datatype type);

/* It is built: keep the datatypes that its steps name, and the operation, alive until sched_fini(). */
void sched_hold(struct sched *s);

/* ---- running ---- */

/* Go on as far as possible without waiting. Returns whether the schedule is at its end. */
bool sched_advance(struct sched *s);
/* The send or receive that sched_advance() has stopped for: for callers with a wait of their
 * own. */
const struct sched_step *sched_awaited(const struct sched *s);
/* Do not wait for it any more: it fails so. */
void sched_skip(struct sched *s, int error);
/* It is at its end: give back all memory. Returns MPI_SUCCESS or the error class. */
int sched_end(struct sched *s);
/* Run to the end and give back all memory. Returns MPI_SUCCESS or the error class. */
int sched_run(struct sched *s);
/* Run it in the background of calls that make progress. ended is called at its end, unlocked, maybe
 * before the return: it takes the outcome by sched_end(), or by sched_again(). */
void sched_start(struct sched *s, void (*ended)(struct sched *s));
/* It is at its end: have it begin anew, with the same steps, which no call may have added to. Returns
 * as sched_end() does. */
int sched_again(struct sched *s);

#endif
