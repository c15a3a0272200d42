/* SPDX-License-Identifier: BSD-3-Clause */

/* Channels that a program loads once the device has started. */
#include <errno.h>
#include <stdio.h>

#include "mpid/conn/module.h"
#include "mpid/conn/ports.h"
#include "mpid/ground/device.h"
#include "mpid/wait/wake.h"

int mpid_channel_load(const char *file, char *why, size_t size)
{
    if (module_is_forbidden()) {
        snprintf(why, size, "this process is set-user-id, and loads nothing");
        return -EINVAL;
    }
    if (module_try(file, &device.env, why, size))
        return -EINVAL;
    os_lock(&device.lock);
    int rc = ports_load(file, why, size);
    wake_all();
    os_unlock(&device.lock);
    return rc;
}

struct loading {
    int rc;
    char *why;
    size_t size;
};

static void load_more(const char *file, void *arg)
{
    struct loading *loading = arg;
    os_lock(&device.lock);
    bool there = ports_has_file(file);
    os_unlock(&device.lock);
    if (!there && !loading->rc)
        loading->rc = mpid_channel_load(file, loading->why, loading->size);
}

int mpid_channel_load_path(const char *path, char *why, size_t size)
{
    struct loading loading = {.why = why, .size = size};
    module_each(path, load_more, &loading);
    return loading.rc;
}

bool mpid_channel_describe(int index, struct mpid_channel *channel)
{
    os_lock(&device.lock);
    bool there = ports_describe(index, channel);
    os_unlock(&device.lock);
    return there;
}
