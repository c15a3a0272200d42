/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that this process has others start; see orders.h. */
#include "bnr/client/orders.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/host/mail.h"
#include "bnr/host/names.h"
#include "bnr/host/order.h"
#include "os/be.h"

extern char **environ;

/* An order under way: a job, or a call about a name. */
struct ordered {
    struct ordered *next;
    int id;
    pid_t pid; /* of an mpiexec that is this process's child; 0: of another one's */
    int keepalive; /* of a child: it ends when this socket is closed; -1: it does not, or is none */
    bool has_ended;
    bool is_let_go; /* nobody asks for its end */
    int status; /* its exit code; of a name, 0 or -errno */
    char *text; /* of a name that was found; or NULL */
    struct order_report *reports, **reports_end;
    struct order_ear ear; /* records of a child, by its socket */
};

/* What a job of a group has told. */
struct order_report {
    struct order_report *next;
    uint32_t what;
    int number, status;
};

static struct ordered *all;
static int last_id;
static char *note;

void orders_take_note(void)
{
    const char *text = getenv("BNR_NOTE");
    free(note);
    note = text ? strdup(text) : NULL;
    (void)unsetenv("BNR_NOTE"); /* processes that this one starts are not spawned so */
}

static bool is_of_group(void)
{
    struct order_note read;
    return note && !order_note_get(&read, note);
}

const char *orders_note(void)
{
    return is_of_group() ? NULL : note;
}

const char *orders_group_note(void)
{
    return is_of_group() ? note : NULL;
}

static struct ordered *find(int id)
{
    struct ordered *s = all;
    while (s && s->id != id)
        s = s->next;
    return s;
}

static void forget(struct ordered *s)
{
    struct ordered **at = &all;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (s->keepalive >= 0)
        close(s->keepalive);
    while (s->reports) {
        struct order_report *r = s->reports;
        s->reports = r->next;
        free(r);
    }
    free(s->text);
    free(s);
}

/* A new one, in no list yet; NULL: no memory. */
static struct ordered *create(void)
{
    struct ordered *s = calloc(1, sizeof(*s));
    if (s) {
        s->id = ++last_id;
        s->keepalive = -1;
        s->reports_end = &s->reports;
    }
    return s;
}

static void note_report(struct ordered *s, uint32_t what, int number, int status)
{
    struct order_report *r = calloc(1, sizeof(*r));
    if (!r)
        return;
    *r = (struct order_report){NULL, what, number, status};
    *s->reports_end = r;
    s->reports_end = &r->next;
}

/* It is under way, or, where rc says otherwise, is freed. Returns rc. */
static int keep(struct ordered *s, int rc, int *id)
{
    if (rc) {
        free(s);
        return rc;
    }
    s->next = all;
    all = s;
    *id = s->id;
    return BNR_SUCCESS;
}

/* ---- by mpiexec ---- */

/* Words behind a head, each with its 0, to be freed. */
static uint8_t *pack(enum order_kind kind, int id, const char *const *words, size_t *len)
{
    *len = ORDER_HEAD;
    for (const char *const *w = words; w && *w; w++)
        *len += strlen(*w) + 1;
    uint8_t *bytes = *len <= MAIL_DATA_MAX ? malloc(*len) : NULL;
    if (!bytes)
        return NULL;
    os_be32_put(bytes, (uint32_t)kind);
    os_be32_put(bytes + 4, (uint32_t)id);
    uint8_t *at = bytes + ORDER_HEAD;
    for (const char *const *w = words; w && *w; w++) {
        memcpy(at, *w, strlen(*w) + 1);
        at += strlen(*w) + 1;
    }
    return bytes;
}

static int order(struct backend *b, enum order_kind kind, int id, const char *const *words)
{
    size_t len;
    uint8_t *bytes = pack(kind, id, words, &len);
    if (!bytes)
        return BNR_ERR_NOMEM;
    const struct backend_letter letter = {.mode = MAIL_ORDER, .data = bytes, .len = len};
    int rc = b->ops->xcast(b, &letter);
    free(bytes);
    return rc;
}

void orders_told(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    struct ordered *s = len >= ORDER_HEAD ? find((int)os_be32_get(bytes)) : NULL;
    if (!s || s->has_ended)
        return;
    uint32_t what = os_be32_get(bytes + 4);
    if (what == ORDER_TOLD_STARTED || what == ORDER_TOLD_EXIT) {
        char *words = strndup((const char *)bytes + ORDER_HEAD, len - ORDER_HEAD);
        int number, status;
        if (words && sscanf(words, "%d %d", &number, &status) == 2)
            note_report(s, what, number, status);
        free(words);
        return;
    }
    s->has_ended = true;
    s->status = (int)os_be32_get(bytes + 4);
    if (s->is_let_go)
        forget(s);
    else
        s->text = strndup((const char *)bytes + ORDER_HEAD, len - ORDER_HEAD);
}

/* ---- by this process ---- */

/* Whether a folder has our mpiexec, and not another project's: the program vireo is beside it. */
static bool is_there(const char *folder, const char *below, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s%s/vireo", folder, below) < PATH_MAX && !access(path, X_OK) &&
           snprintf(path, PATH_MAX, "%s%s/mpiexec", folder, below) < PATH_MAX && !access(path, X_OK);
}

/* The mpiexec that was installed with this library, in a bin beside one of the folders above it; or one along
 * PATH. */
static bool find_mpiexec(char path[PATH_MAX])
{
    Dl_info info;
    char whole[PATH_MAX];
    const char *search = getenv("PATH");
    if (dladdr(&all, &info) && info.dli_fname && realpath(info.dli_fname, whole)) {
        for (char *slash; (slash = strrchr(whole, '/')) && slash != whole;) {
            *slash = 0;
            if (is_there(whole, "/bin", path))
                return true;
        }
    }
    for (size_t len; search && *search; search += len + (search[len] != 0)) {
        len = strcspn(search, ":");
        if (snprintf(whole, sizeof(whole), "%.*s", (int)len, search) < PATH_MAX && is_there(whole, "", path))
            return true;
    }
    return false;
}

/* Start a program in a process group of its own, as the terminal's keys are this process's; it inherits fd. Returns 0
 * or an errno. */
static int launch(char **argv, char **environment, int fd, pid_t *pid)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t actions;
    int rc = posix_spawnattr_init(&attr);
    if (rc)
        return rc;
    rc = posix_spawn_file_actions_init(&actions);
    if (!rc) {
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
        rc = posix_spawn_file_actions_adddup2(&actions, fd, fd); /* it is not closed there */
        if (!rc)
            rc = posix_spawn(pid, argv[0], &actions, &attr, argv, environment);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)posix_spawnattr_destroy(&attr);
    return rc;
}

/* Start mpiexec with these words behind a note, which ends if this process does without leave_job(). */
static int start_own(const char *const *words, struct ordered *s)
{
    char path[PATH_MAX], number[16], option[] = "--keepalive";
    int ends[2], rc = ENOMEM;
    size_t count = 0;
    while (words[count])
        count++;
    if (!find_mpiexec(path))
        return BNR_ERR_NOT_FOUND;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return BNR_FAIL;
    snprintf(number, sizeof(number), "%d", ends[0]);
    char **argv = calloc(count + 3, sizeof(*argv)), **environment = order_environ(environ, words[0]);
    if (argv && environment) {
        argv[0] = path;
        argv[1] = option;
        argv[2] = number;
        for (size_t i = 1; i < count; i++)
            argv[i + 2] = (char *)(uintptr_t)words[i];
        rc = launch(argv, environment, ends[0], &s->pid);
    }
    free(argv);
    free(environment);
    close(ends[0]);
    s->keepalive = rc ? -1 : ends[1];
    if (rc)
        close(ends[1]);
    return rc == ENOMEM ? BNR_ERR_NOMEM : rc == ENOENT ? BNR_ERR_NOT_FOUND : rc ? BNR_FAIL : BNR_SUCCESS;
}

/* The job goes on when this process ends. */
static void leave_job(struct ordered *s)
{
    const uint8_t word = ORDER_STAY;
    if (s->keepalive < 0)
        return;
    (void)!send(s->keepalive, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(s->keepalive);
    s->keepalive = -1;
}

/* Take what a child has told. */
static void hear_child(struct ordered *s)
{
    uint32_t words[3];
    while (s->keepalive >= 0 && order_hear(&s->ear, s->keepalive, words) > 0)
        note_report(s, words[0], (int)words[1], (int)words[2]);
}

/* Whether it has ended, of a child. */
static void look_at(struct ordered *s)
{
    int status;
    if (s->has_ended || !s->pid)
        return;
    hear_child(s);
    pid_t pid = waitpid(s->pid, &status, WNOHANG);
    if (!pid || (pid < 0 && errno == EINTR))
        return;
    hear_child(s);
    s->has_ended = true; /* where the program has reaped it, nobody knows how */
    s->status = pid < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- both ---- */

/* The words, with the note in front: to be freed, as an array. */
static const char **with_note(const BNR_Job_attr *attr)
{
    size_t count = 0;
    while (attr->words[count])
        count++;
    const char **words = calloc(count + 2, sizeof(*words));
    if (!words)
        return NULL;
    words[0] = attr->note ? attr->note : "";
    memcpy(words + 1, attr->words, count * sizeof(*words));
    return words;
}

/* Reap children whose end nobody asks for. */
static void reap(void)
{
    struct ordered *next;
    for (struct ordered *s = all; s; s = next) {
        next = s->next;
        look_at(s);
        if (s->is_let_go && s->has_ended)
            forget(s);
    }
}

int orders_start(struct backend *b, const BNR_Job_attr *attr, int *id)
{
    struct ordered *s = create();
    const char **words = with_note(attr);
    reap();
    int rc = s && words ? BNR_SUCCESS : BNR_ERR_NOMEM;
    if (!rc)
        rc = b->ops->caps & BNR_CAP_XCAST ? order(b, ORDER_SPAWN, s->id, words)
                                          : start_own(words, s);
    free(words);
    return keep(s, rc, id);
}

int orders_state(int id, int *ended, int *status)
{
    struct ordered *s = find(id);
    if (!s)
        return BNR_ERR_ARG;
    look_at(s);
    *ended = s->has_ended;
    *status = s->status;
    if (!s->has_ended)
        return BNR_SUCCESS;
    forget(s); /* nobody need ask again */
    return BNR_SUCCESS;
}

int orders_link(struct backend *b, int id, int is_linked, int *asked)
{
    char number[16];
    const char *const words[] = {number, NULL};
    struct ordered *job = find(id), *s = create();
    int rc = s ? BNR_SUCCESS : BNR_ERR_NOMEM, own;
    snprintf(number, sizeof(number), "%d", id);
    if (job)
        job->is_let_go = true;
    if (job && !is_linked)
        leave_job(job);
    if (!rc && b->ops->caps & BNR_CAP_XCAST)
        rc = order(b, is_linked ? ORDER_LINK : ORDER_UNLINK, s->id, words);
    else if (!rc)
        s->has_ended = true;
    if (s)
        s->is_let_go = !asked;
    return keep(s, rc, asked ? asked : &own);
}

bool orders_report(int id, uint32_t *what, int *number, int *status)
{
    struct ordered *s = find(id);
    if (s)
        look_at(s);
    struct order_report *r = s ? s->reports : NULL;
    if (!r)
        return false;
    s->reports = r->next;
    if (!s->reports)
        s->reports_end = &s->reports;
    *what = r->what;
    *number = r->number;
    *status = r->status;
    free(r);
    return true;
}

void orders_let_go(int id)
{
    struct ordered *s = find(id);
    if (s)
        s->is_let_go = true;
    reap();
}

int orders_kill(struct backend *b, int id, int rank, int sig)
{
    char to[16], number[16];
    const char *const words[] = {to, number, NULL};
    const struct ordered *s = id ? find(id) : NULL;
    uint8_t bytes[ORDER_SIGNAL_LEN] = {ORDER_SIGNAL};
    snprintf(to, sizeof(to), "%d", rank);
    snprintf(number, sizeof(number), "%d", sig);
    if (b->ops->caps & BNR_CAP_XCAST)
        return order(b, ORDER_KILL, id, words);
    if (!s || s->keepalive < 0)
        return id ? BNR_ERR_PROC_FAILED : BNR_ERR_UNSUPPORTED;
    os_be32_put(bytes + 1, (uint32_t)rank);
    os_be32_put(bytes + 5, (uint32_t)sig);
    return send(s->keepalive, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(bytes) ? BNR_SUCCESS
                                                                                                 : BNR_ERR_PROC_FAILED;
}

bool orders_can_start(const struct backend *b)
{
    static int has_own = -1; /* it is asked often, and the search takes system calls */
    char path[PATH_MAX];
    if (b->ops->caps & BNR_CAP_XCAST)
        return true;
    if (has_own < 0)
        has_own = find_mpiexec(path);
    return has_own;
}

void orders_leave(void)
{
    for (struct ordered *s = all; s; s = s->next)
        leave_job(s);
}

/* ---- names ---- */

static void answer_own(struct ordered *s, enum BNR_Name_call call, const char *name, const char *text)
{
    static const enum name_task calls[] = {NAME_PUBLISH, NAME_UNPUBLISH, NAME_FIND};
    char found[NAMES_MAX + 1];
    s->has_ended = true;
    s->status = names_call(calls[call], name, text, found);
    s->text = strdup(found);
}

int orders_name(struct backend *b, enum BNR_Name_call call, const char *name, const char *text, int *id)
{
    static const enum order_kind kinds[] = {ORDER_PUBLISH, ORDER_UNPUBLISH, ORDER_LOOKUP};
    const char *const words[] = {name, text ? text : "", NULL};
    struct ordered *s = create();
    int rc = s ? BNR_SUCCESS : BNR_ERR_NOMEM;
    if (!rc && b->ops->caps & BNR_CAP_XCAST)
        rc = order(b, kinds[call], s->id, words);
    else if (!rc)
        answer_own(s, call, name, words[1]);
    return keep(s, rc, id);
}

static int code_of(int status)
{
    switch (status) {
    case 0: return BNR_SUCCESS;
    case -ENOENT: return BNR_ERR_NOT_FOUND;
    case -EEXIST: return BNR_ERR_EXISTS;
    case -EPERM: return BNR_ERR_PERM;
    case -EINVAL: return BNR_ERR_ARG;
    case -ENOMEM: return BNR_ERR_NOMEM;
    default: return BNR_FAIL;
    }
}

int orders_name_state(int id, int *done, int *code, char *text, size_t size)
{
    struct ordered *s = find(id);
    if (!s)
        return BNR_ERR_ARG;
    *done = s->has_ended;
    if (!s->has_ended)
        return BNR_SUCCESS;
    *code = code_of(s->status);
    if (text && size)
        snprintf(text, size, "%s", s->text ? s->text : "");
    forget(s);
    return BNR_SUCCESS;
}
