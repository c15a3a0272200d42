/* SPDX-License-Identifier: BSD-3-Clause */

/* Asking the ranks what they wait for; see ask.h. */
#include "bnr/diagnose/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bnr/diagnose/answer.h"
#include "bnr/io/filter.h"
#include "include/diagnose.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/log.h"

enum {
    LOOK_MS = 20,
    PATIENCE_MS = 500,      /* for an answer */
    PATIENCE_RANK_US = 500, /* and more for each rank of the job */
    PATIENCE_FAR_MS = 1500, /* and more where daemons collect answers */
    PATIENCE_LATE_MS = 5000, /* and more where a rank has had no processor yet */
    MARGIN_MS = 20,    /* for an answer of a rank that looks at the question only now and then */
    PROGRAM_MS = 20000 /* for the report to be made */
};

/* A caller that has come in by the door. */
struct ask_client {
    uv_pipe_t pipe; /* first */
    uv_write_t write;
    struct ask *ask;
    struct ask_client *next;
    char *text;
};

/* ---- ranks ---- */

static bool is_far(const struct ask *a, int rank)
{
    return a->far && table_slot(a->table, rank) < 0;
}

static enum diagnose_state state_of(const struct ask *a, int rank)
{
    if (!is_far(a, rank))
        return patience_state(&a->patience, rank);
    if (table_has_ended(a->table, rank))
        return DIAGNOSE_ENDED;
    const struct ask_far *far = &a->far[rank];
    return far->number == atomic_load(&a->table->head->asks) ? far->state : DIAGNOSE_SILENT;
}

bool ask_has_ranks(const struct ask *a)
{
    if (a->far)
        return true; /* those elsewhere are asked in any case */
    for (int r = 0; r < a->table->world_size; r++)
        if (state_of(a, r) != DIAGNOSE_NOT_INIT &&
            (atomic_load(&table_page(a->table, table_slot(a->table, r))->flags) & PAGE_INITIALIZED))
            return true;
    return false;
}

static int process_of(const struct ask *a, int rank)
{
    if (!is_far(a, rank))
        return answer_process(a->table, rank);
    return state_of(a, rank) == DIAGNOSE_ANSWERED ? a->far[rank].pid : 0;
}

static void put_answer(FILE *to, const struct ask *a, int rank)
{
    static uint8_t copy[TABLE_ANSWER];
    const void *text = is_far(a, rank) ? a->far[rank].text : (const char *)copy;
    size_t len = is_far(a, rank) ? a->far[rank].len : answer_copy(a->table, rank, copy);
    fprintf(to, "%zu\n", len);
    (void)fwrite(text, 1, len, to);
}

/* The case of the job, in the form of include/diagnose.h. The bytes are NULL where memory is out.
 */
static struct filter_text put_case(const struct ask *a)
{
    const struct table *t = a->table;
    struct filter_text text = {NULL, 0};
    char hosts[256];
    FILE *to = open_memstream(&text.bytes, &text.len);
    if (!to)
        return (struct filter_text){NULL, 0};
    table_name_hosts(t, hosts, sizeof(hosts));
    fprintf(to, DIAGNOSE_HEAD "%llu %d\n%s\n%s\n",
            (unsigned long long)((a->answered_ns - a->asked_ns) / 1000000 + MARGIN_MS), t->world_size,
            a->job, hosts);
    for (int r = 0; r < t->world_size; r++) {
        enum diagnose_state state = state_of(a, r);
        int pid = state == DIAGNOSE_ENDED ? 0 : process_of(a, r);
        fprintf(to, "%c %d %d ", state, t->rank[r].status, pid > 0 ? pid : 0);
        if (state == DIAGNOSE_ANSWERED)
            put_answer(to, a, r);
        else
            fputs("0\n", to);
    }
    if (fclose(to)) {
        free(text.bytes);
        text.bytes = NULL;
    }
    return text;
}

/* ---- the question ---- */

/* Whether a rank has not answered, for whatever reason. */
static bool is_silent(const struct ask *a, int rank)
{
    return (is_far(a, rank) ? state_of(a, rank) : answer_state(a->table, rank)) == DIAGNOSE_SILENT;
}

static bool all_answered(struct ask *a)
{
    int answered = 0;
    for (int r = 0; r < a->table->world_size; r++)
        answered += !is_silent(a, r);
    if (answered != a->answered)
        a->answered_ns = os_now_ns();
    a->answered = answered;
    return answered == a->table->world_size;
}

/* Whether an answer may still come: until a time limit, or, while a rank here has no processor, another. */
static bool may_come(const struct ask *a)
{
    uint64_t now = os_now_ns();
    return now < a->deadline_ns || (now < a->late_ns && patience_is_due(&a->patience));
}

/* Send a report to all that have asked. */
static void deliver(struct ask *a, const char *report)
{
    int count = a->count;
    a->count = 0;
    for (int i = 0; i < count; i++)
        a->waiting[i].done(a->waiting[i].arg, report);
}

/* This job's report, and those of spawned ones, are there. */
static void on_below(void *arg)
{
    struct ask *a = arg;
    if (!a->report)
        return;
    char *own = a->report, *all = below_join(&a->below, own);
    a->report = NULL;
    deliver(a, all ? all : own);
    free(all);
    free(own);
    below_stop(&a->below);
}

/* This job's report is there. */
static void finish(struct ask *a, const char *report)
{
    a->report = a->below.count ? strdup(report) : NULL;
    if (!a->report)
        deliver(a, report);
    else if (!below_is_open(&a->below))
        on_below(a);
}

static void on_report(void *arg, const char *text, int rc)
{
    struct ask *a = arg;
    char why[PATH_MAX + 128];
    a->filter = NULL;
    if (!rc && *text) {
        finish(a, text);
        return;
    }
    snprintf(why, sizeof(why), "mpiexec: no report: %s has ended without one%s%s\n", a->program,
             rc ? ": " : "", rc ? strerror(-rc) : "");
    finish(a, why);
}

/* Start the program that makes the report. */
static void start_program(struct ask *a)
{
    char *argv[] = {a->program, NULL};
    const char *step = "find memory";
    struct filter_job job = {
        .argv = argv, .input = put_case(a), .limit_ms = PROGRAM_MS, .done = on_report, .arg = a};
    int rc = job.input.bytes ? filter_start(&a->filter, a->timer.loop, &job, &step) : -ENOMEM;
    if (rc) {
        char why[PATH_MAX + 256];
        snprintf(why, sizeof(why),
                 "mpiexec: no report: cannot %s for %s, which belongs beside mpiexec: %s\n", step,
                 a->program, strerror(-rc));
        finish(a, why);
    }
}

static void on_look(uv_timer_t *timer)
{
    struct ask *a = timer->data;
    if (!all_answered(a) && may_come(a))
        return;
    uv_timer_stop(timer);
    start_program(a);
}

bool ask_report(struct ask *a, ask_fn done, void *arg)
{
    if (a->count == ASK_MAX)
        return false;
    a->waiting[a->count].done = done;
    a->waiting[a->count].arg = arg;
    if (a->count++)
        return true;
    uint64_t patience_us = PATIENCE_MS * 1000u + (uint64_t)a->table->world_size * PATIENCE_RANK_US;
    uint32_t number = atomic_fetch_add(&a->table->head->asks, 1) + 1;
    if (a->far) {
        patience_us += PATIENCE_FAR_MS * 1000u;
        a->ask_far(a->far_arg, number);
    }
    below_ask(&a->below);
    patience_begin(&a->patience, a->table);
    a->asked_ns = a->answered_ns = os_now_ns();
    a->answered = 0;
    a->deadline_ns = a->asked_ns + patience_us * 1000u;
    a->late_ns = a->deadline_ns + PATIENCE_LATE_MS * 1000000ull;
    uv_timer_start(&a->timer, on_look, LOOK_MS, LOOK_MS);
    return true;
}

/* ---- those who connect ---- */

static void on_closed(uv_handle_t *handle)
{
    struct ask_client *client = (struct ask_client *)(void *)handle;
    free(client->text);
    free(client);
}

static void drop_client(struct ask_client *client)
{
    for (struct ask_client **at = &client->ask->clients; *at; at = &(*at)->next) {
        if (*at == client) {
            *at = client->next;
            break;
        }
    }
    uv_close((uv_handle_t *)&client->pipe, on_closed);
}

static void on_written(uv_write_t *write, int status)
{
    struct ask_client *client = write->data;
    if (status != UV_ECANCELED)
        drop_client(client);
}

static void send_report(void *arg, const char *report)
{
    struct ask_client *client = arg;
    client->text = strdup(report);
    if (!client->text) {
        drop_client(client);
        return;
    }
    uv_buf_t buf = uv_buf_init(client->text, (unsigned)strlen(client->text));
    client->write.data = client;
    if (uv_write(&client->write, (uv_stream_t *)&client->pipe, &buf, 1, on_written))
        drop_client(client);
}

/* A caller over fd, which is taken over; NULL: the connection is closed. */
static struct ask_client *create_client(struct ask *a, int fd)
{
    struct ask_client *client = calloc(1, sizeof(*client));
    if (!client) {
        close(fd);
        return NULL;
    }
    client->ask = a;
    client->next = a->clients;
    a->clients = client;
    uv_pipe_init(a->timer.loop, &client->pipe, 0);
    if (!uv_pipe_open(&client->pipe, fd))
        return client;
    close(fd);
    drop_client(client);
    return NULL;
}

void ask_serve(struct ask *a, int fd)
{
    struct ask_client *client = create_client(a, fd);
    if (client && !ask_report(a, send_report, client))
        drop_client(client);
}

void ask_send(struct ask *a, int fd, const char *text)
{
    struct ask_client *client = create_client(a, fd);
    if (client)
        send_report(client, text);
}

/* ---- life ---- */

void ask_start(struct ask *a, uv_loop_t *loop, const struct table *table, const char *programs)
{
    snprintf(a->job, sizeof(a->job), "%d (%.60s)", (int)getpid(), programs);
    os_one_line(a->job);
    os_beside(a->program, DIAGNOSE_PROGRAM);
    a->filter = NULL;
    a->report = NULL;
    a->below = (struct below){.loop = loop, .done = on_below, .done_arg = a};
    a->far = NULL;
    a->patience = (struct patience){.table = table};
    a->table = table;
    a->count = 0;
    a->clients = NULL;
    uv_timer_init(loop, &a->timer);
    a->timer.data = a;
}

int ask_reach(struct ask *a, void (*ask_far)(void *arg, uint32_t number), void *arg)
{
    a->far = calloc((size_t)a->table->world_size, sizeof(*a->far));
    a->ask_far = ask_far;
    a->far_arg = arg;
    return a->far ? 0 : -ENOMEM;
}

void ask_take(struct ask *a, int rank, const struct ask_far *answer)
{
    struct ask_far *far = &a->far[rank];
    char *text = malloc(answer->len + 1);
    if (!text)
        return;
    memcpy(text, answer->text, answer->len);
    free(far->text);
    *far = *answer;
    far->text = text;
}

void ask_stop(struct ask *a)
{
    patience_end(&a->patience);
    for (int r = 0; a->far && r < a->table->world_size; r++)
        free(a->far[r].text);
    free(a->far);
    a->far = NULL;
    while (a->clients)
        drop_client(a->clients);
    a->count = 0;
    if (a->filter)
        filter_cancel(a->filter);
    a->filter = NULL;
    below_stop(&a->below);
    free(a->report);
    a->report = NULL;
    uv_close((uv_handle_t *)&a->timer, NULL);
}
