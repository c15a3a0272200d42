/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A job from launch to end; see run.h. One loop hears of signals, of ended
 * ranks, of timers and of drained streams; job.c decides what follows.
 */
#include "bnr/io/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bnr/core/job.h"
#include "bnr/diagnose/ask.h"
#include "bnr/diagnose/report.h"
#include "bnr/host/table.h"
#include "bnr/io/exits.h"
#include "bnr/io/signals.h"
#include "bnr/io/stdio_forward.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/sweep.h"
#include "bnr/launch/warden.h"
#include "bnr/tools/options.h"
#include "os/cpus.h"
#include "os/log.h"
#include "os/settings.h"

extern char **environ;

enum {
    EXIT_FAILED = 1,
    EXIT_TIMEOUT = 124,
    LATE_MS = 1000,     /* for output that nobody takes, after --timeout */
    REMINDER_MS = 2000, /* after the first Ctrl-C */
    JOB_LIST_MAX = 32 * 33
};

/* What differs between ranks in their environment: rewritten before each start. */
struct extra {
    char job[sizeof("BNR_JOB=") + JOB_LIST_MAX];
    char host[sizeof("BNR_HOST=") + 256];
    char fd[48], rank[48], local_rank[48], local_size[48];
    char ompi_rank[48], ompi_size[48], ompi_local_rank[48], ompi_local_size[48];
    char *all[11]; /* NULL-terminated */
};

struct run {
    const struct options *o;
    char *const *paths;
    uv_loop_t loop;
    uv_timer_t grace, timeout, reminder;
    struct signals signals;
    struct ask ask;
    struct wardens wardens;
    struct exits exits;
    bool *is_left;  /* by rank: its process has ended in the grace, others of its group have not */
    int *left_status;
    bool is_late;   /* --timeout has passed */
    struct stdio *stdio;
    struct table table;
    struct job job;
    struct extra extra;
    char **environment; /* of the program being started */
    int environment_app;
    char last_words[TABLE_MESSAGE_MAX + 512]; /* to be said at the next turn of the loop */
    bool drained;
    bool abandoned; /* the user does not want to wait for the output */
    int null_fd;
};

/* ---- words ---- */

/* Put into words why a rank's end is a failure. They are said after what the rank wrote. */
static void explain_end(struct run *run, int rank, const struct job_facts *f, enum job_cause cause)
{
    char *text = run->last_words, message[TABLE_MESSAGE_MAX];
    size_t size = sizeof(run->last_words);
    if (cause == JOB_CAUSE_NONE)
        return;
    if (text[0]) /* of another rank, in a job that goes on */
        stdio_say(run->stdio, "%s\n", text);
    int n = snprintf(text, size, "mpiexec: rank %d on %s (pid %d) ", rank,
                     table_host(&run->table, rank)->name, (int)run->table.rank[rank].pid);
    text += n;
    size -= (size_t)n;
    switch (cause) {
    case JOB_CAUSE_NONE: break;
    case JOB_CAUSE_ABORT:
        table_abort_message(&run->table, table_slot(&run->table, rank), message);
        snprintf(text, size, "aborted with code %d%s%s", f->abort_code, message[0] ? ": " : "",
                 message);
        break;
    case JOB_CAUSE_SIGNAL:
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(f->status),
                 strsignal(WTERMSIG(f->status)));
        break;
    case JOB_CAUSE_CODE: snprintf(text, size, "exited with code %d", WEXITSTATUS(f->status)); break;
    case JOB_CAUSE_UNFINALIZED: snprintf(text, size, "exited without MPI_Finalize"); break;
    case JOB_CAUSE_UNINITIALIZED:
        snprintf(text, size, "exited without MPI_Init, which other ranks have called");
        break;
    }
}

/* Append to text, of size bytes, at *at; stops at its end. */
static void append(char *text, size_t size, size_t *at, const char *item, int number)
{
    int n = *at < size ? snprintf(text + *at, size - *at, "%s%d", item, number) : 0;
    *at += n > 0 ? (size_t)n : 0;
}

/* Write the numbers below count that are in the set as "0-3,7". */
static void list_ranges(char *text, size_t size, int count, bool (*is_in)(const void *set, int i),
                        const void *set)
{
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        if (!is_in(set, i))
            continue;
        int last = i;
        while (last + 1 < count && is_in(set, last + 1))
            last++;
        append(text, size, &at, at ? "," : "", i);
        if (last > i)
            append(text, size, &at, "-", last);
        i = last;
    }
    if (at >= size)
        strcpy(text + size - 4, "...");
}

static bool rank_lives(const void *set, int rank)
{
    const struct table *t = set;
    return atomic_load(&t->rank[rank].state) == TABLE_RUNNING;
}

static bool cpu_is_set(const void *set, int cpu)
{
    return CPU_ISSET(cpu, (const cpu_set_t *)set);
}

/* ---- ending ---- */

static void signal_ranks(struct run *run, int number)
{
    for (int r = 0; r < run->o->nranks; r++)
        if (rank_lives(&run->table, r))
            kill(-run->table.rank[r].pid, number);
}

static void on_grace(uv_timer_t *timer);

static void follow(struct run *run, struct job_step step)
{
    if (step.signal) {
        signal_ranks(run, step.signal);
        if (step.signal != SIGKILL)
            signal_ranks(run, SIGCONT); /* a stopped process hears nothing */
    }
    if (step.arm_grace && !uv_is_active((uv_handle_t *)&run->grace)) {
        uv_update_time(&run->loop); /* a report may have held the loop up */
        uv_timer_start(&run->grace, on_grace, (uint64_t)os_setting(OS_SETTING_KILL_AFTER_MS), 0);
    }
    if (run->job.state == JOB_ENDED)
        sweep_children(run->wardens.pid);
}

static void on_grace(uv_timer_t *timer)
{
    struct run *run = timer->data;
    follow(run, job_event(&run->job, JOB_GRACE));
}

static void say_report(void *arg, const char *report)
{
    struct run *run = arg;
    stdio_say(run->stdio, "%s", report);
}

/* The report at SIGQUIT: whoever has typed it sees what that did not do. */
static void say_asked(void *arg, const char *report)
{
    struct run *run = arg;
    if (isatty(STDERR_FILENO))
        stdio_say(run->stdio, "\n"); /* behind what the terminal shows of the key */
    say_report(run, report);
    stdio_say(run->stdio, "mpiexec: the job goes on\n");
}

/* The report of a job whose time is up has come. */
static void end_late_job(void *arg, const char *report)
{
    struct run *run = arg;
    if (run->job.state == JOB_ENDED)
        return;
    say_report(run, report);
    follow(run, job_end(&run->job, JOB_TERMINATE, EXIT_TIMEOUT));
}

/* The time is up; called again each second after, for output that nobody takes. */
static void on_timeout(uv_timer_t *timer)
{
    struct run *run = timer->data;
    char ranks[200], hosts[256];
    if (run->job.state == JOB_ENDED) {
        run->abandoned = true;
        run->job.exit_code = EXIT_TIMEOUT;
        return;
    }
    if (run->is_late)
        return;
    run->is_late = true;
    table_name_hosts(&run->table, hosts, sizeof(hosts));
    list_ranges(ranks, sizeof(ranks), run->o->nranks, rank_lives, &run->table);
    stdio_say(run->stdio,
              "mpiexec: the job did not end within %g s; still running on %s: %s %s "
              "of %d\n",
              run->o->timeout_s, hosts, run->job.alive > 1 ? "ranks" : "rank", ranks,
              run->o->nranks);
    if (!ask_has_ranks(&run->ask) || !ask_report(&run->ask, end_late_job, run))
        follow(run, job_end(&run->job, JOB_TERMINATE, EXIT_TIMEOUT));
}

static void on_drained(void *arg)
{
    struct run *run = arg;
    run->drained = true;
}

/* A rank's words. The table is our own, and holds no rank without a slot. */
static struct table_page *page_of(const struct run *run, int rank)
{
    return table_page(&run->table, table_slot(&run->table, rank));
}

/* Whether some rank is in the midst of its MPI calls. */
static bool others_communicate(const struct run *run)
{
    for (int r = 0; r < run->o->nranks; r++)
        if (rank_lives(&run->table, r) &&
            (atomic_load(&page_of(run, r)->flags) & (PAGE_INITIALIZED | PAGE_FINALIZED)) ==
                PAGE_INITIALIZED)
            return true;
    return false;
}

static bool is_in_grace(const struct run *run)
{
    return run->job.state == JOB_INTERRUPTED || run->job.state == JOB_TERMINATING;
}

/* A rank is over: its process was reaped, and nothing of its group is to go on. */
static void rank_ended(struct run *run, int rank, int status)
{
    int pid = run->table.rank[rank].pid;
    run->is_left[rank] = false;
    const struct table_page *page = page_of(run, rank);
    uint32_t flags = atomic_load(&page->flags);
    struct job_facts facts = {
        .status = status,
        .initialized = (flags & PAGE_INITIALIZED) != 0,
        .finalized = (flags & PAGE_FINALIZED) != 0,
        .aborted = atomic_load(&page->aborted) != 0,
        .abort_code = *(const volatile int32_t *)&page->abort_code,
        .is_missed = !(flags & PAGE_INITIALIZED) && others_communicate(run),
    };
    table_ended(&run->table, rank, status);
    enum job_cause cause;
    struct job_step step = job_rank_ended(&run->job, &facts, &cause);
    explain_end(run, rank, &facts, cause);
    if (run->o->verbose)
        stdio_say(run->stdio, "mpiexec: rank %d (pid %d) %s %d\n", rank, pid,
                  WIFSIGNALED(status) ? "was killed by signal" : "has ended with exit code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    stdio_rank_ended(run->stdio, rank);
    follow(run, step);
}

static int rank_of(const struct run *run, pid_t pid)
{
    for (int r = 0; r < run->o->nranks; r++)
        if (run->table.rank[r].pid == pid && rank_lives(&run->table, r))
            return r;
    return -1;
}

/* A rank's process is a zombie. Its group ends with it, but for the grace of a program that a
 * shell has started: mpiexec's signal ends the shell at once. */
static void reap_rank(struct run *run, int rank)
{
    int pid = run->table.rank[rank].pid, status = 0;
    if (!is_in_grace(run))
        kill(-pid, SIGKILL); /* while its number cannot be reused */
    waitpid(pid, &status, 0);
    if (is_in_grace(run) && !kill(-pid, 0)) { /* the group keeps the number */
        run->is_left[rank] = true;
        run->left_status[rank] = status;
    } else {
        rank_ended(run, rank, status);
    }
}

/* A descendant that lost its parent, a warden, or a child from before the job, is a zombie. */
static void reap_other(struct run *run, pid_t pid)
{
    waitpid(pid, NULL, 0);
    if (wardens_reaped(&run->wardens, pid))
        stdio_say(run->stdio, "mpiexec: a warden was killed, and no other can be started\n");
}

/* The groups that outlive their rank's process, once they are empty too. */
static void look_after_left(struct run *run)
{
    for (int r = 0; r < run->o->nranks; r++)
        if (run->is_left[r] && kill(-run->table.rank[r].pid, 0))
            rank_ended(run, r, run->left_status[r]);
}

static void reap(struct run *run)
{
    siginfo_t info;
    int rank;
    while ((rank = exits_next(&run->exits)) >= 0) /* the first to end comes first */
        if (!run->is_left[rank] && rank_lives(&run->table, rank))
            reap_rank(run, rank);
    for (;;) {
        memset(&info, 0, sizeof(info));
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
            break;
        rank = rank_of(run, info.si_pid);
        if (rank >= 0 && !run->is_left[rank])
            reap_rank(run, rank);
        else
            reap_other(run, info.si_pid);
    }
    look_after_left(run);
}

/* Ranks that do not end at Ctrl-C: say what the user can do. */
static void on_reminder(uv_timer_t *timer)
{
    struct run *run = timer->data;
    char ranks[200];
    if (run->job.state != JOB_INTERRUPTED)
        return;
    list_ranges(ranks, sizeof(ranks), run->o->nranks, rank_lives, &run->table);
    stdio_say(run->stdio,
              "mpiexec: waiting for %s %s to end after SIGINT; send it again (Ctrl-C) to end %s\n",
              run->job.alive > 1 ? "ranks" : "rank", ranks, run->job.alive > 1 ? "them" : "it");
}

static void on_signal(void *arg, int number)
{
    struct run *run = arg;
    switch (number) {
    case SIGCHLD: reap(run); break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        if (run->job.state == JOB_ENDED)
            run->abandoned = true;
        else
            follow(run, job_signal(&run->job, number));
        if (run->job.state == JOB_INTERRUPTED)
            uv_timer_start(&run->reminder, on_reminder, REMINDER_MS, 0);
        break;
    case SIGQUIT: (void)ask_report(&run->ask, say_asked, run); break;
    case SIGTSTP:
        signal_ranks(run, SIGTSTP);
        raise(SIGSTOP);
        break;
    default: signal_ranks(run, number); break;
    }
}

/* ---- starting ---- */

static void compose_job_list(struct run *run)
{
    const char *outer = getenv("BNR_JOB");
    size_t len = outer && warden_is_list(outer) ? strlen(outer) : 0;
    char *job = run->extra.job;
    size_t at = (size_t)snprintf(job, sizeof(run->extra.job), "BNR_JOB=");
    if (len && len + 1 + 32 < JOB_LIST_MAX)
        at += (size_t)snprintf(job + at, sizeof(run->extra.job) - at, "%s,", outer);
    for (int i = 0; i < 16; i++, at += 2)
        snprintf(job + at, sizeof(run->extra.job) - at, "%02x", run->table.head->gid[i]);
}

static void compose_extra(struct run *run, int rank)
{
    struct extra *x = &run->extra;
    int n = run->o->nranks, local = (int)run->table.rank[rank].local_rank;
    int local_size = (int)table_host(&run->table, rank)->ranks;
    snprintf(x->fd, sizeof(x->fd), "BNR_FD=%d,%d,%d", run->table.head_fd, run->table.memory_fd,
             (int)getpid());
    snprintf(x->rank, sizeof(x->rank), "BNR_RANK=%d", rank);
    snprintf(x->host, sizeof(x->host), "BNR_HOST=%s", table_host(&run->table, rank)->name);
    snprintf(x->local_rank, sizeof(x->local_rank), "MPI_LOCALRANKID=%d", local);
    snprintf(x->local_size, sizeof(x->local_size), "MPI_LOCALNRANKS=%d", local_size);
    snprintf(x->ompi_rank, sizeof(x->ompi_rank), "OMPI_COMM_WORLD_RANK=%d", rank);
    snprintf(x->ompi_size, sizeof(x->ompi_size), "OMPI_COMM_WORLD_SIZE=%d", n);
    snprintf(x->ompi_local_rank, sizeof(x->ompi_local_rank), "OMPI_COMM_WORLD_LOCAL_RANK=%d", local);
    snprintf(x->ompi_local_size, sizeof(x->ompi_local_size), "OMPI_COMM_WORLD_LOCAL_SIZE=%d",
             local_size);
    char *all[] = {x->job,
                   x->fd,
                   x->rank,
                   x->host,
                   x->local_rank,
                   x->local_size,
                   x->ompi_rank,
                   x->ompi_size,
                   x->ompi_local_rank,
                   x->ompi_local_size,
                   NULL};
    memcpy(x->all, all, sizeof(all));
}

/* The environment for rank of app: composed once an app, its extra words in place. */
static int prepare_environment(struct run *run, int app, int rank)
{
    compose_extra(run, rank);
    if (run->environment && run->environment_app == app)
        return 0;
    free(run->environment);
    run->environment = options_environ(run->o, &run->o->apps[app], environ, run->extra.all);
    run->environment_app = app;
    return run->environment ? 0 : -ENOMEM;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
        pair[i] = -1;
    }
}

/* Make what a rank writes stream i to: a pipe, its file, or the pipe of its stdout. */
static int open_output(struct run *run, int rank, int i, int pipes[3][2])
{
    if (i == 2 && run->o->merge)
        pipes[i][1] = fcntl(pipes[1][1], F_DUPFD_CLOEXEC, 0);
    else if (run->o->files.pattern[i - 1])
        return (pipes[i][1] = outfile_open(&run->o->files, i - 1, rank));
    else
        return pipe2(pipes[i], O_CLOEXEC) ? -errno : 0;
    return pipes[i][1] < 0 ? -errno : 0;
}

/* Make the pipes of a rank: [0] is read, [1] written. */
static int open_pipes(struct run *run, int rank, int pipes[3][2])
{
    for (int i = 0; i < 3; i++)
        pipes[i][0] = pipes[i][1] = -1;
    bool has_input = stdio_input_of(run->stdio, rank) == STDIO_INPUT_PIPE;
    int rc = has_input && pipe2(pipes[0], O_CLOEXEC) ? -errno : 0;
    for (int i = 1; i < 3 && rc >= 0; i++)
        rc = open_output(run, rank, i, pipes);
    return rc < 0 ? rc : 0;
}

static int input_for(struct run *run, int rank, int pipes[3][2])
{
    switch (stdio_input_of(run->stdio, rank)) {
    case STDIO_INPUT_PIPE: return pipes[0][0];
    case STDIO_INPUT_INHERIT: return 0;
    case STDIO_INPUT_NULL: break;
    }
    return run->null_fd;
}

static int start_rank(struct run *run, int rank, const char **step)
{
    int app = (int)run->table.rank[rank].app, pipes[3][2];
    const struct option_app *a = &run->o->apps[app];
    pid_t pid = 0;
    int pidfd = -1;
    *step = "make pipes and files";
    int rc = open_pipes(run, rank, pipes);
    if (!rc)
        rc = prepare_environment(run, app, rank);
    if (!rc) {
        struct launch l = {
            .path = run->paths[app],
            .argv = a->argv,
            .envp = run->environment,
            .wdir = a->wdir,
            .stream = {input_for(run, rank, pipes), pipes[1][1], pipes[2][1]},
            .keep = {run->table.head_fd, run->table.memory_fd},
        };
        rc = launch_start(&l, &pid, &pidfd, step);
    }
    if (!rc) {
        table_started(&run->table, rank, (int)pid);
        exits_add(&run->exits, rank, pidfd);
        rc = stdio_attach(run->stdio, rank, pipes[0][1], pipes[1][0], pipes[2][0]);
        pipes[0][1] = pipes[1][0] = pipes[2][0] = -1;
        *step = "connect the streams";
        if (run->o->verbose)
            stdio_say(run->stdio, "mpiexec: rank %d is %s, pid %d on %s\n", rank, run->paths[app],
                      (int)pid, table_host(&run->table, rank)->name);
    }
    for (int i = 0; i < 3; i++)
        close_pair(pipes[i]);
    return rc;
}

/* Start all ranks, or on a failure end those that run. */
static void start_ranks(struct run *run)
{
    const char *step;
    char why[512];
    for (int r = 0; r < run->o->nranks; r++) {
        int rc = start_rank(run, r, &step);
        if (!rc)
            continue;
        const char *path = run->paths[run->table.rank[r].app];
        int code = launch_explain(path, rc, step, why, sizeof(why));
        stdio_say(run->stdio, "mpiexec: cannot start rank %d (%s) on %s: %s\n", r, path,
                  table_host(&run->table, r)->name, why);
        int started = rank_lives(&run->table, r) ? r + 1 : r;
        run->job.alive = started;
        follow(run, job_end(&run->job, JOB_BROKEN, code));
        if (!started)
            follow(run, job_event(&run->job, JOB_LAST));
        break;
    }
    stdio_all_attached(run->stdio);
}

/* ---- the whole ---- */

static int lift(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, TABLE_FIRST_FD);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static int create_table(struct run *run)
{
    const struct options *o = run->o;
    int *apps = malloc(sizeof(*apps) * (size_t)o->nranks);
    if (!apps)
        return -ENOMEM;
    int r = 0;
    for (int a = 0; a < o->napps; a++)
        for (int i = 0; i < o->apps[a].count; i++)
            apps[r++] = a;
    struct table_spec spec = {
        .world_size = o->nranks,
        .app_count = o->napps,
        .cpus = os_cpus_usable(),
        .apps = apps,
        .universe_size = o->universe_size,
        .hosts = o->pretend_hosts,
    };
    int rc = table_create(&run->table, &spec);
    free(apps);
    if (!rc) {
        run->table.head_fd = lift(run->table.head_fd);
        run->table.memory_fd = lift(run->table.memory_fd);
    }
    return rc;
}

/* The programs' names, without their folders: "server : worker". */
static void name_programs(const struct options *o, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (int a = 0; a < o->napps && at < size; a++) {
        const char *name = o->apps[a].argv[0], *slash = strrchr(name, '/');
        at += (size_t)snprintf(text + at, size - at, "%s%s", a ? " : " : "",
                               slash ? slash + 1 : name);
    }
}

static int open_loop(struct run *run)
{
    const struct options *o = run->o;
    char programs[80];
    struct stdio_config cfg = {
        .ranks = o->nranks,
        .label = o->label,
        .stdin_mode = o->stdin_mode == OPTIONS_STDIN_ALL    ? STDIO_STDIN_ALL
                      : o->stdin_mode == OPTIONS_STDIN_NONE ? STDIO_STDIN_NONE
                                                            : STDIO_STDIN_RANK,
        .stdin_rank = o->stdin_rank,
        .drained = on_drained,
        .arg = run,
    };
    int rc = uv_loop_init(&run->loop);
    if (rc)
        return rc;
    uv_timer_init(&run->loop, &run->grace);
    uv_timer_init(&run->loop, &run->timeout);
    uv_timer_init(&run->loop, &run->reminder);
    name_programs(o, programs, sizeof(programs));
    ask_start(&run->ask, &run->loop, &run->table, programs);
    run->grace.data = run->timeout.data = run->reminder.data = run;
    rc = signals_start(&run->signals, &run->loop, on_signal, run);
    if (!rc)
        rc = stdio_create(&run->stdio, &run->loop, &cfg);
    if (!rc && o->timeout_s > 0)
        uv_timer_start(&run->timeout, on_timeout, (uint64_t)(o->timeout_s * 1000), LATE_MS);
    return rc;
}

static void print_report(struct run *run)
{
    int n = run->o->nranks;
    char cpus[256] = "";
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof(set), &set))
        list_ranges(cpus, sizeof(cpus), CPU_SETSIZE, cpu_is_set, &set);
    struct report_rank *ranks = calloc((size_t)n, sizeof(*ranks));
    for (int r = 0; ranks && r < n; r++) {
        struct kvs log = table_log(&run->table, table_slot(&run->table, r));
        const void *text;
        ranks[r].pid = run->table.rank[r].pid;
        ranks[r].cpus = cpus;
        ranks[r].host = table_host(&run->table, r)->name;
        if (!kvs_get(&log, "mpid.report", &text, &ranks[r].len))
            ranks[r].text = text;
    }
    char *table = ranks ? report_format(ranks, n) : NULL;
    if (table)
        fputs(table, stderr);
    free(table);
    free(ranks);
}

static int finish(struct run *run)
{
    int code = run->job.exit_code;
    if (!code && stdio_error(run->stdio)) {
        fprintf(stderr, "mpiexec: output was lost: %s\n", strerror(-stdio_error(run->stdio)));
        code = EXIT_FAILED;
    }
    if (run->o->report)
        print_report(run);
    wardens_stop(&run->wardens);
    fflush(NULL);
    if (!run->drained)
        _exit(code ? code : 128 + SIGINT); /* a thread still writes to an output that is stuck */
    signals_stop(&run->signals);
    ask_stop(&run->ask);
    uv_close((uv_handle_t *)&run->grace, NULL);
    uv_close((uv_handle_t *)&run->timeout, NULL);
    uv_close((uv_handle_t *)&run->reminder, NULL);
    stdio_destroy(run->stdio);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    uv_loop_close(&run->loop);
    table_detach(&run->table);
    exits_fini(&run->exits);
    free(run->environment);
    free(run->is_left);
    free(run->left_status);
    free(run);
    return code;
}

/* Wait for what happens next. When a rank has failed, what it wrote before is read first. */
static void turn(struct run *run)
{
    uv_run(&run->loop, UV_RUN_ONCE);
    if (!run->last_words[0])
        return;
    uv_run(&run->loop, UV_RUN_NOWAIT);
    stdio_say(run->stdio, "%s\n", run->last_words);
    run->last_words[0] = 0;
}

int run_job(const struct options *o, char *const *paths, char *name, size_t name_size)
{
    struct run *run = calloc(1, sizeof(*run));
    if (run) {
        run->is_left = calloc((size_t)o->nranks, sizeof(*run->is_left));
        run->left_status = calloc((size_t)o->nranks, sizeof(*run->left_status));
    }
    if (!run || !run->is_left || !run->left_status) {
        fprintf(stderr, "mpiexec: out of memory\n");
        return EXIT_FAILED;
    }
    run->o = o;
    run->paths = paths;
    job_init(&run->job, o->nranks);
    run->job.goes_on = o->goes_on;
    exits_init(&run->exits);
    (void)sweep_prepare(); /* without it, only the job's process groups are cleaned up */
    run->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const char *step = "open /dev/null";
    int rc = run->null_fd < 0 ? -errno : 0;
    if (!rc) {
        step = "make shared memory, by memfd_create() or in /dev/shm or /tmp";
        rc = create_table(run);
    }
    if (!rc) {
        step = "start the wardens";
        rc = wardens_start(&run->wardens, &run->table, name, name_size);
    }
    if (!rc) {
        step = "start the event loop";
        rc = open_loop(run);
    }
    if (rc) {
        fprintf(stderr, "mpiexec: cannot prepare the job on %s: %s: %s\n", os_host_name(), step,
                strerror(-rc));
        wardens_stop(&run->wardens);
        return EXIT_FAILED;
    }
    compose_job_list(run);
    start_ranks(run);
    reap(run); /* a warden may have been killed before its end was listened for */
    while (!run->abandoned && (run->job.state != JOB_ENDED || !run->drained))
        turn(run);
    return finish(run);
}
