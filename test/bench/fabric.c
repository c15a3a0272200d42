/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Messages between ranks 0 and 1 over a provider of libfabric, by size in bytes: half a ping-pong
 * ("latency"), one message at a time there and back ("one-way"), and eight in flight in one
 * direction ("stream"). The limits are the same with bare fi_send() and fi_recv() over the same
 * provider. Some providers take longer where the completion queue can be slept on, as an MPI's has to be,
 * so all is measured with such a queue too. --ops names the provider;
 * the MPI has to be told by other means to use it too. Run with two ranks.
 */

#include "bench.h"

#include <mpi.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, WINDOW = 8, ADDRESS = 512, SMALL = 8192, SPINS = 256 };

struct work {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_wait *set;  /* that the queue is in, where it can be slept on as one of a set alone */
    struct fid_mr *mr[2];  /* of out and in, where the provider wants that */
    struct fi_context2 context[WINDOW + 1];
    fi_addr_t peer;
    long sent, received; /* completions that are awaited, below 0: that came early */
    unsigned spins;
    char *out, *in;
    size_t bytes, most;
    int rank;
};

static void check(long rc, const char *what)
{
    if (rc < 0) {
        fprintf(stderr, "fabric: %s: %s\n", what, fi_strerror((int)-rc));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- bare ---- */

static bool is_of(const char *provider, const char *name)
{
    return provider && strstr(provider, name);
}

/* With sockets, a queue can be slept on where the provider's own thread makes progress. */
static struct fi_info *find(const char *provider, bool can_sleep)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;

    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
    bool inet = is_of(provider, "tcp") || is_of(provider, "udp") || is_of(provider, "sockets");
    check(fi_getinfo(FI_VERSION(1, 11), inet ? "127.0.0.1" : NULL, NULL, inet ? FI_SOURCE : 0,
                     hints, &info), "fi_getinfo");
    fi_freeinfo(hints);
    if (can_sleep && is_of(provider, "sockets"))
        info->domain_attr->data_progress = FI_PROGRESS_AUTO;
    return info;
}

static void open_queue(struct work *w, const char *provider, bool can_sleep)
{
    struct fi_wait_attr of_set = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};

    if (can_sleep)
        cq.wait_obj = is_of(provider, "ofi_rxd") ? FI_WAIT_SET
                      : is_of(provider, ";")     ? FI_WAIT_POLLFD
                                                 : FI_WAIT_FD;
    if (cq.wait_obj == FI_WAIT_SET) {
        check(fi_wait_open(w->fabric, &of_set, &w->set), "fi_wait_open");
        cq.wait_set = w->set;
    }
    if (fi_cq_open(w->domain, &cq, &w->cq, NULL)) { /* it can only be asked */
        cq.wait_obj = FI_WAIT_NONE;
        check(fi_cq_open(w->domain, &cq, &w->cq, NULL), "fi_cq_open");
    }
}

static void open_fabric(struct work *w, const char *provider, bool can_sleep)
{
    struct fi_av_attr av = {.type = FI_AV_UNSPEC};
    char mine[ADDRESS] = "", theirs[ADDRESS];
    size_t len = sizeof(mine);

    w->info = find(provider, can_sleep);
    check(fi_fabric(w->info->fabric_attr, &w->fabric, NULL), "fi_fabric");
    check(fi_domain(w->fabric, w->info, &w->domain, NULL), "fi_domain");
    open_queue(w, provider, can_sleep);
    check(fi_av_open(w->domain, &av, &w->av, NULL), "fi_av_open");
    check(fi_endpoint(w->domain, w->info, &w->ep, NULL), "fi_endpoint");
    check(fi_ep_bind(w->ep, &w->av->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(w->ep), "fi_enable");
    check(fi_getname(&w->ep->fid, mine, &len), "fi_getname");
    MPI_Sendrecv(mine, ADDRESS, MPI_BYTE, !w->rank, TAG, theirs, ADDRESS, MPI_BYTE, !w->rank, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(fi_av_insert(w->av, theirs, 1, &w->peer, 0, NULL) - 1, "fi_av_insert");
    if (w->info->domain_attr->mr_mode & FI_MR_LOCAL) {
        check(fi_mr_reg(w->domain, w->out, w->most, FI_SEND, 0, 1, 0, &w->mr[0], NULL), "fi_mr_reg");
        check(fi_mr_reg(w->domain, w->in, WINDOW * w->most, FI_RECV, 0, 2, 0, &w->mr[1], NULL),
              "fi_mr_reg");
    }
}

static void close_fabric(struct work *w)
{
    struct fid *all[] = {&w->ep->fid,
                         w->mr[0] ? &w->mr[0]->fid : NULL,
                         w->mr[1] ? &w->mr[1]->fid : NULL,
                         &w->av->fid,
                         &w->cq->fid,
                         w->set ? &w->set->fid : NULL,
                         &w->domain->fid,
                         &w->fabric->fid};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i])
            fi_close(all[i]);
    fi_freeinfo(w->info);
}

static void progress(struct work *w)
{
    struct fi_cq_msg_entry entries[WINDOW];
    ssize_t count = fi_cq_read(w->cq, entries, WINDOW);

    if (count != -FI_EAGAIN)
        check(count, "fi_cq_read");
    else if (++w->spins % SPINS == 0)
        sched_yield();
    for (ssize_t i = 0; i < count; i++)
        (entries[i].flags & FI_RECV ? w->received++ : w->sent++);
}

static void post(struct work *w, int count, size_t bytes)
{
    for (int i = 0; i < count; i++)
        check(fi_recv(w->ep, w->in + (size_t)i * bytes, bytes, w->mr[1] ? fi_mr_desc(w->mr[1]) : NULL,
                      FI_ADDR_UNSPEC, &w->context[i]), "fi_recv");
}

static void say(struct work *w, int count, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        ssize_t rc;
        while ((rc = fi_send(w->ep, w->out, bytes, w->mr[0] ? fi_mr_desc(w->mr[0]) : NULL, w->peer,
                             &w->context[WINDOW])) == -FI_EAGAIN)
            progress(w);
        check(rc, "fi_send");
        w->sent--;
    }
}

static void take(struct work *w, int count)
{
    while (w->received < count)
        progress(w);
    w->received -= count;
}

static void flush(struct work *w)
{
    while (w->sent < 0)
        progress(w);
}

static void run_bare(void *arg, int count)
{
    struct work *w = arg;

    post(w, 1, w->bytes);
    for (int i = 0; i < count; i++) {
        if (w->rank == 0)
            say(w, 1, w->bytes);
        take(w, 1);
        if (i + 1 < count)
            post(w, 1, w->bytes);
        if (w->rank == 1)
            say(w, 1, w->bytes);
        if (w->bytes > SMALL || i + 1 == count)
            flush(w);
    }
}

static void run_bare_stream(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++) {
        if (w->rank == 0) {
            post(w, 1, 1);
            say(w, WINDOW, w->bytes);
            flush(w);
            take(w, 1);
        } else {
            post(w, WINDOW, w->bytes);
            take(w, WINDOW);
            say(w, 1, 1);
            flush(w);
        }
    }
}

/* ---- MPI ---- */

static void run_mpi(void *arg, int count)
{
    struct work *w = arg;

    bench_ping_pong(w->rank, w->out, w->in, w->bytes, count);
}

static void run_mpi_stream(void *arg, int count)
{
    struct work *w = arg;

    bench_stream(w->rank, w->out, w->in, w->bytes, WINDOW, count);
}

static void measure(const struct bench_options *o, struct work *w, struct work *sleeper)
{
    double both = 2.0 * (double)w->bytes, window = (double)WINDOW * (double)w->bytes;
    struct bench_way small[3] = {
        {"fi_send ping-pong", "ns", BENCH_TIME, 0.5, run_bare, w, BENCH_RAW},
        {"fi_send ping-pong with a queue to sleep on", "ns", BENCH_TIME, 0.5, run_bare, sleeper, BENCH_RAW},
        {"latency", "ns", BENCH_TIME, 0.5, run_mpi, w, 0},
    };
    struct bench_way large[6] = {
        {"fi_send one-way", "GB/s", BENCH_RATE, both, run_bare, w, BENCH_RAW},
        {"fi_send one-way with a queue to sleep on", "GB/s", BENCH_RATE, both, run_bare, sleeper, BENCH_RAW},
        {"fi_send stream", "GB/s", BENCH_RATE, window, run_bare_stream, w, BENCH_RAW},
        {"fi_send stream with a queue to sleep on", "GB/s", BENCH_RATE, window, run_bare_stream, sleeper,
         BENCH_RAW},
        {"one-way", "GB/s", BENCH_RATE, both, run_mpi, w, 0},
        {"stream", "GB/s", BENCH_RATE, window, run_mpi_stream, w, 2},
    };
    char label[32];

    snprintf(label, sizeof label, "%zu", w->bytes);
    if (w->bytes <= SMALL)
        bench_interleave(o, label, small, 3);
    else
        bench_interleave(o, label, large, 6);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.sizes = {8, 1024, 65536, 1048576, 4194304}, .size_count = 5};
    struct work w = {.most = ADDRESS}, sleeper;

    /* Else the thread of provider sockets goes on looking after each message, beside what is measured next. */
    setenv("FI_SOCKETS_PE_WAITTIME", "0", 0);
    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    for (int i = 0; i < o.size_count; i++)
        w.most = o.sizes[i] > w.most ? o.sizes[i] : w.most;
    w.out = bench_alloc(w.most, false);
    w.in = bench_alloc(WINDOW * w.most, false);
    sleeper = w;
    open_fabric(&w, o.ops, false);
    open_fabric(&sleeper, o.ops, true);
    for (int i = 0; i < o.size_count; i++) {
        w.bytes = sleeper.bytes = o.sizes[i];
        measure(&o, &w, &sleeper);
    }
    close_fabric(&sleeper);
    close_fabric(&w);
    bench_free(w.out, w.most);
    bench_free(w.in, WINDOW * w.most);
    MPI_Finalize();
    return 0;
}
