/* SPDX-License-Identifier: BSD-3-Clause */

/* How the ofi channel sleeps on a completion queue that is a struct of this process. */
#include <poll.h>
#include <stdio.h>
#include <sys/timerfd.h>

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

void ofi_alive_hear(struct ofi *ofi)
{
    (void)ofi;
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

/* ---- cases ---- */

static struct fi_ops ops = {.size = sizeof(ops), .control = control};
static struct fi_ops_cq cq_ops = {.size = sizeof(cq_ops), .sread = sread};
static struct fid_cq cq = {.fid.ops = &ops, .ops = &cq_ops};

static bool gives_back(void)
{
    struct ofi ofi = {.cq = &cq, .wait = FI_WAIT_POLLFD, .epoll = -1, .timer = -1, .socket = -1};
    bool is_open = !ofi_sleep_open(&ofi);
    ofi_sleep_close(&ofi);
    return is_open && !left && given_back == &strange;
}

/* The longest of a few sleeps; those that a busy processor has cut short do not count. */
static long sleep_ns(struct ofi *ofi)
{
    struct itimerspec left_of = {{0, 0}, {0, 0}};
    long most = 0;
    for (int i = 0; i < 20; i++) {
        int glances = ofi->glances;
        (void)ofi_sleep_arm(&ofi->base, CHAN_SLEEP_FD);
        (void)timerfd_gettime(ofi->timer, &left_of);
        ofi_sleep_disarm(&ofi->base);
        ofi->glances = glances;
        most = left_of.it_value.tv_nsec > most ? left_of.it_value.tv_nsec : most;
    }
    return most;
}

/* The sleeps of a process that nothing tells of news, which has just had some, and then none for long. */
static bool grows(void)
{
    struct ofi ofi = {.cq = &cq, .wait = FI_WAIT_NONE, .epoll = -1, .timer = -1, .socket = -1};
    bool is_open = !ofi_sleep_open(&ofi);
    long first = sleep_ns(&ofi);
    for (int i = 0; i < 20; i++) {
        (void)ofi_sleep_arm(&ofi.base, CHAN_SLEEP_FD);
        ofi_sleep_disarm(&ofi.base);
    }
    long last = sleep_ns(&ofi);
    ofi_sleep_close(&ofi);
    printf("# %ld ns, then %ld\n", first, last);
    return is_open && first < 100000 && last > 500000 && last <= 1000000;
}

int main(void)
{
    bool back = gives_back(), longer = grows();
    printf("%s 1 - the buffer of a message that comes while the queue is made ready is given back\n",
           back ? "ok" : "not ok");
    printf("%s 2 - where nothing tells of news, a sleep is short at first, and a millisecond later\n1..2\n",
           longer ? "ok" : "not ok");
    return !back || !longer;
}
