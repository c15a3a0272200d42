/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A virtual machine of daemons in one process: nodes of bnr/core/tree/node.h, links with delays that
 * break, nodes that die, vanish or stand still, all from a seed. Time is simulated.
 *
 * net.c moves messages. The hosts act by one of two files: play.c does all that is allowed, and checks the invariants
 * after each step; job.c runs one large job, and measures it.
 */
#ifndef TEST_SIM_SIM_H
#define TEST_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "bnr/core/tree/node.h"

#define SIM_MS 1000000LL
#define SIM_S  1000000000LL

enum sim_state {
    SIM_ALIVE,
    SIM_STOPPED,
    SIM_KILLED,
    SIM_VANISHED
};

struct sim;

/* What the hosts do. */
struct sim_acts {
    void (*step)(struct sim *s, uint32_t node); /* a host's turn */
    void (*effect)(struct sim *s, uint32_t node, const struct effect *effect); /* its node tells it something */
};

/* What the machine is like. */
struct sim_settings {
    uint64_t seed;
    uint32_t count, radix, ranks_each;
    struct xcast_choice choice;
    int64_t liveness_ns;
    int64_t delay_ns, jitter_ns;    /* one way */
    int64_t send_ns;                /* a message keeps its sender busy */
    int64_t take_ns;                /* and the one that takes it; 0: nothing waits there */
    double byte_ns;                 /* and both, for each byte */
    uint32_t deaths, stops, breaks; /* how often, over the time of the play */
    uint32_t rounds;                /* of put, fence and get */
    uint32_t gets;                  /* of each node, a round */
    uint32_t submits;               /* messages to many, in all */
    bool has_flow; /* streams too: flow.c */
    bool is_lazy; /* too much is put for any fence to collect it */
    bool is_hostile;                /* messages go through bytes and back */
    bool is_counted; /* each node has copies of its own of what it sends and takes; its memory and time are counted */
    const struct sim_acts *acts;
};

/* Bytes of memory that somebody holds, and the most since it was set to bytes. */
struct sim_heap {
    int64_t bytes, most;
};

/* What is sent and taken. */
struct sim_traffic {
    uint64_t messages, bytes;
};

struct sim_node {
    struct node_engine node;
    enum sim_state state;
    bool is_new; /* not begun yet */
    int64_t busy_until, stopped_until;
    struct sim_traffic sent, taken;
    struct sim_waiting *first, **last; /* messages that have come, and wait for their turn */
    bool is_taking;
    struct sim_heap heap;
    int64_t engine_ns; /* of this machine's time, for its engine */
    /* the acts of its host: play.c */
    uint64_t delivered; /* the last xcast */
    uint32_t entered, released, got, gets_open, submitted;
    bool has_ended, is_alone;
};

enum sim_kind {
    SIM_MESSAGE = 1,
    SIM_TAKE, /* a message that has come has its turn */
    SIM_TICK,
    SIM_MADE,
    SIM_REFUSED,
    SIM_BREAK,
    SIM_DEATH,
    SIM_STOP,
    SIM_RESUME,
    SIM_STEP, /* the host of a node does something */
};

struct sim_event {
    int64_t at;
    uint64_t order;
    enum sim_kind kind;
    uint32_t node, from; /* node: whose turn it is */
    uint32_t epoch;      /* of the link */
    struct core_message message;
};

struct sim_link; /* a pair of nodes */
struct sim_waiting;
struct sim_play; /* the state of play.c */
struct sim_flow; /* the state of flow.c */
struct sim_job;  /* the state of job.c */

struct sim {
    struct sim_settings settings;
    uint64_t random;
    int64_t now;
    struct sim_node *nodes;
    struct sim_event *heap;
    size_t heap_count, heap_room;
    uint64_t order;
    struct sim_link *links;
    struct effects effects;
    struct rank_map group;
    struct rank_block block;
    struct sim_play *play;
    struct sim_flow *flow; /* NULL: none */
    struct sim_job *job;
    uint64_t steps, dead_count;
    int64_t entered_ns;
    int64_t died_at; /* the last that died */
};

void sim_init(struct sim *s, const struct sim_settings *settings);
void sim_fini(struct sim *s);

/* Go on until so much time has passed, or done says so. */
void sim_run(struct sim *s, int64_t until, bool (*done)(const struct sim *s));

uint64_t sim_random(struct sim *s, uint64_t below);
void sim_at(struct sim *s, int64_t at, enum sim_kind kind, uint32_t node);

/* Between these two an engine is called, whose node memory and time count for. The second one carries out what it
 * wants, and fails unless the call has given 0. */
void sim_enter(struct sim *s, uint32_t node);
void sim_leave(struct sim *s, uint32_t node, int rc);

/* Carry out what a node wants; clears s->effects. */
void sim_carry_out(struct sim *s, uint32_t self);
/* A node is busy for so long. Returns when that is over. */
int64_t sim_work(struct sim *s, uint32_t node, int64_t ns);
/* A node is dead now. */
void sim_kill(struct sim *s, uint32_t node, bool vanishes);
bool sim_is_alive(const struct sim *s, uint32_t node);

/* Name the rule that is broken and the seed, and abort. */
noreturn void sim_fail(const struct sim *s, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- heap.c, or heap_none.c with a sanitizer ---- */

/* Memory that is allocated and freed from here on counts for somebody, or nobody: NULL. Returns the one before. */
struct sim_heap *heap_charge(struct sim_heap *to);

/* ---- flow.c ---- */

void flow_init(struct sim *s);
void flow_fini(struct sim *s);
/* A host's turn: its node, and the root, say something. */
void flow_step(struct sim *s, uint32_t node);
void flow_tick(struct sim *s, uint32_t node);
/* A block or a credit has come to a node. */
void flow_arrived(struct sim *s, uint32_t node, const struct core_message *m);
void flow_check_end(struct sim *s);

/* ---- play.c ---- */

extern const struct sim_acts play_acts;
void play_init(struct sim *s);
void play_fini(struct sim *s);
/* mpiexec sends so many bytes to all; whether all have them. */
void play_send(struct sim *s, size_t len);
bool play_is_told(const struct sim *s);
/* Whether all is over that was to be done. */
bool play_is_done(const struct sim *s);
/* What must hold when all has come to rest. */
void play_check_end(struct sim *s);
/* When the last xcast, and the last fence, had come everywhere; when all ends were known. */
enum play_moment {
    PLAY_XCAST,
    PLAY_FENCE,
    PLAY_END,
    PLAY_MOMENT_END
};
int64_t play_time(const struct sim *s, enum play_moment moment);

/* ---- job.c ---- */

/* Run a job on so many hosts, and print a line for each of its parts: its cost at the busiest node. */
void job_run(uint32_t hosts, uint32_t ranks_each);

#endif
