/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors: handlers, codes, and the classes and codes that users add.
 *
 * A code has 14 bits: the class in the low 7, and above them the number of a text. Numbers go
 * round; the texts of the last RECENT errors are kept, and a code whose text is gone still gives
 * its class. Codes above MPI_ERR_LASTCODE are the user's.
 *
 * All may be called before MPI_Init and after MPI_Finalize, by any thread, so the locks work
 * whatever the number of threads. Each text has its own lock; the class of a code is found without
 * a lock.
 */
#include "mpi/errh.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/interface.h"
#include "mpi/store.h"
#include "mpi/type/type.h"
#include "os/lock.h"
#include "os/log.h"
#include "os/settings.h"
#include "os/shelf.h"

enum {
    RECENT = 32,         /* texts kept */
    TEXTS = 3 * RECENT,  /* numbers of texts: 1 to 97 without NOT_OURS */
    NOT_OURS =
        MPI_T_ERR_CANNOT_INIT / ERRH_TEXT_STEP, /* codes of the tool interface: each is a class */
    USER_CODES = 65536                          /* most classes and codes of the user */
};

static struct {
    struct os_lock lock; /* guards the rest */
    int code;            /* 0: empty */
    char text[MPI_MAX_ERROR_STRING];
} recent[RECENT];
static _Atomic uint32_t errors; /* that had a text, so far */

struct user_code {
    _Atomic int error_class; /* its own code if it is a class; 0: removed */
    int codes;               /* of a class: the number of its codes */
    struct os_lock lock;     /* guards text, and changes of error_class */
    char *text;
};

/* Held to add and remove: guards user_count, user_used, codes, errh_last_used. Taken before the locks of the
 * entries. */
static struct os_lock lock = OS_LOCK_INIT;
static struct os_shelf user = {.size = sizeof(struct user_code)};
static int user_count;
static int user_used; /* all places before this one are */
int errh_last_used = MPI_ERR_LASTCODE;

_Atomic int mpi_state = MPI_STATE_BEFORE;

static struct store store = {.lock = OS_LOCK_INIT};

/* In the order of their handles, and of the setting's words. */
static struct errhandler predefined[] = {
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_FATAL},
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_ABORT},
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_RETURN},
};

struct errh_slot errh_file_default = {.has = &predefined[2]};

/* ---- handlers ---- */

struct errhandler *errh_from(MPI_Errhandler handle)
{
    if (handle_is_constant(handle)) {
        uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_ERRORS_ARE_FATAL;
        return i < 3 ? &predefined[i] : NULL;
    }
    struct errhandler *errhandler = (struct errhandler *)handle;
    bool good = handle_leads_to(handle, OBJECT_ERRHANDLER) &&
                atomic_load_explicit(&errhandler->given, memory_order_relaxed) > 0;
    return good ? errhandler : NULL;
}

struct errhandler *errh_for(MPI_Errhandler handle, enum errh_on on)
{
    struct errhandler *errhandler = errh_from(handle);
    return errhandler && (errhandler->kind != ERRH_USER || errhandler->on == on) ? errhandler : NULL;
}

MPI_Errhandler errh_give(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER) {
        handle_given(&errhandler->given);
        return (MPI_Errhandler)errhandler;
    }
    uintptr_t i = (uintptr_t)(errhandler - predefined);
    return (MPI_Errhandler)((uintptr_t)MPI_ERRORS_ARE_FATAL + i);
}

void errh_take_back(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER && handle_taken_back(&errhandler->given))
        errh_unref(errhandler);
}

struct errhandler *errh_initial(void)
{
    return &predefined[os_setting(OS_SETTING_INITIAL_ERRHANDLER)];
}

const char *errh_initial_name(void)
{
    static const char *const names[] = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                        "mpi_errors_return"};
    return names[os_setting(OS_SETTING_INITIAL_ERRHANDLER)];
}

struct errhandler *errh_create(enum errh_on on, union errh_function function,
                               const struct errh_state *state)
{
    struct errhandler *errhandler = store_make(&store, sizeof(*errhandler), OBJECT_ERRHANDLER);
    if (!errhandler)
        return NULL;
    errhandler->kind = ERRH_USER;
    errhandler->on = (uint8_t)on;
    errhandler->function = function;
    if (state)
        errhandler->state = *state;
    return errhandler;
}

void errh_ref(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER)
        object_ref(&errhandler->object);
}

void errh_unref(struct errhandler *errhandler)
{
    if (errhandler->kind != ERRH_USER || !object_unref(&errhandler->object))
        return;
    if (errhandler->state.destroy)
        errhandler->state.destroy(errhandler->state.state);
    store_free(&store, errhandler);
}

void errh_start(struct errh_slot *slot, struct errhandler *errhandler)
{
    atomic_store_explicit(&slot->has, errhandler, memory_order_relaxed);
}

void errh_stop(struct errh_slot *slot)
{
    errh_unref(atomic_load_explicit(&slot->has, memory_order_relaxed));
}

void errh_set(struct errh_slot *slot, struct errhandler *errhandler)
{
    errh_ref(errhandler);
    os_lock(&slot->lock);
    struct errhandler *old = atomic_load_explicit(&slot->has, memory_order_relaxed);
    atomic_store_explicit(&slot->has, errhandler, memory_order_release);
    os_unlock(&slot->lock);
    errh_unref(old);
}

/* Recognised by its address: a user's handler may be gone by now. */
static bool is_predefined(const struct errhandler *errhandler)
{
    return (uintptr_t)errhandler - (uintptr_t)predefined < sizeof(predefined);
}

struct errhandler *errh_get(struct errh_slot *slot)
{
    struct errhandler *errhandler = atomic_load_explicit(&slot->has, memory_order_acquire);
    if (is_predefined(errhandler))
        return errhandler;
    os_lock(&slot->lock);
    errhandler = atomic_load_explicit(&slot->has, memory_order_relaxed);
    errh_ref(errhandler);
    os_unlock(&slot->lock);
    return errhandler;
}

bool errh_is_fatal(const struct errh_slot *slot)
{
    const struct errhandler *errhandler = atomic_load_explicit(&slot->has, memory_order_acquire);
    return is_predefined(errhandler) &&
           (errhandler->kind == ERRH_FATAL || errhandler->kind == ERRH_ABORT);
}

void errh_fini(void)
{
    errh_set(&errh_file_default, &predefined[2]);
}

/* ---- codes ---- */

/* The place of a user's code, which may be empty; NULL: it can have none. */
static struct user_code *user_place(int code)
{
    return code > MPI_ERR_LASTCODE ? os_shelf_at(&user, (uint32_t)(code - MPI_ERR_LASTCODE - 1))
                                   : NULL;
}

static int class_of(const struct user_code *entry)
{
    return entry ? atomic_load_explicit(&entry->error_class, memory_order_acquire) : 0;
}

/* ---- predefined classes ---- */

#define TEXT(error_class, text) [error_class] = #error_class ": " text

static const char *const class_texts[] = {
    TEXT(MPI_SUCCESS, "no error"),
    TEXT(MPI_ERR_BUFFER, "invalid buffer"),
    TEXT(MPI_ERR_COUNT, "invalid count"),
    TEXT(MPI_ERR_TYPE, "invalid datatype"),
    TEXT(MPI_ERR_TAG, "invalid tag"),
    TEXT(MPI_ERR_COMM, "invalid communicator"),
    TEXT(MPI_ERR_RANK, "invalid rank"),
    TEXT(MPI_ERR_REQUEST, "invalid request"),
    TEXT(MPI_ERR_ROOT, "invalid root"),
    TEXT(MPI_ERR_GROUP, "invalid group"),
    TEXT(MPI_ERR_OP, "invalid reduction operation"),
    TEXT(MPI_ERR_TOPOLOGY, "invalid topology"),
    TEXT(MPI_ERR_DIMS, "invalid dimensions"),
    TEXT(MPI_ERR_ARG, "invalid argument"),
    TEXT(MPI_ERR_UNKNOWN, "unknown error"),
    TEXT(MPI_ERR_TRUNCATE, "the message is longer than the receive buffer"),
    TEXT(MPI_ERR_OTHER, "another error"),
    TEXT(MPI_ERR_INTERN, "internal error of the library"),
    TEXT(MPI_ERR_PENDING, "the operation is not complete, and did not fail"),
    TEXT(MPI_ERR_IN_STATUS, "the error code is in the status"),
    TEXT(MPI_ERR_ACCESS, "permission denied"),
    TEXT(MPI_ERR_AMODE, "invalid access mode of a file"),
    TEXT(MPI_ERR_ASSERT, "invalid assertion"),
    TEXT(MPI_ERR_BAD_FILE, "invalid file name"),
    TEXT(MPI_ERR_BASE, "invalid base address of a window"),
    TEXT(MPI_ERR_CONVERSION, "a data conversion function failed"),
    TEXT(MPI_ERR_DISP, "invalid displacement of a window"),
    TEXT(MPI_ERR_DUP_DATAREP, "the data representation is defined already"),
    TEXT(MPI_ERR_FILE_EXISTS, "the file exists already"),
    TEXT(MPI_ERR_FILE_IN_USE, "the file is in use"),
    TEXT(MPI_ERR_FILE, "invalid file"),
    TEXT(MPI_ERR_INFO_KEY, "invalid info key"),
    TEXT(MPI_ERR_INFO_NOKEY, "no such info key"),
    TEXT(MPI_ERR_INFO_VALUE, "invalid info value"),
    TEXT(MPI_ERR_INFO, "invalid info object"),
    TEXT(MPI_ERR_IO, "input or output failed"),
    TEXT(MPI_ERR_KEYVAL, "invalid attribute key"),
    TEXT(MPI_ERR_LOCKTYPE, "invalid type of lock"),
    TEXT(MPI_ERR_NAME, "the service name is not published"),
    TEXT(MPI_ERR_NO_MEM, "no memory"),
    TEXT(MPI_ERR_NOT_SAME, "processes gave different arguments to a collective"),
    TEXT(MPI_ERR_NO_SPACE, "no space on the device"),
    TEXT(MPI_ERR_NO_SUCH_FILE, "no such file"),
    TEXT(MPI_ERR_PORT, "invalid port name"),
    TEXT(MPI_ERR_QUOTA, "the quota is used up"),
    TEXT(MPI_ERR_READ_ONLY, "the file or file system is read-only"),
    TEXT(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    TEXT(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    TEXT(MPI_ERR_RMA_RANGE, "the target is no part of the window"),
    TEXT(MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    TEXT(MPI_ERR_RMA_SYNC, "wrong synchronization of a window"),
    TEXT(MPI_ERR_SERVICE, "invalid service name"),
    TEXT(MPI_ERR_SIZE, "invalid size"),
    TEXT(MPI_ERR_SPAWN, "processes could not be started"),
    TEXT(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    TEXT(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    TEXT(MPI_ERR_WIN, "invalid window"),
    TEXT(MPI_ERR_RMA_FLAVOR, "the window is of the wrong flavor"),
    TEXT(MPI_ERR_PROC_ABORTED, "a peer process has failed (MPIX_ERR_PROC_FAILED)"),
    TEXT(MPI_ERR_VALUE_TOO_LARGE, "the value does not fit its type"),
    TEXT(MPI_ERR_SESSION, "invalid session"),
    TEXT(MPI_ERR_ERRHANDLER, "invalid error handler"),
    TEXT(MPI_ERR_ABI, "the binary interface is not supported"),
    TEXT(MPIX_ERR_PROC_FAILED_PENDING, "a process that could send has failed, and the receive still waits"),
    TEXT(MPIX_ERR_REVOKED, "the communicator is revoked"),
};

static const char *const tool_texts[] = {
    [0] = "MPI_T_ERR_CANNOT_INIT: the tool interface cannot start",
    [MPI_T_ERR_NOT_ACCESSIBLE - 1001] = "MPI_T_ERR_NOT_ACCESSIBLE: not accessible",
    [MPI_T_ERR_NOT_INITIALIZED - 1001] = "MPI_T_ERR_NOT_INITIALIZED: not initialized",
    [MPI_T_ERR_NOT_SUPPORTED - 1001] = "MPI_T_ERR_NOT_SUPPORTED: not supported",
    [MPI_T_ERR_MEMORY - 1001] = "MPI_T_ERR_MEMORY: no memory",
    [MPI_T_ERR_INVALID - 1001] = "MPI_T_ERR_INVALID: invalid use or argument",
    [MPI_T_ERR_INVALID_INDEX - 1001] = "MPI_T_ERR_INVALID_INDEX: invalid index",
    [MPI_T_ERR_INVALID_ITEM - 1001] = "MPI_T_ERR_INVALID_ITEM: invalid item",
    [MPI_T_ERR_INVALID_SESSION - 1001] = "MPI_T_ERR_INVALID_SESSION: invalid session",
    [MPI_T_ERR_INVALID_HANDLE - 1001] = "MPI_T_ERR_INVALID_HANDLE: invalid handle",
    [MPI_T_ERR_INVALID_NAME - 1001] = "MPI_T_ERR_INVALID_NAME: invalid name",
    [MPI_T_ERR_OUT_OF_HANDLES - 1001] = "MPI_T_ERR_OUT_OF_HANDLES: no more handles",
    [MPI_T_ERR_OUT_OF_SESSIONS - 1001] = "MPI_T_ERR_OUT_OF_SESSIONS: no more sessions",
    [MPI_T_ERR_CVAR_SET_NOT_NOW - 1001] = "MPI_T_ERR_CVAR_SET_NOT_NOW: cannot be set now",
    [MPI_T_ERR_CVAR_SET_NEVER - 1001] = "MPI_T_ERR_CVAR_SET_NEVER: can no longer be set",
    [MPI_T_ERR_PVAR_NO_WRITE - 1001] = "MPI_T_ERR_PVAR_NO_WRITE: cannot be written",
    [MPI_T_ERR_PVAR_NO_STARTSTOP - 1001] = "MPI_T_ERR_PVAR_NO_STARTSTOP: cannot be stopped",
    [MPI_T_ERR_PVAR_NO_ATOMIC - 1001] = "MPI_T_ERR_PVAR_NO_ATOMIC: no atomic read and write",
};

/* The text of a predefined class (MPI_SUCCESS has one too), or NULL. */
static const char *class_text(int error_class)
{
    if (error_class >= 0 && error_class < (int)(sizeof(class_texts) / sizeof(class_texts[0])))
        return class_texts[error_class];
    int tool = error_class - MPI_T_ERR_CANNOT_INIT;
    if (tool >= 0 && tool < (int)(sizeof(tool_texts) / sizeof(tool_texts[0])))
        return tool_texts[tool];
    return NULL;
}

int errh_class(int code)
{
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    if (code > MPI_ERR_LASTCODE) {
        int error_class = class_of(user_place(code));
        return error_class ? error_class : MPI_ERR_UNKNOWN;
    }
    if (class_text(code))
        return code;
    if (code > 0 && code % ERRH_TEXT_STEP && class_text(code % ERRH_TEXT_STEP))
        return code % ERRH_TEXT_STEP;
    return MPI_ERR_UNKNOWN;
}

/* Cut to the room that there is. */
static void put(char text[MPI_MAX_ERROR_STRING], const char *from)
{
    size_t len = strlen(from);
    if (len >= MPI_MAX_ERROR_STRING)
        len = MPI_MAX_ERROR_STRING - 1;
    memcpy(text, from, len);
    text[len] = 0;
}

_Atomic bool errh_failures_are_plain;

static bool is_plain(int error_class)
{
    bool is_failure = error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
                      error_class == MPIX_ERR_REVOKED;
    return is_failure && atomic_load_explicit(&errh_failures_are_plain, memory_order_relaxed);
}

/* Keep the text of an error of a class. Returns its code. */
static int remember(int error_class, const char *text)
{
    if (is_plain(error_class))
        return error_class;
    uint32_t i = atomic_fetch_add_explicit(&errors, 1, memory_order_relaxed) % TEXTS;
    int number = (int)i + 1 < NOT_OURS ? (int)i + 1 : (int)i + 2;
    int code = error_class + number * ERRH_TEXT_STEP;
    os_lock_slow(&recent[i % RECENT].lock);
    recent[i % RECENT].code = code;
    put(recent[i % RECENT].text, text);
    os_unlock_slow(&recent[i % RECENT].lock);
    return code;
}

/* Get the text of a code that is among the recent ones. Returns whether it is. */
static bool recall(int code, char *text)
{
    int number = code / ERRH_TEXT_STEP;
    int i = number < NOT_OURS ? number - 1 : number - 2;
    if (code <= 0 || number == 0 || number == NOT_OURS || i >= TEXTS)
        return false;
    os_lock_slow(&recent[i % RECENT].lock);
    bool is_it = recent[i % RECENT].code == code;
    if (is_it)
        put(text, recent[i % RECENT].text);
    os_unlock_slow(&recent[i % RECENT].lock);
    return is_it;
}

/* Get the text of a code of the user's. Returns whether it is one. */
static bool user_string(int code, char *text)
{
    struct user_code *entry = user_place(code);
    if (!class_of(entry))
        return false;
    os_lock_slow(&entry->lock);
    bool is_one = class_of(entry);
    if (is_one)
        put(text, entry->text ? entry->text : "");
    os_unlock_slow(&entry->lock);
    return is_one;
}

bool errh_string(int code, char *text)
{
    const char *fixed = class_text(code);
    if (!fixed && (user_string(code, text) || recall(code, text)))
        return true;
    if (!fixed && code > 0 && code <= MPI_ERR_LASTCODE)
        fixed = class_text(code % ERRH_TEXT_STEP);
    put(text, fixed ? fixed : "no error code");
    return fixed;
}

/* ---- codes of the user ---- */

/* Locked. Return an unused place: the last one, or one that was removed. */
static int user_room(void)
{
    for (; user_used < user_count; user_used++)
        if (!class_of(os_shelf_at(&user, (uint32_t)user_used)))
            return user_used;
    if (user_count == USER_CODES || os_shelf_reach(&user, (uint32_t)user_count))
        return -1;
    return user_count++;
}

int errh_add_code(int error_class, int *code)
{
    int rc = MPI_ERR_NO_MEM;
    os_lock_slow(&lock);
    struct user_code *of = user_place(error_class);
    bool is_class = error_class > 0 && (class_of(of) ? class_of(of) == error_class
                                                     : class_text(error_class) != NULL);
    if (error_class && !is_class) {
        os_unlock_slow(&lock);
        return MPI_ERR_ARG;
    }
    int i = user_room();
    if (i >= 0) {
        struct user_code *entry = os_shelf_at(&user, (uint32_t)i);
        *code = MPI_ERR_LASTCODE + 1 + i;
        if (of)
            of->codes++;
        if (*code > errh_last_used)
            errh_last_used = *code;
        /* The former owner of the place has left no codes and no text. */
        atomic_store_explicit(&entry->error_class, error_class ? error_class : *code,
                              memory_order_release);
        rc = MPI_SUCCESS;
    }
    os_unlock_slow(&lock);
    return rc;
}

int errh_remove_code(int code, bool is_class)
{
    char *text = NULL;
    os_lock_slow(&lock);
    struct user_code *entry = user_place(code);
    int error_class = class_of(entry);
    bool good = error_class && (error_class == code) == is_class && !entry->codes;
    if (good)
        os_lock_slow(&entry->lock);
    if (good && !is_class && entry->text) { /* MPI-5.0 9.5 */
        os_unlock_slow(&entry->lock);
        good = false;
    }
    if (good) {
        struct user_code *of = user_place(error_class);
        if (of && of != entry)
            of->codes--;
        atomic_store_explicit(&entry->error_class, 0, memory_order_relaxed);
        text = entry->text;
        entry->text = NULL;
        os_unlock_slow(&entry->lock);
        if (user_used > code - MPI_ERR_LASTCODE - 1)
            user_used = code - MPI_ERR_LASTCODE - 1;
        while (user_count && !class_of(user_place(errh_last_used))) {
            user_count--;
            errh_last_used--;
        }
    }
    os_unlock_slow(&lock);
    free(text);
    return good ? MPI_SUCCESS : MPI_ERR_ARG;
}

int errh_set_string(int code, const char *text)
{
    struct user_code *entry = user_place(code);
    char *copy = text ? strdup(text) : NULL;
    bool good = false;
    if (text && !copy)
        return MPI_ERR_NO_MEM;
    if (entry) {
        os_lock_slow(&entry->lock);
        good = class_of(entry) && (text || entry->text);
        if (good) {
            char *old = entry->text;
            entry->text = copy;
            copy = old;
        }
        os_unlock_slow(&entry->lock);
    }
    free(copy);
    return good ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* ---- raising ---- */

/* Without _c or _x. */
static size_t stem_len(const char *name)
{
    size_t len = strlen(name);
    bool is_form = len > 2 && name[len - 2] == '_' && (name[len - 1] == 'c' || name[len - 1] == 'x');
    return is_form ? len - 2 : len;
}

/* The name as the user knows it: without the P of PMPI_, and that of the form that was called. */
static void public_name(const char *function, char *name, size_t size)
{
    const char *own = strncmp(function, "PMPI", 4) ? function : function + 1;
    const char *called = interface_called;
    size_t len = stem_len(own);
    if (called && stem_len(called) == len && !strncmp(called, own, len))
        snprintf(name, size, "%s", called);
    else
        snprintf(name, size, "%.*s", (int)len, own);
}

void errh_end(int code)
{
    int status = errh_class(code) & 0xff;
    fflush(NULL);
    _exit(status ? status : 1);
}

/* End the program: by the process manager, or alone without one. */
static void end(int code, const char *text)
{
    int status = errh_class(code) & 0xff;
    struct mpid_line line;
    char whole[MPI_MAX_ERROR_STRING + sizeof(line) + 32];
    fflush(NULL);
    mpid_find_line(&line);
    snprintf(whole, sizeof(whole), "%s%s%s", text, *line.text ? ", called at " : "", line.text);
    if (mpid_has_manager())
        mpid_abort(status ? status : 1, whole);
    dprintf(STDERR_FILENO, "%s\n", whole);
    errh_end(code);
}

static void call_with_state(const struct errhandler *errhandler, void *handle, int code)
{
    union errh_function function = errhandler->function;
    void *state = errhandler->state.state;
    switch ((enum errh_on)errhandler->on) {
    case ERRH_COMM: function.comm_x(handle, code, state); break;
    case ERRH_WIN: function.win_x(handle, code, state); break;
    case ERRH_FILE: function.file_x(handle, code, state); break;
    case ERRH_SESSION: function.session_x(handle, code, state); break;
    }
}

static void call(const struct errhandler *errhandler, void *handle, int code)
{
    union errh_function function = errhandler->function;
    MPI_Comm comm = handle;
    MPI_Win win = handle;
    MPI_File file = handle;
    MPI_Session session = handle;
    switch ((enum errh_on)errhandler->on) {
    case ERRH_COMM: function.comm(&comm, &code); break;
    case ERRH_WIN: function.win(&win, &code); break;
    case ERRH_FILE: function.file(&file, &code); break;
    case ERRH_SESSION: function.session(&session, &code); break;
    }
}

int errh_raise_on(struct errhandler *errhandler, void *handle, int code, const char *text)
{
    if (errhandler->kind == ERRH_USER && errhandler->state.given)
        call_with_state(errhandler, handle, code);
    else if (errhandler->kind == ERRH_USER)
        call(errhandler, handle, code);
    else if (errhandler->kind != ERRH_RETURN)
        end(code, text);
    errh_unref(errhandler);
    return code;
}

/* Have a freed communicator found by its handle while handlers run for it, in any threads. */
static void let_find(struct comm *freed, int handlers)
{
    static struct os_lock found = OS_LOCK_INIT;
    os_lock(&found);
    freed->in_handlers += handlers;
    object_set_word(&freed->object, freed->in_handlers ? OBJECT_COMM : 0);
    os_unlock(&found);
}

int errh_raise(struct comm *comm, int code, const char *text)
{
    struct comm *on = comm ? comm : comm_any(MPI_COMM_SELF);
    struct errhandler *errhandler = on ? errh_get(&on->errhandler) : errh_initial();
    /* A handler may ask for the object that it is called for, even where that object was freed and
     * a request still uses it. It may also free it. */
    bool was_freed = on && on->freed;
    if (was_freed)
        let_find(on, 1);
    void *handle = on && on->handled ? on->handled : on ? comm_handle(on) : MPI_COMM_NULL;
    (void)errh_raise_on(errhandler, handle, code, text);
    if (was_freed)
        let_find(on, -1);
    return code;
}

/* Sessions have one too: of mpi://WORLD. */
static int world_rank(void)
{
    return mpi_state == MPI_STATE_READY ? (int)group_me().rank : -1;
}

/* Make the text of an error: fmt states the mistake, where names the object, and rank is the rank
 * in its numbering. Returns the code. */
static int compose(int error_class, const char *function, const char *where, int rank,
                   char text[MPI_MAX_ERROR_STRING + 256], const char *fmt, va_list args)
{
    char name[64], on[64] = "", what[320];
    int world = world_rank();
    vsnprintf(what, sizeof(what), fmt, args);
    public_name(function, name, sizeof(name));
    if (rank >= 0 && world >= 0 && rank != world)
        snprintf(on, sizeof(on), "rank %d, world rank %d on ", rank, world);
    else if (rank >= 0)
        snprintf(on, sizeof(on), "rank %d on ", rank);
    /* Only the end may be cut. */
    snprintf(text, MPI_MAX_ERROR_STRING + 256, "%s: %s (%s%s%.64s)", name, what, where, on,
             os_host_name());
    text[MPI_MAX_ERROR_STRING - 1] = 0;
    /* These two codes only say where to look, and programs compare them. */
    bool bare = error_class == MPI_ERR_IN_STATUS || error_class == MPI_ERR_PENDING;
    /* A code of the user's, or one that has a text, stays as it is. */
    bool plain = error_class > 0 && error_class < ERRH_TEXT_STEP;
    return bare || !plain ? error_class : remember(error_class, text);
}

int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
{
    char text[MPI_MAX_ERROR_STRING + 256], where[160] = "", name[MPI_MAX_OBJECT_NAME];
    va_list args;
    if (comm && name_get(&comm->name, name))
        snprintf(where, sizeof(where), "communicator '%.127s', ", name);
    else if (comm)
        snprintf(where, sizeof(where), "communicator without a name, ");
    int rank = comm ? comm->rank : world_rank();
    va_start(args, fmt);
    int code = compose(error_class, function, where, rank, text, fmt, args);
    va_end(args);
    return errh_raise(comm, code, text);
}

static int raise_on(struct errhandler *errhandler, void *handle, int error_class,
                    const char *function, const char *fmt, va_list args)
{
    char text[MPI_MAX_ERROR_STRING + 256];
    int code = compose(error_class, function, "", world_rank(), text, fmt, args);
    return errh_raise_on(errhandler, handle, code, text);
}

int errh_on(struct errhandler *errhandler, void *handle, int error_class, const char *function,
            const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int code = raise_on(errhandler, handle, error_class, function, fmt, args);
    va_end(args);
    return code;
}

int errh_no_file(int error_class, const char *function, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int code =
        raise_on(errh_get(&errh_file_default), MPI_FILE_NULL, error_class, function, fmt, args);
    va_end(args);
    return code;
}

int errh_callback(int code, const char *function)
{
    char text[192], name[64];
    public_name(function, name, sizeof(name));
    snprintf(text, sizeof(text), "%s: a callback returned error code %d (%.64s)", name, code,
             os_host_name());
    return errh_raise(NULL, code, text);
}

struct errh_name errh_name(const void *handle)
{
    static const struct {
        const void *handle;
        const char *name;
    } names[] = {
        {NULL, "NULL"},
        {MPI_OP_NULL, "MPI_OP_NULL"},
        {MPI_COMM_NULL, "MPI_COMM_NULL"},
        {MPI_GROUP_NULL, "MPI_GROUP_NULL"},
        {MPI_WIN_NULL, "MPI_WIN_NULL"},
        {MPI_FILE_NULL, "MPI_FILE_NULL"},
        {MPI_SESSION_NULL, "MPI_SESSION_NULL"},
        {MPI_MESSAGE_NULL, "MPI_MESSAGE_NULL"},
        {MPI_INFO_NULL, "MPI_INFO_NULL"},
        {MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL"},
        {MPI_REQUEST_NULL, "MPI_REQUEST_NULL"},
        {MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL"},
    };
    struct errh_name name;
    snprintf(name.text, sizeof(name.text), "%p", handle);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].handle == handle)
            snprintf(name.text, sizeof(name.text), "%s", names[i].name);
    return name;
}

int errh_bad_type(struct comm *comm, MPI_Datatype handle, const char *which, const char *function)
{
    char name[MPI_MAX_OBJECT_NAME];
    struct type *type = type_from(handle);
    if (!type && mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (type) {
        const char *quote = name_get(&type->name, name) ? "'" : "";
        if (type->committed && type->extended)
            return errh_comm(comm, MPI_ERR_TYPE, function,
                             "%s%s%s%.127s%s holds long double, which has another format at another process: use double "
                             "instead, or processors of one kind",
                             which, *quote ? " " : "", quote, name, quote);
        return errh_comm(comm, MPI_ERR_TYPE, function,
                         "%s %s%.127s%s is not committed: call MPI_Type_commit first", which, quote,
                         name, quote);
    }
    if (handle_is_constant(handle))
        return errh_comm(comm, MPI_ERR_TYPE, function, "%s is %s: must be a datatype", which,
                         errh_name(handle).text);
    return errh_comm(comm, MPI_ERR_TYPE, function, "%s %p is none, or was freed", which,
                     (void *)handle);
}

int errh_bad_comm(MPI_Comm handle, const char *function)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    struct comm *revoked = comm_any(handle);
    if (revoked)
        return errh_comm(revoked, MPIX_ERR_REVOKED, function,
                         "the communicator is revoked: only MPIX_Comm_shrink, MPIX_Comm_agree and local "
                         "functions work");
    if (handle == MPI_COMM_NULL)
        return errh_comm(NULL, MPI_ERR_COMM, function, "communicator MPI_COMM_NULL");
    if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return errh_comm(NULL, MPI_ERR_COMM, function,
                         "%s is there only between MPI_Init and MPI_Finalize, and not for sessions",
                         handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    return errh_comm(NULL, MPI_ERR_COMM, function, "communicator %p is none, or was freed",
                     (void *)handle);
}

int errh_not_ready(const char *function)
{
    char text[320], name[64], who[OS_LOG_WHO];
    public_name(function, name, sizeof(name));
    os_log_who(who, sizeof(who));
    snprintf(text, sizeof(text), "%s: called %s (%s)", name,
             mpi_state == MPI_STATE_BEFORE   ? "before MPI_Init or MPI_Session_init"
             : mpi_state == MPI_STATE_FORKED ? "in a child process of the one that called MPI_Init"
                                             : "after MPI_Finalize, or the end of the last session",
             who);
    return errh_raise(NULL, remember(MPI_ERR_OTHER, text), text);
}
