/* SPDX-License-Identifier: BSD-3-Clause */

/* The processors of all hosts of a job; see survey.h. */
#include "bnr/wide/survey.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bnr/launch/hardware.h"
#include "bnr/launch/limit.h"
#include "bnr/wide/bringup.h"
#include "bnr/wire/launch_message.h"
#include "os/log.h"
#include "os/settings.h"

enum {
    LINE_BYTES = 400, /* that a line tells, in twice as many digits */
    END_MS = 1000     /* for commands whose daemons have told all */
};

/* One host, as far as it has told. */
struct survey_part {
    uint32_t host; /* in the list */
    struct packing told;
};

struct asking {
    struct survey *survey;
    const struct hosts *hosts;
    uv_loop_t loop;
    uv_signal_t children;
    uv_timer_t deadline;
    struct bringup bringup;
    struct bringup_host *asked;
    struct survey_part *parts;
    uint32_t count;
    bool is_complete, is_good, is_late;
};

bool survey_is_needed(const struct start_wish *start, const struct hosts *hosts)
{
    bool are_objects = start->map < PLACEMENT_NODE || start->rank_by < PLACEMENT_NODE;
    bool is_shown = start->is_dry && start->bind < PLACEMENT_NODE && !start_wish_names_cpus(start);
    bool is_elsewhere = false;
    for (size_t i = 0; i < hosts->count; i++)
        is_elsewhere |= !hosts->items[i].is_here;
    return is_elsewhere && !start->rankfile &&
           (start->ppr || is_shown || (are_objects && (start->is_spread || start->is_spanning)));
}

/* ---- one host ---- */

/* Take a line of digits. Returns whether it was the last. */
static bool take_line(void *arg, uint32_t host, const char *digits)
{
    struct asking *a = arg;
    struct survey_part *part = &a->parts[host];
    struct packing *p = &part->told;
    bool is_last = !*digits;
    pack_digits(p, digits);
    p->failed |= p->bytes && p->bytes->len > MACHINE_MESSAGE_MAX;
    if (!is_last && !p->failed)
        return false;
    struct bytes *all = pack_end(p);
    part->told = (struct packing){0};
    if (!all || machine_unpack(unpack_begin(all), &a->survey->machines[part->host])) {
        machine_fini(&a->survey->machines[part->host]);
        a->survey->machines[part->host].problem =
            strdup("what its daemon tells of its processors is no machine");
    }
    bytes_unref(all);
    bringup_dialed(&a->bringup, host);
    return true;
}

static struct bytes *make_order(void *arg, uint32_t host)
{
    struct asking *a = arg;
    struct packing p = {0};
    bytes_unref(a->parts[host].told.bytes); /* of an attempt before */
    a->parts[host].told = (struct packing){0};
    const struct launch_order order = {.self = host + 1,
                                       .count = a->count + 1,
                                       .radix = 1,
                                       .liveness_ns = 1000000000,
                                       .tells_machine = true};
    order_pack(&p, &order);
    return order_end(&p);
}

static void on_failed(void *arg, uint32_t host, const char *text)
{
    (void)arg;
    (void)host;
    fprintf(stderr, "mpiexec: %s\n", text);
}

static void on_waiting(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "mpiexec: %s\n", text);
}

static void on_complete(void *arg, bool are_all_up)
{
    struct asking *a = arg;
    a->is_complete = true;
    a->is_good = are_all_up;
}

static void on_child(uv_signal_t *handle, int number)
{
    struct asking *a = handle->data;
    int status;
    pid_t pid;
    (void)number;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        (void)bringup_ended(&a->bringup, pid, status);
}

static void on_deadline(uv_timer_t *timer)
{
    struct asking *a = timer->data;
    a->is_late = true;
}

/* ---- all of them ---- */

/* List the hosts to ask. Returns 0 or -ENOMEM. */
static int list_asked(struct asking *a)
{
    a->asked = calloc(a->hosts->count, sizeof(*a->asked));
    a->parts = calloc(a->hosts->count, sizeof(*a->parts));
    if (!a->asked || !a->parts)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->hosts->count; i++) {
        const struct hosts_entry *e = &a->hosts->items[i];
        if (e->is_here)
            continue;
        a->asked[a->count] = (struct bringup_host){e->name, e->user};
        a->parts[a->count++].host = i;
    }
    return 0;
}

/* Wait until every host has told, or is known not to; then for the ends of the commands. */
static int wait_for_all(struct asking *a, const struct survey_wish *wish, char why[512])
{
    if (wish->timeout_s > 0)
        uv_timer_start(&a->deadline, on_deadline, (uint64_t)(wish->timeout_s * 1000), 0);
    while (!a->is_complete && !a->is_late)
        uv_run(&a->loop, UV_RUN_ONCE);
    bool is_late = a->is_late;
    a->is_late = false;
    if (is_late)
        bringup_kill(&a->bringup);
    uv_update_time(&a->loop);
    uv_timer_start(&a->deadline, on_deadline, END_MS, 0);
    while (bringup_living(&a->bringup) && !a->is_late)
        uv_run(&a->loop, UV_RUN_ONCE);
    bringup_kill(&a->bringup);
    if (is_late)
        snprintf(why, 512, "the hosts did not all tell of their processors within %g s",
                 wish->timeout_s);
    else if (!a->is_good)
        snprintf(why, 512, "which rank runs where depends on the processors of all hosts, and not "
                           "all tell of theirs");
    return is_late ? -ETIMEDOUT : a->is_good ? 0 : -EIO;
}

static int ask_all(struct asking *a, const struct survey_wish *wish, char why[512])
{
    struct launching_settings launching = launching_settings_default;
    char *daemon = remote_daemon(wish->prefix);
    int rc = daemon ? list_asked(a) : -ENOMEM;
    launching.fan_out = (uint32_t)os_setting(OS_SETTING_LAUNCH_FAN_OUT);
    launching.limit_ns = os_setting(OS_SETTING_LAUNCH_LIMIT_MS) * 1000000;
    a->bringup = (struct bringup){.remote = wish->remote,
                                  .hosts = a->asked,
                                  .count = a->count,
                                  .hooks = {.order = make_order,
                                            .told = take_line,
                                            .failed = on_failed,
                                  .waiting = isatty(STDERR_FILENO) ? on_waiting : NULL,
                                            .complete = on_complete,
                                            .arg = a}};
    a->bringup.remote.daemon = daemon;
    if (!rc)
        rc = bringup_start(&a->bringup, &a->loop, &launching);
    if (!rc)
        rc = wait_for_all(a, wish, why);
    for (uint32_t i = 0; a->parts && i < a->count; i++)
        bytes_unref(a->parts[i].told.bytes);
    bringup_stop(&a->bringup);
    uv_close((uv_handle_t *)&a->children, NULL);
    uv_close((uv_handle_t *)&a->deadline, NULL);
    uv_run(&a->loop, UV_RUN_DEFAULT);
    bringup_destroy(&a->bringup);
    free(daemon);
    return rc;
}

static int ask_others(struct survey *s, const struct survey_wish *wish, char why[512])
{
    struct asking a = {.survey = s, .hosts = wish->hosts};
    int rc = uv_loop_init(&a.loop);
    if (rc)
        return rc;
    limit_remember();
    uv_signal_init(&a.loop, &a.children);
    uv_timer_init(&a.loop, &a.deadline);
    a.children.data = a.deadline.data = &a;
    (void)uv_signal_start(&a.children, on_child, SIGCHLD);
    rc = ask_all(&a, wish, why);
    uv_loop_close(&a.loop);
    free(a.asked);
    free(a.parts);
    return rc;
}

/* Read this host's own, once. Returns 0, -EINVAL, -ENOMEM. */
static int read_own(struct machine_told *told, char why[512])
{
    struct hardware h;
    int rc = hardware_read(&h, NULL, why);
    told->cpus = h.cpus;
    told->machine = h.machine;
    return !rc || rc == -ENOMEM ? rc : -EINVAL;
}

/* Keep the usable part of a machine. */
static int restrict_one(struct machine_told *told, const char *name, const struct start_wish *start,
                        char why[512])
{
    char problem[PLACEMENT_PROBLEM_LEN];
    int rc = 0;
    if (told->problem) {
        snprintf(why, 512, "%.100s: %.400s", name, told->problem);
        return -EINVAL;
    }
    if (start->allowed)
        rc = placement_restrict(told->cpus, &told->machine.count, start->allowed,
                                start->by_thread ? PLACEMENT_BY_THREAD : PLACEMENT_BY_CORE, problem);
    if (rc == -EINVAL)
        snprintf(why, 512, "%.100s: %s", name, problem);
    return rc;
}

int survey_make(struct survey *s, const struct survey_wish *wish, char why[512])
{
    const struct hosts *hosts = wish->hosts;
    bool is_here = false;
    snprintf(why, 512, "out of memory");
    *s = (struct survey){.machines = calloc(hosts->count, sizeof(*s->machines)),
                         .count = hosts->count};
    int rc = s->machines ? ask_others(s, wish, why) : -ENOMEM;
    for (size_t i = 0; !rc && i < hosts->count; i++) {
        const struct hosts_entry *e = &hosts->items[i];
        if (e->is_here && is_here)
            continue;
        if (e->is_here)
            rc = read_own(&s->machines[i], why);
        is_here |= e->is_here;
        if (!rc)
            rc = restrict_one(&s->machines[i], e->name, wish->start, why);
    }
    if (rc)
        survey_fini(s);
    return rc;
}

void survey_fini(struct survey *s)
{
    for (size_t i = 0; s->machines && i < s->count; i++)
        machine_fini(&s->machines[i]);
    free(s->machines);
    *s = (struct survey){0};
}

int survey_objects(const struct survey *s, const struct hosts *hosts, enum placement_level level,
                   uint64_t *count, char why[512])
{
    *count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct placement_machine *m = &s->machines[i].machine;
        if (level < PLACEMENT_NODE && m->lacks >> level & 1) {
            snprintf(why, 512, "host %.200s tells of no such object; say -n, or choose another object",
                     hosts->items[i].name);
            return -EINVAL;
        }
        *count += placement_objects(m, level);
    }
    return 0;
}

int survey_tell(int out_fd)
{
    struct hardware h;
    struct packing p = {0};
    char why[512];
    int rc = hardware_read(&h, NULL, why);
    machine_pack(&p, &(struct machine_told){.problem = rc ? why : NULL,
                                            .machine = h.machine,
                                            .is_own = h.is_own});
    struct bytes *all = pack_end(&p);
    bool is_written = all != NULL;
    for (uint32_t at = 0; is_written && at < all->len; at += LINE_BYTES) {
        char digits[2 * LINE_BYTES + 1];
        uint32_t left = all->len - at;
        bytes_digits(digits, all->at + at, left < LINE_BYTES ? left : LINE_BYTES);
        is_written = dprintf(out_fd, "has %s\n", digits) > 0;
    }
    is_written = is_written && dprintf(out_fd, "has \n") > 0;
    bytes_unref(all);
    hardware_fini(&h);
    return is_written ? 0 : 1;
}
