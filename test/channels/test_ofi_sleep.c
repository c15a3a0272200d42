/* SPDX-License-Identifier: BSD-3-Clause */

/* How the ofi channel begins to sleep on a completion queue that is a struct of this process. */
#include <poll.h>
#include <stdio.h>

#include "channels/ofi/link.h"

static struct ofi_op strange = {.receives = true};
static int left = 1; /* completions in the queue */
static const struct ofi_op *given_back;

/* ---- beneath ---- */

static ssize_t sread(struct fid_cq *cq, void *buf, size_t count, const void *cond, int timeout)
{
    struct fi_cq_msg_entry entry = {.op_context = &strange.context, .len = 8};
    (void)cq, (void)cond, (void)timeout;
    if (!left || !count)
        return -FI_EAGAIN;
    left--;
    memcpy(buf, &entry, sizeof(entry));
    return 1;
}

static int control(struct fid *fid, int command, void *arg)
{
    (void)fid;
    if (command == FI_GETWAIT)
        ((struct fi_wait_pollfd *)arg)->nfds = 0;
    return 0;
}

/* ---- what else the channel has ---- */

void ofi_fabric_done(struct ofi *ofi, struct ofi_op *op)
{
    (void)ofi;
    given_back = op;
}

bool ofi_sockets_take(struct ofi *ofi)
{
    (void)ofi;
    return false;
}

void ofi_sockets_close(struct ofi *ofi)
{
    (void)ofi;
}

uint64_t ofi_link_deadline(struct ofi *ofi)
{
    (void)ofi;
    return UINT64_MAX;
}

int main(void)
{
    static struct fi_ops ops = {.size = sizeof(ops), .control = control};
    static struct fi_ops_cq cq_ops = {.size = sizeof(cq_ops), .sread = sread};
    static struct fid_cq cq = {.fid.ops = &ops, .ops = &cq_ops};
    struct ofi ofi = {.cq = &cq, .wait = FI_WAIT_POLLFD, .epoll = -1, .timer = -1, .socket = -1};
    bool is_open = !ofi_sleep_open(&ofi);
    ofi_sleep_close(&ofi);
    bool is_right = is_open && !left && given_back == &strange;
    printf("%s 1 - the buffer of a message that comes while the queue is made ready is given back\n1..1\n",
           is_right ? "ok" : "not ok");
    return !is_right;
}
