/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Somebody on the fabric who lacks the job's secret, and knows the address of a rank's endpoint over sockets.
 *
 * usage: ofi_stranger PROVIDER ADDRESS PORT keys|flood
 *
 *   keys   read and write what is registered under the first few numbers
 *   flood  say HELLO again and again, and listen for an answer
 *
 * Status 0: it was told nothing. 3: it was told something. 1: it cannot be tried.
 */
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "channels/ofi/wire.h"

enum { NOT_TRIED = 1, TOLD = 3, KEYS = 4, LEN = 64, PATIENCE_MS = 2000, FLOOD_MS = 1000, RECEIVES = 16 };

static struct {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t victim;
} fabric;

static void need(int rc, const char *what)
{
    if (!rc)
        return;
    printf("stranger: no %s: %s\n", what, fi_strerror(rc < 0 ? -rc : rc));
    exit(NOT_TRIED);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void open_endpoint(const char *provider, const char *address)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_av_attr av = {.type = FI_AV_UNSPEC};
    struct fi_cq_attr cq = {.size = 4096, .format = FI_CQ_FORMAT_MSG};
    need(hints ? 0 : FI_ENOMEM, "memory");
    hints->caps = FI_MSG | FI_RMA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    need(fi_getinfo(FI_VERSION(1, 11), address, NULL, FI_SOURCE, hints, &fabric.info), "provider");
    fi_freeinfo(hints);
    need(fi_fabric(fabric.info->fabric_attr, &fabric.fabric, NULL), "fabric");
    need(fi_domain(fabric.fabric, fabric.info, &fabric.domain, NULL), "domain");
    need(fi_av_open(fabric.domain, &av, &fabric.av, NULL), "addresses");
    need(fi_cq_open(fabric.domain, &cq, &fabric.cq, NULL), "queue");
    need(fi_endpoint(fabric.domain, fabric.info, &fabric.ep, NULL), "endpoint");
    need(fi_ep_bind(fabric.ep, &fabric.av->fid, 0), "addresses of it");
    need(fi_ep_bind(fabric.ep, &fabric.cq->fid, FI_TRANSMIT | FI_RECV), "queue of it");
    need(fi_enable(fabric.ep), "start of it");
}

static void find_victim(const char *address, const char *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    need(inet_pton(AF_INET, address, &to.sin_addr) == 1 ? 0 : FI_EINVAL, "address");
    need(fi_av_insert(fabric.av, &to, 1, &fabric.victim, 0, NULL) == 1 ? 0 : FI_EINVAL, "place for the address");
}

/* The end of an operation. Returns whether it has gone well. */
static bool goes_well(void)
{
    struct fi_cq_msg_entry entry;
    uint64_t end_ms = now_ms() + PATIENCE_MS;
    ssize_t rc;
    while ((rc = fi_cq_read(fabric.cq, &entry, 1)) == -FI_EAGAIN && now_ms() < end_ms)
        ;
    if (rc == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        (void)fi_cq_readerr(fabric.cq, &error, 0);
    }
    return rc == 1;
}

/* Read or write at a key. Returns whether bytes were read. */
static bool reach(uint64_t key, bool writes)
{
    static char bytes[LEN];
    static struct fi_context2 context;
    uint64_t end_ms = now_ms() + PATIENCE_MS;
    ssize_t rc;
    memset(bytes, writes ? '!' : 0, sizeof(bytes));
    do {
        struct fi_cq_msg_entry entry;
        rc = writes ? fi_write(fabric.ep, bytes, LEN, NULL, fabric.victim, 0, key, &context)
                    : fi_read(fabric.ep, bytes, LEN, NULL, fabric.victim, 0, key, &context);
        if (rc == -FI_EAGAIN)
            (void)fi_cq_read(fabric.cq, &entry, 0);
    } while (rc == -FI_EAGAIN && now_ms() < end_ms);
    if (rc || !goes_well() || writes)
        return false;
    printf("stranger: read %d bytes by key %d\n", LEN, (int)key);
    return true;
}

static int try_keys(void)
{
    bool told = false;
    for (uint64_t key = 1; key <= KEYS && !told; key++)
        told = reach(key, false);
    for (uint64_t key = 1; key <= KEYS; key++)
        (void)reach(key, true);
    return told ? TOLD : 0;
}

/* The completion of something. Returns its context, or NULL where there is none yet. */
static void *take_completion(void)
{
    struct fi_cq_msg_entry entry;
    struct fi_cq_err_entry error = {0};
    ssize_t rc = fi_cq_read(fabric.cq, &entry, 1);
    if (rc == -FI_EAVAIL)
        (void)fi_cq_readerr(fabric.cq, &error, 0);
    return rc == 1 ? entry.op_context : rc == -FI_EAVAIL ? error.op_context : NULL;
}

static int flood(void)
{
    static uint8_t in[RECEIVES][OFI_BUFFER];
    static struct fi_context2 receives[RECEIVES], sends;
    static struct {
        struct ofi_frame frame;
        struct ofi_hello hello;
    } message;
    size_t address_len = OFI_ADDRESS_MAX, len = offsetof(struct ofi_hello, address);
    int said = 0, told = 0;
    bool flies = false;
    need(fi_getname(&fabric.ep->fid, message.hello.address, &address_len), "address of its own");
    for (int i = 0; i < RECEIVES; i++)
        need((int)fi_recv(fabric.ep, in[i], OFI_BUFFER, NULL, FI_ADDR_UNSPEC, &receives[i]), "receive");
    message.frame = (struct ofi_frame){.kind = OFI_HELLO, .len = (uint32_t)(len + address_len)};
    message.hello.rank = 1;
    message.hello.address_len = (uint32_t)address_len;
    for (uint64_t end_ms = now_ms() + FLOOD_MS; now_ms() < end_ms;) {
        message.hello.from = message.hello.number = message.hello.proof = (uint64_t)said + 1;
        if (!flies && !fi_send(fabric.ep, &message, sizeof(message.frame) + message.frame.len, NULL, fabric.victim,
                               &sends)) {
            flies = true;
            said++;
        }
        void *done = take_completion();
        flies = flies && done != &sends;
        told += done && done != &sends;
    }
    printf("stranger: said %d times HELLO, and was told %d times something\n", said, told);
    return !said ? NOT_TRIED : told ? TOLD : 0;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return NOT_TRIED;
    open_endpoint(argv[1], argv[2]);
    find_victim(argv[2], argv[3]);
    int rc = !strcmp(argv[4], "flood") ? flood() : try_keys();
    fflush(stdout);
    _Exit(rc); /* libfabric's own end may wait for the victim */
}
