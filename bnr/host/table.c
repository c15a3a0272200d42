/* SPDX-License-Identifier: BSD-3-Clause */

/* The host table and the host memory; see table.h. */
#include "bnr/host/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bnr/host/order.h"
#include "os/futex.h"
#include "os/log.h"
#include "os/random.h"
#include "os/memory/segment.h"

enum { SLOT_NEED = 512 << 10 /* bytes that a rank uses before it has sent much */ };

static size_t head_bytes(uint64_t world_size, uint64_t hosts)
{
    return sizeof(struct table_head) + hosts * sizeof(struct table_host) +
           world_size * (sizeof(struct table_rank) + 2 * sizeof(uint32_t));
}

static size_t area_bytes(uint64_t slots)
{
    return slots * (TABLE_PAGE + TABLE_LOG + TABLE_ANSWER + TABLE_REPLY + 2 * TABLE_LETTERS);
}

static uint64_t regions_begin(uint64_t slots)
{
    return (area_bytes(slots) + TABLE_ALIGN - 1) & ~(uint64_t)(TABLE_ALIGN - 1);
}

uint64_t table_region_offset(const struct table *t, int slot)
{
    return regions_begin((uint64_t)t->slots) + (uint64_t)slot * TABLE_REGION;
}

struct kvs table_log(const struct table *t, int slot)
{
    size_t logs = (size_t)t->slots * TABLE_PAGE;
    struct kvs log = {t->area + logs + (size_t)slot * TABLE_LOG, TABLE_LOG,
                      &table_page(t, slot)->log_used};
    return log;
}

/* One of the two rings of a slot. */
static struct mail ring(const struct table *t, int slot, int which, struct mail_words *words)
{
    size_t rings = (size_t)t->slots * (TABLE_PAGE + TABLE_LOG + TABLE_ANSWER + TABLE_REPLY);
    return (struct mail){words, t->area + rings + ((size_t)slot * 2 + (size_t)which) * TABLE_LETTERS,
                         TABLE_LETTERS};
}

struct mail table_sent(const struct table *t, int slot)
{
    return ring(t, slot, 0, &table_page(t, slot)->sent);
}

struct mail table_come(const struct table *t, int slot)
{
    return ring(t, slot, 1, &table_page(t, slot)->come);
}

void table_name_hosts(const struct table *t, char *text, size_t size)
{
    if (t->hosts == 1)
        snprintf(text, size, "%s", t->host[0].name);
    else
        snprintf(text, size, "%d hosts", t->hosts);
}

int table_member(const struct table *t, int host, int local_rank)
{
    if (host < 0 || host >= t->hosts || local_rank < 0)
        return -1;
    const struct table_host *h = &t->host[host];
    uint32_t at = h->first + (uint32_t)local_rank;
    if ((uint32_t)local_rank >= h->ranks || at >= (uint32_t)t->world_size ||
        t->members[at] >= (uint32_t)t->world_size)
        return -1;
    return (int)t->members[at];
}

/* Map both segments; sizes and descriptors are set. */
static int map(struct table *t, int writable)
{
    t->head = os_segment_map(t->head_fd, 0, t->head_size, writable);
    if (!t->head)
        return -errno;
    t->area = os_segment_map(t->memory_fd, 0, t->area_size, 1);
    if (!t->area)
        return -errno;
    t->host = (struct table_host *)(t->head + 1);
    t->rank = (struct table_rank *)(t->host + t->hosts);
    t->members = (uint32_t *)(t->rank + t->world_size);
    t->order = t->members + t->world_size;
    return 0;
}

/* Name a host: this machine, or one of those that it pretends to be. */
static void name_host(struct table_host *host, int number, bool is_pretended)
{
    char end[32] = "", id[HOST_ID_MAX];
    if (is_pretended)
        snprintf(end, sizeof(end), ".pretend%d", number);
    host_id(id);
    snprintf(host->id, sizeof(host->id), "%.160s%s", id, end);
    snprintf(host->name, sizeof(host->name), "%.220s%s", os_host_name(), end);
}

/* The ranks in blocks, a host's each; processors in proportion. */
static void fill_hosts(struct table *t, const struct table_spec *spec)
{
    uint64_t world = (uint64_t)t->world_size, hosts = (uint64_t)t->hosts;
    for (uint64_t h = 0; h < hosts; h++) {
        struct table_host *host = &t->host[h];
        host->first = (uint32_t)(h * world / hosts);
        host->ranks = (uint32_t)((h + 1) * world / hosts) - host->first;
        host->cpus = (uint32_t)((uint64_t)spec->cpus * host->ranks / world);
        host->cpus += !host->cpus;
        name_host(host, (int)h, spec->hosts > 0);
        for (uint32_t i = 0; i < host->ranks; i++) {
            uint32_t rank = t->members[host->first + i] = host->first + i;
            t->rank[rank].host = (uint32_t)h;
            t->rank[rank].local_rank = i;
            t->rank[rank].slot = rank;
        }
    }
}

/* The hosts as given, and the ranks on their hosts. */
static void place(struct table *t, const struct table_wide *wide)
{
    uint32_t slots = 0;
    for (int r = 0; r < t->world_size; r++)
        t->host[wide->host_of[r]].ranks++;
    for (int h = 0, first = 0; h < t->hosts; h++) {
        struct table_host *host = &t->host[h];
        host->first = (uint32_t)first;
        first += (int)host->ranks;
        host->ranks = 0; /* counted again below */
        host->cpus = wide->hosts[h].cpus;
        memcpy(host->id, wide->hosts[h].id, sizeof(host->id));
        memcpy(host->name, wide->hosts[h].name, sizeof(host->name));
    }
    for (int r = 0; r < t->world_size; r++) {
        struct table_host *host = &t->host[wide->host_of[r]];
        t->rank[r].host = wide->host_of[r];
        t->rank[r].local_rank = host->ranks++;
        t->members[host->first + t->rank[r].local_rank] = (uint32_t)r;
        t->rank[r].slot = (int)wide->host_of[r] == wide->self ? slots++ : TABLE_NO_SLOT;
    }
}

static int fill(struct table *t, const struct table_spec *spec)
{
    struct table_head *h = t->head;
    int rc = 0;
    if (spec->wide) {
        memcpy(h->gid, spec->wide->gid, sizeof(h->gid));
        memcpy(h->secret, spec->wide->secret, sizeof(h->secret));
    } else {
        rc = order_gid(h->gid) ? 0 : os_random(h->gid, sizeof(h->gid));
        if (!rc)
            rc = os_random(h->secret, sizeof(h->secret));
    }
    if (rc)
        return rc;
    h->version = TABLE_VERSION;
    h->world_size = (uint32_t)spec->world_size;
    h->slots = (uint32_t)t->slots;
    h->is_wide = spec->wide != NULL;
    h->hosts = (uint32_t)t->hosts;
    h->universe_size = (uint32_t)(spec->universe_size ? spec->universe_size : spec->world_size);
    h->cpus = (uint32_t)spec->cpus;
    h->app_count = (uint32_t)spec->app_count;
    for (int r = 0; r < spec->world_size; r++)
        t->rank[r].app = (uint32_t)spec->apps[r];
    if (spec->wide)
        place(t, spec->wide);
    else
        fill_hosts(t, spec);
    h->magic = TABLE_MAGIC;
    return 0;
}

/* How many ranks have a slot; a machine without ranks has an empty one, so that there is memory. */
static int count_slots(const struct table_spec *spec)
{
    int slots = 0;
    if (!spec->wide)
        return spec->world_size;
    for (int r = 0; r < spec->world_size; r++)
        slots += (int)spec->wide->host_of[r] == spec->wide->self;
    return slots ? slots : 1;
}

uint64_t table_need(int slots)
{
    return (uint64_t)slots * SLOT_NEED;
}

int table_create(struct table *t, const struct table_spec *spec)
{
    memset(t, 0, sizeof(*t));
    t->world_size = spec->world_size;
    t->slots = count_slots(spec);
    t->hosts = spec->hosts < spec->world_size ? spec->hosts : spec->world_size;
    t->hosts += !t->hosts;
    t->head_size = head_bytes((uint64_t)spec->world_size, (uint64_t)t->hosts);
    t->area_size = area_bytes((uint64_t)t->slots);
    t->memory_fd = -1;
    t->head_fd = os_segment_create("vireo-table", t->head_size, t->head_size);
    int rc = t->head_fd;
    if (rc < 0)
        return rc;
    uint64_t end = table_region_offset(t, t->slots);
    rc = t->memory_fd = os_segment_create("vireo-memory", end, table_need(t->slots));
    if (rc >= 0)
        rc = map(t, 1);
    if (!rc)
        rc = fill(t, spec);
    if (!rc) {
        /* Where the kernel cannot seal, ranks are trusted to map read-only, and to cut nothing. */
        (void)os_segment_seal(t->head_fd, OS_SEGMENT_READ);
        (void)os_segment_seal(t->memory_fd, OS_SEGMENT_WRITE);
        return 0;
    }
    table_detach(t);
    close(t->head_fd);
    if (t->memory_fd >= 0)
        close(t->memory_fd);
    return rc;
}

/* The size of the shared memory behind fd, or -1 if it is no such memory. */
static int64_t segment_size(int fd)
{
    struct stat st;
    return fstat(fd, &st) || !S_ISREG(st.st_mode) ? -1 : (int64_t)st.st_size;
}

static int is_terminated(const char *text, size_t size)
{
    return memchr(text, 0, size) != NULL;
}

/* Check the head of a mapped candidate, and keep its counts. */
static int check(struct table *t, const struct table_head *h, int64_t size, char *why, size_t room)
{
    if (h->magic == __builtin_bswap64(TABLE_MAGIC)) {
        snprintf(why, room, "the job's mpiexec is of a machine with the other byte order, and a job has one");
        return -EPROTO;
    }
    if (h->magic != TABLE_MAGIC || h->version != TABLE_VERSION) {
        snprintf(why, room, "the job was started by an mpiexec of another version");
        return -EPROTO;
    }
    t->world_size = (int)h->world_size;
    t->slots = (int)h->slots;
    t->hosts = (int)h->hosts;
    if (h->world_size < 1 || h->world_size > TABLE_RANKS_MAX || h->slots < 1 ||
        h->slots > TABLE_SLOTS_MAX || h->slots > h->world_size || h->hosts < 1 ||
        h->hosts > h->world_size || size < (int64_t)head_bytes(h->world_size, h->hosts) ||
        h->cpus < 1 || h->universe_size < h->world_size) {
        snprintf(why, room, "the table of the job is damaged");
        return -EPROTO;
    }
    return 0;
}

/* Check the hosts of a mapped table. */
static int check_hosts(const struct table *t, char *why, size_t room)
{
    for (int h = 0; h < t->hosts; h++) {
        const struct table_host *host = &t->host[h];
        if (host->ranks < 1 || host->ranks > (uint32_t)t->world_size || host->cpus < 1 ||
            !is_terminated(host->id, sizeof(host->id)) ||
            !is_terminated(host->name, sizeof(host->name))) {
            snprintf(why, room, "the table of the job is damaged");
            return -EPROTO;
        }
    }
    return 0;
}

int table_attach(struct table *t, int head_fd, int memory_fd, char *why, size_t size)
{
    memset(t, 0, sizeof(*t));
    t->head_fd = head_fd;
    t->memory_fd = memory_fd;
    int64_t head_size = segment_size(head_fd), memory_size = segment_size(memory_fd);
    if (head_size < (int64_t)sizeof(struct table_head) || memory_size < TABLE_PAGE) {
        snprintf(why, size, "the job's memory was not handed on to this process");
        return -EPROTO;
    }
    struct table_head *h = os_segment_map(head_fd, 0, sizeof(*h), 0);
    int rc = h ? check(t, h, head_size, why, size) : -errno;
    os_segment_unmap(h, sizeof(*h));
    if (rc == -EPROTO)
        return rc;
    if (!rc) {
        t->head_size = head_bytes((uint64_t)t->world_size, (uint64_t)t->hosts);
        t->area_size = area_bytes((uint64_t)t->slots);
        if (memory_size < (int64_t)table_region_offset(t, t->slots)) {
            snprintf(why, size, "the job's memory is smaller than its table says");
            return -EPROTO;
        }
        rc = map(t, 0);
    }
    if (rc)
        snprintf(why, size, "cannot map the job's memory: %s", strerror(-rc));
    else
        rc = check_hosts(t, why, size);
    if (rc)
        table_detach(t);
    return rc;
}

void table_detach(struct table *t)
{
    os_segment_unmap(t->head, t->head_size);
    os_segment_unmap(t->area, t->area_size);
    t->head = NULL;
    t->area = NULL;
}

void table_give_news(struct table *t, int slot)
{
    struct table_page *page = table_page(t, slot);
    atomic_fetch_add(&page->news, 1);
    os_futex_wake(&page->news, INT_MAX);
}

void table_started(struct table *t, int rank, int pid)
{
    t->rank[rank].pid = pid;
    atomic_store_explicit(&t->rank[rank].state, TABLE_RUNNING, memory_order_release);
}

void table_ended(struct table *t, int rank, int status)
{
    uint32_t n = atomic_load_explicit(&t->head->ends, memory_order_relaxed);
    t->rank[rank].status = status;
    t->order[n] = (uint32_t)rank;
    atomic_store_explicit(&t->rank[rank].state, TABLE_ENDED, memory_order_release);
    atomic_store_explicit(&t->head->ends, n + 1, memory_order_release);
}

void table_abort_message(const struct table *t, int slot, char text[TABLE_MESSAGE_MAX])
{
    const volatile char *from = table_page(t, slot)->message;
    size_t n = 0;
    for (; n < TABLE_MESSAGE_MAX - 1; n++) {
        unsigned char c = (unsigned char)from[n];
        if (!c)
            break;
        text[n] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = 0;
}
