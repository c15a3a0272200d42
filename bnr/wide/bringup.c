/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting the daemons; see bringup.h. */
#include "bnr/wide/bringup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/launch/launch.h"
#include "include/version.h"
#include "os/clock.h"

extern char **environ;

enum {
    LINE_LEN = 1024,
    ASK_MS = 100,     /* between looks for logins that ask */
    TEXT_LEN = 2048,  /* of stderr that is kept */
    NOTICE_MS = 5000, /* until it is said which hosts are awaited */
    NAMES_MAX = 5     /* of those, in a line */
};

static const char greeting[] = "vireod ", place[] = "at ", machine[] = "has ";

/* The command for one host: its present attempt. */
struct bringup_command {
    struct bringup *bringup;
    uint32_t host;
    pid_t pid;                 /* 0: none runs */
    int in_fd, out_fd, err_fd; /* -1: closed */
    uv_poll_t *out, *err;      /* NULL: not read */
    bool is_greeted, is_found;
    char line[LINE_LEN], text[TEXT_LEN], version[64]; /* line: without its end */
    size_t line_len, text_len;
    enum launching_stage stage; /* of the last failure */
    int status, attempts;
    bool is_late;
};

static int64_t now_ns(void)
{
    return (int64_t)os_now_ns();
}

static void carry_out(struct bringup *b);
static void set_timer(struct bringup *b);

static void step(struct bringup *b, uint32_t host, enum launching_event event,
                 enum launching_stage stage)
{
    launching_step(&b->launching, host, event, stage, now_ns(), &b->effects);
    carry_out(b);
}

/* ---- what a command says ---- */

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static void stop_reading(uv_poll_t **poll)
{
    if (!*poll)
        return;
    uv_poll_stop(*poll);
    uv_close((uv_handle_t *)*poll, free_handle);
    *poll = NULL;
}

/* The daemon has said its version: the order is on its way. */
static void greet(struct bringup_command *c)
{
    struct bringup *b = c->bringup;
    snprintf(c->version, sizeof(c->version), "%.60s", c->line + sizeof(greeting) - 1);
    c->is_greeted = true;
    (void)login_over(&b->login, c->pid);
    if (strcmp(c->version, VIREO_VERSION)) {
        c->stage = LAUNCHING_EXECUTE;
        if (c->pid) /* else it was given up, and a process of it still has the pipe */
            kill(-c->pid, SIGKILL);
        step(b, c->host, LAUNCHING_REFUSED, LAUNCHING_EXECUTE);
        return;
    }
    step(b, c->host, LAUNCHING_REACHED, LAUNCHING_DIAL_BACK);
    if (b->is_piped) /* the link reads from here on */
        stop_reading(&c->out);
    if (b->is_piped && !b->hooks.piped(b->hooks.arg, c->host, c->out_fd, c->in_fd))
        c->in_fd = c->out_fd = -1;
}

static void close_command(struct bringup_command *c);

static void take_line(struct bringup_command *c)
{
    struct bringup *b = c->bringup;
    if (!c->is_greeted && !strncmp(c->line, greeting, sizeof(greeting) - 1)) {
        greet(c);
        c->is_found = b->is_piped; /* later bytes are the link's */
    } else if (c->is_greeted && b->hooks.found && !strncmp(c->line, place, sizeof(place) - 1)) {
        c->is_found = true;
        b->hooks.found(b->hooks.arg, c->host, c->line + sizeof(place) - 1);
    } else if (c->is_greeted && b->hooks.told && !strncmp(c->line, machine, sizeof(machine) - 1)) {
        c->is_found = b->hooks.told(b->hooks.arg, c->host, c->line + sizeof(machine) - 1);
        if (c->is_found)
            close_command(c);
    }
}

static void take_byte(struct bringup_command *c, char byte)
{
    if (byte != '\n') {
        c->line[c->line_len] = byte;
        c->line_len += c->line_len < LINE_LEN - 1;
        return;
    }
    c->line[c->line_len] = 0;
    c->line_len = 0;
    take_line(c);
}

/* Read one line after the other. Behind a line that makes the pipe a link, nothing is read: it is
 * the link's. */
static void read_out(struct bringup_command *c)
{
    char bytes[LINE_LEN];
    size_t most = c->bringup->is_piped ? 1 : sizeof(bytes);
    while (!c->is_found) {
        ssize_t n = read(c->out_fd, bytes, most);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n && !c->is_found; i++)
            take_byte(c, bytes[i]);
    }
    stop_reading(&c->out);
}

static void on_out(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    read_out(poll->data);
}

static bool read_err(struct bringup_command *c)
{
    char bytes[TEXT_LEN];
    ssize_t n = c->err_fd >= 0 ? read(c->err_fd, bytes, sizeof(bytes)) : 0;
    for (ssize_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        bool is_text = byte == '\n' || (byte >= 32 && byte != 127);
        if (c->text_len < TEXT_LEN - 1 && byte != '\r')
            c->text[c->text_len++] = is_text ? (char)byte : ' ';
    }
    c->text[c->text_len] = 0;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void on_err(uv_poll_t *poll, int status, int events)
{
    struct bringup_command *c = poll->data;
    (void)status;
    (void)events;
    if (!read_err(c))
        stop_reading(&c->err);
}

/* ---- a command's life ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_command(struct bringup_command *c)
{
    stop_reading(&c->out);
    stop_reading(&c->err);
    close_fd(&c->in_fd);
    close_fd(&c->out_fd);
    close_fd(&c->err_fd);
}

static uv_poll_t *start_reading(struct bringup_command *c, int fd, uv_poll_cb heard)
{
    uv_poll_t *poll = malloc(sizeof(*poll));
    if (!poll || uv_poll_init(c->bringup->loop, poll, fd)) {
        free(poll);
        return NULL;
    }
    poll->data = c;
    (void)uv_poll_start(poll, UV_READABLE, heard);
    return poll;
}

static const char *search_path(void)
{
    const char *path = getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

/* Run the words with three pipes. Returns 0 or -errno; *what names the failed step. */
static int execute(struct bringup_command *c, char **words, const char *path, const char **what)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, pidfd = -1;
    *what = "make pipes";
    int rc = pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ? -errno : 0;
    if (!rc) {
        struct launch l = {.path = path,
                           .argv = words,
                           .envp = environ,
                           .stream = {in[0], out[1], err[1]},
                           .keep = {-1, -1, -1, -1}};
        rc = launch_start(&l, &c->pid, &pidfd, what);
    }
    close_fd(&in[0]);
    close_fd(&out[1]);
    close_fd(&err[1]);
    close_fd(&pidfd);
    c->in_fd = in[1];
    c->out_fd = out[0];
    c->err_fd = err[0];
    if (rc)
        c->pid = 0;
    return rc;
}

/* Give the command the order; it is short, and the pipe is empty. */
static void give_order(struct bringup_command *c)
{
    struct bringup *b = c->bringup;
    struct bytes *order = b->hooks.order(b->hooks.arg, c->host);
    if (order)
        (void)!write(c->in_fd, order->at, order->len);
    bytes_unref(order);
}

static void start(struct bringup *b, uint32_t host)
{
    struct bringup_command *c = &b->commands[host];
    char path[PATH_MAX], why[512];
    const char *what = "find the program";
    close_command(c);
    c->attempts++;
    c->is_greeted = c->is_found = c->is_late = false;
    c->line_len = c->text_len = 0;
    c->text[0] = c->version[0] = 0;
    c->status = 0;
    char **words = remote_words(&b->remote, b->hosts[host].name, b->hosts[host].user);
    int rc =
        words ? launch_resolve(words[0], NULL, search_path(), path, sizeof(path), why) : -ENOMEM;
    if (rc > 0)
        snprintf(c->text, sizeof(c->text), "%s", why);
    if (!rc) {
        rc = execute(c, words, path, &what);
        if (rc)
            snprintf(c->text, sizeof(c->text), "cannot %s: %s", what, strerror(-rc));
    }
    free(words);
    if (rc) {
        close_command(c);
        c->stage = LAUNCHING_EXECUTE;
        step(b, host, LAUNCHING_REFUSED, LAUNCHING_EXECUTE);
        return;
    }
    give_order(c);
    c->out = start_reading(c, c->out_fd, on_out);
    c->err = start_reading(c, c->err_fd, on_err);
}

bool bringup_ended(struct bringup *b, pid_t pid, int status)
{
    struct bringup_command *c = b->commands;
    while (c && c < b->commands + b->count && c->pid != pid)
        c++;
    if (!c || c == b->commands + b->count)
        return false;
    if (login_over(&b->login, pid) && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
        kill(getpid(), SIGINT); /* the user at the prompt wants to end it all */
    c->pid = 0;
    c->status = status;
    if (c->out)
        read_out(c); /* it may have said all before its end */
    if (b->launching.hosts[c->host].state != LAUNCHING_STARTING)
        return true;
    while (c->err && read_err(c) && errno != EAGAIN)
        ;
    struct remote_verdict v = remote_judge(&b->remote, status, c->text);
    if (c->is_greeted)
        v = (struct remote_verdict){LAUNCHING_DIAL_BACK, false};
    c->stage = v.stage;
    close_command(c);
    step(b, c->host, LAUNCHING_REACHED, v.stage);
    step(b, c->host, v.is_final ? LAUNCHING_REFUSED : LAUNCHING_ENDED, v.stage);
    set_timer(b); /* a rest may end before any limit does */
    return true;
}

/* ---- words ---- */

/* Write the event, and the cure. */
static void write_end(const struct bringup_command *c, FILE *to)
{
    const struct bringup *b = c->bringup;
    int code = WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -1;
    if (*c->version && strcmp(c->version, VIREO_VERSION))
        fprintf(to, "the daemon there is version %s, and mpiexec is %s: install the same on both",
                c->version, VIREO_VERSION);
    else if (c->stage == LAUNCHING_STAY)
        fprintf(to, "the daemon there has ended, or its connection has: see what ends processes there, or "
                    "what parts the network");
    else if (c->is_late && c->is_greeted)
        fprintf(to,
                "the daemon runs, and has not reached mpiexec in time: see that a firewall lets "
                "it connect, or say --daemon-link stdio");
    else if (c->is_late)
        fprintf(to, "nothing was heard of the daemon in time");
    else if (code == 127 || code == 126)
        fprintf(to,
                "there is no daemon %s: install this version there, or say where it is by "
                "--prefix DIR, which has bin/vireod",
                b->remote.daemon);
    else if (c->stage == LAUNCHING_AUTHENTICATE)
        fprintf(to, "the login was refused: ssh-copy-id %s has your key taken there, and ssh-agent keeps the "
                    "key open", b->hosts[c->host].name);
    else if (WIFSIGNALED(c->status) && c->status)
        fprintf(to, "the command was killed by signal %d", WTERMSIG(c->status));
    else if (c->status)
        fprintf(to, "the command ended with exit code %d", code);
    else
        fprintf(to, "the command ended, and no daemon ran: it has to run what stands behind it on the "
                    "host, and to wait for its end");
}

static void give_up(struct bringup *b, uint32_t host)
{
    struct bringup_command *c = &b->commands[host];
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    char **words = remote_words(&b->remote, b->hosts[host].name, b->hosts[host].user);
    b->failures++;
    if (!to)
        return;
    fprintf(to, "cannot start a daemon on %s: failed to %s (attempt %d): ", b->hosts[host].name,
            launching_stage_word(c->stage), c->attempts);
    write_end(c, to);
    fprintf(to, "; the command was:");
    for (char **w = words; w && *w; w++)
        fprintf(to, " %s", *w);
    while (c->text_len && c->text[c->text_len - 1] == '\n')
        c->text[--c->text_len] = 0;
    if (c->text[0])
        fprintf(to, "; it said: %s", c->text);
    free(words);
    if (!fclose(to))
        b->hooks.failed(b->hooks.arg, host, text);
    free(text);
}

/* ---- the engine ---- */

static void stop(struct bringup *b, uint32_t host)
{
    struct bringup_command *c = &b->commands[host];
    c->is_late = true;
    c->stage = c->is_greeted                  ? LAUNCHING_DIAL_BACK
               : b->remote.kind == REMOTE_SSH ? LAUNCHING_CONNECT
                                              : LAUNCHING_EXECUTE;
    if (c->pid)
        kill(-c->pid, SIGKILL);
    c->pid = 0;
}

static void carry_out(struct bringup *b)
{
    if (b->is_carrying)
        return;
    b->is_carrying = true;
    for (size_t i = 0; i < b->effects.count; i++) {
        struct launching_effect e = b->effects.items[i];
        switch (e.action) {
        case LAUNCHING_START: start(b, e.host); break;
        case LAUNCHING_STOP: stop(b, e.host); break;
        case LAUNCHING_GIVE_UP: give_up(b, e.host); break;
        case LAUNCHING_COMPLETE:
            uv_timer_stop(&b->timer);
            uv_timer_stop(&b->ask);
            login_close(&b->login);
            uv_timer_stop(&b->notice);
            b->hooks.complete(b->hooks.arg, !b->failures);
            break;
        }
    }
    b->effects.count = 0;
    b->is_carrying = false;
}


/* Let logins ask, one after the other. Those that do so, or wait for it, have all their time again. */
static void on_ask(uv_timer_t *timer)
{
    struct bringup *b = timer->data;
    b->is_asking = false;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->commands[i].pid && !b->commands[i].is_greeted && login_asks(&b->login, b->commands[i].pid)) {
            launching_hold(&b->launching, i, now_ns());
            b->is_asking = true;
        }
}

/* Say which hosts have not come, and how far each is. */
static void on_notice(uv_timer_t *timer)
{
    struct bringup *b = timer->data;
    char *text = NULL;
    size_t size;
    uint32_t count = 0;
    if (b->is_asking) { /* the line would stand behind the question */
        uv_timer_start(timer, on_notice, NOTICE_MS, 0);
        return;
    }
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return;
    fprintf(to, "waiting for");
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->launching.hosts[i].state >= LAUNCHING_UP)
            continue;
        if (count++ >= NAMES_MAX)
            continue;
        fprintf(to, "%s %s (%s)", count > 1 ? "," : "", b->hosts[i].name,
                b->commands[i].is_greeted                           ? "its daemon runs"
                : b->launching.hosts[i].state == LAUNCHING_STARTING ? "no daemon there yet"
                                                                    : "its turn is to come");
    }
    if (count > NAMES_MAX)
        fprintf(to, " and %u more", count - NAMES_MAX);
    fprintf(to, ", of %u hosts; each start has %g s", b->count,
            (double)b->launching.settings.limit_ns / 1e9);
    if (!fclose(to) && count)
        b->hooks.waiting(b->hooks.arg, text);
    free(text);
}

static void on_timer(uv_timer_t *timer);

/* Have the timer run when the engine has something to do next, if it has. */
static void set_timer(struct bringup *b)
{
    int64_t next = launching_next(&b->launching), now = now_ns();
    if (next == INT64_MAX)
        return;
    uv_update_time(b->loop);
    uv_timer_start(&b->timer, on_timer, next > now ? (uint64_t)(next - now) / 1000000 + 1 : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct bringup *b = timer->data;
    launching_tick(&b->launching, now_ns(), &b->effects);
    carry_out(b);
    set_timer(b);
}

void bringup_dialed(struct bringup *b, uint32_t host)
{
    step(b, host, LAUNCHING_DIALED, LAUNCHING_DIAL_BACK);
}

void bringup_lost(struct bringup *b, uint32_t host)
{
    struct bringup_command *c = &b->commands[host];
    if (b->launching.hosts[host].state != LAUNCHING_UP)
        return;
    while (c->err && read_err(c) && errno != EAGAIN)
        ;
    c->stage = LAUNCHING_STAY;
    step(b, host, LAUNCHING_LOST, LAUNCHING_STAY);
}

void bringup_paused(struct bringup *b, uint64_t ns)
{
    launching_paused(&b->launching, (int64_t)ns);
    set_timer(b);
}

/* ---- life ---- */

int bringup_start(struct bringup *b, uv_loop_t *loop, const struct launching_settings *settings)
{
    b->loop = loop;
    b->commands = calloc(b->count, sizeof(*b->commands));
    if (!b->commands)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->count; i++)
        b->commands[i] = (struct bringup_command){
            .bringup = b, .host = i, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    uv_timer_init(loop, &b->timer);
    uv_timer_init(loop, &b->ask);
    uv_timer_init(loop, &b->notice);
    b->timer.data = b->ask.data = b->notice.data = b;
    if (b->hooks.waiting)
        uv_timer_start(&b->notice, on_notice, NOTICE_MS, 0);
    b->login = (struct login){.tty_fd = -1};
    if (b->remote.kind == REMOTE_SSH)
        login_open(&b->login);
    b->remote.may_ask = b->login.tty_fd >= 0;
    if (b->remote.may_ask)
        uv_timer_start(&b->ask, on_ask, ASK_MS, ASK_MS);
    int rc = launching_begin(&b->launching, b->count, settings, now_ns(), &b->effects);
    carry_out(b);
    if (!rc)
        set_timer(b);
    return rc;
}

bool bringup_lives(const struct bringup *b, uint32_t host)
{
    return b->commands && b->commands[host].pid;
}

uint32_t bringup_living(const struct bringup *b)
{
    return bringup_pids(b, NULL, 0);
}

uint32_t bringup_pids(const struct bringup *b, pid_t *pids, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; b->commands && i < b->count; i++)
        if (b->commands[i].pid) {
            if (count < max)
                pids[count] = b->commands[i].pid;
            count++;
        }
    return count;
}

void bringup_kill(struct bringup *b)
{
    for (uint32_t i = 0; b->commands && i < b->count; i++)
        if (b->commands[i].pid)
            kill(-b->commands[i].pid, SIGKILL);
}

void bringup_stop(struct bringup *b)
{
    if (!b->commands)
        return;
    for (uint32_t i = 0; i < b->count; i++)
        close_command(&b->commands[i]);
    uv_close((uv_handle_t *)&b->timer, NULL);
    uv_close((uv_handle_t *)&b->ask, NULL);
    login_close(&b->login);
    uv_close((uv_handle_t *)&b->notice, NULL);
    launching_fini(&b->launching);
    launching_effects_fini(&b->effects);
}

void bringup_destroy(struct bringup *b)
{
    free(b->commands);
    b->commands = NULL;
}
