/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffers of the program that one-sided operations use; see busy.h. */
#include "mpi/request/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/call_text.h"
#include "mpi/known.h"
#include "os/lock.h"

enum { USES_MAX = 16384 };

struct use {
    struct use *next;
    struct stretch bytes;
    struct busy_use of;
    bool writes;
    struct mpid_call_site site;
};

/* Guards the rest. */
static struct os_lock lock = OS_LOCK_INIT;
static struct use *uses; /* the newest first */
static _Atomic int count; /* of them */
static bool told;
static void (*_Atomic on_touch)(const struct busy_place *place, const struct mpid_call_site *site, uint32_t step);

int busy_stretches(const struct busy_place *place, struct stretch *to)
{
    if (place->buf == MPI_IN_PLACE || place->count <= 0)
        return 0;
    return type_stretches(place->type, place->count, (uintptr_t)place->buf, to, BUSY_STRETCHES);
}

static _Noreturn void tell(const struct use *use, const struct mpid_call_site *site, bool writes)
{
    char first[CALL_TEXT], second[CALL_TEXT], text[3 * CALL_TEXT];
    call_text(first, known_rank(), &use->site, site);
    call_text(second, known_rank(), site, site);
    snprintf(text, sizeof(text),
             "--check: %s, %s: the second %s a buffer that the first still %s: end its epoch, flush, "
             "or wait for its request before",
             first, second, writes ? "writes to" : "reads", use->writes ? "writes to" : "reads");
    mpid_abort(MPI_ERR_OTHER & 0xff, text);
}

void busy_claim(const struct busy_place *place, const struct mpid_call_site *site)
{
    struct stretch bytes[BUSY_STRETCHES];
    struct use found, *use;
    uint64_t at, len;
    int n = count ? busy_stretches(place, bytes) : 0;
    if (!n)
        return;
    os_lock_slow(&lock);
    for (use = uses; use; use = use->next) {
        int i = 0;
        while (i < n && !((use->writes || place->writes) && stretch_meets(&use->bytes, &bytes[i], &at, &len)))
            i++;
        if (i < n)
            break;
    }
    if (use)
        found = *use;
    os_unlock_slow(&lock);
    if (use)
        tell(&found, site, place->writes);
}

/* Whether it is in the list already, or could be joined to what is. Locked. */
static bool is_joined(const struct use *use)
{
    for (struct use *old = uses; old; old = old->next)
        if (!use->of.request && !old->of.request && old->of.window == use->of.window &&
            old->of.target == use->of.target && old->writes == use->writes &&
            old->site.offset == use->site.offset && !memcmp(&old->site, &use->site, sizeof(use->site)) &&
            stretch_grow(&old->bytes, &use->bytes))
            return true;
    return false;
}

/* Locked. Without memory a buffer is not watched. */
static void add(const struct use *use)
{
    struct use *made;
    if (is_joined(use))
        return;
    if (count == USES_MAX && !told)
        dprintf(STDERR_FILENO,
                "--check: rank %d has more than %d buffers in use by one-sided operations: others "
                "are not watched\n",
                known_rank(), USES_MAX);
    told = told || count == USES_MAX;
    if (count == USES_MAX || !(made = malloc(sizeof(*made))))
        return;
    *made = *use;
    made->next = uses;
    uses = made;
    count++;
}

void busy_add(const struct busy_place *place, const struct mpid_call_site *site,
              const struct busy_use *of)
{
    struct stretch bytes[BUSY_STRETCHES];
    int n = busy_stretches(place, bytes);
    struct use use = {.of = *of, .writes = place->writes, .site = *site};
    os_lock_slow(&lock);
    for (int i = 0; i < n; i++) {
        use.bytes = bytes[i];
        add(&use);
    }
    os_unlock_slow(&lock);
}

static bool is_over(const struct use *use, const void *window, int target, const void *request)
{
    if (request)
        return use->of.request == request;
    return use->of.window == window && (target < 0 || use->of.target == target);
}

static void end(const void *window, int target, const void *request)
{
    os_lock_slow(&lock);
    for (struct use **link = &uses; *link;) {
        struct use *use = *link;
        if (!is_over(use, window, target, request)) {
            link = &use->next;
            continue;
        }
        *link = use->next;
        free(use);
        count--;
    }
    os_unlock_slow(&lock);
}

void busy_end(const void *window, int target)
{
    end(window, target, NULL);
}

void busy_end_request(const void *request)
{
    end(NULL, -1, request);
}

void busy_touch(const struct busy_place *place, const struct mpid_call_site *site, uint32_t step)
{
    void (*heard)(const struct busy_place *, const struct mpid_call_site *, uint32_t) = on_touch;
    if (heard)
        heard(place, site, step);
}

void busy_on_touch(void (*heard)(const struct busy_place *place, const struct mpid_call_site *site,
                                 uint32_t step))
{
    on_touch = heard;
}
