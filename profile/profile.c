/* SPDX-License-Identifier: BSD-3-Clause */

/* The life of a profile, and the time of calls; see profile.h. */
#include "profile/profile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const profile_kind_names[PROFILE_KINDS] = {"p2p", "wait", "collective", "file",
                                                       "window", "setup"};

static struct {
    bool is_on;
    const char *trace, *summary; /* files to write; NULL: none */
    MPI_Comm comm;               /* of the profile itself: all of MPI_COMM_WORLD */
    uint64_t begun_ns;
    uint64_t ns[PROFILE_KINDS], calls;
} profile;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that is recorded */
static _Thread_local int depth, thread;                  /* thread: from 1 on; 0: unknown */

void profile_lock(void)
{
    pthread_mutex_lock(&lock);
}

void profile_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t profile_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int profile_thread(void)
{
    static atomic_int threads;
    if (!thread)
        thread = atomic_fetch_add(&threads, 1) + 1;
    return thread;
}

/* ---- calls ---- */

void profile_begin(struct profile_span *span, int function, void *caller)
{
    *span = (struct profile_span){.function = function, .is_outer = depth++ == 0, .site = "", .peer = -1};
    if (span->is_outer && trace_is_open())
        span->site = site_text(caller);
    span->begun_ns = profile_now_ns();
    if (span->is_outer)
        trace_begin(span, profile_thread());
}

void profile_end(struct profile_span *span)
{
    uint64_t now = profile_now_ns();
    depth--;
    if (!span->is_outer)
        return;
    profile_lock();
    if (profile.is_on) {
        profile.ns[profile_functions[span->function].kind] += now - span->begun_ns;
        profile.calls++;
        trace_span(span, now, profile_thread());
    }
    profile_unlock();
}

/* ---- life ---- */

static const char *wanted(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") ? value : NULL;
}

/* MPI_Init has returned. */
static void start(struct profile_span *span, int rc)
{
    int rank;
    profile.trace = wanted("VIREO_TRACE");
    profile.summary = wanted("VIREO_SUMMARY");
    if (rc || !(profile.trace || profile.summary) || PMPI_Comm_dup(MPI_COMM_WORLD, &profile.comm)) {
        depth--;
        return;
    }
    PMPI_Comm_set_errhandler(profile.comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(profile.comm, &rank);
    profile.begun_ns = span->begun_ns;
    messages_open();
    if (profile.trace)
        trace_open(profile.trace, rank);
    summary_open(); /* last: what the profile itself sends is not the program's */
    profile_lock();
    profile.is_on = true;
    profile_unlock();
    profile_end(span);
}

int MPI_Init(int *argc, char ***argv)
{
    struct profile_span span;
    profile_begin(&span, PROFILE_INIT, __builtin_return_address(0));
    int rc = PMPI_Init(argc, argv);
    start(&span, rc);
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct profile_span span;
    profile_begin(&span, PROFILE_INIT, __builtin_return_address(0));
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    start(&span, rc);
    return rc;
}

static void finish(void)
{
    double seconds[PROFILE_KINDS], elapsed = (double)(profile_now_ns() - profile.begun_ns) / 1e9;
    profile_lock();
    profile.is_on = false;
    messages_write_receives();
    messages_close();
    profile_unlock();
    for (int i = 0; i < PROFILE_KINDS; i++)
        seconds[i] = (double)profile.ns[i] / 1e9;
    if (profile.trace)
        trace_merge(profile.comm);
    if (profile.summary)
        summary_report(profile.comm, profile.summary, elapsed, seconds, profile.calls);
    PMPI_Comm_free(&profile.comm);
}

/* What MPI_Finalize waits for is recorded by a meeting before it, since nothing can be said after
 * it. */
int MPI_Finalize(void)
{
    if (profile.is_on) {
        struct profile_span span;
        profile_begin(&span, PROFILE_FINALIZE, __builtin_return_address(0));
        summary_meet(profile.comm);
        profile_end(&span);
        finish();
    }
    return PMPI_Finalize();
}
