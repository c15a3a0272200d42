/* SPDX-License-Identifier: BSD-3-Clause */

/* Telling mpiexec for what this process waits; see hang.h. */
#include "mpid/tell/hang.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/tell/call_site.h"
#include "mpid/wait/wait.h"
#include "mpid/wait/wake.h"
#include "os/calls.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/lock.h"

enum {
    GATHER_NS = 60000000, /* for other threads to come by */
    THREADS_MAX = 64,
    ITEMS_MAX = 128, /* of what one thread waits for */
    GROUPS_MAX = 128,
    CALLS_MAX = 4, /* collectives that are told of a communicator */
    MEMBERS_MAX = 6000, /* bytes of a communicator's list */
    WAITS_ROOM = BNR_MAX_ANSWER / 2,
    QUEUES_ROOM = BNR_MAX_ANSWER / 4, /* the rest, after the communicators */
};

struct mpid_wait_report {
    char *text;
    size_t len, room;
    size_t thread_at; /* of the thread that tells */
    size_t mode_at; /* of its mode */
    int items;
    bool cut; /* there was no room for something */
};

static struct {
    struct mpid_wait_report report;
    uint64_t since_ns;
    pthread_t told[THREADS_MAX];
    pid_t told_ids[THREADS_MAX];
    int told_count;
    void (*_Atomic each_idle)(bool (*take)(void *arg, const struct mpid_idle_view *view),
                              void *arg);
} hang;

/* ---- text ---- */

/* Append a line, or part of one; all of it or nothing. Returns whether it is there. */
static __attribute__((format(printf, 2, 3))) bool put(struct mpid_wait_report *report,
                                                      const char *form, ...)
{
    va_list args;
    size_t left = report->room - report->len;
    va_start(args, form);
    int n = vsnprintf(report->text + report->len, left, form, args);
    va_end(args);
    if (n < 0 || (size_t)n >= left) {
        report->cut = true;
        return false;
    }
    report->len += (size_t)n;
    return true;
}

/* Append a name that a user may have chosen. */
static void put_clean(struct mpid_wait_report *report, const char *name)
{
    size_t begin = report->len;
    put(report, "%s", name);
    for (size_t i = begin; i < report->len; i++)
        if ((unsigned char)report->text[i] < ' ')
            report->text[i] = '?';
}

/* Cut the text back to this length, if a later part had no room. */
static void keep_whole(struct mpid_wait_report *report, size_t begin)
{
    if (report->len == begin || report->text[report->len - 1] != '\n')
        report->len = begin;
}

/* ---- communicators ---- */

struct comm_search {
    uint32_t context;
    int32_t rank;
    uint32_t best; /* context of the nearest communicator, plus one */
    int64_t world;
};

/* As a peer: a process of another job; diagnose/hang_text.h has the same. */
enum { ELSEWHERE = INT32_MAX - 1 };

static bool is_elsewhere(const void *gid)
{
    return memcmp(gid, &device.world.gid, sizeof(device.world.gid)) != 0;
}

/* Where a process is in the world. */
static int64_t rank_in_world(const struct mpid_process *process)
{
    return is_elsewhere(&process->gid) ? ELSEWHERE : (int64_t)process->rank;
}

static bool take_rank(void *arg, const struct mpid_comm_view *view)
{
    struct comm_search *search = arg;
    if (view->context > search->context || view->context < search->best)
        return false;
    search->best = view->context + 1;
    search->world = -1;
    struct mpid_process (*member)(const void *, int) = view->peer ? view->peer : view->member;
    if (search->rank >= 0 && search->rank < (view->peer ? view->peers : view->size)) {
        struct mpid_process process = member(view->object, search->rank);
        search->world = rank_in_world(&process);
    }
    return false;
}

/* The rank in the world of a rank in a context's communicator, or -1. */
static int64_t world_rank(uint32_t context, int32_t rank)
{
    struct comm_search search = {.context = context, .rank = rank, .world = -1};
    if (device.each_comm && rank >= 0)
        device.each_comm(take_rank, &search);
    return search.world;
}

/* The beginning of a job's id. */
static void put_job(struct mpid_wait_report *report, const void *gid)
{
    uint8_t first[4];
    memcpy(first, gid, sizeof(first));
    put(report, "%02x%02x%02x%02x", first[0], first[1], first[2], first[3]);
}

static void put_list(struct mpid_wait_report *report, const struct mpid_comm_view *view, int count,
                     struct mpid_process (*member)(const void *object, int i))
{
    size_t most = report->len + MEMBERS_MAX;
    for (int i = 0; i < count && member; i++) {
        struct mpid_process process = member(view->object, i);
        int64_t first = process.rank, last = first;
        for (; i + 1 < count; i++, last++) {
            struct mpid_process next = member(view->object, i + 1);
            if ((int64_t)next.rank != last + 1 || memcmp(&next.gid, &process.gid, sizeof(next.gid)) != 0)
                break;
        }
        if (report->len > most)
            break;
        const char *comma = report->text[report->len - 1] == '\t' ? "" : ",";
        if (is_elsewhere(&process.gid)) {
            put(report, "%s@", comma);
            put_job(report, &process.gid);
            put(report, ":");
            comma = "";
        }
        if (last > first)
            put(report, "%s%" PRId64 "-%" PRId64, comma, first, last);
        else
            put(report, "%s%" PRId64, comma, first);
    }
}

static bool put_comm(void *arg, const struct mpid_comm_view *view)
{
    struct mpid_wait_report *report = arg;
    size_t begin = report->len;
    if (view->inside)
        return false;
    put(report, "C\t%u\t%d\t%d\t%u\t", view->context, view->size, view->rank, view->begun);
    put_clean(report, view->name);
    put(report, "\t");
    put_list(report, view, view->size, view->member);
    put(report, "\t");
    put_list(report, view, view->peers, view->peer);
    put(report, "\n");
    keep_whole(report, begin);
    for (uint32_t i = 1; i <= CALLS_MAX && i <= view->begun && report->len > begin; i++) {
        int root;
        const char *call = view->call(view->object, view->begun - i, &root);
        if (call)
            put(report, "L\t%u\t%d\t%s\n", view->begun - i, root, call);
    }
    return report->cut;
}

/* ---- awaited requests ---- */

/* Where a peer is in the world. */
static int64_t world_of(const struct vc *vc)
{
    return is_elsewhere(&vc->peer.gid) ? ELSEWHERE : (int64_t)vc->peer.rank;
}

static const char *state_of(const struct mpid_request *request)
{
    const struct vc *vc = request->vc;
    switch ((enum car_state)request->state) {
    case CAR_POSTED:
    case CAR_AWAITED: return "posted";
    case CAR_ASKED: return "asked";
    case CAR_WAITING:
        return vc->state == VC_OPEN ? "queued" : vc_state_name((enum vc_state)vc->state);
    default: return "moving";
    }
}

/* Whether there is room for one more item. */
static bool counts(struct mpid_wait_report *report)
{
    if (report->items < ITEMS_MAX)
        report->items++;
    else
        report->cut = true;
    return !report->cut;
}

static void put_receive(struct mpid_wait_report *report, const struct mpid_envelope *env, size_t len,
                        const char *state)
{
    put(report, "A\trecv\t%u\t%" PRId64 "\t%d\t%d\t%zu\t%s\n", env->context,
        world_rank(env->context, env->rank), env->rank, env->tag, len, state);
}

void mpid_tell_request(struct mpid_wait_report *report, const struct mpid_request *request)
{
    const struct mpid_envelope *env = &request->place.env;
    if (mpid_is_complete(request) || !counts(report))
        return;
    if (request->state == CAR_IDLE) /* other CARs of it are awaited */
        return;
    if (request->kind == MPID_SEND)
        put(report, "A\tsend\t%u\t%" PRId64 "\t-1\t%d\t%" PRIu64 "\t%s\n", env->context,
            world_of(request->vc), env->tag, request->total, state_of(request));
    else
        put_receive(report, env, request->bytes.len, state_of(request));
}

void mpid_tell_receive(struct mpid_wait_report *report, const struct mpid_envelope *want)
{
    if (counts(report))
        put_receive(report, want, 0, "posted");
}

void mpid_tell_lock(struct mpid_wait_report *report, const struct mpid_envelope *env)
{
    if (counts(report))
        put(report, "A\tlock\t%u\t%" PRId64 "\t%d\t%d\t0\t\n", env->context,
            world_rank(env->context, env->rank), env->rank, env->tag);
}

void mpid_tell_unready(struct mpid_wait_report *report, const struct mpid_envelope *to, uint64_t parts)
{
    if (counts(report))
        put(report, "A\tready\t%u\t%" PRId64 "\t%d\t%d\t%" PRIu64 "\t\n", to->context,
            world_rank(to->context, to->rank), to->rank, to->tag, parts);
}

void mpid_tell_probe(struct mpid_wait_report *report, const struct mpid_envelope *want)
{
    if (counts(report))
        put(report, "A\tprobe\t%u\t%" PRId64 "\t%d\t%d\t0\t\n", want->context,
            world_rank(want->context, want->rank), want->rank, want->tag);
}

static void set_mode(struct mpid_wait_report *report, const char mode[4])
{
    if (report->mode_at)
        memcpy(report->text + report->mode_at, mode, 4);
}

void mpid_tell_any(struct mpid_wait_report *report)
{
    set_mode(report, "some");
}

void mpid_tell_none(struct mpid_wait_report *report)
{
    report->len = report->thread_at;
    report->mode_at = 0;
}

/* Begin with a thread. ms: it has waited for, -1: unknown. */
static void put_thread(struct mpid_wait_report *report, int64_t ms)
{
    struct call_site place;
    size_t begin = report->thread_at = report->len;
    call_site_find(&place, false);
    report->items = 0;
    put(report, "T\t%s\t", place.function);
    report->mode_at = report->len;
    put(report, "wait\t%" PRId64 "\t%" PRIxPTR "\t", ms, place.offset);
    put_clean(report, place.module);
    put(report, "\t");
    put_clean(report, place.symbol);
    put(report, "\n");
    keep_whole(report, begin);
    if (report->len == begin)
        report->mode_at = 0;
}

/* ---- queues ---- */

/* Equal messages or requests. */
struct queue_group {
    char kind; /* U: unexpected, W: got by a wildcard, P: posted, S: to be sent, I: not started */
    struct mpid_envelope env;
    int64_t peer; /* in the world; of P and I: to be found */
    const char *state;
    uint64_t count, bytes;
};

struct groups {
    struct queue_group group[GROUPS_MAX];
    int count;
    bool cut;
};

static void count_in(struct groups *groups, const struct queue_group *one)
{
    for (int i = groups->count - 1; i >= 0; i--) {
        struct queue_group *group = &groups->group[i];
        if (group->kind == one->kind && group->peer == one->peer &&
            group->env.context == one->env.context && group->env.rank == one->env.rank &&
            group->env.tag == one->env.tag && group->state == one->state) {
            group->count++;
            group->bytes += one->bytes;
            return;
        }
    }
    if (groups->count < GROUPS_MAX) {
        groups->group[groups->count] = *one;
        groups->group[groups->count++].count = 1;
    } else {
        groups->cut = true;
    }
}

static void count_request(const struct mpid_request *request, void *groups)
{
    struct queue_group one = {.env = request->place.env, .state = state_of(request)};
    one.kind = request->kind == MPID_SEND ? 'S' : 'P';
    one.peer = request->kind == MPID_SEND ? world_of(request->vc) : -1;
    one.bytes = request->kind == MPID_SEND ? request->total : request->bytes.len;
    count_in(groups, &one);
}

static void count_received(struct groups *groups)
{
    const struct match *match = &device.match;
    for (const struct unexpected *u = match->first; u; u = u->next) {
        struct queue_group one = {'U', u->exact.env, world_of(u->vc), "", 0, u->total};
        count_in(groups, &one);
    }
    for (unsigned i = 0; i < RECV_GOT && i < device.got_count; i++) {
        struct queue_group one = {'W', device.got[i], -1, "", 0, 0};
        count_in(groups, &one);
    }
    match_each_posted(match, count_request, groups);
}

/* Call take for each send that waits in the VC, and whose receiver has been asked, or is getting it;
 * once where two CARs bring a message. */
static void each_send(struct vc *vc, void (*take)(const struct mpid_request *request, void *arg),
                      void *arg)
{
    const struct mpid_request *const lists[] = {vc->send_head, vc->asked, vc->bulk};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct mpid_request *r = lists[i]; r; r = r->next)
            if (!r->from)
                take(r, arg);
}

static void count_queued(struct vc *vc, void *arg)
{
    each_send(vc, count_request, arg);
    for (const struct mpid_request *r = vc->pending; r; r = r->next)
        count_request(r, arg);
}

static bool count_idle(void *arg, const struct mpid_idle_view *view)
{
    struct groups *groups = arg;
    struct queue_group one = {.kind = 'I', .peer = -1, .state = view->sends ? "send" : "recv"};
    one.env =
        (struct mpid_envelope){.context = view->context, .rank = view->rank, .tag = view->tag};
    count_in(groups, &one);
    return groups->cut;
}

static void put_queues(struct mpid_wait_report *report)
{
    struct groups *groups = calloc(1, sizeof(*groups));
    if (!groups)
        return;
    count_received(groups);
    vc_each_engaged(count_queued, groups);
    if (hang.each_idle)
        hang.each_idle(count_idle, groups);
    for (int i = 0; i < groups->count; i++) {
        const struct queue_group *g = &groups->group[i];
        bool is_named = g->kind == 'W' || g->kind == 'P' || g->kind == 'I';
        bool has_state = g->kind == 'S' || g->kind == 'I';
        int64_t peer = is_named ? world_rank(g->env.context, g->env.rank) : g->peer;
        put(report, "%c\t%u\t%" PRId64 "\t%d\t%d\t%" PRIu64 "\t%" PRIu64 "%s%s\n", g->kind,
            g->env.context, peer, g->kind == 'S' ? -1 : g->env.rank, g->env.tag, g->count, g->bytes,
            has_state ? "\t" : "", has_state ? g->state : "");
    }
    report->cut |= groups->cut;
    free(groups);
}

/* ---- waits of the end ---- */

static void tell_send(const struct mpid_request *request, void *report)
{
    mpid_tell_request(report, request);
}

static void tell_sends(struct vc *vc, void *report)
{
    each_send(vc, tell_send, report);
}

void mpid_tell_sends(void *arg, struct mpid_wait_report *report)
{
    (void)arg;
    vc_each_engaged(tell_sends, report);
}

static void put_close(struct mpid_wait_report *report, int64_t rank, const char *state)
{
    if (counts(report))
        put(report, "A\tclose\t0\t%" PRId64 "\t-1\t-1\t0\t%s\n", rank, state);
}

static void tell_close(struct vc *vc, void *report)
{
    put_close(report, world_of(vc), vc_state_name((enum vc_state)vc->state));
}

void mpid_tell_finalize(struct mpid_wait_report *report, uint32_t rank)
{
    put_close(report, rank, "");
}

void hang_tell_closes(void *arg, struct mpid_wait_report *report)
{
    (void)arg;
    vc_each_standing(tell_close, report);
}

/* ---- other threads ---- */

/* Read a file of a thread of this process. Returns whether there was anything. */
static bool read_task(const char *id, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%.16s/%s", id, name);
    return os_read_start(path, text, size) > 0;
}

static bool has_told(pid_t id)
{
    for (int i = 0; i < hang.told_count; i++)
        if (hang.told_ids[i] == id)
            return true;
    return false;
}

enum {
    COMPUTING,
    LOCKED,
    ASLEEP,
    KINDS
};

static void count_task(const char *id, int counts[KINDS])
{
    char text[512];
    const char *at = read_task(id, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;
    if (!at || at[1] != ' ')
        return;
    if (at[2] == 'R')
        counts[COMPUTING]++;
    else if (read_task(id, "wchan", text, sizeof(text)) && strstr(text, "futex"))
        counts[LOCKED]++;
    else
        counts[ASLEEP]++;
}

/* Those that have not come by are not in MPI, and may call it. */
static void put_others(struct mpid_wait_report *report)
{
    int counts[KINDS] = {0};
    DIR *tasks = os_lock_enabled ? opendir("/proc/self/task") : NULL;
    if (!tasks)
        return;
    for (const struct dirent *task; (task = readdir(tasks));)
        if (*task->d_name != '.' && !has_told((pid_t)atol(task->d_name)))
            count_task(task->d_name, counts);
    closedir(tasks);
    if (counts[COMPUTING] + counts[LOCKED] + counts[ASLEEP])
        put(report, "M\t%d\t%d\t%d\n", counts[COMPUTING], counts[LOCKED], counts[ASLEEP]);
}

/* ---- question and answer ---- */

static void on_asked(void *arg)
{
    struct mpid_wait_report *report = &hang.report;
    (void)arg;
    if (!report->text)
        report->text = malloc(BNR_MAX_ANSWER);
    if (!report->text)
        return;
    *report = (struct mpid_wait_report){.text = report->text, .room = WAITS_ROOM};
    put(report, "vireo-hang 1\nJ\t");
    put_job(report, &device.world.gid);
    put(report, "\n");
    hang.since_ns = os_now_ns();
    hang.told_count = 0;
    atomic_store_explicit(&device_asked, true, memory_order_relaxed);
    wake_all();
}

static void answer(void)
{
    struct mpid_wait_report *report = &hang.report;
    put_others(report);
    bool cut = report->cut;
    report->cut = false;
    report->room = BNR_MAX_ANSWER - QUEUES_ROOM;
    if (device.each_comm)
        device.each_comm(put_comm, report);
    cut |= report->cut;
    report->cut = false;
    report->room = BNR_MAX_ANSWER - 2;
    put_queues(report);
    report->room = BNR_MAX_ANSWER;
    if (cut || report->cut)
        put(report, "X\n");
    (void)BNR_Answer(report->text, report->len);
    free(report->text);
    report->text = NULL;
    atomic_store_explicit(&device_asked, false, memory_order_relaxed);
}

/* Whether the calling thread has yet to tell; then it is taken as having told. */
static bool is_news(void)
{
    pthread_t me = pthread_self();
    for (int i = 0; i < hang.told_count; i++)
        if (pthread_equal(hang.told[i], me))
            return false;
    if (hang.told_count == THREADS_MAX)
        return false;
    hang.told_ids[hang.told_count] = os_thread_id();
    hang.told[hang.told_count++] = me;
    return true;
}

static bool is_due(void)
{
    return os_now_ns() - hang.since_ns >= GATHER_NS;
}

void hang_tell(const struct wait *wait, mpid_tell_fn tell, void *arg)
{
    struct mpid_wait_report *report = &hang.report;
    os_lock(&device.lock);
    if (device_is_asked() && is_news()) {
        bool cut = report->cut;
        put_thread(report, wait->dated ? (int64_t)((os_now_ns() - wait->since_ns) / 1000000) : 0);
        if (tell)
            tell(arg, report);
        if (report->cut && !cut && report->items && report->mode_at &&
            !memcmp(report->text + report->mode_at, "some", 4))
            set_mode(report, "poll"); /* a request without room might come */
    }
    if (device_is_asked() && (!os_lock_enabled || is_due()))
        answer();
    os_unlock(&device.lock);
}

void hang_tell_poll(void)
{
    if (os_lock_enabled && !is_due())
        return;
    if (is_news()) {
        put_thread(&hang.report, -1);
        set_mode(&hang.report, "poll");
        if (device.peek)
            mpid_tell_probe(&hang.report, device.peek);
    }
    answer();
}

void hang_poll(void)
{
    if (is_due())
        hang_tell_poll();
}

/* Listen for questions, between BNR_Init() and BNR_Finalize(). */
static int listen_for_questions(void)
{
    free(hang.report.text);
    hang.report.text = NULL;
    atomic_store_explicit(&device_asked, false, memory_order_relaxed);
    (void)BNR_Set_asked(on_asked, NULL);
    return 0;
}

const struct life hang_life = {.attach = listen_for_questions};

void mpid_set_comms(void (*each)(bool (*take)(void *arg, const struct mpid_comm_view *view),
                                 void *arg))
{
    device.each_comm = each;
}

void mpid_set_idle(void (*each)(bool (*take)(void *arg, const struct mpid_idle_view *view),
                                void *arg))
{
    hang.each_idle = each;
}

void mpid_each_unreceived(void (*take)(void *arg, const struct mpid_envelope *env, uint64_t bytes),
                          void *arg)
{
    os_lock(&device.lock);
    for (const struct unexpected *u = device.match.first; u; u = u->next)
        take(arg, &u->exact.env, u->total);
    os_unlock(&device.lock);
}
