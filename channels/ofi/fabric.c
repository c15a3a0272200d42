/* SPDX-License-Identifier: BSD-3-Clause */

/* The endpoint of this process in a fabric, and its buffers; see ofi.h. */
#include <errno.h>
#include <rdma/fi_cm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "channels/ofi/link.h"
#include "channels/ofi/near.h"
#include "include/channel_help.h"

enum { OPS = OFI_RECEIVES + OFI_SENDS, INJECT_MIN = 1024 };
/* From buffer to buffer: were it a power of 2, all would begin in a few lines of the cache. */
enum { STRIDE = OFI_BUFFER + 128 };

static const char *param(const struct ofi *ofi, const char *name)
{
    const char *text = ofi->env->param(ofi->env->device, ofi->base.ops, name);
    return text ? text : "";
}

/* A parameter in milliseconds, in nanoseconds. */
static uint64_t limit_of(const struct ofi *ofi, const char *name)
{
    return strtoull(param(ofi, name), NULL, 10) * 1000000u;
}

/* What we can do, and what we want. */
static struct fi_info *wishes(const struct ofi *ofi, uint64_t caps)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return NULL;
    hints->caps = caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    if (*param(ofi, "provider"))
        hints->fabric_attr->prov_name = strdup(param(ofi, "provider"));
    if (*param(ofi, "domain"))
        hints->domain_attr->name = strdup(param(ofi, "domain"));
    return hints;
}

static int find(const struct ofi *ofi, uint64_t caps, struct fi_info **found)
{
    struct fi_info *hints = wishes(ofi, caps);
    const char *address = param(ofi, "address");
    int rc = -FI_ENOMEM;
    if (hints)
        rc = fi_getinfo(FI_VERSION(1, 11), *address ? address : NULL, NULL,
                        *address ? FI_SOURCE : 0, hints, found);
    if (hints)
        fi_freeinfo(hints);
    return rc;
}

/* Set a number that libfabric reads from the environment alone, where the user has not. Datagrams of ofi_rxd that
 * are on their way at once have to fit a socket's buffer, with those of other peers: the kernel drops the rest. */
static void set_defaults(void)
{
    (void)setenv("FI_OFI_RXD_MAX_UNACKED", "16", 0);
}

static bool is_sockets(const struct fi_info *info)
{
    return !strcmp(info->fabric_attr->prov_name, "sockets");
}

/* The nearest adapter of what libfabric offers, by itself. Returns -ENOMEM or 0. */
static int take_nearest(const struct ofi *ofi, struct fi_info **found)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus))
        CPU_ZERO(&cpus);
    struct fi_info *all = *found;
    *found = fi_dupinfo(ofi_near_choose(all, "/sys", &cpus, (unsigned)ofi->env->local_rank));
    fi_freeinfo(all);
    return *found ? 0 : -FI_ENOMEM;
}

/* A provider with one-sided operations, and atomic ones among them; if none has these, one
 * without. */
static int choose(struct ofi *ofi, char *why, size_t size)
{
    static const uint64_t caps[] = {FI_MSG | FI_RMA | FI_ATOMIC, FI_MSG | FI_RMA, FI_MSG};
    struct fi_info *found = NULL;
    const char *address = param(ofi, "address");
    int rc = -FI_ENODATA;
    set_defaults();
    for (size_t i = 0; rc == -FI_ENODATA && i < sizeof(caps) / sizeof(caps[0]); i++)
        rc = find(ofi, caps[i], &found);
    if (!rc)
        rc = take_nearest(ofi, &found);
    if (rc) {
        snprintf(why, size, "libfabric has no provider%s%s%s%s with reliable datagrams: %s",
                 *param(ofi, "provider") ? " " : "", param(ofi, "provider"),
                 *address ? " at " : "", address, fi_strerror(-rc));
        return -ENODEV;
    }
    if (found->ep_attr->max_msg_size < OFI_BUFFER) {
        snprintf(why, size, "messages of provider %s have %zu bytes at most",
                 found->fabric_attr->prov_name, found->ep_attr->max_msg_size);
        fi_freeinfo(found);
        return -ENODEV;
    }
    if (is_sockets(found) && ofi_sockets_check(why, size)) {
        fi_freeinfo(found);
        return -ENODEV;
    }
    ofi->complete = FI_TRANSMIT_COMPLETE;
    if (is_sockets(found)) /* its peers answer each message; otherwise: */
        found->tx_attr->op_flags = ofi->complete = FI_INJECT_COMPLETE;
    /* Datagrams that were lost are sent again, or something comes over a connection that we do not know. */
    ofi->untold = is_sockets(found) || strstr(found->fabric_attr->prov_name, "ofi_rxd");
    ofi->resets = !strncmp(found->fabric_attr->prov_name, "tcp", 3);
    ofi->info = found;
    return 0;
}

static void close_object(struct fid *object)
{
    if (object)
        (void)fi_close(object);
}

static bool is_over_udp(const struct fi_info *info)
{
    return !strcmp(info->fabric_attr->prov_name, "udp;ofi_rxd");
}

/* A completion queue that can be slept on, or one that cannot. A provider that stands on another one
 * gives the list of its descriptors: one that stands for them would cost time at each message. Over udp
 * the socket is slept on, with sockets a set of all; see datagrams.c and sockets.c. */
static int open_queue(struct ofi *ofi)
{
    bool is_layered = strchr(ofi->info->fabric_attr->prov_name, ';');
    bool has_socket = is_over_udp(ofi->info) || is_sockets(ofi->info);
    const enum fi_wait_obj kinds[] = {has_socket   ? FI_WAIT_NONE
                                      : is_layered ? FI_WAIT_POLLFD
                                                   : FI_WAIT_FD,
                                      FI_WAIT_FD, FI_WAIT_NONE};
    int rc = -FI_ENOSYS;
    for (size_t i = 0; rc && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fi_cq_attr attr = {.size = 2 * OPS, .format = FI_CQ_FORMAT_MSG, .wait_obj = kinds[i]};
        ofi->wait = kinds[i];
        rc = fi_cq_open(ofi->domain, &attr, &ofi->cq, NULL);
        if (rc)
            ofi->cq = NULL;
    }
    return rc;
}

bool ofi_fabric_is_memory(const char *provider)
{
    return !strncmp(provider, "shm", 3);
}

/* The provider chooses the address of the endpoint, but for memory that is shared under names. */
static int give_address(struct ofi *ofi)
{
    char name[OFI_ADDRESS_MAX];
    if (!ofi_fabric_is_memory(ofi->info->fabric_attr->prov_name))
        return 0;
    ofi_leftover_remove();
    ofi_leftover_name(name, sizeof(name));
    return fi_setname(&ofi->ep->fid, name, strlen(name) + 1);
}

static int open_objects(struct ofi *ofi, const char **what)
{
    struct fi_info *info = ofi->info;
    struct fi_av_attr av = {.type = FI_AV_UNSPEC};
    int rc;
    (void)((*what = "fabric", rc = fi_fabric(info->fabric_attr, &ofi->fabric, NULL)) ||
           (*what = "domain", rc = fi_domain(ofi->fabric, info, &ofi->domain, NULL)) ||
           (*what = "completion queue", rc = open_queue(ofi)) ||
           (*what = "address vector", rc = fi_av_open(ofi->domain, &av, &ofi->av, NULL)) ||
           (*what = "endpoint", rc = fi_endpoint(ofi->domain, info, &ofi->ep, NULL)) ||
           (rc = give_address(ofi)) || (rc = fi_ep_bind(ofi->ep, &ofi->av->fid, 0)) ||
           (rc = fi_ep_bind(ofi->ep, &ofi->cq->fid, FI_TRANSMIT | FI_RECV)) ||
           (rc = fi_enable(ofi->ep)));
    ofi->address_len = sizeof(ofi->address);
    if (!rc) {
        *what = "address";
        rc = fi_getname(&ofi->ep->fid, ofi->address, &ofi->address_len);
    }
    if (!rc && is_over_udp(info))
        ofi_datagrams_find(ofi);
    if (!rc && is_sockets(info)) {
        *what = "set of sockets";
        rc = ofi_sockets_open(ofi);
    }
    return rc;
}

/* Make more buffers, to receive into, or to send. Returns 0 or -errno. */
static int make_buffers(struct ofi *ofi, int count, bool receives)
{
    size_t len = (size_t)count * STRIDE;
    struct ofi_buffers *buffers = calloc(1, sizeof(*buffers) + (size_t)count * sizeof(buffers->ops[0]));
    void *bytes = buffers ? mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    int rc = bytes == MAP_FAILED ? -ENOMEM : 0;
    if (!rc && ofi->info->domain_attr->mr_mode & FI_MR_LOCAL)
        rc = ofi_memory_register(ofi, bytes, len, receives ? FI_RECV : FI_SEND, &buffers->mr);
    if (rc) {
        if (bytes != MAP_FAILED)
            munmap(bytes, len);
        free(buffers);
        return rc;
    }
    buffers->bytes = bytes;
    buffers->len = len;
    buffers->next = ofi->buffers;
    ofi->buffers = buffers;
    for (int i = 0; i < count; i++) {
        struct ofi_op *op = &buffers->ops[i];
        op->bytes = buffers->bytes + (size_t)i * STRIDE;
        op->desc = buffers->mr ? fi_mr_desc(buffers->mr) : NULL;
        op->receives = receives;
        op->to = FI_ADDR_UNSPEC;
        op->next = op->receives ? ofi->idle_receives : ofi->idle_sends;
        *(op->receives ? &ofi->idle_receives : &ofi->idle_sends) = op;
        ofi->idle_count += op->receives;
        if (receives)
            continue;
        op->other = ofi->sends;
        ofi->sends = op;
    }
    return 0;
}

static void free_buffers(struct ofi *ofi)
{
    while (ofi->buffers) {
        struct ofi_buffers *buffers = ofi->buffers;
        ofi->buffers = buffers->next;
        close_object(buffers->mr ? &buffers->mr->fid : NULL);
        munmap(buffers->bytes, buffers->len);
        free(buffers);
    }
}

int ofi_fabric_open(struct ofi *ofi, char *why, size_t size)
{
    const char *what = "";
    if (choose(ofi, why, size) || ofi_memory_open(ofi, param(ofi, "lend"), why, size))
        return -ENODEV;
    int rc = open_objects(ofi, &what);
    if (!rc) {
        what = "memory for buffers (ulimit -l may be too low)";
        rc = make_buffers(ofi, OFI_RECEIVES, true);
        rc = rc ? rc : make_buffers(ofi, OFI_SENDS, false);
    }
    if (!rc && ofi_fabric_is_memory(ofi->info->fabric_attr->prov_name)) {
        what = "watch over its locks";
        rc = ofi_guard_open(ofi, limit_of(ofi, "stuck_ms"));
    }
    if (rc) {
        snprintf(why, size, "provider %s opens no %s: %s", ofi->info->fabric_attr->prov_name, what,
                 fi_strerror(rc < 0 ? -rc : rc));
        return -ENODEV;
    }
    /* If the provider injects much, inject all: with such a provider other messages may have to
     * wait in this process's memory until the peer comes to fetch them. */
    ofi->inject_max = ofi->info->tx_attr->inject_size;
    if (ofi->inject_max > OFI_INJECT_MAX)
        ofi->inject_max = OFI_INJECT_MAX;
    ofi->data_max = (ofi->inject_max >= INJECT_MIN ? ofi->inject_max : OFI_BUFFER) -
                    sizeof(struct ofi_frame);
    ofi->timeout_ns = limit_of(ofi, "timeout_ms");
    (void)ofi_fabric_post(ofi);
    return 0;
}

void ofi_fabric_close(struct ofi *ofi)
{
    ofi_guard_close(ofi);
    close_object(ofi->ep ? &ofi->ep->fid : NULL);
    free_buffers(ofi);
    ofi_places_close(ofi);
    close_object(ofi->av ? &ofi->av->fid : NULL);
    close_object(ofi->cq ? &ofi->cq->fid : NULL);
    close_object(ofi->domain ? &ofi->domain->fid : NULL);
    close_object(ofi->fabric ? &ofi->fabric->fid : NULL);
    if (ofi->info)
        fi_freeinfo(ofi->info);
}

void ofi_fabric_opened(struct ofi *ofi, fi_addr_t to)
{
    uint8_t address[OFI_ADDRESS_MAX];
    size_t len = sizeof(address);
    if (ofi->is_set && !fi_av_lookup(ofi->av, to, address, &len))
        ofi_sockets_find(ofi, address, len);
}

void ofi_fabric_surprised(struct ofi *ofi)
{
    ofi->has_looked = false;
    if (ofi->is_set && !ofi->links)
        ofi_sockets_find(ofi, ofi->address, ofi->address_len);
    for (struct ofi_link *link = ofi->links; link; link = link->next)
        ofi_fabric_opened(ofi, link->say.to);
}

/* ---- buffers ---- */

void ofi_fabric_done(struct ofi *ofi, struct ofi_op *op)
{
    struct ofi_op **list = op->receives ? &ofi->idle_receives : &ofi->idle_sends;
    if (!op->receives) {
        op->kind = 0;
        if (op->link)
            op->link->flying--;
        op->link = NULL;
        op->to = FI_ADDR_UNSPEC;
    }
    op->next = *list;
    *list = op;
    ofi->idle_count += op->receives;
}

bool ofi_fabric_post(struct ofi *ofi)
{
    while (ofi->idle_receives) {
        struct ofi_op *op = ofi->idle_receives;
        ofi_enter(ofi);
        ssize_t rc = fi_recv(ofi->ep, op->bytes, OFI_BUFFER, op->desc, FI_ADDR_UNSPEC,
                             &op->context);
        ofi_leave(ofi);
        if (rc)
            return false; /* it is tried again */
        ofi->idle_receives = op->next;
        ofi->idle_count--;
    }
    return true;
}

static void copy_body(uint8_t *bytes, const struct chan_data *body, uint32_t len)
{
    if (len && body->base)
        memcpy(bytes, body->base, len);
    else if (len)
        body->read(body, 0, bytes, len);
}

/* The next buffer for a link, or for a word to a peer without a link (NULL). NULL: the link has to
 * wait. No link waits for others, whose peers may take nothing for long. */
static struct ofi_op *take_buffer(struct ofi *ofi, const struct ofi_link *link)
{
    int held = link ? link->flying : 0;
    if (!ofi->idle_sends && held < OFI_LEAST)
        (void)make_buffers(ofi, OFI_MORE, false);
    return held < OFI_SHARE ? ofi->idle_sends : NULL;
}

static int put_buffer(struct ofi *ofi, fi_addr_t to, const struct ofi_frame *frame,
                      const struct chan_data *body, struct ofi_link *link)
{
    struct ofi_op *op = take_buffer(ofi, link);
    if (!op)
        return CHAN_AGAIN; /* a completion will tell */
    uint64_t complete = frame->kind == OFI_DATA ? ofi->complete : FI_TRANSMIT_COMPLETE;
    memcpy(op->bytes, frame, sizeof(*frame));
    copy_body(op->bytes + sizeof(*frame), body, frame->len);
    struct iovec part = {op->bytes, sizeof(*frame) + frame->len};
    struct fi_msg message = {.msg_iov = &part, .desc = &op->desc, .iov_count = 1, .addr = to,
                             .context = &op->context};
    ofi_enter(ofi);
    ssize_t rc = fi_sendmsg(ofi->ep, &message, FI_COMPLETION | complete);
    ofi_sockets_push(ofi);
    ofi_leave(ofi);
    if (rc)
        return (int)rc;
    ofi->idle_sends = op->next;
    op->link = link;
    op->to = to;
    op->kind = frame->kind;
    if (link) {
        link->flying++;
        link->injected = complete == FI_INJECT_COMPLETE; /* an injected one is out before it */
    }
    return 0;
}

int ofi_fabric_put(struct ofi *ofi, fi_addr_t to, struct ofi_message *message,
                   const struct chan_data *body, struct ofi_link *link)
{
    const struct ofi_frame *frame = &message->frame;
    size_t len = sizeof(*frame) + frame->len;
    int rc;
    ofi->looks = 0;
    if (len <= ofi->inject_max && frame->kind != OFI_LAST) {
        copy_body(message->body, body, frame->len);
        ofi_enter(ofi);
        rc = (int)fi_inject(ofi->ep, message, len, to);
        ofi_sockets_push(ofi);
        ofi_leave(ofi);
        if (!rc && link)
            link->injected = true;
    } else {
        rc = put_buffer(ofi, to, frame, body, link);
    }
    if (rc == -FI_EAGAIN) {
        ofi->again = true;
        return CHAN_AGAIN;
    }
    return rc;
}
