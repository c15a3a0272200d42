/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A manager that speaks PMIx: Open MPI's mpirun, PRRTE, Slurm's pmix plugin; see manager.h. The protocol is the
 * library's own, so the system's libpmix is loaded. Its header is not needed: the few structs here are the same in
 * versions 3 to 6 (pmix_common.h of 4.2.2).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bnr/client/manager.h"
#include "include/bnr.h"
#include "os/log.h"

enum {
    NAMESPACE_SIZE = 256,
    INIT_S = 60, /* some servers never answer clients of some versions */
    GET_S = 30,  /* nor those that ask for a value of a process that has left */
    TYPE_BOOL = 1,
    TYPE_SIZE_T = 4,
    TYPE_INT = 6,
    TYPE_UINT16 = 13,
    TYPE_UINT32 = 14,
    TYPE_BYTES = 27,
    GLOBAL = 3, /* of a value: for processes of all hosts */
    TIMED_OUT = -24, /* codes; Open MPI's mpirun tells by this one, too, that there is no such value */
    NOT_FOUND = -46,
    DONE_AT_ONCE = -157, /* and nothing is called */
    LOST_CONNECTION = -61,
    LOST_SERVER = -101 /* the same in version 3 */
};
#define ALL_RANKS (UINT32_MAX - 1)

struct pmix_process {
    char space[NAMESPACE_SIZE];
    uint32_t rank;
};

struct pmix_value {
    uint16_t type;
    union {
        struct {
            char *at;
            size_t len;
        } bytes;
        uint32_t u32;
        uint16_t u16;
        size_t size;
        int i;
        bool flag;
        char room[120]; /* more than any version has */
    } data;
};

/* One attribute of a call. */
struct pmix_attribute {
    char key[512];
    uint32_t flags;
    struct pmix_value value;
};

struct pmix {
    struct manager base;
    struct pmix_process self;
    int (*init)(struct pmix_process *self, void *info, size_t count);
    int (*finalize)(const void *info, size_t count);
    int (*abort)(int status, const char *msg, struct pmix_process *processes, size_t count);
    int (*put)(uint8_t scope, const char *key, struct pmix_value *value);
    int (*commit)(void);
    int (*fence)(const struct pmix_process *processes, size_t count, const void *info, size_t info_count,
                 void (*answer)(int status, void *arg), void *arg);
    int (*get)(const struct pmix_process *process, const char *key, const void *info, size_t count,
               void (*answer)(int status, const struct pmix_value *value, void *arg), void *arg);
    const char *(*error_string)(int status);
    void (*on_event)(const int *codes, size_t count, const void *info, size_t info_count, /* later versions return a code */
                     void (*act)(size_t handler, int status), /* and more, which ours leaves alone */
                     void (*registered)(int status, size_t handler, void *arg), void *arg);
};

static struct pmix *self_of(struct manager *m)
{
    return (struct pmix *)(void *)m;
}

static int lost(const struct pmix *p, const char *call, int status)
{
    return os_fail(-EIO, "the process manager that started this program (PMIx): %s: %s; start the program with Vireo's own "
                   "mpiexec", call, p->error_string(status));
}

/* ---- values ---- */

static void key_of(char to[300], const char *key)
{
    snprintf(to, 300, "vireo.%s", key);
}

static int pmix_put(struct manager *m, const char *key, const void *value, size_t len)
{
    struct pmix *p = self_of(m);
    char name[300];
    struct pmix_value v = {.type = TYPE_BYTES, .data.bytes = {(char *)(uintptr_t)value, len}};
    key_of(name, key);
    int status = p->put(GLOBAL, name, &v);
    return status ? lost(p, "PMIx_Put", status) : 0;
}

/* Wait for a flag that another thread sets under the lock, so many seconds at most. Locked. */
static void await_flag(const bool *flag, pthread_cond_t *set, pthread_mutex_t *lock, int seconds)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    while (!*flag && !rc)
        rc = pthread_cond_timedwait(set, lock, &until);
}

/* The end of a fence. */
struct fence_end {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool is_there;
    int status;
};

static void take_fence_end(int status, void *arg)
{
    struct fence_end *end = arg;
    pthread_mutex_lock(&end->lock);
    end->status = status;
    end->is_there = true;
    pthread_cond_signal(&end->came);
    pthread_mutex_unlock(&end->lock);
}

/* The values go to all hosts with the fence: of a process that has left meanwhile, Open MPI's daemons give none that they
 * are asked for later, and never answer. Returns the library's code. */
static int wait_for_all(struct pmix *p)
{
    static const struct pmix_attribute collect = {.key = "pmix.collect", .value = {.type = TYPE_BOOL, .data.flag = true}};
    struct fence_end end = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    int status = p->fence(NULL, 0, &collect, 1, take_fence_end, &end);
    if (status)
        return status == DONE_AT_ONCE ? 0 : status;
    pthread_mutex_lock(&end.lock);
    await_flag(&end.is_there, &end.came, &end.lock, MANAGER_PATIENCE_S);
    if (!end.is_there)
        manager_tell_wait(&p->base);
    while (!end.is_there)
        pthread_cond_wait(&end.came, &end.lock);
    pthread_mutex_unlock(&end.lock);
    return end.status;
}

static int pmix_fence(struct manager *m)
{
    struct pmix *p = self_of(m);
    int status = p->commit();
    if (status)
        return lost(p, "PMIx_Commit", status);
    status = wait_for_all(p);
    return status ? lost(p, "PMIx_Fence", status) : 0;
}

/* The answer to a get. The caller frees it; once the caller has given up, take_answer() does. */
struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool is_there, is_unwanted;
    int status;
    struct pmix_value value; /* its type, and a number */
    unsigned char *bytes;    /* of one of bytes, or NULL */
};

static void answer_free(struct answer *a)
{
    free(a->bytes);
    free(a);
}

/* The library's thread calls it, or the caller's within the get. */
static void take_answer(int status, const struct pmix_value *value, void *arg)
{
    struct answer *a = arg;
    bool has_bytes = !status && value && value->type == TYPE_BYTES && value->data.bytes.len <= BNR_MAX_VALUE;
    unsigned char *bytes = has_bytes ? malloc(value->data.bytes.len + 1) : NULL;
    if (bytes)
        memcpy(bytes, value->data.bytes.at, value->data.bytes.len);
    pthread_mutex_lock(&a->lock);
    a->status = status;
    a->bytes = bytes;
    if (!status && value) {
        a->value.type = value->type;
        memcpy(&a->value.data, &value->data, sizeof(value->data.bytes)); /* the least room of all versions is larger */
    }
    a->is_there = true;
    bool is_unwanted = a->is_unwanted;
    pthread_cond_signal(&a->came);
    pthread_mutex_unlock(&a->lock);
    if (is_unwanted)
        answer_free(a);
}

/* Ask for a value. Returns the answer, which may be an error; or NULL, with -ENOMEM or -ETIMEDOUT in *rc. */
static struct answer *ask(struct pmix *p, uint32_t rank, const char *key, int *rc)
{
    struct pmix_process process = p->self;
    struct answer *a = calloc(1, sizeof(*a));
    *rc = a ? 0 : -ENOMEM;
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->came, NULL);
    process.rank = rank;
    int status = p->get(&process, key, NULL, 0, take_answer, a);
    if (status)
        take_answer(status, NULL, a);
    pthread_mutex_lock(&a->lock);
    await_flag(&a->is_there, &a->came, &a->lock, GET_S);
    a->is_unwanted = !a->is_there;
    *rc = a->is_there ? 0 : -ETIMEDOUT;
    pthread_mutex_unlock(&a->lock);
    return *rc ? NULL : a;
}

static long pmix_get(struct manager *m, int owner, const char *key, unsigned char **value)
{
    struct pmix *p = self_of(m);
    char name[300];
    int rc;
    key_of(name, key);
    struct answer *a = ask(p, (uint32_t)owner, name, &rc);
    if (rc == -ETIMEDOUT)
        return os_fail(-EIO, "the process manager that started this program (PMIx): PMIx_Get has not returned rank %d's key "
                       "'%s' within %d s; start the program with Vireo's own mpiexec", owner, key, GET_S);
    if (!a)
        return rc;
    int status = a->status;
    bool fits = !status && a->value.type == TYPE_BYTES && a->value.data.bytes.len <= BNR_MAX_VALUE;
    size_t len = fits ? a->value.data.bytes.len : 0;
    unsigned char *bytes = fits ? a->bytes : NULL;
    if (bytes) {
        free(*value);
        *value = bytes;
        a->bytes = NULL;
    }
    answer_free(a);
    if (status)
        return status == NOT_FOUND || status == TIMED_OUT ? -ENOENT : lost(p, "PMIx_Get", status);
    return bytes ? (long)len : fits ? -ENOMEM : -EPROTO;
}

/* Hosts are told apart by what they say of themselves. */
static int pmix_places(struct manager *m, int *node)
{
    return 0;
}

static void pmix_abort(struct manager *m, int exit_code, const char *msg)
{
    struct pmix *p = self_of(m);
    (void)p->abort(exit_code, msg, NULL, 0);
}

static void pmix_leave(struct manager *m)
{
    struct pmix *p = self_of(m);
    (void)p->finalize(NULL, 0);
    free(p);
}

static const struct manager_ops pmix_ops = {
    .name = "pmix",
    .put = pmix_put,
    .fence = pmix_fence,
    .get = pmix_get,
    .places = pmix_places,
    .abort = pmix_abort,
    .leave = pmix_leave,
};

/* ---- joining ---- */

/* A number of the job or of this process; other if the manager does not know it. */
static int number_of(struct pmix *p, uint32_t rank, const char *key, int other)
{
    int rc;
    struct answer *a = ask(p, rank, key, &rc);
    if (!a)
        return other;
    const struct pmix_value *v = &a->value; /* without a type where the manager does not know */
    int64_t number = v->type == TYPE_UINT32   ? (int64_t)v->data.u32
                     : v->type == TYPE_UINT16 ? (int64_t)v->data.u16
                     : v->type == TYPE_INT    ? (int64_t)v->data.i
                     : v->type == TYPE_SIZE_T ? (int64_t)v->data.size
                                              : -1;
    answer_free(a);
    return number >= 0 && number < INT32_MAX ? (int)number : other;
}

static bool load(struct pmix *p, void *library)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {
        {"PMIx_Init", &p->init},         {"PMIx_Finalize", &p->finalize},
        {"PMIx_Abort", &p->abort},       {"PMIx_Put", &p->put},
        {"PMIx_Commit", &p->commit},     {"PMIx_Fence_nb", &p->fence},
        {"PMIx_Get_nb", &p->get},        {"PMIx_Error_string", &p->error_string},
        {"PMIx_Register_event_handler", &p->on_event},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return false;
        memcpy(functions[i].to, &found, sizeof(found));
    }
    return true;
}

/* PMIx_Init() in a thread of its own, since it may never return. */
struct greeting {
    struct pmix *p;
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    int status;
};

static void *greet(void *arg)
{
    struct greeting *g = arg;
    int status = g->p->init(&g->p->self, NULL, 0);
    pthread_mutex_lock(&g->lock);
    g->status = status;
    g->is_done = true;
    pthread_cond_signal(&g->done);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static int greet_server(struct pmix *p)
{
    static struct greeting g = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    g.p = p;
    if (pthread_create(&thread, NULL, greet, &g))
        return os_fail(-EAGAIN, "no thread can be started for PMIx_Init");
    pthread_mutex_lock(&g.lock);
    await_flag(&g.is_done, &g.done, &g.lock, INIT_S);
    bool is_done = g.is_done;
    pthread_mutex_unlock(&g.lock);
    if (!is_done)
        return os_fail(-ETIMEDOUT, "PMIx_Init has not returned within %d s: the manager and libpmix do not fit; start the "
                       "program with Vireo's own mpiexec", INIT_S);
    pthread_join(thread, NULL);
    return g.status ? lost(p, "PMIx_Init", g.status) : 0;
}

/* ---- the manager's end ---- */

/* The library's thread calls it. Without it this process would wait, or compute, for ever. */
static void on_loss(size_t handler, int status)
{
    os_fail(0, "the process manager that started this program (PMIx) has ended, and so does this process");
    _exit(1);
}

static void note_registered(int status, size_t handler, void *arg)
{
}

static void watch_manager(struct pmix *p)
{
    static const int losses[] = {LOST_CONNECTION, LOST_SERVER};
    p->on_event(losses, sizeof(losses) / sizeof(losses[0]), NULL, 0, on_loss, note_registered, NULL);
}

/* ---- finding it ---- */

/* A rank is one program in its life. Of a second one's processes the manager does not know all that it knew of the first
 * one's, and some of its fences and values are lost as a process of the first one leaves. So a file in the manager's
 * folder tells that the rank has been a program; the manager removes it. The port tells managers apart whose processes
 * have had one number: a killed one leaves its folder. */
static int claim(const char *space, const char *rank)
{
    const char *folder = getenv("PMIX_SERVER_TMPDIR"), *server = getenv("PMIX_SERVER_URI2");
    const char *port = server ? strrchr(server, ':') : NULL;
    char path[PATH_MAX];
    if (!folder || !port ||
        snprintf(path, sizeof(path), "%s/vireo.%s.%s.%s", folder, space, rank, port + 1) >= (int)sizeof(path))
        return 0; /* nothing can be told, nor where the file cannot be made */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) {
        os_fail(0, "rank %s of this job has already been another program, and its process manager (PMIx) serves one; "
                "start each program as a job of its own, or alone with VIREO_SINGLETON=1", rank);
        return -EPERM;
    }
    if (fd >= 0)
        close(fd);
    return 0;
}

int pmix_find(struct manager **m)
{
    const char *space = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");
    if (!space || !rank)
        return -ENOENT;
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libpmix.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return os_fail(-ELIBACC, "a PMIx manager started this program, but there is no libpmix.so.2 (%s); install it, as "
                       "by the package libpmix2, or start the program with Vireo's own mpiexec", dlerror());
    struct pmix *p = calloc(1, sizeof(*p));
    if (!p || !load(p, library)) {
        free(p);
        return os_fail(-ELIBACC, "libpmix.so.2 cannot be used");
    }
    int rc = claim(space, rank);
    if (rc) {
        free(p);
        return rc;
    }
    rc = greet_server(p);
    if (rc)
        return rc; /* its thread may still use p */
    watch_manager(p);
    p->base.ops = &pmix_ops;
    p->base.rank = (int)p->self.rank;
    p->base.size = number_of(p, ALL_RANKS, "pmix.job.size", 0);
    p->base.appnum = number_of(p, p->self.rank, "pmix.appnum", -1);
    p->base.universe = number_of(p, ALL_RANKS, "pmix.univ.size", 0);
    *m = &p->base;
    return 0;
}
