/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The texts of errors; see errh_text.h.
 *
 * A code with a text has 14 bits: the class in the low 7, and above them the number of the text. Numbers
 * go round; the texts of the last RECENT errors are kept, and a code whose text is gone still gives its
 * class. Each text has its own lock.
 */
#include "mpi/errh_text.h"

#include <stdint.h>
#include <string.h>

#include "os/lock.h"

enum {
    RECENT = 32,         /* texts kept */
    TEXTS = 3 * RECENT,  /* numbers of texts: 1 to 97 without NOT_OURS */
    NOT_OURS =
        MPI_T_ERR_CANNOT_INIT / ERRH_TEXT_STEP /* codes of the tool interface: each is a class */
};

static struct {
    struct os_lock lock; /* guards the rest */
    int code;            /* 0: empty */
    char text[MPI_MAX_ERROR_STRING];
} recent[RECENT];
static _Atomic uint32_t errors; /* that had a text, so far */

/* ---- of classes ---- */

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

const char *errh_text_of_class(int error_class)
{
    if (error_class >= 0 && error_class < (int)(sizeof(class_texts) / sizeof(class_texts[0])))
        return class_texts[error_class];
    int tool = error_class - MPI_T_ERR_CANNOT_INIT;
    if (tool >= 0 && tool < (int)(sizeof(tool_texts) / sizeof(tool_texts[0])))
        return tool_texts[tool];
    return NULL;
}

/* ---- of errors ---- */

void errh_text_put(char text[MPI_MAX_ERROR_STRING], const char *from)
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

int errh_text_keep(int error_class, const char *text)
{
    if (is_plain(error_class))
        return error_class;
    uint32_t i = atomic_fetch_add_explicit(&errors, 1, memory_order_relaxed) % TEXTS;
    int number = (int)i + 1 < NOT_OURS ? (int)i + 1 : (int)i + 2;
    int code = error_class + number * ERRH_TEXT_STEP;
    os_lock_slow(&recent[i % RECENT].lock);
    recent[i % RECENT].code = code;
    errh_text_put(recent[i % RECENT].text, text);
    os_unlock_slow(&recent[i % RECENT].lock);
    return code;
}

bool errh_text_recall(int code, char text[MPI_MAX_ERROR_STRING])
{
    int number = code / ERRH_TEXT_STEP;
    int i = number < NOT_OURS ? number - 1 : number - 2;
    if (code <= 0 || number == 0 || number == NOT_OURS || i >= TEXTS)
        return false;
    os_lock_slow(&recent[i % RECENT].lock);
    bool is_it = recent[i % RECENT].code == code;
    if (is_it)
        errh_text_put(text, recent[i % RECENT].text);
    os_unlock_slow(&recent[i % RECENT].lock);
    return is_it;
}
