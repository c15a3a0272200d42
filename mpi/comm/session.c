/* SPDX-License-Identifier: BSD-3-Clause */

/* Sessions and process sets; see session.h. */
#include "mpi/comm/session.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "mpi/comm/errh.h"
#include "mpi/info.h"
#include "mpi/store.h"
#include "mpi/world.h"
#include "os/lock.h"
#include "os/settings.h"

static struct store store = {.lock = OS_LOCK_INIT};

/* Guards the list and the numbers. Held to add to apps. */
static struct os_lock lock = OS_LOCK_INIT;
static struct session *sessions;
static uint64_t last_number;

struct session *session_create(void)
{
    return store_make(&store, sizeof(struct session), OBJECT_SESSION);
}

void session_free(struct session *session)
{
    store_free(&store, session);
}

void session_begin(struct session *session, int level, struct errhandler *errhandler)
{
    errh_ref(errhandler);
    errh_start(&session->errhandler, errhandler);
    session->level = level;
    os_lock(&lock);
    session->number = ++last_number;
    DL_PREPEND(sessions, session);
    os_unlock(&lock);
}

void session_close(struct session *session)
{
    object_set_word(&session->object, 0);
}

void session_destroy(struct session *session)
{
    os_lock(&lock);
    DL_DELETE(sessions, session);
    os_unlock(&lock);
    errh_stop(&session->errhandler);
    session_free(session);
}

int session_error(struct session *session, int error_class, const char *function,
                  const char *fmt, ...)
{
    char what[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return errh_on(errh_get(&session->errhandler), session_handle(session), error_class, function,
                   "%s", what);
}

/* As MPI-5.0 9.3 asks for errors that concern no object. */
int session_bad(MPI_Session handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (handle == MPI_SESSION_NULL)
        return errh_comm(NULL, MPI_ERR_SESSION, function, "session MPI_SESSION_NULL");
    return errh_comm(NULL, MPI_ERR_SESSION, function, "session %p is none, or was finalized",
                     (void *)handle);
}

struct buffer *session_buffer(uint64_t number)
{
    os_lock(&lock);
    const struct session *session = sessions;
    while (session && session->number != number)
        session = session->next;
    struct buffer *buffer = session ? session->buffer : NULL;
    os_unlock(&lock);
    return buffer;
}

struct info *session_info(const struct session *session)
{
    struct info *info = info_create();
    if (info && (info_set(info, "thread_level", world_level_name(session->level)) ||
                 info_set(info, "mpi_memory_alloc_kinds", SESSION_MEMORY_KINDS))) {
        info_destroy(info);
        info = NULL;
    }
    return info;
}

/* ---- process sets ---- */

static const char world_name[] = "mpi://WORLD", self_name[] = "mpi://SELF",
                  app_name[] = "vireo://app/";

/* The name that mpiexec's user has given to the processes of a program; *len 0: none. */
static const char *given_name(int app, size_t *len)
{
    const char *at = os_setting_text(OS_SETTING_PSETS);
    for (; app > 0 && *at; app--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    *len = app ? 0 : strcspn(at, ",");
    return at;
}

/* The program whose processes have a name, or -1. */
static int app_named(const char *name)
{
    const char *at = os_setting_text(OS_SETTING_PSETS);
    for (int app = 0; *name; app++) {
        size_t len = strcspn(at, ",");
        if (len == strlen(name) && !memcmp(at, name, len))
            return app;
        if (!at[len])
            break;
        at += len + 1;
    }
    return -1;
}

int session_pset_count(void)
{
    size_t len = 0;
    if (world_facts.appnum < 0)
        return 2;
    (void)given_name(world_facts.appnum, &len);
    return len ? 4 : 3;
}

void session_pset_name(int n, char name[MPI_MAX_PSET_NAME_LEN])
{
    const char *fixed = n == 0 ? world_name : n == 1 ? self_name : "";
    snprintf(name, MPI_MAX_PSET_NAME_LEN, "%s", fixed);
    if (n == 2 && n < session_pset_count())
        snprintf(name, MPI_MAX_PSET_NAME_LEN, "%s%d", app_name, world_facts.appnum);
    if (n == 3 && n < session_pset_count()) {
        size_t len;
        const char *given = given_name(world_facts.appnum, &len);
        snprintf(name, MPI_MAX_PSET_NAME_LEN, "%.*s", (int)len, given);
    }
}

/* The N of vireo://app/N, or -1. */
static int app_of(const char *name)
{
    size_t len = strlen(app_name);
    if (strncasecmp(name, app_name, len) || strspn(name + len, "0123456789") != strlen(name + len) ||
        !name[len] || strlen(name + len) > 9)
        return -1;
    return atoi(name + len);
}

/* Which processes run which program does not change. The device's answer is kept after the first
 * question, so later readers need no lock of the device. */
struct app {
    struct app *next;
    int number;
    struct session_pset set;
};
static struct app *_Atomic apps;

static const struct app *known_app(int number)
{
    const struct app *app = atomic_load_explicit(&apps, memory_order_acquire);
    while (app && app->number != number)
        app = app->next;
    return app;
}

/* Where memory was out it is asked for again. */
static void keep_app(int number, struct session_pset set)
{
    os_lock(&lock);
    struct app *app = known_app(number) ? NULL : malloc(sizeof(*app));
    if (app) {
        *app = (struct app){apps, number, set};
        atomic_store_explicit(&apps, app, memory_order_release);
    }
    os_unlock(&lock);
}

static bool find_app(int number, struct session_pset *set)
{
    const struct app *app = known_app(number);
    if (app) {
        *set = app->set;
        return true;
    }
    if (!mpid_app(number, &set->first, &set->size))
        return false;
    keep_app(number, *set);
    return true;
}

bool session_pset(const char *name, struct session_pset *set)
{
    if (!strcasecmp(name, world_name)) {
        *set = (struct session_pset){0, world_facts.size};
        return true;
    }
    if (!strcasecmp(name, self_name)) {
        *set = (struct session_pset){world_facts.rank, 1};
        return true;
    }
    int app = app_of(name);
    if (app < 0)
        app = app_named(name);
    return app >= 0 && find_app(app, set);
}
