/* SPDX-License-Identifier: BSD-3-Clause */

/* Objects that a program leaves behind; see left.h. */
#include "mpi/left.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/mpid.h"
#include "mpi/world.h"
#include "os/clock.h"
#include "os/hash.h"
#include "os/lock.h"
#include "os/source_line.h"

enum { LINE_MS = 2000, PLACES_MAX = 64 };

bool left_is_watched;

struct left {
    const void *object;
    enum left_kind kind;
    struct mpid_call_site site;
    UT_hash_handle hh;
};

static struct left *table;
static struct os_lock lock; /* guards table */
static void (*_Atomic on_freed)(const void *object);

void left_watch(void)
{
    left_is_watched = true;
}

static void drop(struct left *left)
{
    HASH_DEL(table, left);
    free(left);
}

/* Without memory an object is not watched. */
void left_note(const void *object, enum left_kind kind)
{
    struct left *left = calloc(1, sizeof(*left));
    if (!left)
        return;
    left->object = object;
    left->kind = kind;
    mpid_find_site(&left->site);
    os_lock_slow(&lock);
    struct left *old;
    HASH_FIND_PTR(table, &object, old);
    if (old)
        drop(old);
    HASH_ADD_PTR(table, object, left);
    if (!os_hash_has(hh, left))
        free(left);
    os_unlock_slow(&lock);
}

void left_forget(const void *object)
{
    struct left *left;
    os_lock_slow(&lock);
    HASH_FIND_PTR(table, &object, left);
    if (left)
        drop(left);
    os_unlock_slow(&lock);
    void (*heard)(const void *) = on_freed;
    if (heard)
        heard(object);
}

void left_on_freed(void (*heard)(const void *object))
{
    on_freed = heard;
}

/* ---- at the end ---- */

static bool is_same(const struct left *a, const struct left *b)
{
    return a->kind == b->kind && a->site.offset == b->site.offset &&
           !memcmp(a->site.function, b->site.function, sizeof(a->site.function)) &&
           !memcmp(a->site.module, b->site.module, sizeof(a->site.module));
}

/* Take all objects from one place off the table, and tell of them. */
static void tell_place(void)
{
    static const char *const names[] = {
        [LEFT_REQUEST] = "request", [LEFT_COMM] = "communicator", [LEFT_TYPE] = "datatype"};
    struct left *next, *at, first = *table;
    char line[200] = "";
    int count = 0;
    for (at = table; at; at = next) {
        next = at->hh.next;
        if (!is_same(at, &first))
            continue;
        drop(at);
        count++;
    }
    (void)os_source_line(first.site.module, first.site.offset,
                         os_now_ns() + LINE_MS * 1000000ull, line, sizeof(line));
    dprintf(STDERR_FILENO, "--check: rank %d leaves %d %s%s of %s%s%s%s at MPI_Finalize\n",
            world_facts.rank, count, names[first.kind], count == 1 ? "" : "s",
            *first.site.function ? first.site.function : "an unknown call", *line ? " (" : "", line,
            *line ? ")" : "");
}

void left_tell(void)
{
    if (!left_is_watched)
        return;
    os_lock_slow(&lock);
    for (int i = 0; table && i < PLACES_MAX; i++)
        tell_place();
    while (table)
        drop(table);
    os_unlock_slow(&lock);
}
