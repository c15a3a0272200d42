/* SPDX-License-Identifier: BSD-3-Clause */

/* The BNR calls: arguments, life cycle, handles; a back end does the rest. */
#include "include/bnr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/client/client.h"
#include "bnr/client/event.h"
#include "bnr/client/team_calls.h"
#include "bnr/client/teams.h"
#include "bnr/client/orders.h"
#include "bnr/client/xcast.h"
#include "bnr/host/order.h"
#include "os/log.h"
#include "os/settings.h"

enum { TEAM_TURNS = 16 }; /* from look to look, where no call of a group is under way */

/* The state of this process in its job. The caller serialises access to it. */
static struct {
    int count;               /* BNR_Init less BNR_Finalize */
    pid_t pid;               /* the process that joined: a forked child has not */
    int busy;                /* a fence is under way */
    struct backend *backend; /* kept after the last BNR_Finalize, for a later BNR_Init */
    struct bnr_group world;
    struct events events;
    struct xcasts xcasts;
    BNR_Init_attr attr;
    void (*asked)(void *arg); /* NULL: nobody answers here */
    void *asked_arg;
    uint32_t asks;       /* seen */
    uint32_t calm;       /* while asks are so many, there is nothing to do */
    int (*turn)(void);   /* of streams; NULL: there are none */
    void (*leave)(void); /* theirs */
    int has_groups;      /* besides the world, or calls of it */
    unsigned turns;
} client;

/* Whether it is the job's own group, and has all that a back end gives. */
static int is_world(BNR_Group g)
{
    return client.count && g == &client.world;
}

static int bad_group(void)
{
    return client.count ? BNR_ERR_ARG : BNR_ERR_NOT_INIT;
}

/* Why a call that only the job's own group has is refused. */
static int no_world(BNR_Group g)
{
    return client.count && g != &client.world && team_is(g) ? BNR_ERR_UNSUPPORTED : bad_group();
}

static int is_rank(int rank)
{
    return rank >= 0 && rank < client.backend->size;
}

/* ---- life cycle ---- */

static const char *variable(const char *name)
{
    return getenv(name);
}

/* Join the job of another project's manager. */
static int join_others(void)
{
    char why[256];
    struct backend *b;
    int rc = managed_join(&b);
    if (!rc && b->size == 1 && single_is_doubtful_to_manager(variable, why, sizeof(why))) {
        os_fail(0,
                "%s, but the manager that answers (%s) says that there is one: start the program with "
                "srun --mpi=pmi2, or alone with VIREO_SINGLETON=1",
                why, b->ops->name);
        return BNR_ERR_UNSUPPORTED;
    }
    if (!rc)
        client.backend = b;
    return rc;
}

static int join(void)
{
    char why[512];
    if (os_settings_load(why, sizeof(why))) {
        os_fail(0, "%s", why);
        return BNR_ERR_ARG;
    }
    int alone = (int)os_setting(OS_SETTING_SINGLETON);
    int rc = alone ? BNR_ERR_NOT_FOUND : native_join(&client.backend);
    if (!alone && rc == BNR_ERR_NOT_FOUND)
        rc = join_others();
    if (rc != BNR_ERR_NOT_FOUND)
        return rc;
    if (!alone && single_is_doubtful(variable, why, sizeof(why))) {
        os_fail(0,
                "%s, but no manager with PMI-1 or PMIx answers: start the program with its own mpiexec, "
                "mpiexec.hydra, mpirun or srun --mpi=pmi2, or alone with VIREO_SINGLETON=1",
                why);
        return BNR_ERR_UNSUPPORTED;
    }
    return single_join(&client.backend);
}

static void take_attr(const BNR_Init_attr *attr)
{
    memset(&client.attr, 0, sizeof(client.attr));
    memcpy(&client.attr, attr, attr->size < sizeof(*attr) ? attr->size : sizeof(*attr));
}

/* There may be more to do at the next turn than answering. */
static void look_up_soon(void)
{
    client.calm = ~atomic_load(client.backend->asks);
}

int BNR_Init(const BNR_Init_attr *attr)
{
    if (attr && attr->size < sizeof(attr->size))
        return BNR_ERR_ARG;
    if (client.backend && client.pid != getpid()) {
        os_fail(0, "a forked child cannot take its parent's place in the job");
        return BNR_ERR_PERM;
    }
    if (!client.backend) {
        int rc = join();
        if (rc)
            return rc;
        client.pid = getpid();
        orders_take_note();
    } else if (!client.count) {
        client.backend->ops->rejoin(client.backend);
    }
    if (!client.count) {
        teams_init(&client.world, client.backend);
        look_up_soon();
    }
    client.count++;
    if (attr)
        take_attr(attr);
    return BNR_SUCCESS;
}

int BNR_Finalize(void)
{
    if (!client.count)
        return BNR_ERR_NOT_INIT;
    if (client_is_calling_back() || client.busy || teams_are_stepping())
        return BNR_ERR_STATE;
    if (client.count > 1) {
        client.count--;
        return BNR_SUCCESS;
    }
    if (client.pid == getpid()) /* a forked child's sockets are its parent's, too */
        teams_fini();
    client.count = client.has_groups = 0;
    event_clear(&client.events);
    xcasts_clear(&client.xcasts);
    memset(&client.attr, 0, sizeof(client.attr));
    if (client.turn)
        client.leave();
    client.asked = NULL;
    client.turn = NULL;
    if (client.pid == getpid()) {
        orders_leave();
        client.backend->ops->leave(client.backend);
    }
    return BNR_SUCCESS;
}

int BNR_Initialized(int *flag)
{
    if (!flag)
        return BNR_ERR_ARG;
    *flag = client.count > 0;
    return BNR_SUCCESS;
}

int BNR_Query_caps(unsigned long long *caps)
{
    if (!client.count || !caps)
        return bad_group();
    *caps = client.backend->ops->caps | BNR_CAP_MERGE | BNR_CAP_NAMES | BNR_CAP_SUBFENCE;
    if (orders_can_start(client.backend))
        *caps |= BNR_CAP_SPAWN;
    if (client.backend->ops->caps & BNR_CAP_XCAST)
        *caps |= BNR_CAP_KILL;
    return BNR_SUCCESS;
}

int BNR_Backend_name(const char **name)
{
    if (!client.count || !name)
        return bad_group();
    *name = client.backend->ops->name;
    return BNR_SUCCESS;
}

/* Answer a question, look for news, and let streams go on. */
static __attribute__((cold, noinline)) int look_up(uint32_t asks)
{
    const struct backend_ops *ops = client.backend->ops;
    int run = 0;
    if (ops->look)
        ops->look(client.backend);
    if (client.asked && asks != client.asks) {
        client.asks = asks;
        client.asked(client.asked_arg);
        run++;
    }
    if (client.turn)
        run += client.turn();
    if (client.has_groups && (team_calls_are() || client.turns++ % TEAM_TURNS == 0))
        teams_step(0);
    client.calm = client.asked && !client.turn && !client.has_groups && !ops->look ? asks : ~asks;
    return run;
}

/* Run due callbacks. Returns how many callbacks ran. */
static inline int deliver(struct backend *b)
{
    uint32_t asks = atomic_load_explicit(b->asks, memory_order_relaxed);
    int run = event_deliver(&client.events, b);
    if (__builtin_expect(asks != client.calm, 0))
        run += look_up(asks);
    if (__builtin_expect(xcasts_are_due(&client.xcasts, b), 0))
        run += xcasts_deliver(&client.xcasts, b, &client.world);
    return run;
}

struct backend *backend_take_turns(int (*turn)(void), void (*leave)(void))
{
    client.leave = leave;
    client.turn = turn;
    look_up_soon();
    return client.backend;
}

int BNR_Progress(int *did_work)
{
    if (!client.count)
        return BNR_ERR_NOT_INIT;
    int run = deliver(client.backend);
    if (did_work)
        *did_work = run;
    return BNR_SUCCESS;
}

void backend_idle(struct backend *b)
{
    (void)deliver(b);
    if (client.attr.progress)
        client.attr.progress(client.attr.progress_arg);
}

static int hear_mpiexec(void);

/* ---- for team_api.c ---- */

struct backend *client_backend(void)
{
    return client.count ? client.backend : NULL;
}

bool client_is_calling_back(void)
{
    return client.events.running || client.xcasts.is_running;
}

int client_fence_world(void)
{
    if (client.busy || client_is_calling_back())
        return BNR_ERR_STATE;
    client.busy = 1;
    int rc = client.backend->ops->fence(client.backend);
    client.busy = 0;
    return rc;
}

void client_hear_groups(void)
{
    (void)hear_mpiexec();
    client.has_groups = 1;
    look_up_soon();
}

/* ---- groups ---- */

int BNR_Get_group(BNR_Group *g)
{
    if (!client.count || !g)
        return bad_group();
    *g = &client.world;
    return BNR_SUCCESS;
}

int BNR_Gid_string(const BNR_Gid *gid, char s[BNR_GID_STRLEN])
{
    static const char digits[] = "0123456789abcdef";
    if (!gid || !s)
        return BNR_ERR_ARG;
    for (int i = 0; i < 16; i++) {
        s[2 * i] = digits[gid->b[i] >> 4];
        s[2 * i + 1] = digits[gid->b[i] & 15];
    }
    s[BNR_GID_STRLEN - 1] = 0;
    return BNR_SUCCESS;
}

int BNR_Get_locality(BNR_Group g, int rank, int *node, int *local_rank, int *local_size)
{
    int at[3];
    if (!is_world(g) || !is_rank(rank))
        return no_world(g);
    g->backend->ops->locality(g->backend, rank, &at[0], &at[1], &at[2]);
    if (node)
        *node = at[0];
    if (local_rank)
        *local_rank = at[1];
    if (local_size)
        *local_size = at[2];
    return BNR_SUCCESS;
}

int BNR_Get_member(BNR_Group g, int node, int local_rank, int *rank)
{
    if (!is_world(g) || !rank)
        return no_world(g);
    int found = g->backend->ops->member(g->backend, node, local_rank);
    if (found < 0)
        return BNR_ERR_ARG;
    *rank = found;
    return BNR_SUCCESS;
}

int BNR_Get_news(unsigned **news)
{
    if (!client.count || !news)
        return bad_group();
    if (!client.backend->news)
        return BNR_ERR_UNSUPPORTED;
    *news = (unsigned *)(void *)client.backend->news;
    return BNR_SUCCESS;
}

/* ---- abort ---- */

int BNR_Abort(BNR_Group g, int exit_code, const char *msg)
{
    if (client.backend)
        client.backend->ops->abort(client.backend, exit_code, msg);
    os_fail(0, "aborted with code %d%s%s", exit_code, msg && *msg ? ": " : "", msg ? msg : "");
    _exit(backend_exit_code(exit_code));
}

int BNR_Tolerate(int on)
{
    if (!client.count)
        return BNR_ERR_NOT_INIT;
    if (!client.backend->ops->tolerate)
        return BNR_ERR_UNSUPPORTED;
    client.backend->ops->tolerate(client.backend, on != 0);
    return BNR_SUCCESS;
}

/* ---- events ---- */

int BNR_Event_register(unsigned mask, BNR_Group g, BNR_Event_fn fn, void *arg, int *id)
{
    const unsigned all = BNR_EV_PROC_EXIT | BNR_EV_PROC_FAILED | BNR_EV_PROC_ABORT;
    if (!is_world(g) || !fn || !id || !mask || (mask & ~all))
        return no_world(g);
    return event_register(&client.events, mask, fn, arg, id);
}

int BNR_Event_unregister(int id)
{
    return client.count ? event_unregister(&client.events, id) : BNR_ERR_NOT_INIT;
}

/* ---- messages to many ---- */

static int are_ranges(const BNR_Xcast_attr *attr)
{
    if (attr->range_count > BNR_MAX_XCAST_RANGES || (attr->range_count && !attr->ranges))
        return 0;
    for (size_t i = 0; i < attr->range_count; i++)
        if (!is_rank(attr->ranges[i][0]) || !is_rank(attr->ranges[i][1]) ||
            attr->ranges[i][0] > attr->ranges[i][1])
            return 0;
    return 1;
}

int BNR_Xcast(BNR_Group g, int tag, const void *data, size_t len, const BNR_Xcast_attr *attr)
{
    BNR_Xcast_attr own = {0};
    if (attr && attr->size >= sizeof(attr->size))
        memcpy(&own, attr, attr->size < sizeof(own) ? attr->size : sizeof(own));
    if (!is_world(g) || tag < 0 || tag == ORDER_TAG || (!data && len) || len > BNR_MAX_XCAST ||
        (attr && attr->size < sizeof(attr->size)) || own.mode < BNR_XCAST_AUTO ||
        own.mode > BNR_XCAST_BINARY || !are_ranges(&own))
        return no_world(g);
    const struct backend_letter letter = {tag, own.mode, own.ranges, own.range_count, data, len};
    return g->backend->ops->xcast ? g->backend->ops->xcast(g->backend, &letter)
                                  : xcasts_put(&client.xcasts, g->backend->rank, &letter);
}

int BNR_Xcast_register(BNR_Group g, int tag, BNR_Xcast_fn fn, void *arg)
{
    if (!is_world(g) || tag < 0 || tag == ORDER_TAG)
        return no_world(g);
    return xcasts_register(&client.xcasts, tag, fn, arg);
}

/* ---- starting jobs ---- */

static void on_spawned(BNR_Group g, int from, int tag, const void *data, size_t len, void *arg)
{
    (void)g, (void)tag, (void)arg;
    if (from == BNR_RANK_ANY && data)
        orders_told(data, len);
}

/* Be ready for what mpiexec tells. */
static int hear_mpiexec(void)
{
    int rc = xcasts_register(&client.xcasts, ORDER_TAG, on_spawned, NULL);
    return rc == BNR_ERR_EXISTS ? BNR_SUCCESS : rc;
}

int BNR_Start_job(const BNR_Job_attr *attr, int *id)
{
    if (!client.count || !attr || attr->size < sizeof(*attr) || !attr->words || !id)
        return bad_group();
    int rc = hear_mpiexec();
    return rc ? rc : orders_start(client.backend, attr, id);
}

int BNR_Job_state(int id, int *ended, int *status)
{
    if (!client.count || !ended || !status)
        return bad_group();
    return orders_state(id, ended, status);
}

int BNR_Job_link(int id, int is_linked, int *asked)
{
    return client.count ? orders_link(client.backend, id, is_linked, asked) : BNR_ERR_NOT_INIT;
}

int BNR_Get_note(const char **note)
{
    if (!client.count || !note)
        return bad_group();
    *note = orders_note();
    return BNR_SUCCESS;
}

static int is_name(const char *text)
{
    return text && strnlen(text, BNR_MAX_NAME + 1) <= BNR_MAX_NAME;
}

int BNR_Name(enum BNR_Name_call call, const char *name, const char *text, int *id)
{
    if (!client.count || call > BNR_NAME_LOOKUP || !is_name(name) || !*name || (text && !is_name(text)) || !id)
        return bad_group();
    int rc = hear_mpiexec();
    return rc ? rc : orders_name(client.backend, call, name, text, id);
}

int BNR_Name_state(int id, int *done, int *code, char *text, size_t size)
{
    if (!client.count || !done || !code)
        return bad_group();
    return orders_name_state(id, done, code, text, size);
}

/* ---- being asked ---- */

int BNR_Set_asked(void (*fn)(void *arg), void *arg)
{
    if (!client.count)
        return BNR_ERR_NOT_INIT;
    client.asked = fn;
    client.asked_arg = arg;
    return BNR_SUCCESS;
}

int BNR_Answer(const void *text, size_t len)
{
    if (!client.count || (!text && len))
        return bad_group();
    return client.backend->ops->answer(client.backend, text, len);
}

/* ---- hosts ---- */

int BNR_Get_host(BNR_Group g, int rank, BNR_Host *h)
{
    if (!is_world(g) || !is_rank(rank) || !h)
        return no_world(g);
    return g->backend->ops->host(g->backend, rank, h);
}

int BNR_Get_host_memory(BNR_Group g, int rank, int *fd, unsigned long long *offset,
                        unsigned long long *size)
{
    if (!is_world(g) || !is_rank(rank) || !fd || !offset || !size)
        return no_world(g);
    return g->backend->ops->host_memory(g->backend, rank, fd, offset, size);
}

int BNR_Get_secret(BNR_Group g, unsigned char secret[16])
{
    if (!is_world(g) || !secret)
        return no_world(g);
    memcpy(secret, g->backend->secret, 16);
    return BNR_SUCCESS;
}

int BNR_Get_appnum(int *appnum)
{
    if (!client.count || !appnum)
        return bad_group();
    return client.backend->ops->appnum(client.backend, appnum);
}

int BNR_Get_app(BNR_Group g, int appnum, int *first, int *size)
{
    if (!is_world(g) || !first || !size)
        return no_world(g);
    return g->backend->ops->app(g->backend, appnum, first, size);
}

int BNR_Get_universe_size(int *size)
{
    if (!client.count || !size)
        return bad_group();
    return client.backend->ops->universe_size(client.backend, size);
}

/* ---- codes ---- */

const char *BNR_Strerror(int code)
{
    switch (code) {
    case BNR_SUCCESS: return "success";
    case BNR_FAIL: return "unspecified failure";
    case BNR_ERR_ARG: return "an argument is invalid";
    case BNR_ERR_NOT_INIT: return "BNR is not initialized";
    case BNR_ERR_NOMEM: return "memory, or this process's key-value space, is used up";
    case BNR_ERR_TRUNC: return "the buffer is too small for the value";
    case BNR_ERR_NOT_FOUND: return "there is no such key";
    case BNR_ERR_EXISTS: return "the key has been put before";
    case BNR_ERR_STATE: return "the call is not allowed at this point";
    case BNR_ERR_UNSUPPORTED: return "what started this process cannot do that";
    case BNR_ERR_TIMEOUT: return "time has run out";
    case BNR_ERR_COMM: return "the connection to mpiexec is lost";
    case BNR_ERR_PROC_FAILED: return "a process that is needed has ended";
    case BNR_ERR_SPAWN: return "processes could not be started";
    case BNR_ERR_PERM: return "another process is this rank";
    case BNR_ERR_PROTO: return "shared memory of the job, or a peer's message, is damaged";
    case BNR_ERR_AGAIN: return "not now; try again later";
    case BNR_ERR_CANCELED: return "the call was cancelled";
    case BNR_ERR_MISMATCH: return "members of the group made different calls";
    default: return "unknown code";
    }
}
