/* SPDX-License-Identifier: BSD-3-Clause */

/* Delivery of completions; see deliver.h. */
#include "mpid/wait/deliver.h"

#include <stddef.h>

#include "mpid/ground/device.h"
#include "mpid/wait/wake.h"

/* Guarded by the device's lock. */
static struct {
    struct mpid_request *first, **end;
    bool running;
} queue = {.end = &queue.first};

void deliver_later(struct mpid_request *request)
{
    request->next = NULL;
    *queue.end = request;
    queue.end = &request->next;
    atomic_store_explicit(&device_delivers, true, memory_order_relaxed);
    if (wake_is_wanted())
        wake_work(false);
}

static struct mpid_request *take(void)
{
    struct mpid_request *request = queue.first;
    if (!request)
        return NULL;
    queue.first = request->next;
    if (!queue.first) {
        queue.end = &queue.first;
        atomic_store_explicit(&device_delivers, false, memory_order_relaxed);
    }
    return request;
}

bool deliver_queue(void)
{
    struct mpid_request *request;
    bool any = false;
    os_lock(&device.lock);
    if (queue.running) {
        os_unlock(&device.lock);
        return false;
    }
    queue.running = true;
    while ((request = take())) {
        void (*done)(struct mpid_request *) = request->done;
        atomic_store_explicit(&request->pending, 0, memory_order_release);
        if (wake_is_wanted())
            wake_for(request);
        os_unlock(&device.lock);
        done(request);
        any = true;
        os_lock(&device.lock);
    }
    queue.running = false;
    os_unlock(&device.lock);
    return any;
}
