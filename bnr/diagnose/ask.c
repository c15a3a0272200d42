/* SPDX-License-Identifier: BSD-3-Clause */

/* Asking the ranks what they wait for; see ask.h. */
#include "bnr/diagnose/ask.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bnr/diagnose/ask_address.h"
#include "bnr/diagnose/hang.h"
#include "bnr/diagnose/site.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/log.h"

enum {
    LOOK_MS = 20,
    PATIENCE_MS = 500,      /* for an answer */
    PATIENCE_RANK_US = 500, /* and more for each rank of the job */
    LOOKS = 4,              /* at ranks that seem to compute: they may just have woken up */
    LOOKS_NAP_MS = 5,
    MARGIN_MS = 20 /* for what a rank has looked for only now and then */
};

/* One who has connected. */
struct ask_client {
    uv_pipe_t pipe; /* first */
    uv_write_t write;
    struct ask *ask;
    struct ask_client *next;
    char *text;
};

/* ---- ranks ---- */

static enum hang_state state_of(const struct ask *a, int rank)
{
    const struct table *t = a->table;
    if (table_has_ended(t, rank))
        return HANG_ENDED;
    const struct table_page *page = table_page(t, rank);
    uint32_t flags = atomic_load(&page->flags);
    if (!(flags & PAGE_INITIALIZED))
        return HANG_NOT_INIT;
    if (flags & PAGE_FINALIZED)
        return HANG_FINALIZED;
    uint32_t answered = atomic_load_explicit(&page->answered, memory_order_acquire);
    return answered == atomic_load(&t->head->asks) ? HANG_ANSWERED : HANG_SILENT;
}

bool ask_has_ranks(const struct ask *a)
{
    for (int r = 0; r < a->table->world_size; r++)
        if (state_of(a, r) != HANG_NOT_INIT &&
            (atomic_load(&table_page(a->table, r)->flags) & PAGE_INITIALIZED))
            return true;
    return false;
}

/* Read a file of a process. Returns whether there was anything. */
static bool read_proc(int pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    return os_read_start(path, text, size) > 0;
}

/* The process that is the rank: under a wrapper not the one that was started. It has said so
 * itself, so it must be of the rank's process group. */
static int process_of(const struct table *t, int rank)
{
    int leader = t->rank[rank].pid;
    int claimed = atomic_load(&table_page(t, rank)->claim_pid);
    return claimed > 0 && getpgid(claimed) == leader ? claimed : leader;
}

static void look_up(const struct table *t, int rank, struct hang_rank *to)
{
    char text[1024];
    unsigned long long user, system;
    int pid = process_of(t, rank);
    if (pid <= 0 || !read_proc(pid, "stat", text, sizeof(text)))
        return;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &to->run_state,
                      &user, &system) != 3)
        return;
    to->pid = pid;
    to->cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    if (read_proc(pid, "wchan", text, sizeof(text)) && strcmp(text, "0"))
        snprintf(to->wchan, sizeof(to->wchan), "%.39s", text);
    for (char *c = to->wchan; *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '?';
}

/* A rank's answer, copied, for the rank may still write there. */
static void copy_answer(const struct table *t, int rank, struct hang_rank *to)
{
    uint32_t len = *(const volatile uint32_t *)&table_page(t, rank)->answer_len;
    len = len < TABLE_ANSWER ? len : TABLE_ANSWER;
    char *text = malloc(len + 1);
    if (!text) {
        to->state = HANG_SILENT;
        return;
    }
    memcpy(text, table_answer(t, rank), len);
    to->text = text;
    to->len = len;
}

static bool seems_busy(const struct hang_rank *rank)
{
    bool answers_not = rank->state == HANG_SILENT || rank->state == HANG_NOT_INIT;
    return answers_not && rank->run_state == 'R';
}

/* Who sleeps in one of several looks does not compute. */
static void look_again(const struct table *t, struct hang_rank *ranks)
{
    for (int look = 1, busy = 1; look < LOOKS && busy; look++) {
        busy = 0;
        for (int r = 0; r < t->world_size; r++)
            busy += seems_busy(&ranks[r]);
        if (!busy)
            return;
        struct timespec nap = {.tv_nsec = LOOKS_NAP_MS * 1000000L};
        nanosleep(&nap, NULL);
        for (int r = 0; r < t->world_size; r++)
            if (seems_busy(&ranks[r]))
                look_up(t, r, &ranks[r]);
    }
}

static char *make_report(struct ask *a)
{
    const struct table *t = a->table;
    struct hang_rank *ranks = calloc((size_t)t->world_size, sizeof(*ranks));
    char *report = NULL;
    if (!ranks)
        return NULL;
    for (int r = 0; r < t->world_size; r++) {
        ranks[r].state = state_of(a, r);
        ranks[r].status = t->rank[r].status;
        if (ranks[r].state == HANG_ANSWERED)
            copy_answer(t, r, &ranks[r]);
        else if (ranks[r].state != HANG_ENDED)
            look_up(t, r, &ranks[r]);
    }
    look_again(t, ranks);
    struct site_cache *sites = site_create();
    struct hang_question question = {
        .ranks = ranks,
        .count = t->world_size,
        .took_ms = (int64_t)((os_now_ns() - a->asked_ns) / 1000000) + MARGIN_MS,
        .job = a->job,
        .host = os_host_name(),
        .site = sites ? site_name : NULL,
        .arg = sites,
    };
    report = hang_format(&question);
    site_destroy(sites);
    for (int r = 0; r < t->world_size; r++)
        free((void *)(uintptr_t)ranks[r].text);
    free(ranks);
    return report;
}

/* ---- the question ---- */

static bool all_answered(const struct ask *a)
{
    for (int r = 0; r < a->table->world_size; r++)
        if (state_of(a, r) == HANG_SILENT)
            return false;
    return true;
}

static void on_look(uv_timer_t *timer)
{
    struct ask *a = timer->data;
    if (!all_answered(a) && os_now_ns() < a->deadline_ns)
        return;
    uv_timer_stop(timer);
    char *report = make_report(a);
    int count = a->count;
    a->count = 0;
    for (int i = 0; i < count; i++)
        a->waiting[i].done(a->waiting[i].arg, report);
    free(report);
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
    atomic_fetch_add(&a->table->head->asks, 1);
    a->asked_ns = os_now_ns();
    a->deadline_ns = a->asked_ns + patience_us * 1000u;
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
    client->text = strdup(report ? report : "mpiexec: out of memory\n");
    if (!client->text) {
        drop_client(client);
        return;
    }
    uv_buf_t buf = uv_buf_init(client->text, (unsigned)strlen(client->text));
    client->write.data = client;
    if (uv_write(&client->write, (uv_stream_t *)&client->pipe, &buf, 1, on_written))
        drop_client(client);
}

/* Whether the other side may know what this job does: its user, or root. */
static bool is_friend(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void on_connect(uv_poll_t *listener, int status, int events)
{
    struct ask *a = listener->data;
    (void)events;
    int fd = status ? -1 : accept4(a->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct ask_client *client = is_friend(fd) ? calloc(1, sizeof(*client)) : NULL;
    if (!client) {
        close(fd);
        return;
    }
    client->ask = a;
    client->next = a->clients;
    a->clients = client;
    uv_pipe_init(listener->loop, &client->pipe, 0);
    if (uv_pipe_open(&client->pipe, fd)) {
        close(fd);
        drop_client(client);
    } else if (!ask_report(a, send_report, client)) {
        drop_client(client);
    }
}

/* ---- life ---- */

static int open_socket(void)
{
    struct sockaddr_un address;
    socklen_t len = ask_address(&address, (int)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, len) || listen(fd, ASK_MAX))) {
        close(fd);
        return -1;
    }
    return fd;
}

void ask_start(struct ask *a, uv_loop_t *loop, const struct table *table, const char *programs)
{
    snprintf(a->job, sizeof(a->job), "%d (%.60s)", (int)getpid(), programs);
    os_one_line(a->job);
    a->table = table;
    a->count = 0;
    a->clients = NULL;
    uv_timer_init(loop, &a->timer);
    a->timer.data = a->listener.data = a;
    a->fd = open_socket();
    if (a->fd >= 0 && uv_poll_init(loop, &a->listener, a->fd)) {
        close(a->fd);
        a->fd = -1;
    }
    if (a->fd >= 0)
        uv_poll_start(&a->listener, UV_READABLE, on_connect);
}

void ask_stop(struct ask *a)
{
    while (a->clients)
        drop_client(a->clients);
    a->count = 0;
    uv_close((uv_handle_t *)&a->timer, NULL);
    if (a->fd < 0)
        return;
    uv_close((uv_handle_t *)&a->listener, NULL);
    close(a->fd);
    a->fd = -1;
}
