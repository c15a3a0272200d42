/* SPDX-License-Identifier: BSD-3-Clause */

/* CARs: counted down, and the requests completed that they are of; see car.h. */
#include "mpid/wait/car.h"

#include "mpid/ground/device.h"
#include "mpid/wait/deliver.h"
#include "mpid/wait/wake.h"

/* Stands as the handler of requests that count down: with several CARs; and of CARs of one. */
static void count_down(struct mpid_request *request)
{
    (void)request;
}

static void complete(struct mpid_request *request)
{
    atomic_store_explicit(&request->pending, 0, memory_order_release);
    if (wake_is_wanted())
        wake_for(request);
}

/* One of its other CARs has failed: a receive is not waited for that may never match. */
static void fail(struct mpid_request *request, uint8_t error)
{
    if (!request->error)
        request->error = error;
    if (car_is_posted(request) && match_unpost(&device.match, request)) {
        request->cancelled = true;
        car_complete(request);
    }
}

/* One of what a request, or a CAR that has CARs itself, waits for is over. */
static __attribute__((noinline)) void one_over(struct mpid_request *car)
{
    struct mpid_request *whole = car->whole;
    int32_t left = atomic_load_explicit(&car->pending, memory_order_relaxed) - 1;
    uint8_t error = car->error;
    if (left) {
        atomic_store_explicit(&car->pending, left, memory_order_relaxed);
    } else if (whole) {
        atomic_store_explicit(&car->pending, 0, memory_order_relaxed);
        if (car->handler)
            car->handler(car);
        if (error)
            fail(whole, error);
        one_over(whole);
    } else if (car->handler) {
        car->done = car->handler;
        deliver_later(car);
    } else {
        complete(car);
    }
}

void car_complete(struct mpid_request *request)
{
    request->state = CAR_IDLE;
    if (__builtin_expect(request->done == NULL, 1))
        complete(request);
    else if (request->done == count_down)
        one_over(request);
    else
        deliver_later(request);
}

static void begin_to_count(struct mpid_request *request)
{
    if (request->done == count_down)
        return;
    request->handler = request->done;
    request->done = count_down;
    request->whole = NULL;
}

void car_add(struct mpid_request *request, struct mpid_request *car)
{
    begin_to_count(request);
    begin_to_count(car);
    car->whole = request;
    atomic_fetch_add_explicit(&request->pending, 1, memory_order_relaxed);
}

void mpid_add_car(struct mpid_request *request, struct mpid_request *car)
{
    os_lock(&device.lock);
    if (!mpid_is_complete(car))
        car_add(request, car);
    else if (car->error)
        fail(request, car->error);
    os_unlock(&device.lock);
}

bool mpid_when_done(struct mpid_request *request, void (*done)(struct mpid_request *request))
{
    os_lock(&device.lock);
    bool under_way = !mpid_is_complete(request);
    if (under_way && request->done == count_down)
        request->handler = done;
    else if (under_way)
        request->done = done;
    os_unlock(&device.lock);
    return under_way;
}

void mpid_begin(struct mpid_request *request)
{
    request->error = MPID_OK;
    request->cancelled = false;
    request->place.env = (struct mpid_envelope){0, MPID_ANY, MPID_ANY};
    request->count = 0;
    request->done = NULL;
    atomic_store_explicit(&request->pending, 1, memory_order_relaxed);
}

void mpid_complete(struct mpid_request *request, enum mpid_error error)
{
    os_lock(&device.lock);
    request->error = (uint8_t)error;
    car_complete(request);
    os_unlock(&device.lock);
}
