/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * CARs: the parts of a request that are under way. A request is over once all of its CARs are; most
 * have one, which is the request itself. The device's lock guards them.
 */
#ifndef MPID_CAR_H
#define MPID_CAR_H

#include <stdbool.h>

#include "mpid/ground/device.h"

/* Whether it is a receive that waits for a message. */
static inline bool car_is_posted(const struct mpid_request *car)
{
    return car->state == CAR_POSTED || car->state == CAR_AWAITED;
}

/* A CAR is over: complete its request, if that has no other. */
void car_complete(struct mpid_request *car);
/* Have a CAR that is under way be one more of a request, or of a CAR. Its handler, if it has one, is
 * called once it is over, locked: no later. */
void car_add(struct mpid_request *request, struct mpid_request *car);

#endif
