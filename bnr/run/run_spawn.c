/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that ranks start; see run_spawn.h. */
#include "bnr/run/run_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/host/order.h"
#include "bnr/launch/launch.h"
#include "bnr/plan/plan.h"
#include "bnr/run/run_names.h"
#include "bnr/run/run_orders.h"
#include "bnr/run/run_room.h"
#include "bnr/run/run_state.h"
#include "bnr/run/run_words.h"
#include "bnr/stdio/forward.h"
#include "bnr/wide/serve.h"
#include "os/be.h"

extern char **environ;

enum { EXIT_FAILED = 1 };

struct run_spawned {
    struct run_spawned *next;
    int rank; /* that has ordered it */
    uint32_t id;
    pid_t pid;
    int pidfd;    /* -1: none */
    int keepalive; /* a socket: it ends when this is closed */
    uv_poll_t *poll; /* for what it tells; NULL: it tells nothing */
    struct run *run;
    struct order_ear ear;
    bool is_linked;
    struct run_room room;
};

struct run_spawns {
    struct run_spawned *first; /* those that run */
    void (*signal_rank)(void *arg, int rank, int number); /* of this job; arg is the run */
};

/* ---- starting ---- */

/* The words of a command line: first these, then those of bytes, each with its 0. To be freed, as an array.
 * NULL: no memory, or the last one has no 0. */
static char **list_words(char *const *first, const uint8_t *bytes, size_t len)
{
    size_t count = 0, at = 0;
    if (!len || bytes[len - 1])
        return NULL;
    while (first[count])
        count++;
    for (size_t i = 0; i < len; i++)
        count += !bytes[i];
    char **words = calloc(count + 1, sizeof(*words));
    if (!words)
        return NULL;
    for (; first[at]; at++)
        words[at] = first[at];
    for (size_t i = 0; i < len; i += strlen((const char *)bytes + i) + 1)
        words[at++] = (char *)(uintptr_t)(bytes + i);
    return words;
}

/* ---- the command line ---- */

enum { OWN_WORDS = 16 };

/* Words in front of those of the order; texts that were made for it. */
struct own_words {
    char *word[OWN_WORDS];
    int count;
    char keepalive[16], pretend[16];
};

static void add_own(struct own_words *own, const char *option, const char *value)
{
    if (!value)
        return;
    own->word[own->count++] = (char *)(uintptr_t)option;
    own->word[own->count++] = (char *)(uintptr_t)value;
}

/* hosts: those that it may use; NULL: the order names them, or none. They are reached as this job's are. */
static void fill_own(struct own_words *own, const struct plan *plan, const char *hosts, int keepalive)
{
    *own = (struct own_words){.count = 0};
    snprintf(own->keepalive, sizeof(own->keepalive), "%d", keepalive);
    snprintf(own->pretend, sizeof(own->pretend), "%d", plan->pretend_hosts);
    own->word[own->count++] = (char *)(uintptr_t)"mpiexec";
    add_own(own, "-keepalive", own->keepalive);
    add_own(own, "-host", hosts);
    add_own(own, "-launcher-cmd", plan->remote.command);
    add_own(own, "-launcher-exec", plan->remote.program);
    add_own(own, "-prefix", plan->remote.prefix);
    add_own(own, "-pretend-hosts", plan->pretend_hosts ? own->pretend : NULL);
}

/* The path of this mpiexec, whose file may have been replaced since. */
static int find_own(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n <= 0)
        return -errno;
    path[n] = 0;
    return 0;
}

static struct launch_binding bind_to_room(const struct run_room *room)
{
    return (struct launch_binding){.cpus = room->has_cpus ? &room->cpus : NULL, .cpus_len = sizeof(room->cpus)};
}

/* Start an mpiexec with these words behind a note, which ends when this process does. Returns 0 or -errno, with the failed
 * step. */
static int start(struct run *run, struct run_spawned *s, const uint8_t *bytes, size_t len, const char **step)
{
    char path[PATH_MAX];
    struct own_words own;
    int ends[2];
    *step = "socketpair()";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return -errno;
    s->keepalive = ends[1];
    *step = "read the order";
    bool is_good = len && !bytes[len - 1];
    size_t skip = is_good ? strlen((const char *)bytes) + 1 : 0;
    int rc = is_good ? run_room_take(run, &s->room, bytes + skip, len - skip) : -EINVAL;
    if (!rc)
        fill_own(&own, run->plan, s->room.hosts, ends[0]);
    char **words = !rc ? list_words(own.word, bytes + skip, len - skip) : NULL;
    char **environment = !rc ? order_environ(environ, (const char *)bytes) : NULL;
    if (!rc)
        rc = words && environment ? find_own(path) : -EINVAL;
    if (!rc)
        rc = launch_start(&(struct launch){.path = path,
                                           .argv = words,
                                           .envp = environment,
                                           .stream = {run->null_fd, STDOUT_FILENO, STDERR_FILENO},
                                           .keep = {ends[0], -1, -1, -1},
                                           .binding = bind_to_room(&s->room)},
                          &s->pid, &s->pidfd, step);
    close(ends[0]);
    free(words);
    free(environment);
    return rc;
}

/* ---- what a group's mpiexec tells ---- */

/* Tell the rank what its job has told. */
static void pass_on(struct run_spawned *s, const uint32_t words[3])
{
    char text[32];
    snprintf(text, sizeof(text), "%d %d", (int)words[1], (int)words[2]);
    if (words[0] == ORDER_TOLD_STARTED || words[0] == ORDER_TOLD_EXIT)
        run_orders_answer(s->run, s->rank, s->id, (int)words[0], text);
}

/* Take what has come. Returns false at its end. */
static bool hear(struct run_spawned *s)
{
    uint32_t words[3];
    int rc;
    while ((rc = order_hear(&s->ear, s->keepalive, words)) > 0)
        pass_on(s, words);
    return !rc;
}

static void on_told(uv_poll_t *poll, int status, int events)
{
    struct run_spawned *s = poll->data;
    (void)events;
    if (status || !hear(s))
        uv_poll_stop(poll);
}

static void on_poll_closed(uv_handle_t *poll)
{
    free(poll);
}

static void listen_to(struct run *run, struct run_spawned *s)
{
    s->run = run;
    s->poll = calloc(1, sizeof(*s->poll));
    if (!s->poll || uv_poll_init(&run->loop, s->poll, s->keepalive)) {
        free(s->poll);
        s->poll = NULL;
        return;
    }
    s->poll->data = s;
    (void)uv_poll_start(s->poll, UV_READABLE, on_told);
}

static void free_spawned(struct run *run, struct run_spawned *s)
{
    run_room_leave(run, &s->room);
    if (s->poll) {
        uv_poll_stop(s->poll);
        uv_close((uv_handle_t *)s->poll, on_poll_closed);
    }
    if (s->keepalive >= 0)
        close(s->keepalive);
    if (s->pidfd >= 0)
        close(s->pidfd);
    free(s);
}

static void spawn(struct run *run, int rank, uint32_t id, const uint8_t *bytes, size_t len)
{
    struct run_spawned *s = calloc(1, sizeof(*s));
    const char *step = "calloc()";
    int rc = s ? 0 : -ENOMEM;
    if (s)
        *s = (struct run_spawned){.rank = rank, .id = id, .pidfd = -1, .keepalive = -1};
    if (!rc && run->job.state != JOB_RUNNING)
        rc = -ECANCELED;
    if (!rc)
        rc = start(run, s, bytes, len, &step);
    if (!rc) {
        listen_to(run, s);
        s->next = run->spawns->first;
        run->spawns->first = s;
        return;
    }
    if (rc != -ECANCELED)
        stdio_say(run->stdio, "mpiexec: the job that rank %d spawns cannot be started: %s: %s\n", rank, step,
                  strerror(-rc));
    if (s)
        free_spawned(run, s);
    run_orders_answer(run, rank, id, EXIT_FAILED, "");
}

static struct run_spawned *find(struct run *run, int rank, uint32_t id)
{
    struct run_spawned *s = run->spawns->first;
    while (s && !(s->rank == rank && s->id == id))
        s = s->next;
    return s;
}

/* ---- signals ---- */

/* Send a signal to ranks of a job of this rank's, or of its own job. */
static void kill_ranks(struct run *run, int rank, uint32_t id, char **words)
{
    uint8_t order[ORDER_SIGNAL_LEN] = {ORDER_SIGNAL};
    struct run_spawned *s = id ? find(run, rank, id) : NULL;
    if (!words || !words[0] || !words[1])
        return;
    long to = strtol(words[0], NULL, 10), number = strtol(words[1], NULL, 10);
    if (to < -1 || to > INT_MAX || number <= 0 || number > SIGRTMAX)
        return;
    os_be32_put(order + 1, (uint32_t)to);
    os_be32_put(order + 5, (uint32_t)number);
    if (s)
        (void)!send(s->keepalive, order, sizeof(order), MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (!id && to < run->plan->nranks && run->spawns->signal_rank)
        run->spawns->signal_rank(run, (int)to, (int)number);
}

/* ---- orders ---- */

static void link_job(struct run *run, int rank, bool is_linked, char **words)
{
    struct run_spawned *s = words && words[0] ? find(run, rank, (uint32_t)strtoul(words[0], NULL, 10)) : NULL;
    if (s)
        s->is_linked = is_linked;
}

static void take_order(void *arg, int rank, const uint8_t *data, size_t len)
{
    struct run *run = arg;
    uint32_t kind = len < ORDER_HEAD ? 0 : os_be32_get(data), id = kind ? os_be32_get(data + 4) : 0;
    char *const none[] = {NULL};
    char **words = NULL;
    switch (kind) {
    case ORDER_SPAWN: spawn(run, rank, id, data + ORDER_HEAD, len - ORDER_HEAD); break;
    case ORDER_LINK:
    case ORDER_UNLINK:
        words = list_words(none, data + ORDER_HEAD, len - ORDER_HEAD);
        link_job(run, rank, kind == ORDER_LINK, words);
        free(words);
        run_orders_answer(run, rank, id, 0, "");
        break;
    case ORDER_PUBLISH:
    case ORDER_UNPUBLISH:
    case ORDER_LOOKUP:
        words = list_words(none, data + ORDER_HEAD, len - ORDER_HEAD);
        run_names_take(run, rank, &(struct run_named){kind, id, words});
        free(words);
        break;
    case ORDER_KILL:
        words = list_words(none, data + ORDER_HEAD, len - ORDER_HEAD);
        kill_ranks(run, rank, id, words);
        free(words);
        break;
    default: break;
    }
}

int run_spawn_prepare(struct run *run, void (*signal_rank)(void *arg, int rank, int number))
{
    run->spawns = calloc(1, sizeof(*run->spawns));
    if (!run->spawns)
        return -ENOMEM;
    run->spawns->signal_rank = signal_rank;
    return run_names_begin(run);
}

void run_spawn_begin(struct run *run)
{
    serve_hear_orders(run->serve, take_order, run);
}

/* ---- ending ---- */

/* A job that is linked with this one has failed: so has this one, but where it goes on after failures. Returns the exit
 * code with which it is to end; 0: it goes on. */
static int take_failure(struct run *run, const struct run_spawned *s, int code)
{
    bool is_tolerated = run_some_tolerate(run) && !run->job.is_strict;
    if (run->job.goes_on)
        return 0;
    if ((is_tolerated || run->job.state == JOB_ENDED) && !run->job.exit_code)
        run->job.exit_code = code;
    if (is_tolerated || run->job.state != JOB_RUNNING)
        return 0;
    stdio_say(run->stdio, "mpiexec: the job that rank %d has spawned has failed (exit code %d), and is connected with this "
                          "one, which ends, too\n", s->rank, code);
    return code;
}

bool run_spawn_reaped(struct run *run, int pid, int status, int *failed)
{
    *failed = 0;
    struct run_spawned **at = &run->spawns->first;
    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    struct run_spawned *s = *at;
    if (!s)
        return false;
    *at = s->next;
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code && s->is_linked)
        *failed = take_failure(run, s, code);
    if (s->poll)
        (void)hear(s);
    run_orders_answer(run, s->rank, s->id, code, "");
    free_spawned(run, s);
    return true;
}

void run_spawn_signal(struct run *run, int number)
{
    for (struct run_spawned *s = run->spawns->first; s; s = s->next)
        (void)kill(s->pid, number);
}

uint32_t run_spawn_pids(const struct run *run, pid_t *pids)
{
    uint32_t count = 0;
    for (struct run_spawned *s = run->spawns->first; s; s = s->next, count++)
        if (pids)
            pids[count] = s->pid;
    return count;
}

bool run_spawn_has_some(const struct run *run)
{
    return run->spawns->first != NULL;
}

void run_spawn_stop(struct run *run)
{
    run_names_stop(run);
    while (run->spawns->first) {
        struct run_spawned *s = run->spawns->first;
        run->spawns->first = s->next;
        free_spawned(run, s);
    }
    run_room_stop(run);
    free(run->spawns);
    run->spawns = NULL;
}
