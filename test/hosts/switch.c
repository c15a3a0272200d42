/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A switch in user space, over tap interfaces: frames take time, get lost, wait for their turn,
 * and some connections never begin. A frame's port follows from its address, which names network
 * and host; what goes to many is copied to all others of its network.
 *
 * Frames that wait lie in a heap by the time when they are due, then by the order they came in.
 */
#include "test/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAME_MAX = 2048,
    BURST = 64,              /* frames from one port before the others are looked at */
    QUEUE_MAX = 1024 * 1024, /* bytes that wait for the rate of one port */
    HEAP_MAX = 1 << 17,
};

struct frame {
    int64_t due;
    uint64_t order;
    int port;
    uint32_t len;
    uint8_t bytes[];
};

struct switch_state {
    const struct plan *plan;
    const int *ports;
    struct pollfd *fds;
    /* By port: when the lines into it and out of it have carried what waits for them. */
    int64_t *free_in, *free_out;
    struct frame *heap[HEAP_MAX];
    size_t heap_count;
    uint64_t order;
    unsigned seed;
};

int switch_port(int pid, int network)
{
    char path[64];
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
    int there = open(path, O_RDONLY | O_CLOEXEC);
    if (home < 0 || there < 0 || setns(there, CLONE_NEWNET))
        not_allowed("a host's network namespace");
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "eth%d", network);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
        not_allowed("an interface of /dev/net/tun");
    if (setns(home, CLONE_NEWNET))
        not_allowed("the way back from a network namespace");
    close(home);
    close(there);
    return fd;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- the heap ---- */

static bool is_before(const struct frame *a, const struct frame *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void heap_push(struct switch_state *s, struct frame *frame)
{
    size_t i = s->heap_count++;
    while (i && is_before(frame, s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = frame;
}

static struct frame *heap_pop(struct switch_state *s)
{
    struct frame *first = s->heap[0], *last = s->heap[--s->heap_count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->heap_count) {
        if (child + 1 < s->heap_count && is_before(s->heap[child + 1], s->heap[child]))
            child++;
        if (is_before(last, s->heap[child]))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

/* ---- frames ---- */

/* Whether a frame asks for a TCP connection. */
static bool is_opening(const uint8_t *bytes, size_t len)
{
    size_t tcp;
    if (len < 14 + 20)
        return false;
    unsigned type = (unsigned)bytes[12] << 8 | bytes[13];
    if (type == 0x0800 && bytes[14 + 9] == 6)
        tcp = 14 + 4 * (size_t)(bytes[14] & 15);
    else if (type == 0x86dd && bytes[14 + 6] == 6)
        tcp = 14 + 40;
    else
        return false;
    return len >= tcp + 14 && (bytes[tcp + 13] & 0x12) == 0x02;
}

static bool is_dropped(struct switch_state *s, int network, int from, int to, bool opens)
{
    const struct plan *plan = s->plan;
    for (int i = 0; opens && i < plan->rule_count; i++) {
        const struct rule *rule = &plan->rules[i];
        if ((rule->from < 0 || rule->from == from) && (rule->to < 0 || rule->to == to) &&
            (rule->network < 0 || rule->network == network))
            return true;
    }
    return plan->loss > 0 && rand_r(&s->seed) < plan->loss * ((double)RAND_MAX + 1);
}

/* Let a frame wait until a line has carried it; false where too much waits there. *at: when it comes
 * to the line, and when it has passed. */
static bool pass_line(const struct switch_state *s, int64_t *free_at, size_t len, int64_t *at)
{
    if (s->plan->rate <= 0)
        return true;
    if ((double)(*free_at - *at) * s->plan->rate / 8e9 > QUEUE_MAX)
        return false;
    *at = (*free_at > *at ? *free_at : *at) + (int64_t)((double)len * 8e9 / s->plan->rate);
    *free_at = *at;
    return true;
}

static void queue_frame(struct switch_state *s, int from, int port, const uint8_t *bytes,
                        size_t len)
{
    int64_t at = now_ns();
    if (!pass_line(s, &s->free_out[from], len, &at) || !pass_line(s, &s->free_in[port], len, &at))
        return;
    struct frame *frame = s->heap_count < HEAP_MAX ? malloc(sizeof(*frame) + len) : NULL;
    if (!frame)
        return; /* a full switch loses frames */
    *frame = (struct frame){at + s->plan->delay_ns, s->order++, port, (uint32_t)len};
    if (s->plan->jitter_ns)
        frame->due += (int64_t)((double)rand_r(&s->seed) / RAND_MAX * (double)s->plan->jitter_ns);
    memcpy(frame->bytes, bytes, len);
    heap_push(s, frame);
}

static void take_frame(struct switch_state *s, int port, const uint8_t *bytes, size_t len)
{
    int hosts = s->plan->hosts, network = port / hosts, from = port % hosts;
    bool is_to_many = bytes[0] & 1, opens = is_opening(bytes, len);
    int to = bytes[4] << 8 | bytes[5];
    if (is_to_many) {
        for (to = 0; to < hosts; to++)
            if (to != from && !is_dropped(s, network, from, to, opens))
                queue_frame(s, port, network * hosts + to, bytes, len);
    } else if (to < hosts && bytes[3] == network && !is_dropped(s, network, from, to, opens)) {
        queue_frame(s, port, network * hosts + to, bytes, len);
    }
}

static void deliver_due(struct switch_state *s)
{
    int64_t now = now_ns();
    while (s->heap_count && s->heap[0]->due <= now) {
        struct frame *frame = heap_pop(s);
        if (write(s->ports[frame->port], frame->bytes, frame->len) < 0 && errno == EBADFD)
            s->fds[frame->port].fd = -1; /* its host is gone; one that is down loses frames */
        free(frame);
    }
}

void switch_main(const struct plan *plan, const int *ports)
{
    static uint8_t bytes[FRAME_MAX];
    int count = plan->hosts * plan->networks;
    struct switch_state *s = calloc(1, sizeof(*s));
    if (!s || !(s->fds = calloc((size_t)count, sizeof(*s->fds))) ||
        !(s->free_in = calloc((size_t)count, sizeof(*s->free_in))) ||
        !(s->free_out = calloc((size_t)count, sizeof(*s->free_out))))
        die("no memory");
    s->plan = plan;
    s->ports = ports;
    s->seed = plan->seed;
    for (int i = 0; i < count; i++)
        s->fds[i] = (struct pollfd){ports[i], POLLIN, 0};
    for (;;) {
        int64_t wait = s->heap_count ? s->heap[0]->due - now_ns() : 1000000000;
        struct timespec limit = {0, wait < 0 ? 0 : wait > 999999999 ? 999999999 : wait};
        int ready = ppoll(s->fds, (nfds_t)count, &limit, NULL);
        for (int i = 0; ready > 0 && i < count; i++) {
            if (!s->fds[i].revents)
                continue;
            for (int n = 0; n < BURST; n++) {
                ssize_t len = read(ports[i], bytes, sizeof(bytes));
                if (len < 0 && errno == EBADFD)
                    s->fds[i].fd = -1;
                if (len < 14)
                    break;
                take_frame(s, i, bytes, (size_t)len);
            }
        }
        deliver_due(s);
    }
}
