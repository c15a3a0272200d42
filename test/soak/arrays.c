/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Distributed arrays under random operations, whose members compute, stop, and die, against a sequential model.
 *
 *   arrays SEED THREADS PAUSE DEATHS
 *
 * In each round all draw, from the same numbers, the operations of each member (test/mpi/win/arrays.h), the kind of
 * epoch, a member that pauses for up to PAUSE ms, and, in one round of each of the first DEATHS windows, one that dies.
 * The threads of a member share its operations out. After a round memory must be as the model says. After one with
 * a death, operations that have ended well have been carried out, and others may have been: then the survivors go on
 * with another window. Each survivor prints "ok" and the number of its operations.
 */
#include <mpi-ext.h>
#include <pthread.h>
#include <signal.h>

#include "../mpi/win/arrays.h"
#include "pause.h"

enum {
    ROUNDS = 6,
    THREADS_MAX = 4,
    TAG = 7
};

/* A round, but for its operations. */
struct round {
    int epoch;
    int victim, when; /* dies before operation when, -1: before the epoch, OPS: before its end; victim -1: nobody */
    int sleeper, pause_at, way, after_ms, ms; /* sleeper -1: nobody */
};

/* A member tells it to the other survivors of a round with a death. */
struct report {
    long rank, closed; /* closed: its own epoch has ended well */
    long done[OPS];    /* has ended well; 2: also at the target, whatever closed says */
    long was[OPS];     /* the first number that came back */
};

static MPI_Comm comm;
static int rank, size, threads, pause_ms;
static long *model, *high; /* [size][PLACES]; high: with all that may have been done */
static struct window w;
static struct round now;
static struct op mine[OPS], all[16 * OPS];
static struct report report;
static long values[OPS][COUNT_MAX], was[OPS][COUNT_MAX], operations;

static int first_of(int a, int b)
{
    return a ? a : b;
}

/* A code that may be an error only where a member has died; then no other member waits for this one's part in the
 * epoch. */
static int note(int rc)
{
    if (!rc)
        return rc;
    int class = check_class(rc);
    CHECK(now.victim >= 0);
    CHECK(class == MPI_ERR_PROC_ABORTED || class == MPIX_ERR_REVOKED);
    if (now.epoch == BY_FENCE || now.epoch == BY_START)
        OK(MPIX_Win_revoke(w.win));
    return rc;
}

/* ---- one member's part ---- */

static void live(int i)
{
    static void (*const ways[])(int, int) = {pause_asleep, pause_computing, pause_stopped, pause_stopped};
    if (now.victim == rank && now.when == i)
        raise(SIGKILL);
    if (now.sleeper == rank && now.pause_at == i)
        ways[now.way](now.after_ms, now.ms);
}

static void play_one(int i)
{
    const struct op *op = &mine[i];
    int requests = now.epoch == BY_LOCKS || now.epoch == BY_LOCK_ALL, target = op->target;
    bool flushes = now.epoch == BY_LOCK_ALL && op->value % 5 == 0;
    live(i);
    if (now.epoch == BY_LOCKS &&
        note(MPI_Win_lock(op->value % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w.win)))
        return;
    int rc = note(start(&w, op, values[i], was[i], requests));
    if (flushes)
        rc = first_of(rc, note(MPI_Win_flush(target, w.win)));
    if (now.epoch == BY_LOCKS)
        rc = first_of(rc, note(MPI_Win_unlock(target, w.win)));
    report.done[i] = rc ? 0 : flushes || now.epoch == BY_LOCKS ? 2 : 1;
}

/* The threads have targets of their own, which they may lock. */
static void *play_some(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < OPS; i++)
        if (mine[i].target % threads == me)
            play_one(i);
    return NULL;
}

static void play_all(void)
{
    pthread_t made[THREADS_MAX];
    for (int i = 1; i < threads; i++)
        CHECK(!pthread_create(&made[i], NULL, play_some, (void *)(intptr_t)i));
    (void)play_some(NULL);
    for (int i = 1; i < threads; i++)
        CHECK(!pthread_join(made[i], NULL));
}

static int begin(MPI_Group group)
{
    int rc;
    switch (now.epoch) {
    case BY_FENCE: return note(MPI_Win_fence(0, w.win));
    case BY_LOCK_ALL: return note(MPI_Win_lock_all(0, w.win));
    case BY_START: rc = note(MPI_Win_post(group, 0, w.win)); return rc ? rc : note(MPI_Win_start(group, 0, w.win));
    default: return MPI_SUCCESS;
    }
}

static int end(void)
{
    int rc;
    switch (now.epoch) {
    case BY_FENCE: return note(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    case BY_LOCK_ALL: return note(MPI_Win_unlock_all(w.win));
    case BY_START: rc = note(MPI_Win_complete(w.win)); return first_of(rc, note(MPI_Win_wait(w.win)));
    default: return MPI_SUCCESS;
    }
}

/* All have left the calls before, so that nobody misses the one that is about to die. */
static void gather_round_victim(void)
{
    for (int i = 0; i < size && now.victim == rank; i++)
        if (i != rank)
            OK(MPI_Recv(NULL, 0, MPI_INT, i, TAG, comm, MPI_STATUS_IGNORE));
    if (now.victim >= 0 && now.victim != rank)
        OK(MPI_Send(NULL, 0, MPI_INT, now.victim, TAG, comm));
}

static void play(void)
{
    MPI_Group group;
    report = (struct report){.rank = rank};
    OK(MPI_Comm_group(comm, &group));
    gather_round_victim();
    live(-1);
    if (!begin(group)) {
        play_all();
        live(OPS);
        report.closed = !end();
    }
    OK(MPI_Group_free(&group));
    operations += OPS;
    for (int i = 0; i < OPS; i++)
        report.was[i] = was[i][0];
}

/* ---- the model ---- */

static void draw_round(unsigned *seed, bool dies)
{
    struct round r = {.epoch = (int)draw(seed, EPOCHS), .victim = (int)draw(seed, (unsigned)size),
                      .when = (int)draw(seed, OPS + 2) - 1, .sleeper = (int)draw(seed, (unsigned)size),
                      .pause_at = (int)draw(seed, OPS + 2) - 1, .way = (int)draw(seed, 4),
                      .after_ms = (int)draw(seed, 5), .ms = 1 + (int)draw(seed, (unsigned)pause_ms + 1)};
    bool pauses = !draw(seed, pause_ms > 1000 ? 8 : 2);
    if (!dies)
        r.victim = -1;
    if (!pauses || !pause_ms)
        r.sleeper = -1;
    now = r;
    for (int i = 0; i < size * OPS; i++)
        all[i] = draw_op(seed, i, size);
    memcpy(mine, all + rank * OPS, sizeof(mine));
}

static long tickets(const long *of)
{
    long sum = 0;
    for (int r = 0; r < size; r++)
        sum += of[r * PLACES + TICKET] * (of[r * PLACES + TICKET] - 1) / 2;
    return sum;
}

static void check_gets(void)
{
    for (int i = 0; i < OPS; i++)
        for (int k = 0; mine[i].kind == GET && report.done[i] && k < mine[i].count &&
                        (report.closed || report.done[i] == 2 || now.epoch == BY_LOCKS); k++)
            CHECK(was[i][k] == still(mine[i].target, mine[i].first + k * mine[i].step));
}

static bool is_in(int place, long value, long low, long most)
{
    double number, least, greatest;
    if (place < AT_DOUBLES || place == TICKET)
        return value >= low && value <= most;
    if (place >= AT_PUTS)
        return value == low || value == most;
    memcpy(&number, &value, sizeof(number));
    memcpy(&least, &low, sizeof(least));
    memcpy(&greatest, &most, sizeof(greatest));
    return number >= least && number <= greatest;
}

/* Memory lies between the model and another one. */
static void check_memory(const long *most)
{
    for (int i = 0; i < PLACES; i++) {
        long low = model[rank * PLACES + i], top = most[rank * PLACES + i], value = w.mine[i];
        if (!is_in(i, value, low, top))
            fprintf(stderr, "window %d, epoch %d, rank %d of %d, place %d: %ld, and not %ld to %ld\n", w.kind, now.epoch,
                    rank, size, i, value, low, top);
        CHECK(is_in(i, value, low, top));
    }
}

static void check_round(void)
{
    long before = tickets(model), drawn = 0, sum;
    for (int i = 0; i < size * OPS; i++)
        apply(model, &all[i]);
    for (int i = 0; i < OPS; i++)
        drawn += mine[i].kind == FETCH ? report.was[i] : 0;
    OK(MPI_Allreduce(&drawn, &sum, 1, MPI_LONG, MPI_SUM, comm));
    CHECK(sum == tickets(model) - before);
    check_gets();
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
    check_memory(model);
    OK(MPI_Win_unlock(rank, w.win));
    OK(MPI_Barrier(comm));
}

/* ---- a death ---- */

static const struct report *report_of(const struct report *reports, int count, int of)
{
    for (int i = 0; i < count; i++)
        if (reports[i].rank == of)
            return &reports[i];
    return NULL;
}

/* Whether operation i of all is at its target for sure. */
static bool is_done(const struct report *reports, int count, int i)
{
    const struct report *origin = report_of(reports, count, i / OPS);
    const struct report *target = report_of(reports, count, all[i].target);
    if (!origin || !target || !origin->done[i % OPS])
        return false;
    bool waits = now.epoch == BY_FENCE || now.epoch == BY_START;
    return origin->done[i % OPS] == 2 || (origin->closed && (!waits || target->closed));
}

/* No ticket was drawn twice, and none that there was not. */
static void check_tickets(const struct report *reports, int count)
{
    for (int i = 0; i < size * OPS; i++) {
        const struct report *a = report_of(reports, count, i / OPS);
        if (all[i].kind != FETCH || !is_done(reports, count, i))
            continue;
        long ticket = a->was[i % OPS], at = all[i].target * PLACES + TICKET;
        CHECK(ticket >= 0 && ticket < high[at]);
        for (int k = 0; k < i; k++)
            if (all[k].kind == FETCH && all[k].target == all[i].target && is_done(reports, count, k))
                CHECK(report_of(reports, count, k / OPS)->was[k % OPS] != ticket);
    }
}

/* The survivors check their memory, and have a communicator of their own from here on. */
static void survive(void)
{
    struct report reports[16];
    MPI_Comm next;
    OK(MPIX_Comm_shrink(comm, &next));
    int count = check_size(next);
    CHECK(count == size - 1);
    OK(MPI_Allgather(&report, sizeof(report) / sizeof(long), MPI_LONG, reports, sizeof(report) / sizeof(long), MPI_LONG,
                     next));
    memcpy(high, model, sizeof(long) * PLACES * (size_t)size);
    for (int i = 0; i < size * OPS; i++) {
        apply(high, &all[i]);
        if (is_done(reports, count, i))
            apply(model, &all[i]);
    }
    check_tickets(reports, count);
    check_gets();
    check_memory(high);
    OK(MPI_Barrier(next));
    OK(MPIX_Win_revoke(w.win));
    if (comm != MPI_COMM_WORLD)
        OK(MPI_Comm_free(&comm));
    comm = next;
    rank = check_rank(comm);
    size = count;
}

/* ---- all ---- */

static void open_window(enum window_kind kind)
{
    w = window_open(comm, kind, PLACES);
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    memset(model, 0, (size_t)size * PLACES * sizeof(long));
    for (int r = 0; r < size; r++)
        for (int i = AT_STILL; i < AT_STILL + STILL; i++)
            model[r * PLACES + i] = still(r, i);
    memcpy(w.mine, model + rank * PLACES, sizeof(long) * PLACES);
    OK(MPI_Win_sync(w.win));
    OK(MPI_Barrier(comm));
}

static void run_window(unsigned seed, enum window_kind kind, bool with_death)
{
    int last = with_death && size > 1 ? (int)draw(&seed, ROUNDS) : -1;
    open_window(kind);
    for (int i = 0; i < ROUNDS; i++) {
        draw_round(&seed, i == last);
        play();
        if (i == last) {
            survive();
            break;
        }
        check_round();
    }
    window_close(&w);
}

int main(int argc, char **argv)
{
    int provided;
    CHECK(argc == 5);
    unsigned seed = (unsigned)atoi(argv[1]);
    threads = atoi(argv[2]);
    pause_ms = atoi(argv[3]);
    int deaths = atoi(argv[4]);
    OK(MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
    comm = MPI_COMM_WORLD;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    rank = check_rank(comm);
    size = check_size(comm);
    CHECK(threads >= 1 && threads <= THREADS_MAX && size <= 16);
    model = malloc((size_t)size * PLACES * sizeof(long));
    high = malloc((size_t)size * PLACES * sizeof(long));
    CHECK(model && high);
    for (int i = 0; i < WINDOW_KINDS; i++)
        run_window(seed * WINDOW_KINDS + (unsigned)i, (enum window_kind)((seed + (unsigned)i) % WINDOW_KINDS),
                   i < deaths);
    printf("ok %ld\n", operations);
    fflush(stdout);
    OK(MPI_Barrier(comm)); /* a member serves the others until they are done, too */
    free(model);
    free(high);
    OK(MPI_Finalize());
    return 0;
}
