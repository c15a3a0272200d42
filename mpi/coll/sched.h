/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A schedule: what one process does in one collective, as a list of steps in order. An
 * algorithm appends the steps and is done; running them is the same for every algorithm and for
 * every way to call it.
 *
 *   send, recv     started when reached; the steps behind them go on at once
 *   copy, reduce   done when reached
 *   wait           nothing behind it starts before the sends and receives before it are complete
 *
 * Invariants
 *   - A schedule ends with all of its sends and receives complete.
 *   - What a step names (buffers, datatypes, the operation, the communicator) outlives the
 *     schedule; counts and displacements are read while it is built.
 *   - What is over another communicator than the schedule's own has the same tag there.
 *   - An error does not end the run: other processes count on the messages to come. The
 *     first one is told at the end.
 *   - Memory that runs out while building makes the run do nothing and say so.
 *
 * Small schedules need no memory but their own.
 */
#ifndef MPI_COLL_SCHED_H
#define MPI_COLL_SCHED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct comm;
struct op;
struct request;

enum sched_kind { SCHED_SEND = 1, SCHED_RECV, SCHED_COPY, SCHED_REDUCE, SCHED_WAIT };

struct sched_step {
    uint8_t kind; /* enum sched_kind */
    int peer;     /* of a send or receive; of a wait: the one step to wait for, or SCHED_ALL */
    const void *from;
    void *to;
    MPI_Count count; /* of type: of the data sent or received, or copied or reduced to */
    MPI_Datatype type;
    union {
        struct request *request; /* of a send or receive under way */
        MPI_Count from_count;    /* of a copy */
    };
    union {
        struct comm *comm;      /* of a send or receive */
        MPI_Datatype from_type; /* of a copy */
    };
};

enum { SCHED_ALL = -1, SCHED_STEPS = 24, SCHED_BYTES = 1024 };

struct sched_memory; /* a temporary buffer */

struct sched {
    struct comm *comm;   /* of the steps that are appended */
    const struct op *op; /* of the reduce steps */
    int tag;
    bool broken; /* memory ran out while building */
    int error;       /* error class of the first failure */
    int count, room; /* of steps */
    int next;        /* the step to do */
    int settled;     /* no send or receive before this step is under way */
    size_t used;     /* bytes of own_bytes */
    struct sched_step *steps;
    struct sched_memory *memory;
    struct sched_step own_steps[SCHED_STEPS];
    _Alignas(64) char own_bytes[SCHED_BYTES];
};

/* Begin; takes the communicator's next number as its tag. op: NULL where none is needed. */
void sched_init(struct sched *s, struct comm *comm, const struct op *op);
/* The same with a tag that sched_next_tag() gave before. */
void sched_init_tag(struct sched *s, struct comm *comm, const struct op *op, int tag);
int sched_next_tag(struct comm *comm);
/* Give back all memory. Nothing may be under way. */
void sched_fini(struct sched *s);

/* ---- building ---- */

/* The steps from here on are over comm: that of sched_init(), or the one inside it. */
void sched_over(struct sched *s, struct comm *comm);
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
/* Wait for all before; for one step. */
void sched_wait(struct sched *s);
void sched_wait_for(struct sched *s, int step);

/* A buffer of so many bytes, aligned for any type, that lives as long as the schedule. */
void *sched_temp(struct sched *s, MPI_Count size);
/* A buffer that count elements of type fit in, as they lie in user memory. */
void *sched_temp_of(struct sched *s, MPI_Count count, MPI_Datatype type);

/* ---- running ---- */

/* Go on as far as possible without waiting. Returns whether the schedule is at its end. */
bool sched_advance(struct sched *s);
/* It is at its end: give back all memory. Returns MPI_SUCCESS or the error class. */
int sched_end(struct sched *s);
/* Run to the end and give back all memory. Returns MPI_SUCCESS or the error class. */
int sched_run(struct sched *s);

#endif
