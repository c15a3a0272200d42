/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Codes of errors, and the classes and codes that users add; see errh_code.h. The locks work whatever
 * the number of threads. The class of a code is found without a lock.
 */
#include "mpi/errh_code.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/errh_text.h"
#include "os/lock.h"
#include "os/memory/shelf.h"

enum { USER_CODES = 65536 }; /* most classes and codes of the user */

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

int errh_class(int code)
{
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    if (code > MPI_ERR_LASTCODE) {
        int error_class = class_of(user_place(code));
        return error_class ? error_class : MPI_ERR_UNKNOWN;
    }
    if (errh_text_of_class(code))
        return code;
    if (code > 0 && code % ERRH_TEXT_STEP && errh_text_of_class(code % ERRH_TEXT_STEP))
        return code % ERRH_TEXT_STEP;
    return MPI_ERR_UNKNOWN;
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
        errh_text_put(text, entry->text ? entry->text : "");
    os_unlock_slow(&entry->lock);
    return is_one;
}

int errh_class_of_peer(int32_t sent)
{
    return sent >= 0 && sent < ERRH_TEXT_STEP ? sent : MPI_ERR_OTHER;
}

bool errh_string(int code, char *text)
{
    const char *fixed = errh_text_of_class(code);
    if (!fixed && (user_string(code, text) || errh_text_recall(code, text)))
        return true;
    if (!fixed && code > 0 && code <= MPI_ERR_LASTCODE)
        fixed = errh_text_of_class(code % ERRH_TEXT_STEP);
    errh_text_put(text, fixed ? fixed : "no error code");
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
                                                     : errh_text_of_class(error_class) != NULL);
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
