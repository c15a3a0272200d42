/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A member of a window dies at any instant, while all access each other's memory in epochs of one
 * kind. The others learn of it by an error within a bound; then they lock each other as before, and
 * numbers that were counted up under exclusive locks are right.
 *
 * usage: win_dead_random SEED NOTES
 *
 * NOTES is an empty file, which the ranks map. Prints "ok" and the kind of epoch from each
 * survivor.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../mpi/win/windows.h"

enum {
    WORDS = 16,
    LIMIT_MS = 2000,
    GIVE_UP_S = 40,
    EPOCHS = 40,
    SOON_US = 3000
};

enum {
    FENCE,
    POST,
    EXCLUSIVE,
    SHARED,
    ALL,
    REQUEST,
    KINDS
};
static const char *const names[] = {"fence", "post", "exclusive", "shared", "all", "request"};

/* Of the job, in memory that outlives the dead. */
static struct notes {
    _Atomic int64_t died_ns;
    _Atomic int64_t counted[64]; /* by the one that dies, at each target: begun */
} * notes;

static struct window w;
static MPI_Group
    partners; /* in epochs of MPI_Win_post: of the one that dies all others, of these that one */
static int me, ranks, victim, kind;
static unsigned own;
static long counted[64]; /* at each target: done */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void on_alarm(int signal)
{
    (void)signal;
    notes->died_ns = now_ns();
    raise(SIGKILL);
}

static int first_of(int a, int b)
{
    return a ? a : b;
}

/* One operation at a target, of any sort, within an epoch. */
static int operate(int target, MPI_Request *request)
{
    static long from[WORDS], to[WORDS];
    long one = 1;
    int place = 1 + rand_r(&own) % (WORDS - 1), count = 1 + rand_r(&own) % (WORDS - place);
    MPI_Aint at = window_at(&w, target, place);
    if (request)
        return rand_r(&own) % 2
                   ? MPI_Rput(from, count, MPI_LONG, target, at, count, MPI_LONG, w.win, request)
                   : MPI_Rget(to, count, MPI_LONG, target, at, count, MPI_LONG, w.win, request);
    switch (rand_r(&own) % 4) {
    case 0: return MPI_Put(from, count, MPI_LONG, target, at, count, MPI_LONG, w.win);
    case 1: return MPI_Get(to, count, MPI_LONG, target, at, count, MPI_LONG, w.win);
    case 2:
        return MPI_Accumulate(from, count, MPI_LONG, target, at, count, MPI_LONG, MPI_SUM, w.win);
    default: return MPI_Fetch_and_op(&one, to, MPI_LONG, target, at, MPI_SUM, w.win);
    }
}

/* The number of a target is one more afterwards. */
static int count_up(int target)
{
    long value = 0;
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
    if (rc)
        return rc;
    rc = MPI_Get(&value, 1, MPI_LONG, target, window_at(&w, target, 0), 1, MPI_LONG, w.win);
    rc = first_of(rc, MPI_Win_flush(target, w.win));
    value++;
    if (me == victim)
        notes->counted[target]++;
    if (!rc)
        rc = MPI_Put(&value, 1, MPI_LONG, target, window_at(&w, target, 0), 1, MPI_LONG, w.win);
    rc = first_of(rc, MPI_Win_unlock(target, w.win));
    counted[target] += !rc;
    return rc;
}

static int lock_one(int target, int how)
{
    int rc = MPI_Win_lock(how, target, 0, w.win);
    if (rc)
        return rc;
    for (int i = rand_r(&own) % 4; i >= 0 && !rc; i--)
        rc = operate(target, NULL);
    return first_of(rc, MPI_Win_unlock(target, w.win));
}

static int lock_everyone(int target)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_Win_lock_all(0, w.win);
    for (int i = rand_r(&own) % 4; i >= 0 && !rc; i--)
        rc = kind == REQUEST
                 ? first_of(operate(target, &request), MPI_Wait(&request, MPI_STATUS_IGNORE))
                 : first_of(operate(target, NULL), MPI_Win_flush(target, w.win));
    return first_of(rc, MPI_Win_unlock_all(w.win));
}

static int post_and_start(int target)
{
    int rc = MPI_Win_post(partners, 0, w.win);
    if (rc)
        return rc;
    if ((rc = MPI_Win_start(partners, 0, w.win)))
        return rc; /* the exposure stays open: this program ends */
    rc = operate(target, NULL);
    rc = first_of(rc, MPI_Win_complete(w.win));
    return first_of(rc, MPI_Win_wait(w.win));
}

static int epoch(void)
{
    int target = (me + 1 + rand_r(&own) % (ranks - 1)) % ranks;
    switch (kind) {
    case FENCE: return first_of(operate(target, NULL), MPI_Win_fence(0, w.win));
    case POST: return post_and_start(me == victim ? target : victim);
    case EXCLUSIVE: return count_up(rand_r(&own) % 2 ? target : victim ? 0 : 1);
    case SHARED: return lock_one(target, rand_r(&own) % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
    default: return lock_everyone(target);
    }
}

/* After the death: none of the others is locked for ever. */
static void lock_survivors(void)
{
    int64_t began = now_ns();
    for (int i = 0; i < ranks; i++)
        if (i != victim)
            OK(count_up(i));
    CHECK(now_ns() - began < (int64_t)LIMIT_MS * 1000000);
}

static void check_counts(MPI_Comm survivors)
{
    long sum[64] = {0};
    OK(MPI_Barrier(survivors));
    OK(MPI_Allreduce(counted, sum, ranks, MPI_LONG, MPI_SUM, survivors));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, w.win));
    long value = w.mine[0];
    OK(MPI_Win_unlock(me, w.win));
    if (value < sum[me] || value > sum[me] + notes->counted[me])
        fprintf(stderr, "rank %d: %ld, must be %ld to %ld\n", me, value, sum[me],
                sum[me] + (long)notes->counted[me]);
    CHECK(value >= sum[me] && value <= sum[me] + notes->counted[me]);
}

static void set_up(unsigned seed, const char *file)
{
    int fd = open(file, O_RDWR);
    CHECK(fd >= 0 && !ftruncate(fd, sizeof(*notes)));
    notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(notes != MAP_FAILED);
    close(fd);
    me = check_rank(MPI_COMM_WORLD);
    ranks = check_size(MPI_COMM_WORLD);
    CHECK(ranks > 1 && ranks <= 64);
    kind = rand_r(&seed) % KINDS;
    victim = rand_r(&seed) % ranks;
    own = seed + (unsigned)me * 7919;
    w = window_open(MPI_COMM_WORLD, (enum window_kind)(rand_r(&seed) % WINDOW_KINDS), WORDS);
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    MPI_Group all;
    OK(MPI_Win_get_group(w.win, &all));
    OK(me == victim ? MPI_Group_excl(all, 1, &me, &partners)
                    : MPI_Group_incl(all, 1, &victim, &partners));
}

int main(int argc, char **argv)
{
    MPI_Comm survivors;
    int rc = MPI_SUCCESS;
    CHECK(argc == 3);
    alarm(GIVE_UP_S);
    OK(MPI_Init(&argc, &argv));
    set_up((unsigned)atoi(argv[1]), argv[2]);
    OK(MPI_Comm_split(MPI_COMM_WORLD, me == victim, 0, &survivors));
    if (kind == FENCE)
        OK(MPI_Win_fence(0, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; me == victim && i < ranks; i++) /* all have left the barrier */
        if (i != victim)
            OK(MPI_Recv(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (me != victim)
        OK(MPI_Send(NULL, 0, MPI_INT, victim, 0, MPI_COMM_WORLD));
    for (int i = rand_r(&own) % EPOCHS; me == victim && i && kind > POST; i--)
        OK(epoch());
    if (me == victim) {
        struct itimerval soon = {.it_value = {0, 1 + rand_r(&own) % SOON_US}};
        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    while (!rc)
        rc = epoch();
    int64_t known = now_ns(), died = notes->died_ns;
    CHECK(check_class(rc) == MPI_ERR_PROC_ABORTED && died);
    if (known - died >= (int64_t)LIMIT_MS * 1000000)
        fprintf(stderr, "%lld ms\n", (long long)(known - died) / 1000000);
    CHECK(known - died < (int64_t)LIMIT_MS * 1000000);
    if (kind > POST)
        lock_survivors();
    if (kind == EXCLUSIVE)
        check_counts(survivors);
    printf("ok %s\n", names[kind]);
    fflush(stdout);
    OK(MPI_Barrier(survivors)); /* a member serves the others until they are done, too */
    OK(MPI_Finalize());
    return 0;
}
