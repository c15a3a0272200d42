/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A daemon; see daemon.h. It dials mpiexec and prints its own address, learns of its neighbours,
 * and then hears orders, which are xcasts (bnr/wire/launch_message.h). Events here go back in
 * streams; the ends of ranks go up the tree.
 */
#include "bnr/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/core/job.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/io/amend.h"
#include "bnr/streams/door.h"
#include "bnr/streams/exchange.h"
#include "bnr/streams/pipes.h"
#include "bnr/daemon/answers.h"
#include "bnr/wide/addresses.h"
#include "bnr/wide/mesh.h"
#include "bnr/wide/mesh_settings.h"
#include "bnr/daemon/names_far.h"
#include "bnr/wide/party_link.h"
#include "bnr/io/debugger.h"
#include "bnr/io/place.h"
#include "bnr/io/ranks.h"
#include "bnr/io/ranks_pipes.h"
#include "bnr/io/resources.h"
#include "bnr/wide/serve.h"
#include "bnr/daemon/words.h"
#include "bnr/io/signals.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/library.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/start_signals.h"
#include "bnr/launch/sweep.h"
#include "bnr/wire/field.h"
#include "bnr/wire/launch_message.h"
#include "os/clock.h"
#include "os/cpu/cpus.h"
#include "os/log.h"

enum {
    EXIT_FAILED = 1,
    FLUSH_MS = 1000,
    WATCH_MS = 100,
    LATE_MS = 30         /* in which mpiexec is reached, where nothing is in the way */
};

struct daemon {
    uv_loop_t loop;
    uv_timer_t deadline;       /* to reach mpiexec */
    uv_timer_t watch;          /* for debuggers of ranks that wait in MPI_Init */
    uv_idle_t starting;        /* while ranks are to be started, and nothing else is to be done */
    uint32_t next;             /* the first rank that was not started, or given up */
    uv_timer_t late;           /* mpiexec is not reached yet */
    int out_fd;                /* the stdout of the command that has started this program */
    struct mesh *mesh;
    struct signals signals;
    struct launch_message job;
    struct rank_map map;
    struct ranks_app *apps;
    struct ranks ranks;
    struct place place;
    struct amend amend;
    struct serve *serve;
    struct words words;
    struct answers answers;
    struct pipes pipes;
    struct party_link parties;
    struct door *door; /* NULL: none */
    char *name;        /* for the wardens */
    size_t name_size;
    int null_fd;
    uint32_t cpus; /* of this machine, once they were counted */
    bool has_job, has_groups;
    bool is_tolerant; /* some rank here goes on after failures, as mpiexec was told */
    bool is_over; /* the loop ends */
    int code;
};

/* ---- ending ---- */

static void end_loop(struct daemon *d, int code)
{
    d->is_over = true;
    d->code = code;
    uv_stop(&d->loop);
}

/* End all that runs here, at once. */
static void end_all(struct daemon *d)
{
    pid_t keep[RANKS_GUARDS + 1] = {0};
    uv_idle_stop(&d->starting);
    if (d->has_job)
        ranks_signal(&d->ranks, SIGKILL);
    (void)ranks_guards(&d->ranks, keep);
    sweep_children(keep);
}

/* mpiexec is gone, or takes this node for lost. */
static void on_alone(void *arg)
{
    struct daemon *d = arg;
    mesh_expel_all(d->mesh);
    end_all(d);
    end_loop(d, EXIT_FAILED);
}

/* ---- ranks ---- */

static int open_pipes(void *arg, int rank, struct ranks_pipes *p)
{
    struct daemon *d = arg;
    const struct winsize size = {.ws_row = (unsigned short)d->job.wish.rows,
                                 .ws_col = (unsigned short)d->job.wish.columns};
    const char *readers = d->job.wish.stdin_to;
    bool reads_stdin = readers && amend_lists(readers, rank);
    if (d->job.wish.terminals && amend_lists(d->job.wish.terminals, rank))
        return ranks_pipes_open_terminal(p, reads_stdin, &size);
    if (reads_stdin && pipe2(p->pipe[0], O_CLOEXEC))
        return -errno;
    p->in = p->pipe[0][0] >= 0 ? p->pipe[0][0] : d->null_fd;
    const char *from = d->job.wish.output_from;
    enum ranks_output out = from && !amend_lists(from, rank) ? RANKS_OUTPUT_NONE : RANKS_OUTPUT_PIPE;
    int rc = ranks_pipes_open(p, 1, out);
    return rc ? rc : ranks_pipes_open(p, 2, d->job.flags & LAUNCH_MERGE ? RANKS_OUTPUT_STDOUT : out);
}

static int attach(void *arg, int rank, const struct ranks_pipes *p)
{
    struct daemon *d = arg;
    char cpus[256];
    words_tell_number(&d->words, RECORD_STARTED, rank, (uint32_t)d->ranks.table.rank[rank].pid, "");
    if (d->job.flags & LAUNCH_REPORT) {
        place_list(&d->place, (int)d->ranks.table.rank[rank].local_rank, cpus, sizeof(cpus));
        words_tell(&d->words, RECORD_CPUS, rank, cpus, strlen(cpus));
    }
    return pipes_attach(&d->pipes, rank, p->pipe[0][1], p->pipe[1][0], p->pipe[2][0]);
}

/* Tell what the rank has left for mpiexec. */
static void say_last_words(struct daemon *d, int rank, const struct job_facts *facts)
{
    int slot = table_slot(&d->ranks.table, rank);
    struct kvs log = table_log(&d->ranks.table, slot);
    char message[TABLE_MESSAGE_MAX];
    const void *text;
    size_t len;
    if ((d->job.flags & LAUNCH_REPORT) && !kvs_get(&log, "mpid.report", &text, &len))
        words_tell(&d->words, RECORD_REPORT, rank, text, len);
    if (!facts->aborted)
        return;
    table_abort_message(&d->ranks.table, slot, message);
    words_tell(&d->words, RECORD_ABORT, rank, message, strlen(message));
}

static void rank_ended(void *arg, int rank, const struct job_facts *facts)
{
    struct daemon *d = arg;
    say_last_words(d, rank, facts);
    pipes_rank_ended(&d->pipes, rank);
    serve_rank_ended(d->serve, rank, facts);
}

static void other_ended(void *arg, int pid, int status)
{
    struct daemon *d = arg;
    (void)status;
    (void)ranks_guard_again(&d->ranks, pid);
}

/* ---- processes at the door ---- */

static void party_says(void *arg, uint64_t party, const struct hub_message *m)
{
    struct daemon *d = arg;
    party_link_say(&d->parties, (uint32_t)party, m);
}

static void party_gone(void *arg, uint64_t party)
{
    party_says(arg, party, NULL);
}

static void hear_party(void *arg, uint32_t node, uint32_t party, const struct hub_message *m)
{
    struct daemon *d = arg;
    (void)node;
    if (party == EXCHANGE_RANKS && m)
        pipes_hear(&d->pipes, m);
    else if (d->door && m)
        door_hear(d->door, party, m);
    else if (d->door)
        door_cut(d->door, party);
}

static void pipes_say(void *arg, const struct hub_message *m)
{
    party_says(arg, EXCHANGE_RANKS, m);
}

static void open_door(struct daemon *d)
{
    const struct door_hooks hooks = {NULL, party_says, party_gone, d};
    d->door = door_open(&d->loop, DOOR_OF_DAEMON, &hooks);
}

/* ---- a job ---- */

/* The programs as they are found on this machine. Returns 0, or an exit code with a sentence. */
static int find_programs(struct daemon *d, char why[512])
{
    d->apps = calloc(d->job.app_count, sizeof(*d->apps));
    for (uint32_t a = 0; d->apps && a < d->job.app_count; a++) {
        const struct launch_app *app = &d->job.apps[a];
        const char *search = NULL;
        char path[PATH_MAX];
        for (char **e = app->environment; *e; e++)
            if (!strncmp(*e, "PATH=", 5))
                search = *e + 5;
        if (access(app->wdir, X_OK)) {
            snprintf(why, 512, "cannot enter the working folder '%.300s': %s", app->wdir,
                     strerror(errno));
            return EXIT_FAILED;
        }
        int code = launch_seek(app->name, app->wdir, app->path, search, path, why);
        if (code)
            return code;
        d->apps[a] = (struct ranks_app){.path = strdup(path),
                                        .argv = app->argv,
                                        .environment = app->environment,
                                        .wdir = app->wdir,
                                        .has_pmi = !library_is_needed(path),
                                        .in_session = app->in_session};
        if (!d->apps[a].path)
            return EXIT_FAILED;
    }
    snprintf(why, 512, "out of memory");
    return d->apps ? 0 : EXIT_FAILED;
}

static int amend(void *arg, int rank, struct launch *l)
{
    struct daemon *d = arg;
    return amend_launch(&d->amend, rank, (int)d->ranks.table.rank[rank].local_rank, l);
}

/* Tell people where the ranks of this machine run. */
static void show_places(struct daemon *d, const struct place_job *job)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return;
    place_show(&d->place, job, to);
    if (!fclose(to) && len)
        words_tell(&d->words, RECORD_TEXT, (int)job->number_of[0], text, len);
    free(text);
}

static bool is_here(const struct daemon *d, uint32_t rank)
{
    return d->job.hosts[d->job.host_of[rank]].node == mesh_self(d->mesh);
}

static int first_here(const struct daemon *d)
{
    int first = 0;
    while (!is_here(d, (uint32_t)first))
        first++;
    return first;
}

/* Say where the ranks of this machine run. Returns 0, or an exit code with a sentence. */
static int place_ranks(struct daemon *d, char why[512])
{
    uint32_t *numbers = calloc(d->job.world_size, sizeof(*numbers));
    struct place_job job = {.wish = &d->job.wish, .number_of = numbers};
    snprintf(why, 512, "out of memory");
    if (!numbers)
        return EXIT_FAILED;
    for (uint32_t r = 0; r < d->job.world_size; r++)
        if (is_here(d, r))
            numbers[job.ranks++] = r;
    if (job.ranks)
        job.host = d->job.hosts[d->job.host_of[numbers[0]]].name;
    int code = place_make(&d->place, &job, why) ? EXIT_FAILED : 0;
    if (!code)
        code = amend_prepare(&d->amend, &d->job.wish, &d->place, why);
    if (!code)
        show_places(d, &job);
    free(numbers);
    return code;
}

static int create_ranks(struct daemon *d, const char **step)
{
    const struct ranks_hooks hooks = {.open = open_pipes,
                                      .attach = attach,
                                      .amend = amend,
                                      .ended = rank_ended,
                                      .other_ended = other_ended,
                                      .arg = d};
    const struct launch_message *job = &d->job;
    struct table_host *hosts = calloc(job->host_count, sizeof(*hosts));
    if (!hosts)
        return -ENOMEM;
    struct table_wide wide = {.hosts = hosts,
                              .host_of = job->host_of,
                              .self = -1,
                              .gid = mesh_job(d->mesh),
                              .secret = mesh_secret(d->mesh)};
    for (uint32_t h = 0; h < job->host_count; h++) {
        hosts[h].cpus = job->hosts[h].cpus;
        snprintf(hosts[h].id, sizeof(hosts[h].id), "%s", job->hosts[h].id);
        snprintf(hosts[h].name, sizeof(hosts[h].name), "%s", job->hosts[h].name);
        if (job->hosts[h].node == mesh_self(d->mesh))
            wide.self = (int)h;
    }
    struct table_spec spec = {.world_size = (int)job->world_size,
                              .app_count = (int)job->app_count,
                              .cpus = (int)d->cpus,
                              .apps = (const int *)job->app_of,
                              .universe_size = (int)job->universe_size,
                              .hosts = (int)job->host_count,
                              .wide = &wide};
    int rc = ranks_create(&d->ranks, &spec, &hooks, step);
    free(hosts);
    return rc;
}

/* The group of all ranks, for the engines. */
static int add_group(struct daemon *d)
{
    const struct launch_message *job = &d->job;
    uint32_t *node_of = malloc(job->world_size * sizeof(*node_of));
    if (!node_of)
        return -ENOMEM;
    for (uint32_t r = 0; r < job->world_size; r++)
        node_of[r] = job->hosts[job->host_of[r]].node;
    int rc = rank_map_make(&d->map, SERVE_GROUP, node_of, job->world_size);
    free(node_of);
    return rc ? rc : mesh_add_group(d->mesh, &d->map);
}

/* Ranks that are not started count as ended, for everybody to know. */
static void skip_rest(struct daemon *d, int status)
{
    const struct job_facts facts = {.status = status};
    uv_idle_stop(&d->starting);
    for (; d->next < d->job.world_size; d->next++) {
        int r = (int)d->next;
        if (!is_here(d, d->next) || (d->has_job && ranks_lives(&d->ranks.table, r)))
            continue;
        pipes_skip(&d->pipes, r);
        const struct rollup_run run = serve_run(r, &facts);
        (void)mesh_ended(d->mesh, SERVE_GROUP, &run);
    }
}

/* The next rank cannot be started: so the job ends. */
static void give_up(struct daemon *d, int code, const char *why)
{
    while (d->next < d->job.world_size && !is_here(d, d->next))
        d->next++;
    if (d->next < d->job.world_size)
        words_tell_number(&d->words, RECORD_FAILED, (int)d->next, (uint32_t)code, why);
    skip_rest(d, code << 8);
}

/* Tell mpiexec once all ranks here have a debugger. */
static void on_watch(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    const struct table *t = &d->ranks.table;
    if (d->next < d->job.world_size)
        return;
    for (int r = 0; r < t->world_size; r++)
        if (ranks_lives(t, r) && !debugger_has(t->rank[r].pid))
            return;
    uv_timer_stop(timer);
    for (int r = 0; r < t->world_size; r++)
        if (table_slot(t, r) >= 0)
            words_tell(&d->words, RECORD_DEBUGGED, r, "", 0);
}

/* Start ranks for a slice of time. */
static void on_starting(uv_idle_t *idle)
{
    struct daemon *d = idle->data;
    uint64_t until = ranks_slice();
    const char *step;
    char why[512];
    for (; d->next < d->job.world_size && os_now_ns() < until; d->next++) {
        int r = (int)d->next;
        int rc = is_here(d, d->next) ? ranks_start(&d->ranks, r, &step) : 0;
        if (!rc)
            continue;
        int code = launch_explain(d->apps[d->job.app_of[r]].path, rc, step, why, sizeof(why));
        give_up(d, code, why);
        return;
    }
    if (d->next == d->job.world_size)
        uv_idle_stop(idle);
}

static void start_ranks(struct daemon *d)
{
    ranks_watch_groups(&d->ranks, &d->loop, d->job.hold_ms);
    if (d->job.flags & LAUNCH_HOLD) {
        ranks_hold(&d->ranks);
        uv_timer_start(&d->watch, on_watch, WATCH_MS, WATCH_MS);
    }
    uv_idle_start(&d->starting, on_starting);
    on_starting(&d->starting);
}

/* Everything that is there before the first rank. Returns 0, or an exit code with a sentence. */
static int prepare(struct daemon *d, char why[512])
{
    const char *step = "make a map of the ranks";
    uint32_t ranks = rank_map_ranks_on(&d->map, mesh_self(d->mesh));
    umask((mode_t)d->job.umask);
    if (resources_take(d->job.limits, ranks, LIMIT_FILES_OF_RANK, why))
        return EXIT_FAILED;
    if (ranks && limit_lacks_files(d->job.world_size - ranks, why))
        words_tell(&d->words, RECORD_TEXT, first_here(d), why, strlen(why));
    start_signals_set((struct start_signals){d->job.blocked, d->job.ignored});
    if (*d->job.outer)
        setenv("BNR_JOB", d->job.outer, 1);
    else
        unsetenv("BNR_JOB");
    int rc = create_ranks(d, &step);
    if (!rc) {
        d->has_job = true;
        d->ranks.apps = d->apps;
        open_door(d);
        rc = ranks_make_folder(&d->ranks, &step);
    }
    if (!rc)
        rc = ranks_guard(&d->ranks, d->name, d->name_size, &step);
    if (!rc) {
        step = "make a pipe";
        rc = serve_start(&d->serve, &d->loop, d->mesh, &d->map, &d->ranks);
    }
    if (!rc)
        return 0;
    snprintf(why, 512, "cannot prepare the job: %s: %s", step, strerror(-rc));
    return EXIT_FAILED;
}

static void start_job(struct daemon *d, struct unpacking u)
{
    char why[512];
    if (d->has_groups)
        return;
    d->has_groups = true;
    if (launch_unpack(u, &d->job) || add_group(d) ||
        pipes_start(&d->pipes, &d->loop, d->job.world_size, pipes_say, d)) {
        on_alone(d);
        return;
    }
    int code = find_programs(d, why);
    if (!code)
        code = place_ranks(d, why);
    if (!code)
        code = prepare(d, why);
    if (code)
        give_up(d, code, why);
    else
        start_ranks(d);
}

/* ---- what mpiexec says ---- */

static void on_linked(void *arg, uint32_t node)
{
    struct daemon *d = arg;
    char id[HOST_ID_MAX];
    if (node != NODE_ROOT || mesh_is_begun(d->mesh))
        return;
    uv_timer_stop(&d->deadline); /* mpiexec says the rest when all daemons are there */
    struct packing p = {0};
    host_id(id);
    addresses_pack(&p, mesh_addresses(d->mesh, mesh_self(d->mesh)));
    d->cpus = (uint32_t)os_cpus_usable();
    pack_u32(&p, d->cpus);
    pack_text(&p, id);
    pack_text(&p, os_host_name());
    (void)mesh_contact(d->mesh, NODE_ROOT, pack_end(&p));
}

/* Where other nodes are. */
static void learn(struct daemon *d, struct unpacking u)
{
    struct addresses addresses;
    while (u.left) {
        uint32_t node = unpack_u32(&u);
        if (addresses_unpack(&u, &addresses) || node >= mesh_count(d->mesh))
            return;
        mesh_know(d->mesh, node, &addresses);
    }
}

static void on_contact(void *arg, uint32_t node, struct unpacking u)
{
    struct daemon *d = arg;
    if (node != NODE_ROOT || mesh_is_begun(d->mesh))
        return;
    learn(d, u);
    if (mesh_begin(d->mesh))
        end_loop(d, EXIT_FAILED);
}

static void note_ended(struct daemon *d, struct unpacking u)
{
    struct rollup_run run;
    while (d->has_job && rollup_unpack(&u, &run)) {
        int waiting = ranks_communicating(&d->ranks);
        if (waiting >= 0 && serve_are_missed(&run))
            words_tell_number(&d->words, RECORD_MISSED, waiting, run.first, "");
        serve_note_ended(&d->ranks.table, &run);
    }
    if (d->has_job)
        serve_look(d->serve);
}

static void on_order_to_signal(struct daemon *d, int number, int rank)
{
    if (!d->has_job || number <= 0 || number > SIGRTMAX)
        return;
    if (rank >= 0) {
        ranks_signal_one(&d->ranks, rank, number);
        return;
    }
    d->ranks.is_in_grace = number == SIGINT || number == SIGTERM || number == SIGHUP;
    ranks_signal(&d->ranks, number);
    if (d->ranks.is_in_grace)
        ranks_signal(&d->ranks, SIGCONT); /* a stopped process hears nothing */
    if (d->ranks.is_in_grace || number == SIGKILL)
        skip_rest(d, number);
    else if (number == SIGTSTP)
        uv_idle_stop(&d->starting);
    else if (number == SIGCONT && d->next < d->job.world_size)
        uv_idle_start(&d->starting, on_starting);
}

static void resize(struct daemon *d, struct unpacking u)
{
    struct winsize size = {.ws_row = (unsigned short)unpack_u32(&u)};
    size.ws_col = (unsigned short)unpack_u32(&u);
    if (d->has_job && !u.failed)
        ranks_resize(&d->ranks, &size);
}

static void on_deliver(void *arg, const struct core_message *message, struct unpacking u)
{
    struct daemon *d = arg;
    uint32_t number;
    if (message->tag == LAUNCH_TAG_LETTER && d->has_job)
        serve_deliver(d->serve, message, u);
    if (message->origin != NODE_ROOT)
        return;
    switch (message->tag) {
    case LAUNCH_TAG_JOB:
        if (mesh_has_children(d->mesh))
            mesh_write(d->mesh); /* they wait for it, too */
        start_job(d, u);
        learn(d, d->job.contacts);
        break;
    case LAUNCH_TAG_SIGNAL:
        number = unpack_u32(&u);
        on_order_to_signal(d, (int)number, (int)unpack_u32(&u));
        break;
    case LAUNCH_TAG_GO:
        uv_timer_stop(&d->watch);
        if (d->has_job)
            ranks_release(&d->ranks);
        break;
    case LAUNCH_TAG_WINDOW: resize(d, u); break;
    case LAUNCH_TAG_ENDED: note_ended(d, u); break;
    case LAUNCH_TAG_ASK:
        if (d->has_job)
            answers_ask(&d->answers, &d->ranks.table, unpack_u32(&u));
        break;
    case LAUNCH_TAG_PAUSE: mesh_pause(d->mesh, unpack_u32(&u) != 0); break;
    case LAUNCH_TAG_UNREAD: pipes_unread(&d->pipes, (int)unpack_u32(&u)); break;
    case LAUNCH_TAG_NAME:
        if (d->has_job)
            names_far_take(&d->words, first_here(d), u);
        break;
    case LAUNCH_TAG_END:
        mesh_write(d->mesh);
        end_all(d);
        end_loop(d, 0);
        break;
    default: break;
    }
}

static void on_stream(void *arg, const struct core_message *message)
{
    struct daemon *d = arg;
    if (message->origin != NODE_ROOT)
        return;
    if (message->tag == LAUNCH_STREAM_PARTY)
        party_link_take(&d->parties, message);
    else if (message->kind == MESSAGE_CREDIT)
        words_credit(&d->words, message);
}

static void on_answer(void *arg, const struct core_message *message)
{
    struct daemon *d = arg;
    if (d->has_job)
        serve_answer(d->serve, message);
}

static void on_lost(void *arg, uint32_t node)
{
    (void)arg;
    (void)node; /* mpiexec decides */
}

static void on_ranks_ended(void *arg, const struct core_message *message)
{
    (void)arg;
    (void)message; /* at mpiexec alone */
}

/* mpiexec cannot ask for this once the host is lost. */
static void tell_tolerant(struct daemon *d)
{
    bool is_tolerant = d->has_job && ranks_some_tolerate(&d->ranks);
    if (is_tolerant == d->is_tolerant)
        return;
    d->is_tolerant = is_tolerant;
    words_tell_number(&d->words, RECORD_TOLERANT, first_here(d), is_tolerant, "");
}

static void on_moved(void *arg)
{
    struct daemon *d = arg;
    tell_tolerant(d);
    words_tick(&d->words);
    party_link_tick(&d->parties, false);
}

static void look_at_ranks(void *arg)
{
    struct daemon *d = arg;
    if (d->has_job)
        serve_look(d->serve);
}

/* ---- life ---- */

static void on_signal(void *arg, int number)
{
    struct daemon *d = arg;
    if (number == SIGCHLD) {
        if (d->has_job && ranks_reap(&d->ranks))
            signals_again(&d->signals, number);
    } else if (number == SIGTERM || number == SIGHUP || number == SIGINT) {
        on_alone(d);
    }
}

static void on_deadline(uv_timer_t *timer)
{
    end_loop(timer->data, EXIT_FAILED);
}

static int open_all(struct daemon *d, const struct launch_order *order)
{
    const struct mesh_hooks hooks = {on_linked,      on_contact, on_deliver, on_answer,
                                     on_ranks_ended, on_stream,  on_lost,    on_alone,
                                     on_moved,       look_at_ranks, d};
    struct mesh_settings settings = {.self = order->self,
                                     .count = order->count,
                                     .radix = order->radix,
                                     .liveness_ns = (int64_t)order->liveness_ns,
                                     .choice = xcast_choice_default};
    memcpy(settings.job, order->job, sizeof(settings.job));
    memcpy(settings.secret, order->secret, sizeof(settings.secret));
    int rc = uv_loop_init(&d->loop);
    if (!rc)
        rc = mesh_create(&d->mesh, &d->loop, &settings, &hooks);
    if (!rc)
        rc = signals_start(&d->signals, &d->loop, on_signal, d);
    if (rc)
        return rc;
    words_init(&d->words, d->mesh);
    party_link_init(&d->parties, d->mesh, NODE_ROOT, hear_party, d);
    uv_timer_init(&d->loop, &d->deadline);
    answers_init(&d->answers, &d->loop, &d->words);
    uv_timer_init(&d->loop, &d->watch);
    uv_idle_init(&d->loop, &d->starting);
    uv_timer_init(&d->loop, &d->late);
    d->deadline.data = d->watch.data = d->starting.data = d->late.data = d;
    uv_timer_start(&d->deadline, on_deadline, order->limit_ns / 1000000, 0);
    return 0;
}

/* Print this daemon's address on the stdout of the command that has started it: mpiexec dials if
 * this daemon cannot. */
static void on_late(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    char *digits = mesh_is_linked(d->mesh, NODE_ROOT) ? NULL : addresses_digits(mesh_addresses(d->mesh, mesh_self(d->mesh)));
    if (digits)
        dprintf(d->out_fd, "at %s\n", digits);
    free(digits);
}

/* Reach mpiexec. */
static int join(struct daemon *d, const struct launch_order *order, int in_fd, int out_fd)
{
    struct addresses root;
    struct unpacking u = order->addresses;
    int rc = mesh_listen(d->mesh);
    if (rc)
        return rc;
    if (order->is_piped)
        return mesh_open(d->mesh, NODE_ROOT, in_fd, out_fd, true);
    rc = addresses_unpack(&u, &root);
    if (rc)
        return rc;
    d->out_fd = out_fd;
    uv_timer_start(&d->late, on_late, LATE_MS, 0);
    mesh_know(d->mesh, NODE_ROOT, &root);
    mesh_dial(d->mesh, NODE_ROOT);
    return 0;
}

/* The last words go out before this process ends. */
static void flush(struct daemon *d)
{
    uint64_t until = os_now_ns() + FLUSH_MS * 1000000ull;
    while (mesh_waiting(d->mesh) && os_now_ns() < until)
        uv_run(&d->loop, UV_RUN_ONCE);
    uv_run(&d->loop, UV_RUN_NOWAIT);
}

int daemon_run(const struct launch_order *order, int in_fd, int out_fd, char *name,
               size_t name_size)
{
    struct daemon *d = calloc(1, sizeof(*d));
    if (!d)
        return EXIT_FAILED;
    d->name = name;
    d->name_size = name_size;
    d->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)sweep_prepare();
    int rc = d->null_fd < 0 ? -errno : open_all(d, order);
    if (!rc)
        rc = join(d, order, in_fd, out_fd);
    if (rc) {
        fprintf(stderr, "vireod: cannot begin on %s: %s\n", os_host_name(), strerror(-rc));
        return EXIT_FAILED;
    }
    while (!d->is_over)
        uv_run(&d->loop, UV_RUN_DEFAULT);
    flush(d);
    if (d->has_job)
        ranks_unguard(&d->ranks);
    return d->code;
}
