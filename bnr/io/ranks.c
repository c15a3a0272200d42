/* SPDX-License-Identifier: BSD-3-Clause */

/* The ranks of this machine; see ranks.h. */
#include "bnr/io/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/core/bytes.h"
#include "bnr/core/job.h"
#include "bnr/core/pmi/pmi_spawn.h"
#include "bnr/io/exits.h"
#include "bnr/io/leftovers.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/session_folder.h"
#include "bnr/launch/warden.h"
#include "os/clock.h"
#include "os/futex.h"

enum {
    JOB_LIST_MAX = 32 * 33,
    SLICE_MS = 20
};

struct ranks_care {
    struct wardens wardens;
    struct session_folder session; /* of the ranks here, for programs that start in it */
    struct exits exits;
    struct leftovers leftovers; /* groups whose rank's process has ended */
};

/* The variables that differ between ranks: rewritten before each start. */
struct ranks_extra {
    char job[sizeof("BNR_JOB=") + JOB_LIST_MAX];
    char host[sizeof("BNR_HOST=") + 256];
    char fd[64], rank[48], local_rank[48], local_size[48];
    char ompi_rank[48], ompi_size[48], ompi_local_rank[48], ompi_local_size[48];
    char pmi_fd[32], pmi_rank[32], pmi_size[32], pmi_spawned[32];
    char *all[15]; /* NULL-terminated */
};

/* ---- words ---- */

/* Append to text, of size bytes, at *at; stops at its end. */
static void append(char *text, size_t size, size_t *at, const char *item, int number)
{
    int n = *at < size ? snprintf(text + *at, size - *at, "%s%d", item, number) : 0;
    *at += n > 0 ? (size_t)n : 0;
}

void ranks_list(char *text, size_t size, int count, bool (*is_in)(const void *set, int i),
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

bool ranks_lives(const struct table *t, int rank)
{
    return atomic_load(&t->rank[rank].state) == TABLE_RUNNING && table_slot(t, rank) >= 0;
}

static bool is_running(const void *set, int rank)
{
    return ranks_lives(set, rank);
}

void ranks_list_running(const struct table *t, char *text, size_t size)
{
    ranks_list(text, size, t->world_size, is_running, t);
}

uint64_t ranks_slice(void)
{
    return os_now_ns() + SLICE_MS * 1000000ull;
}

/* ---- ending ---- */

void ranks_signal(struct ranks *r, int number)
{
    for (int i = 0; i < r->table.world_size; i++)
        if (ranks_lives(&r->table, i))
            kill(-r->table.rank[i].pid, number);
}

void ranks_signal_one(struct ranks *r, int rank, int number)
{
    if (rank < r->table.world_size && ranks_lives(&r->table, rank))
        kill(-r->table.rank[rank].pid, number);
}

/* A rank's words. The table is our own, and the rank is of this machine. */
static struct table_page *page_of(const struct ranks *r, int rank)
{
    return table_page(&r->table, table_slot(&r->table, rank));
}

bool ranks_has_begun(const struct ranks *r, int rank)
{
    return (atomic_load(&page_of(r, rank)->flags) & PAGE_INITIALIZED) != 0;
}

int ranks_communicating(const struct ranks *r)
{
    for (int i = 0; i < r->table.world_size; i++)
        if (table_slot(&r->table, i) >= 0 && ranks_lives(&r->table, i) &&
            (atomic_load(&page_of(r, i)->flags) & (PAGE_INITIALIZED | PAGE_FINALIZED)) ==
                PAGE_INITIALIZED)
            return i;
    return -1;
}

bool ranks_some_tolerate(const struct ranks *r)
{
    for (int i = 0; i < r->table.world_size; i++)
        if (table_slot(&r->table, i) >= 0 && ranks_lives(&r->table, i) &&
            atomic_load(&page_of(r, i)->flags) & PAGE_TOLERANT)
            return true;
    return false;
}

static void close_terminal(struct ranks *r, int rank)
{
    if (r->terminals[rank] >= 0)
        close(r->terminals[rank]);
    r->terminals[rank] = -1;
}

/* A rank is over: its process was reaped, and nothing of its group is to go on. */
static void rank_ended(struct ranks *r, int rank, int status)
{
    close_terminal(r, rank);
    const struct table_page *page = page_of(r, rank);
    uint32_t flags = atomic_load(&page->flags);
    struct job_facts facts = {
        .status = status,
        .initialized = (flags & PAGE_INITIALIZED) != 0,
        .finalized = (flags & PAGE_FINALIZED) != 0,
        .aborted = atomic_load(&page->aborted) != 0,
        .abort_code = *(const volatile int32_t *)&page->abort_code,
        .is_missed = !(flags & PAGE_INITIALIZED) && ranks_communicating(r) >= 0,
        .tolerant = (flags & PAGE_TOLERANT) != 0,
    };
    table_ended(&r->table, rank, status);
    r->hooks.ended(r->hooks.arg, rank, &facts);
}

static int rank_of(const struct ranks *r, pid_t pid)
{
    for (int i = 0; i < r->table.world_size; i++)
        if (r->table.rank[i].pid == pid && ranks_lives(&r->table, i))
            return i;
    return -1;
}

static void group_over(void *arg, int rank, int status)
{
    rank_ended(arg, rank, status);
}

/* A rank's process is a zombie. The rank is over, unless others of its group are there. */
static void reap_rank(struct ranks *r, int rank)
{
    int pid = r->table.rank[rank].pid, status = 0;
    waitpid(pid, &status, 0);
    if (kill(-pid, 0))
        rank_ended(r, rank, status);
    else /* the group keeps the number */
        leftovers_add(&r->care->leftovers, rank, pid, status, r->is_in_grace);
}

/* Reap the first child to end. Returns false if there is none. */
static bool reap_next(struct ranks *r)
{
    siginfo_t info = {0};
    int status, rank = exits_next(&r->care->exits);
    if (rank >= 0) {
        if (!leftovers_has(&r->care->leftovers, rank) && ranks_lives(&r->table, rank))
            reap_rank(r, rank);
        return true;
    }
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
        return false;
    rank = rank_of(r, info.si_pid);
    if (rank >= 0 && !leftovers_has(&r->care->leftovers, rank))
        reap_rank(r, rank);
    else if (waitpid(info.si_pid, &status, 0) == info.si_pid)
        r->hooks.other_ended(r->hooks.arg, (int)info.si_pid, status);
    return true;
}

bool ranks_reap(struct ranks *r)
{
    uint64_t until = ranks_slice();
    while (reap_next(r))
        if (os_now_ns() >= until)
            return true;
    leftovers_look(&r->care->leftovers);
    return false;
}

/* ---- starting ---- */

static void compose_job_list(struct ranks *r)
{
    const char *outer = getenv("BNR_JOB");
    size_t len = outer && warden_is_list(outer) ? strlen(outer) : 0;
    char *job = r->extra->job;
    size_t at = (size_t)snprintf(job, sizeof(r->extra->job), "BNR_JOB=");
    if (len && len + 1 + 32 < JOB_LIST_MAX)
        at += (size_t)snprintf(job + at, sizeof(r->extra->job) - at, "%s,", outer);
    bytes_digits(job + at, r->table.head->gid, sizeof(r->table.head->gid));
}

/* The variables of PMI-1, behind those that are there. */
static void add_pmi(struct ranks *r, int rank, int fd)
{
    struct ranks_extra *x = r->extra;
    const char *note = launch_variable(r->apps[r->table.rank[rank].app].environment, "BNR_NOTE");
    int n = 0;
    while (x->all[n])
        n++;
    snprintf(x->pmi_fd, sizeof(x->pmi_fd), "PMI_FD=%d", fd);
    snprintf(x->pmi_rank, sizeof(x->pmi_rank), "PMI_RANK=%d", rank);
    snprintf(x->pmi_size, sizeof(x->pmi_size), "PMI_SIZE=%d", r->table.world_size);
    snprintf(x->pmi_spawned, sizeof(x->pmi_spawned), "PMI_SPAWNED=%d", note && !strncmp(note, PMI_NOTE, strlen(PMI_NOTE)));
    char *all[] = {x->pmi_fd, x->pmi_rank, x->pmi_size, x->pmi_spawned, NULL};
    memcpy(x->all + n, all, sizeof(all));
}

static void compose_extra(struct ranks *r, int rank, int pmi)
{
    struct ranks_extra *x = r->extra;
    int n = r->table.world_size, local = (int)r->table.rank[rank].local_rank;
    int local_size = (int)table_host(&r->table, rank)->ranks;
    int at = snprintf(x->fd, sizeof(x->fd), "BNR_FD=%d,%d,%d", r->table.head_fd, r->table.memory_fd,
                      (int)getpid());
    if (r->bell >= 0)
        snprintf(x->fd + at, sizeof(x->fd) - (size_t)at, ",%d", r->bell);
    snprintf(x->rank, sizeof(x->rank), "BNR_RANK=%d", rank);
    snprintf(x->host, sizeof(x->host), "BNR_HOST=%s", table_host(&r->table, rank)->name);
    snprintf(x->local_rank, sizeof(x->local_rank), "MPI_LOCALRANKID=%d", local);
    snprintf(x->local_size, sizeof(x->local_size), "MPI_LOCALNRANKS=%d", local_size);
    snprintf(x->ompi_rank, sizeof(x->ompi_rank), "OMPI_COMM_WORLD_RANK=%d", rank);
    snprintf(x->ompi_size, sizeof(x->ompi_size), "OMPI_COMM_WORLD_SIZE=%d", n);
    snprintf(x->ompi_local_rank, sizeof(x->ompi_local_rank), "OMPI_COMM_WORLD_LOCAL_RANK=%d",
             local);
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
    if (pmi >= 0)
        add_pmi(r, rank, pmi);
}

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && !memcmp(a, b, n);
}

/* The environment for a rank of app: composed once an app, its extra words in place. */
static int prepare_environment(struct ranks *r, int app, int rank, int pmi)
{
    size_t count = 0, at = 0, extra = 0;
    compose_extra(r, rank, pmi);
    if (r->environment && r->environment_app == app)
        return 0;
    free(r->environment);
    for (char **e = r->apps[app].environment; *e; e++)
        count++;
    while (r->extra->all[extra])
        extra++;
    r->environment = malloc((count + extra + 1) * sizeof(*r->environment));
    r->environment_app = app;
    if (!r->environment)
        return -ENOMEM;
    for (char **e = r->apps[app].environment; *e; e++) {
        bool is_ours = false;
        for (size_t i = 0; i < extra && !is_ours; i++)
            is_ours = same_name(*e, r->extra->all[i]);
        if (!is_ours)
            r->environment[at++] = *e;
    }
    memcpy(r->environment + at, r->extra->all, (extra + 1) * sizeof(*r->environment));
    return 0;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
        pair[i] = -1;
    }
}

int ranks_start(struct ranks *r, int rank, const char **step)
{
    int app = (int)r->table.rank[rank].app;
    const struct ranks_app *a = &r->apps[app];
    struct ranks_pipes p = {{{-1, -1}, {-1, -1}, {-1, -1}}, -1, -1};
    pid_t pid = 0;
    int pidfd = -1, pmi = -1;
    *step = "make pipes and files";
    int rc = r->hooks.open(r->hooks.arg, rank, &p);
    if (!rc && a->has_pmi && r->open_pmi) {
        pmi = r->open_pmi(r->open_pmi_arg, rank);
        rc = pmi < 0 ? pmi : 0;
    }
    if (!rc)
        rc = prepare_environment(r, app, rank, pmi);
    if (!rc) {
        struct launch l = {
            .path = a->path,
            .argv = a->argv,
            .envp = r->environment,
            .wdir = a->wdir,
            .stream = {p.in, p.pipe[1][1], p.pipe[2][1]},
            .has_terminal = p.terminal >= 0,
            .keep = {r->table.head_fd, r->table.memory_fd, r->bell, pmi},
        };
        if (a->in_session) {
            *step = "make a folder for it below TMPDIR";
            rc = session_folder_add(&r->care->session, rank);
            l.wdir = r->care->session.of_rank;
        }
        if (!rc && r->hooks.amend)
            rc = r->hooks.amend(r->hooks.arg, rank, &l);
        if (!rc)
            rc = launch_start(&l, &pid, &pidfd, step);
    }
    if (!rc) {
        leftovers_note_output(&r->care->leftovers, rank, 0, p.pipe[1][1]);
        leftovers_note_output(&r->care->leftovers, rank, 1, p.pipe[2][1]);
        table_started(&r->table, rank, (int)pid);
        exits_add(&r->care->exits, rank, pidfd);
        r->terminals[rank] = p.terminal;
        p.terminal = -1;
        rc = r->hooks.attach(r->hooks.arg, rank, &p);
        p.pipe[0][1] = p.pipe[1][0] = p.pipe[2][0] = -1;
        *step = "connect the streams";
    }
    for (int i = 0; i < 3; i++)
        close_pair(p.pipe[i]);
    if (pmi >= 0)
        close(pmi);
    if (p.terminal >= 0)
        close(p.terminal);
    return rc;
}

void ranks_hold(struct ranks *r)
{
    atomic_store_explicit(&r->table.head->held, 1, memory_order_release);
}

void ranks_release(struct ranks *r)
{
    atomic_store_explicit(&r->table.head->held, 0, memory_order_release);
    os_futex_wake(&r->table.head->held, INT32_MAX);
}

/* ---- life ---- */

void ranks_resize(struct ranks *r, const struct winsize *size)
{
    for (int i = 0; i < r->table.world_size; i++)
        if (r->terminals[i] >= 0)
            (void)ioctl(r->terminals[i], TIOCSWINSZ, size);
}

int ranks_lift(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, TABLE_FIRST_FD);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

int ranks_create(struct ranks *r, const struct table_spec *spec, const struct ranks_hooks *hooks,
                 const char **step)
{
    static char memory[128];
    *step = memory;
    *r = (struct ranks){.hooks = *hooks, .bell = -1};
    int rc = table_create(&r->table, spec);
    snprintf(
        memory, sizeof(memory),
        "make shared memory of %llu KiB, by memfd_create() or a file in /dev/shm or /tmp, and ftruncate()",
        (unsigned long long)table_need(r->table.slots) >> 10);
    if (rc)
        return rc;
    r->table.head_fd = ranks_lift(r->table.head_fd);
    r->table.memory_fd = ranks_lift(r->table.memory_fd);
    r->care = calloc(1, sizeof(*r->care));
    rc = r->care ? leftovers_init(&r->care->leftovers, spec->world_size, group_over, r) : -ENOMEM;
    r->extra = calloc(1, sizeof(*r->extra));
    r->terminals = malloc((size_t)spec->world_size * sizeof(*r->terminals));
    if (rc || !r->extra || !r->terminals)
        return -ENOMEM;
    memset(r->terminals, -1, (size_t)spec->world_size * sizeof(*r->terminals));
    exits_init(&r->care->exits);
    compose_job_list(r);
    return 0;
}

/* Whether a rank here is to start in a folder of its own. */
static bool needs_session(const struct ranks *r)
{
    for (int i = 0; i < r->table.world_size; i++)
        if (table_slot(&r->table, i) >= 0 && r->apps[r->table.rank[i].app].in_session)
            return true;
    return false;
}

int ranks_make_folder(struct ranks *r, const char **step)
{
    *step = "make a folder for the ranks below TMPDIR";
    return needs_session(r) ? session_folder_make(&r->care->session) : 0;
}

int ranks_guard(struct ranks *r, char *name, size_t name_size, const char **step)
{
    *step = "start the wardens";
    return wardens_start(&r->care->wardens, &r->table, r->care->session.path, name, name_size);
}

int ranks_guard_again(struct ranks *r, int pid)
{
    return r->care ? wardens_reaped(&r->care->wardens, pid) : 0;
}

void ranks_guard_terminal(struct ranks *r, const struct termios *modes)
{
    wardens_know(&r->care->wardens, modes);
}

uint32_t ranks_guards(const struct ranks *r, pid_t pids[RANKS_GUARDS])
{
    uint32_t count = 0;
    _Static_assert((int)RANKS_GUARDS == (int)WARDENS, "all fit");
    for (int i = 0; r->care && i < WARDENS; i++)
        if (r->care->wardens.pid[i])
            pids[count++] = r->care->wardens.pid[i];
    return count;
}

void ranks_watch_groups(struct ranks *r, struct uv_loop_s *loop, uint64_t hold_ms)
{
    leftovers_watch(&r->care->leftovers, loop, hold_ms);
}

void ranks_unwatch_groups(struct ranks *r)
{
    if (r->care)
        leftovers_unwatch(&r->care->leftovers);
}

void ranks_unguard(struct ranks *r)
{
    if (!r->care)
        return;
    session_folder_remove(r->care->session.path);
    wardens_stop(&r->care->wardens);
}

void ranks_destroy(struct ranks *r)
{
    table_detach(&r->table);
    free(r->environment);
    if (r->care) {
        exits_fini(&r->care->exits);
        leftovers_fini(&r->care->leftovers);
    }
    free(r->care);
    free(r->extra);
    free(r->terminals);
}
