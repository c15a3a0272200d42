/* SPDX-License-Identifier: BSD-3-Clause */

/* The plan of one random program: what each rank does, and what each must get. It follows from a
 * seed and the number of ranks alone, so that every rank makes the same plan and needs no word of
 * the others.
 *
 * A program is a list of eras. An era begins with a session (or lies within the world model), goes
 * through phases on communicators of its own, and ends; some ranks leave for good at its end. A
 * phase has lanes that run at the same time, each with its messages. A lane of a rank is one
 * script, or two that run in two threads. A style of lane says in which order its scripts may send
 * and receive, so that every correct MPI library ends each plan. */
#ifndef TEST_SOAK_PLAN_H
#define TEST_SOAK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLAN_RANKS = 64,
    PLAN_LANES = 3,
    PLAN_COMMS = 5, /* communicators of an era */
    PLAN_SCRIPTS = 2
};

/* What the receives of a lane leave open. */
enum plan_wild {
    PLAN_WILD_NONE,
    PLAN_WILD_SOURCE,
    PLAN_WILD_TAG,
    PLAN_WILD_BOTH,
    PLAN_WILD_COUNT
};

enum plan_step_kind {
    PLAN_SEND,    /* value: the message */
    PLAN_RECV,    /* value: the message */
    PLAN_FINISH,  /* complete all that was started; value: the row of finish_rows */
    PLAN_BARRIER, /* on the lane's communicator */
    PLAN_PAUSE    /* value: the row of pause_rows */
};

struct plan_message {
    int from, to, tag;
    int send, recv; /* rows of send_rows and recv_rows */
    bool exact;     /* its receive names source and tag whatever the lane leaves open */
    bool send_spread, recv_spread; /* the bytes lie apart, as a datatype says */
    size_t len;
    uint64_t seed; /* of its bytes, and of choices within the operation */
};

struct plan_step {
    enum plan_step_kind kind;
    int value;
    int after_ms, ms; /* of a pause */
};

struct plan_script {
    struct plan_step *steps;
    int count, room;
};

struct plan_lane {
    int style; /* row of the planner's table */
    enum plan_wild wild;
    int comm; /* 0 to PLAN_COMMS - 1 */
    struct plan_message *messages;
    int count;
    struct plan_script scripts[PLAN_RANKS][PLAN_SCRIPTS]; /* by rank in the era */
};

/* How the ranks meet at the end of a phase. */
enum plan_fence {
    PLAN_FENCE_NONE,
    PLAN_FENCE_BARRIER,
    PLAN_FENCE_SUM,
    PLAN_FENCE_COUNT
};

struct plan_phase {
    struct plan_lane lanes[PLAN_LANES];
    int lane_count;
    enum plan_fence fence;
};

struct plan_era {
    int members[PLAN_RANKS]; /* ranks in the world, ascending */
    int count;
    bool leaves[PLAN_RANKS]; /* by rank in the era: it ends with this era, while others go on */
    struct plan_phase *phases;
    int phase_count;
};

struct plan {
    uint64_t seed;
    int ranks;
    bool world;    /* the world model, not sessions */
    bool threaded; /* MPI_THREAD_MULTIPLE */
    struct plan_era *eras;
    int era_count;
};

/* How much a program may be. */
struct plan_limits {
    int eras, phases, messages; /* at most, of a program, an era, a lane */
    size_t lane_len;            /* bytes of a lane's messages */
    int pause_ms, pauses_ms;    /* the longest pause, and all of them */
    bool alone;                 /* no threads */
};

/* Make the plan of a seed, or NULL where memory is short. */
struct plan *plan_create(uint64_t seed, int ranks, const struct plan_limits *limits);

void plan_destroy(struct plan *plan);

/* The style's name, for reports. */
const char *plan_style_name(int style);

#endif
