/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors: handlers, codes, and the classes and codes that users add.
 *
 * A code has 14 bits: the class in the low 6, and above them the number of a
 * text, 1 to 255. Numbers go round; the texts of the last RECENT errors are
 * kept, and a code whose text is gone still tells its class. Codes above
 * MPI_ERR_LASTCODE are the user's.
 *
 * All may be called before MPI_Init and after MPI_Finalize, by any thread, so
 * the lock does not ask how many threads there are.
 */
#include "mpi/errh.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/comm.h"
#include "mpi/errh_class.h"
#include "mpi/group.h"
#include "mpi/type.h"
#include "os/lock.h"
#include "os/log.h"
#include "os/settings.h"

enum {
    RECENT = 32,       /* texts kept */
    TEXTS = 255,       /* numbers of texts: 1 to 255 */
    USER_CODES = 65536 /* classes and codes of the user at most */
};

struct user_code {
    int error_class; /* its own code where it is a class; 0: removed */
    int codes;       /* of a class: codes that it has */
    char *text;
};

/* recent, number, user, user_count, errh_last_used */
static struct os_lock lock = OS_LOCK_INIT;
static struct {
    int code; /* 0: empty */
    char text[MPI_MAX_ERROR_STRING];
} recent[RECENT];
static int number, next_slot;
static struct user_code *user;
static int user_count;
int errh_last_used = MPI_ERR_LASTCODE;

_Atomic int mpi_state = MPI_STATE_BEFORE;

/* In the order of their handles, and of the setting's words. */
static struct errhandler predefined[] = {
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_FATAL},
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_ABORT},
    {.object = {OBJECT_ERRHANDLER, 1}, .kind = ERRH_RETURN},
};

struct errhandler *errh_file_default = &predefined[2]; /* comm_lock */

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

struct errhandler *errh_create(enum errh_on on, union errh_function function)
{
    struct errhandler *errhandler = calloc(1, sizeof(*errhandler));
    if (!errhandler)
        return NULL;
    object_init(&errhandler->object, OBJECT_ERRHANDLER);
    errhandler->kind = ERRH_USER;
    errhandler->on = (uint8_t)on;
    errhandler->function = function;
    return errhandler;
}

void errh_ref(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER)
        object_ref(&errhandler->object);
}

void errh_unref(struct errhandler *errhandler)
{
    if (errhandler->kind == ERRH_USER && object_unref(&errhandler->object)) {
        errhandler->object.word = 0;
        free(errhandler);
    }
}

void errh_set(struct errhandler **slot, struct errhandler *errhandler)
{
    errh_ref(errhandler);
    os_lock(&comm_lock);
    struct errhandler *old = *slot;
    *slot = errhandler;
    os_unlock(&comm_lock);
    errh_unref(old);
}

struct errhandler *errh_get(struct errhandler **slot)
{
    os_lock(&comm_lock);
    struct errhandler *errhandler = *slot;
    errh_ref(errhandler);
    os_unlock(&comm_lock);
    return errhandler;
}

void errh_fini(void)
{
    errh_set(&errh_file_default, &predefined[2]);
}

/* ---- codes ---- */

/* Locked. The user's entry of a code, or NULL. */
static struct user_code *user_entry(int code)
{
    int i = code - MPI_ERR_LASTCODE - 1;
    return i >= 0 && i < user_count && user[i].error_class ? &user[i] : NULL;
}

int errh_class(int code)
{
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    if (code > MPI_ERR_LASTCODE) {
        os_lock_slow(&lock);
        struct user_code *entry = user_entry(code);
        int error_class = entry ? entry->error_class : MPI_ERR_UNKNOWN;
        os_unlock_slow(&lock);
        return error_class;
    }
    if (errh_class_text(code))
        return code;
    if (code > 0 && code % ERRH_TEXT_STEP && errh_class_text(code % ERRH_TEXT_STEP))
        return code % ERRH_TEXT_STEP;
    return MPI_ERR_UNKNOWN;
}

/* Keep the text of an error of a class. Returns its code. */
static int remember(int error_class, const char *text)
{
    os_lock_slow(&lock);
    number = number % TEXTS + 1;
    /* 64 * 15 and on: codes of the tool interface, which are classes */
    if (number == MPI_T_ERR_CANNOT_INIT / ERRH_TEXT_STEP)
        number++;
    int code = error_class + number * ERRH_TEXT_STEP;
    recent[next_slot].code = code;
    snprintf(recent[next_slot].text, sizeof(recent[0].text), "%.511s", text);
    next_slot = (next_slot + 1) % RECENT;
    os_unlock_slow(&lock);
    return code;
}

/* Locked. The text of a code that is among the recent ones, newest first. */
static const char *recall(int code)
{
    for (int i = 1; i <= RECENT; i++) {
        int slot = (next_slot - i + RECENT) % RECENT;
        if (recent[slot].code == code)
            return recent[slot].text;
    }
    return NULL;
}

bool errh_string(int code, char *text)
{
    bool known = true;
    os_lock_slow(&lock);
    const struct user_code *entry = user_entry(code);
    const char *found = errh_class_text(code);
    if (entry) {
        found = entry->text ? entry->text : "";
    } else if (!found && code > 0 && code <= MPI_ERR_LASTCODE) {
        found = recall(code);
        if (!found)
            found = errh_class_text(code % ERRH_TEXT_STEP);
    }
    if (!found) {
        known = false;
        found = "no error code";
    }
    snprintf(text, MPI_MAX_ERROR_STRING, "%s", found);
    os_unlock_slow(&lock);
    return known;
}

/* ---- codes of the user ---- */

/* Locked. An unused entry, which is the last or one that was removed. */
static int user_room(void)
{
    for (int i = 0; i < user_count; i++)
        if (!user[i].error_class)
            return i;
    if (user_count == USER_CODES)
        return -1;
    if (!(user_count & (user_count - 1))) { /* 0 or a power of two: full */
        int room = user_count ? 2 * user_count : 1;
        struct user_code *more = realloc(user, (size_t)room * sizeof(*more));
        if (!more)
            return -1;
        user = more;
    }
    return user_count++;
}

int errh_add_code(int error_class, int *code)
{
    int rc = MPI_ERR_NO_MEM;
    os_lock_slow(&lock);
    struct user_code *of = user_entry(error_class);
    bool is_class = error_class > 0 && (of ? of->error_class == error_class
                                           : errh_class_text(error_class) != NULL);
    if (error_class && !is_class) {
        os_unlock_slow(&lock);
        return MPI_ERR_ARG;
    }
    int i = user_room();
    if (i >= 0) {
        *code = MPI_ERR_LASTCODE + 1 + i;
        user[i] = (struct user_code){.error_class = error_class ? error_class : *code};
        of = user_entry(error_class); /* the table may have moved */
        if (of)
            of->codes++;
        if (*code > errh_last_used)
            errh_last_used = *code;
        rc = MPI_SUCCESS;
    }
    os_unlock_slow(&lock);
    return rc;
}

int errh_remove_code(int code, bool is_class)
{
    int rc = MPI_ERR_ARG;
    os_lock_slow(&lock);
    struct user_code *entry = user_entry(code);
    if (entry && (entry->error_class == code) == is_class && !entry->codes) {
        struct user_code *of = user_entry(entry->error_class);
        if (of && of != entry)
            of->codes--;
        free(entry->text);
        *entry = (struct user_code){0};
        while (user_count && !user_entry(errh_last_used)) {
            user_count--;
            errh_last_used--;
        }
        rc = MPI_SUCCESS;
    }
    os_unlock_slow(&lock);
    return rc;
}

int errh_set_string(int code, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        return MPI_ERR_NO_MEM;
    os_lock_slow(&lock);
    struct user_code *entry = user_entry(code);
    bool good = entry && (text || entry->text);
    if (good) {
        char *old = entry->text;
        entry->text = copy;
        copy = old;
    }
    os_unlock_slow(&lock);
    free(copy);
    return good ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* ---- raising ---- */

/* The name as the user knows it: without the P of PMPI_, and the _c. */
static void public_name(const char *function, char *name, size_t size)
{
    snprintf(name, size, "%s", strncmp(function, "PMPI", 4) ? function : function + 1);
    size_t len = strlen(name);
    if (len > 2 && !strcmp(name + len - 2, "_c"))
        name[len - 2] = 0;
}

void errh_end(int code)
{
    int status = errh_class(code) & 0xff;
    fflush(NULL);
    _exit(status ? status : 1);
}

/* End: by the process manager where there is one, or alone. */
static void end(int code, const char *text)
{
    int status = errh_class(code) & 0xff;
    fflush(NULL);
    if (mpid_has_manager())
        mpid_abort(status ? status : 1, text);
    dprintf(STDERR_FILENO, "%s\n", text);
    errh_end(code);
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
    if (errhandler->kind == ERRH_USER)
        call(errhandler, handle, code);
    else if (errhandler->kind != ERRH_RETURN)
        end(code, text);
    errh_unref(errhandler);
    return code;
}

int errh_raise(struct comm *comm, int code, const char *text)
{
    struct comm *on = comm ? comm : comm_constants[2];
    struct errhandler *errhandler = on ? errh_get(&on->errhandler) : errh_initial();
    /* A handler may ask who it is called for, of what was freed and has a request yet, too. */
    if (on && on->freed)
        on->object.word = OBJECT_COMM;
    (void)errh_raise_on(errhandler, on ? comm_handle(on) : MPI_COMM_NULL, code, text);
    if (on && on->freed)
        on->object.word = 0;
    return code;
}

/* There is one in sessions, too: of mpi://WORLD. */
static int world_rank(void)
{
    return mpi_state == MPI_STATE_READY ? (int)group_me().rank : -1;
}

/* The text of an error: fmt says what is wrong, where on what object, rank in which numbering.
 * Returns the code. */
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
    /* The end is what may be cut. */
    snprintf(text, MPI_MAX_ERROR_STRING + 256, "%s: %s (%s%s%.64s)", name, what, where, on,
             os_host_name());
    text[MPI_MAX_ERROR_STRING - 1] = 0;
    /* These two say where to look, and programs compare them. */
    bool bare = error_class == MPI_ERR_IN_STATUS || error_class == MPI_ERR_PENDING;
    /* A code of the user's, or one that has a text, stays. */
    bool plain = error_class > 0 && error_class < ERRH_TEXT_STEP;
    return bare || !plain ? error_class : remember(error_class, text);
}

int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
{
    char text[MPI_MAX_ERROR_STRING + 256], where[160] = "";
    va_list args;
    if (comm && comm->name[0])
        snprintf(where, sizeof(where), "communicator '%.127s', ", comm->name);
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
    const struct type *type = type_from(handle);
    if (!type && mpi_state != MPI_STATE_READY)
        return errh_not_ready(function);
    if (type)
        return errh_comm(comm, MPI_ERR_TYPE, function,
                         "%s %s%.127s%s is not committed: call MPI_Type_commit first", which,
                         type->name[0] ? "'" : "", type->name, type->name[0] ? "'" : "");
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
