/* SPDX-License-Identifier: BSD-3-Clause */

/* Loading the I/O library, which lies beside this library; see file.h. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mpi/io/file.h"
#include "mpi/io/file_hooks.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(bool) started;

static void *load(void)
{
    char path[4096] = "";
    Dl_info place;
    if (dladdr(&lock, &place) && place.dli_fname) {
        const char *end = strrchr(place.dli_fname, '/');
        int len = end ? (int)(end + 1 - place.dli_fname) : 0;
        snprintf(path, sizeof(path), "%.*s", len, place.dli_fname);
    }
    size_t len = strlen(path);
    snprintf(path + len, sizeof(path) - len, "%s", IO_LIBRARY_FILE);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Locked. After a failure, as where memory has run out, it can be called again. */
static void start(struct io_error *why)
{
    io_library_start *begin;
    void *handle = load();
    void *symbol = handle ? dlsym(handle, IO_LIBRARY_START) : NULL;
    if (!symbol) {
        const char *text = dlerror();
        snprintf(why->text, sizeof(why->text),
                 "the library for files cannot be loaded: %.200s; install MPI as a whole",
                 text ? text : "no reason was given");
        return;
    }
    memcpy(&begin, &symbol, sizeof(begin));
    file_io = begin(&file_hooks, why);
    atomic_store_explicit(&started, file_io != NULL, memory_order_release);
}

const struct io_library *file_library(struct io_error *error)
{
    if (atomic_load_explicit(&started, memory_order_acquire))
        return file_io;
    pthread_mutex_lock(&lock);
    if (!file_io)
        start(error);
    pthread_mutex_unlock(&lock);
    return file_io;
}
