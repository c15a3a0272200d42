/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A library to preload, which makes a provider of libfabric fail. VIREO_TEST_FABRIC has numbers:
 *
 *   seed=N    of the dice
 *   local=1   memory here has to be registered too, as with adapters that read it themselves
 *   first=N   so many registrations succeed
 *   mr=P      P percent of the others fail, as where no more memory may be locked
 *   again=P   P percent of sends and reads find no room
 *   break=N   the completion queue is overrun, at the Nth look at it
 *   moved=1   this process tells others the address of a port at which nothing listens
 *   count=1   nothing fails; but as always, fabric_faults_lent() tells how much memory peers may reach
 *   locked=N  this process is killed when it has got, for the Nth time, a lock in another one's memory
 */
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    long seed, local, first, mr, again, break_at, moved, locked;
    bool is_read;
} faults;
static uint64_t dice;
static int lent; /* registrations that peers may reach */
static int depth; /* of calls of libfabric into itself */

static long number(const char *text, const char *name)
{
    const char *at = text ? strstr(text, name) : NULL;
    return at ? atol(at + strlen(name)) : 0;
}

static void read_faults(void)
{
    const char *text = getenv("VIREO_TEST_FABRIC"), *rank = getenv("BNR_RANK");
    if (faults.is_read)
        return;
    faults.is_read = true;
    faults.seed = number(text, "seed=");
    faults.local = number(text, "local=");
    faults.first = number(text, "first=");
    faults.mr = number(text, "mr=");
    faults.again = number(text, "again=");
    faults.break_at = number(text, "break=");
    faults.moved = number(text, "moved=");
    faults.locked = number(text, "locked=");
    dice = (uint64_t)faults.seed * 1000003u + (uint64_t)(rank ? atoi(rank) : 0);
}

static bool happens(long percent)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (long)((dice >> 33) % 100) < percent;
}

/* ---- the provider's functions, and ours before them ---- */

static struct fi_ops_fabric fabric_ops;
static struct fi_ops_domain domain_ops;
static struct fi_ops_mr mr_ops;
static struct fi_ops_msg msg_ops;
static struct fi_ops_rma rma_ops;
static struct fi_ops_cq cq_ops;
static struct fi_ops_cm cm_ops;
static const struct fi_ops_fabric *real_fabric;
static const struct fi_ops_domain *real_domain;
static const struct fi_ops_mr *real_mr;
static const struct fi_ops_msg *real_msg;
static const struct fi_ops_rma *real_rma;
static const struct fi_ops_cq *real_cq;
static const struct fi_ops_cm *real_cm;
static struct fi_ops lent_ops;
static const struct fi_ops *real_lent;

/* Put a copy of the table in its place. */
#define REPLACE(object, table, copy, real) \
    (real = (object)->table, memcpy(&copy, real, sizeof(copy)), (object)->table = &copy)

/* The same for all: those of one kind have one table. */
static int close_lent(struct fid *fid)
{
    lent--;
    return real_lent->close(fid);
}

static int fi_faulty_reg(struct fid *fid, const void *bytes, size_t len, uint64_t access, uint64_t offset,
                         uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    if (faults.first-- <= 0 && happens(faults.mr))
        return -FI_ENOMEM;
    int rc = real_mr->reg(fid, bytes, len, access, offset, key, flags, mr, context);
    if (rc || !(access & FI_REMOTE_READ))
        return rc;
    real_lent = (*mr)->fid.ops;
    lent_ops = *real_lent;
    lent_ops.close = close_lent;
    (*mr)->fid.ops = &lent_ops;
    lent++;
    return 0;
}

/* For programs, which look it up by its name. */
int fabric_faults_lent(void);
__attribute__((visibility("default"))) int fabric_faults_lent(void)
{
    return lent;
}

static ssize_t inject(struct fid_ep *ep, const void *bytes, size_t len, fi_addr_t to)
{
    return happens(faults.again) ? -FI_EAGAIN : real_msg->inject(ep, bytes, len, to);
}

static ssize_t sendmsg_(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    return happens(faults.again) ? -FI_EAGAIN : real_msg->sendmsg(ep, message, flags);
}

static ssize_t recv_(struct fid_ep *ep, void *bytes, size_t len, void *desc, fi_addr_t from,
                     void *context)
{
    return happens(faults.again) ? -FI_EAGAIN : real_msg->recv(ep, bytes, len, desc, from, context);
}

static ssize_t fi_faulty_read(struct fid_ep *ep, void *bytes, size_t len, void *desc,
                              fi_addr_t from, uint64_t address, uint64_t key, void *context)
{
    return happens(faults.again)
               ? -FI_EAGAIN
               : real_rma->read(ep, bytes, len, desc, from, address, key, context);
}

static ssize_t cq_read(struct fid_cq *cq, void *entries, size_t count)
{
    return faults.break_at && --faults.break_at <= 0 ? (faults.break_at = 1, -FI_EOVERRUN)
                                                     : real_cq->read(cq, entries, count);
}

static int getname(struct fid *fid, void *address, size_t *len)
{
    int rc = real_cm->getname(fid, address, len);
    if (!rc)
        ((struct sockaddr_in *)address)->sin_port = htons(1);
    return rc;
}

static struct fi_info *real_info(const struct fi_info *info)
{
    struct fi_info *copy = fi_dupinfo(info);
    if (copy && faults.local)
        copy->domain_attr->mr_mode &= ~FI_MR_LOCAL;
    return copy;
}

static int endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                    void *context)
{
    struct fi_info *copy = real_info(info);
    depth++;
    int rc = real_domain->endpoint(domain, copy, ep, context);
    depth--;
    fi_freeinfo(copy);
    if (rc || depth)
        return rc;
    REPLACE(*ep, msg, msg_ops, real_msg);
    msg_ops.inject = inject;
    msg_ops.sendmsg = sendmsg_;
    msg_ops.recv = recv_;
    REPLACE(*ep, rma, rma_ops, real_rma);
    rma_ops.read = fi_faulty_read;
    REPLACE(*ep, cm, cm_ops, real_cm);
    if (faults.moved)
        cm_ops.getname = getname;
    return 0;
}

static int cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                   void *context)
{
    int rc = real_domain->cq_open(domain, attr, cq, context);
    if (rc)
        return rc;
    REPLACE(*cq, ops, cq_ops, real_cq);
    cq_ops.read = cq_read;
    return 0;
}

static int domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    struct fi_info *copy = real_info(info);
    depth++;
    int rc = real_fabric->domain(fabric, copy, domain, context);
    depth--;
    fi_freeinfo(copy);
    if (rc)
        return rc;
    REPLACE(*domain, ops, domain_ops, real_domain);
    domain_ops.endpoint = endpoint;
    domain_ops.cq_open = cq_open;
    REPLACE(*domain, mr, mr_ops, real_mr);
    mr_ops.reg = fi_faulty_reg;
    return 0;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    int (*real)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                struct fi_info **);
    *(void **)&real = dlsym(RTLD_NEXT, "fi_getinfo");
    read_faults();
    depth++;
    int rc = real(version, node, service, flags, hints, info);
    depth--;
    for (struct fi_info *each = rc || depth || !faults.local ? NULL : *info; each; each = each->next)
        each->domain_attr->mr_mode |= FI_MR_LOCAL;
    return rc;
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int (*real)(struct fi_fabric_attr *, struct fid_fabric **, void *);
    *(void **)&real = dlsym(RTLD_NEXT, "fi_fabric");
    depth++;
    int rc = real(attr, fabric, context);
    depth--;
    if (rc || depth)
        return rc;
    REPLACE(*fabric, ops, fabric_ops, real_fabric);
    fabric_ops.domain = domain_open;
    return 0;
}

/* ---- locks in memory of others ---- */

/* Whether the address lies in memory of provider shm that belongs to another process. */
static bool is_theirs(const volatile void *address)
{
    char line[512];
    unsigned long first, end;
    unsigned owner = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx", &first, &end) == 2 && (unsigned long)address >= first &&
            (unsigned long)address < end) {
            const char *name = strstr(line, "vireo-ofi-");
            if (name)
                sscanf(name, "vireo-ofi-%*16x-%8x", &owner);
            break;
        }
    if (maps)
        fclose(maps);
    return owner && owner != (unsigned)getpid();
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    static int (*real)(pthread_spinlock_t *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_spin_lock");
    int rc = real(lock);
    read_faults();
    if (faults.locked && is_theirs(lock) && !--faults.locked)
        kill(getpid(), SIGKILL);
    return rc;
}
