/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The channels of this process: those that the library was built with, its own modules, and those
 * on VIREO_CHANNEL_PATH or that the program loads. Each is open, as one of device.ports, or there
 * is a sentence why not. The open ones stand in the card, which is published again when a channel
 * is added. All under the device's lock, but for ports_try().
 */
#ifndef MPID_PORTS_H
#define MPID_PORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "include/channel.h"
#include "include/mpid.h"

/* Open what the settings ask for. Returns 0; or -EINVAL with a sentence in why. */
int ports_open(char *why, size_t size);
void ports_close(void);

/* Load a channel and open it, and publish the card again. Returns 0; or -EINVAL with a sentence. */
int ports_load(const char *file, char *why, size_t size);
/* Whether a channel of this file is there already. */
bool ports_has_file(const char *file);

/* Why the index-th channel that is not open is not: "name: sentence". NULL: there are no more. */
const char *ports_closed(int index);

/* Requests of channels to the device; see struct chan_env. */
int ports_slot_register(void *device, const char *name);
int ports_publish(void *device);
int ports_grow_tail(void *device, struct chan_peer *peer);
const char *ports_param(void *device, const struct chan_ops *ops, const char *name);

/* Tell of the index-th channel that there is. Returns whether there is one. */
bool ports_describe(int index, struct mpid_channel *channel);

#endif
