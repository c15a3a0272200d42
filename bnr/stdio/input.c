/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading stdin for the targets; see input.h. */
#include "bnr/stdio/input.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bnr/io/amend.h"
#include "bnr/streams/fd_end.h"

static void end_says(void *arg, const struct hub_message *m)
{
    const struct input *in = arg;
    in->say(in->arg, m);
    if (m->kind == HUB_CLOSE && (m->flags & HUB_BROKEN))
        in->torn(in->owner);
}

static void end_over(void *arg, uint32_t id)
{
    struct input *in = arg;
    (void)id;
    in->end = NULL;
}

int input_start(struct input *in, uv_loop_t *loop, const char *list, int ranks, uint32_t id)
{
    const struct fd_end_hooks hooks = {end_says, end_over, in};
    int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int rc = fd < 0 ? -errno : fd_end_create(&in->end, loop, id, fd, FD_END_WRITER, &hooks);
    uint8_t kind = HUB_PUSH;
    for (int r = 0; r < ranks; r++) {
        if (!amend_lists(list, r))
            continue;
        in->say(in->arg, &(struct hub_message){.kind = kind, .id = id, .rank = r});
        kind = HUB_ALSO;
    }
    if (!rc)
        return 0;
    in->end = NULL; /* a stdin that cannot be read is empty */
    in->say(in->arg, &(struct hub_message){.kind = HUB_CLOSE, .id = id});
    return rc == -EBADF || rc == -EPERM || rc == -EISDIR ? 0 : rc;
}

void input_hear(struct input *in, const struct hub_message *m)
{
    if (in->end)
        fd_end_hear(in->end, m);
}

void input_stop(struct input *in)
{
    if (in->end)
        fd_end_destroy(in->end);
    in->end = NULL;
}
