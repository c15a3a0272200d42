/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading stdin for the targets; see input.h. */
#include "bnr/stdio/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/io/amend.h"
#include "bnr/streams/fd_end.h"

/* A descriptor for what 0 is. Terminals and pipes are opened anew where that is allowed: then a
 * read does not wait, and the mode of 0, which others share, stays. A file has its offset in common
 * with them. */
static int open_stdin(void)
{
    struct stat st;
    bool is_file = fstat(0, &st) || S_ISREG(st.st_mode);
    int fd = is_file ? -1 : open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? fd : fcntl(0, F_DUPFD_CLOEXEC, 3);
}

static void end_says(void *arg, const struct hub_message *m)
{
    const struct input *in = arg;
    in->say(in->arg, m);
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
    int fd = open_stdin();
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
