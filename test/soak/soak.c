/* SPDX-License-Identifier: BSD-3-Clause */

/* Run one random program on all ranks: its plan follows from the seed (plan.c), each script of it
 * is run by a thread (actor.c), and what arrived is held against the plan. Prints what this rank
 * received and found good. usage: soak [--long] [--alone] [--trace] SEED */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "dice.h"
#include "kinds.h"

static const struct plan_limits short_form = {
    .eras = 3, .phases = 3, .messages = 25, .lane_len = 8 << 20, .pause_ms = 250, .pauses_ms = 800};
static const struct plan_limits long_form = {.eras = 4,
                                             .phases = 5,
                                             .messages = 60,
                                             .lane_len = 24 << 20,
                                             .pause_ms = 30000,
                                             .pauses_ms = 45000};

struct program {
    const struct plan *plan;
    int me;              /* rank in the world */
    MPI_Session session; /* of the era, in the session model */
    MPI_Comm comms[PLAN_COMMS];
    MPI_Comm base; /* for fences */
    MPI_Datatype spread;
    uint64_t messages, len;
    bool traced;
};

static void ok(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "soak: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define OK(call) ok(call, #call)

/* ---- phases ---- */

static void *run_thread(void *actor)
{
    actor_run(actor);
    return NULL;
}

static void actor_open(struct actor *actor, const struct program *program, int script)
{
    const struct plan_lane *lane = actor->lane;
    actor->script = &lane->scripts[actor->me][script];
    actor->plan = program->plan;
    actor->comm = program->comms[lane->comm];
    actor->spread = program->spread;
    actor->traced = program->traced;
    actor->dice = program->plan->seed + (uint64_t)(program->me * 8 + actor->number * 2 + script);
    actor->pending = calloc(2 * (size_t)lane->count + 1, sizeof(*actor->pending));
    actor->receipts = calloc((size_t)lane->count + 1, sizeof(*actor->receipts));
    if (!actor->pending || !actor->receipts)
        actor_fail(actor, "no memory for %d messages", lane->count);
}

static void actor_close(struct actor *actor, struct program *program)
{
    program->messages += actor->messages;
    program->len += actor->len;
    free(actor->pending);
    free(actor->receipts);
}

/* Every script of this rank at once, each in a thread of its own but the first. */
static void run_scripts(struct actor *actors, int count)
{
    pthread_t threads[PLAN_LANES * PLAN_SCRIPTS];
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, run_thread, &actors[i]))
            actor_fail(&actors[i], "no thread");
    actor_run(&actors[0]);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void fence(const struct program *program, enum plan_fence how)
{
    int size = 0, sum = 0, one = 1;
    if (how == PLAN_FENCE_BARRIER)
        OK(MPI_Barrier(program->base));
    if (how != PLAN_FENCE_SUM)
        return;
    OK(MPI_Comm_size(program->base, &size));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, program->base));
    ok(sum == size ? MPI_SUCCESS : MPI_ERR_OTHER, "the sum of a fence");
}

static void run_phase(struct program *program, const struct plan_era *era, int phase_number, int me)
{
    const struct plan_phase *phase = &era->phases[phase_number];
    struct actor actors[PLAN_LANES * PLAN_SCRIPTS];
    int count = 0;
    for (int i = 0; i < phase->lane_count; i++) {
        for (int s = 0; s < PLAN_SCRIPTS; s++) {
            if (s && !phase->lanes[i].scripts[me][s].count)
                continue;
            actors[count] = (struct actor){.lane = &phase->lanes[i],
                                           .number = i,
                                           .me = me,
                                           .era = (int)(era - program->plan->eras),
                                           .phase = phase_number};
            actor_open(&actors[count++], program, s);
        }
    }
    run_scripts(actors, count);
    for (int i = 0; i < count; i++) {
        if (actors[i].script == &actors[i].lane->scripts[me][0])
            actor_verify(&actors[i]);
        actor_close(&actors[i], program);
    }
    fence(program, phase->fence);
}

/* ---- eras ---- */

static void begin_session(struct program *program, MPI_Group *group)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    if (program->plan->threaded)
        OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &program->session));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(program->session, "mpi://WORLD", group));
}

static void begin_era(struct program *program, const struct plan_era *era, int number)
{
    MPI_Group world, group;
    char tag[32];
    snprintf(tag, sizeof(tag), "soak %d", number);
    if (program->plan->world)
        OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    else
        begin_session(program, &world);
    OK(MPI_Group_incl(world, era->count, era->members, &group));
    if (program->plan->world)
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &program->base));
    else
        OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                      &program->base));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    for (int i = 0; i < PLAN_COMMS; i++) {
        OK(MPI_Comm_dup(program->base, &program->comms[i]));
        OK(MPI_Comm_attach_buffer(program->comms[i], MPI_BUFFER_AUTOMATIC, 0));
    }
    OK(MPI_Type_create_resized(MPI_BYTE, 0, 2, &program->spread));
    OK(MPI_Type_commit(&program->spread));
}

static void end_era(struct program *program)
{
    OK(MPI_Type_free(&program->spread));
    for (int i = 0; i < PLAN_COMMS; i++)
        OK(MPI_Comm_free(&program->comms[i]));
    OK(MPI_Comm_free(&program->base));
    if (!program->plan->world)
        OK(MPI_Session_finalize(&program->session));
}

/* Returns whether this rank goes on. */
static bool run_era(struct program *program, int number)
{
    const struct plan_era *era = &program->plan->eras[number];
    int me = 0;
    while (era->members[me] != program->me)
        me++;
    begin_era(program, era, number);
    for (int i = 0; i < era->phase_count; i++)
        run_phase(program, era, i, me);
    end_era(program);
    return !era->leaves[me];
}

/* ---- the program ---- */

/* Rank and number of ranks, which a plan needs; a session of its own tells. */
static void look_round(struct program *program, int *ranks)
{
    struct plan single = {.threaded = false};
    MPI_Group world;
    program->plan = &single;
    begin_session(program, &world);
    OK(MPI_Group_rank(world, &program->me));
    OK(MPI_Group_size(world, ranks));
    OK(MPI_Group_free(&world));
    OK(MPI_Session_finalize(&program->session));
}

/* Other bytes in every message; what a rank sends by such a plan must be found wrong by others. */
static void spoil(struct plan *plan)
{
    for (int e = 0; e < plan->era_count; e++)
        for (int p = 0; p < plan->eras[e].phase_count; p++)
            for (int i = 0; i < plan->eras[e].phases[p].lane_count; i++) {
                struct plan_lane *lane = &plan->eras[e].phases[p].lanes[i];
                for (int k = 0; k < lane->count; k++)
                    lane->messages[k].seed ^= (uint64_t)1 << 40;
            }
}

static void run_plan(struct program *program)
{
    const struct plan *plan = program->plan;
    int level, wanted = plan->threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    if (plan->world)
        OK(MPI_Init_thread(NULL, NULL, wanted, &level));
    for (int e = 0; e < plan->era_count && run_era(program, e); e++)
        ;
    if (plan->world)
        OK(MPI_Finalize());
    printf("%llu messages, %llu bytes\n", (unsigned long long)program->messages,
           (unsigned long long)program->len);
}

int main(int argc, char **argv)
{
    struct program program = {.plan = NULL};
    struct plan_limits limits = short_form;
    bool alone = false, spoilt = false;
    int ranks = 0, at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--long"))
            limits = long_form;
        alone |= !strcmp(argv[at], "--alone");
        spoilt |= !strcmp(argv[at], "--spoil");
        program.traced |= !strcmp(argv[at], "--trace");
    }
    if (at != argc - 1) {
        fprintf(stderr, "usage: soak [--long] [--alone] [--spoil] [--trace] SEED\n");
        return 2;
    }
    limits.alone = alone;
    signal(SIGCHLD, SIG_IGN); /* children end on their own */
    look_round(&program, &ranks);
    if (ranks > PLAN_RANKS) {
        fprintf(stderr, "soak: %d ranks; %d is the most\n", ranks, PLAN_RANKS);
        return 2;
    }
    struct plan *plan = plan_create(strtoull(argv[at], NULL, 10), ranks, &limits);
    if (!plan) {
        fprintf(stderr, "soak: no memory for the plan\n");
        return 1;
    }
    if (spoilt && program.me == 0)
        spoil(plan);
    program.plan = plan;
    run_plan(&program);
    plan_destroy(plan);
    return 0;
}
