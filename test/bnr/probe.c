/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rank that does what its arguments say, one after the other, by BNR calls
 * alone: see acts[] at the end. Each finding is checked; the first that is wrong
 * ends the rank with status 99. "word=N" hands N to the act.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/bnr.h"

static BNR_Group group;
static int rank, size, hooks;

static void check(int truth, const char *what, int line)
{
    if (truth)
        return;
    fprintf(stderr, "probe: rank %d: line %d: %s\n", rank, line, what);
    _exit(99);
}
#define CHECK(truth) check((truth) != 0, #truth, __LINE__)

static void hook(void *arg)
{
    hooks++;
}

static void start(int arg)
{
    BNR_Init_attr attr = {sizeof(attr), hook, NULL};
    CHECK(BNR_Init(&attr) == 0);
    CHECK(BNR_Get_group(&group) == 0);
    CHECK(BNR_Get_rank(group, &rank) == 0);
    CHECK(BNR_Get_size(group, &size) == 0);
}

static void finalize(int arg)
{
    CHECK(BNR_Finalize() == 0);
}

/* Everybody's card, got without a fence. */
static void cards(int arg)
{
    char card[64], key[64];
    size_t len;
    snprintf(card, sizeof(card), "card of %d", rank);
    CHECK(BNR_Put(group, "card", card, strlen(card), 0) == 0);
    CHECK(BNR_Put(group, "card", card, strlen(card), 0) == BNR_ERR_EXISTS);
    for (int i = 0; i < size; i++) {
        int peer = (rank + i) % size;
        snprintf(key, sizeof(key), "card of %d", peer);
        len = sizeof(card);
        CHECK(BNR_Get(group, peer, "card", card, &len, 0) == 0);
        CHECK(len == strlen(key) && !memcmp(card, key, len));
        len = 2;
        CHECK(BNR_Get(group, peer, "card", card, &len, 0) == BNR_ERR_TRUNC && len == strlen(key));
    }
}

/* Keys that come 10, 20, 40, 80 and 160 ms after they are asked for: on a busy machine one asks late. */
static void late(int arg)
{
    void *val;
    size_t len;
    int before = hooks;
    for (int ms = 10; ms <= 160; ms *= 2) {
        char key[32];
        snprintf(key, sizeof(key), "late %d", ms);
        if (rank == size - 1) {
            usleep(ms * 1000);
            CHECK(BNR_Put(group, key, "x", 1, 0) == 0);
        }
        CHECK(BNR_Get_alloc(group, size - 1, key, &val, &len, 0) == 0 && len == 1);
        free(val);
    }
    CHECK(rank == size - 1 || hooks > before);
    CHECK(BNR_Get_alloc(group, 0, "never", &val, &len, BNR_GET_NOWAIT) == BNR_ERR_NOT_FOUND);
}

/* What a get for later returns that has found nothing. */
static int is_not_here(int rc)
{
    return rc == BNR_ERR_NOT_FOUND || rc == BNR_ERR_AGAIN;
}

/* Keys come to those who look again and again. */
static void later(int arg)
{
    void *val;
    size_t len;
    CHECK(BNR_Put(group, "later", "x", 1, 0) == 0);
    for (int r = 0; r < size; r++) {
        int rc = BNR_ERR_AGAIN;
        for (int i = 0; is_not_here(rc) && i < 20000; i++) {
            usleep(500);
            rc = BNR_Get_alloc(group, r, "later", &val, &len, BNR_GET_LATER);
        }
        CHECK(rc == 0 && len == 1);
        free(val);
        rc = BNR_ERR_AGAIN; /* until the other host has said that it is not there */
        for (int i = 0; rc == BNR_ERR_AGAIN && i < 20000; i++) {
            rc = BNR_Get_alloc(group, r, "never", &val, &len, BNR_GET_LATER);
            usleep(500);
        }
        CHECK(rc == BNR_ERR_NOT_FOUND);
    }
    CHECK(BNR_Fence(group) == 0);
}

/* A key comes to those who sleep until there is news, and look again only then. */
static void news(int arg)
{
    unsigned *word, seen;
    void *val = NULL;
    size_t len;
    int rc, looks = 0;
    const struct timespec limit = {20, 0};
    CHECK(BNR_Get_news(&word) == 0);
    unsigned before = *word;
    CHECK(BNR_Fence(group) == 0);
    if (rank == 0) {
        usleep(100000);
        CHECK(*word == before);
        CHECK(BNR_Put(group, "news", "x", 1, 0) == 0);
        CHECK(BNR_Put(group, "more", "x", 1, 0) == 0);
    }
    do {
        seen = *(volatile unsigned *)word;
        rc = BNR_Get_alloc(group, 0, "news", &val, &len, BNR_GET_LATER);
        CHECK(looks++ < 4);
        while (is_not_here(rc) && *(volatile unsigned *)word == seen)
            CHECK(!syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0) || errno != ETIMEDOUT);
    } while (is_not_here(rc));
    CHECK(rc == 0 && len == 1);
    free(val);
    CHECK(BNR_Fence(group) == 0);
}

/* A value put before a fence is there after it. */
static void fences(int count)
{
    int value;
    for (int i = 0; i < count; i++) {
        size_t len = sizeof(value);
        value = rank + i;
        CHECK(BNR_Put(group, "turn", &value, sizeof(value), BNR_PUT_REPLACE) == 0);
        CHECK(BNR_Fence(group) == 0);
        CHECK(BNR_Get(group, (rank + 1) % size, "turn", &value, &len, BNR_GET_NOWAIT) == 0);
        CHECK(value == (rank + 1) % size + i);
        CHECK(BNR_Barrier(group) == 0);
    }
}

/* A long value, which no fence carries, is replaced: all see it, also while nothing orders it but that
 * it has been put, which the next rank hears by a key. */
static void replaced(int count)
{
    static char value[4000], here[4000];
    int next = (rank + 1) % size;
    for (int i = 0; i < count; i++) {
        char done[16];
        size_t len = sizeof(here), none = 0;
        memset(value, 'a' + i % 26, sizeof(value));
        CHECK(BNR_Put(group, "long", value, sizeof(value), BNR_PUT_REPLACE) == 0);
        if (i % 2)
            CHECK(BNR_Fence(group) == 0);
        snprintf(done, sizeof(done), "done %d", i);
        CHECK(BNR_Put(group, done, "", 0, 0) == 0);
        CHECK(BNR_Get(group, next, done, here, &none, 0) == 0);
        CHECK(BNR_Get(group, next, "long", here, &len, i % 3 ? 0 : BNR_GET_NOWAIT) == 0);
        CHECK(len == sizeof(here) && !memcmp(here, value, len));
        CHECK(BNR_Fence(group) == 0);
    }
}

static void die(int who)
{
    if (rank == who)
        kill(getpid(), SIGKILL);
}

static void leave(int code)
{
    if (rank == 0)
        _exit(code);
}

static void end_all(int code)
{
    if (rank == 0)
        BNR_Abort(group, code, "the probe\nhas had enough");
}

/* The last rank has died: neither a fence nor a get waits for it. */
static void broken(int arg)
{
    char byte;
    size_t len = 1;
    signal(SIGTERM, SIG_IGN); /* mpiexec ends the job: all are to be ready for that */
    CHECK(BNR_Fence(group) == BNR_SUCCESS);
    if (rank == size - 1)
        _exit(0);
    CHECK(BNR_Fence(group) == BNR_ERR_PROC_FAILED);
    CHECK(BNR_Fence(group) == BNR_ERR_PROC_FAILED);
    CHECK(BNR_Get(group, size - 1, "never", &byte, &len, 0) == BNR_ERR_PROC_FAILED);
    fprintf(stderr, "broken as told\n");
}

/* ---- xcasts ---- */

enum {
    XCAST_TAGS = 3,
    XCAST_RANKS_MAX = 64,
};

static struct {
    int count, wrong, missing;
    int last[XCAST_RANKS_MAX]; /* number of the last message of each rank */
    unsigned order;            /* a sum that depends on the order of all */
} taken;

struct xcast_text {
    int from, number, tag, len;
};

static unsigned char byte_at(int from, int number, size_t i)
{
    return (unsigned char)(from * 31 + number * 7 + (int)i);
}

static void take_xcast(BNR_Group g, int from, int tag, const void *data, size_t len, void *arg)
{
    const struct xcast_text *text = data;
    taken.count++;
    if (!data) {
        taken.missing += (int)len;
        return;
    }
    taken.order = taken.order * 31 + (unsigned)(from * 1000 + text->number);
    taken.wrong += text->from != from || text->tag != tag || (size_t)text->len != len ||
                   text->number <= taken.last[from] || arg != &taken;
    taken.last[from] = text->number;
    for (size_t i = sizeof(*text); i < len; i++)
        taken.wrong += ((const unsigned char *)data)[i] != byte_at(from, text->number, i);
}

static void send_xcast(int number, int tag, size_t len, const BNR_Xcast_attr *attr)
{
    unsigned char *bytes = malloc(len);
    struct xcast_text *text = (struct xcast_text *)(void *)bytes;
    *text = (struct xcast_text){rank, number, tag, (int)len};
    for (size_t i = sizeof(*text); i < len; i++)
        bytes[i] = byte_at(rank, number, i);
    CHECK(BNR_Xcast(group, tag, bytes, len, attr) == 0);
    free(bytes);
}

static void take_until(int count)
{
    for (int did; taken.count < count; did ? 0 : usleep(100))
        CHECK(BNR_Progress(&did) == 0);
    CHECK(taken.count == count && !taken.wrong && !taken.missing);
}

/* All ranks send to all, of each shape and many lengths, and all take all in one order. */
static void xcasts(int count)
{
    static const size_t lens[] = {16, 100, 5000, 70000, 700000};
    char order[16];
    size_t len = sizeof(order);
    memset(taken.last, -1, sizeof(taken.last));
    CHECK(BNR_Xcast(group, -1, "", 0, NULL) == BNR_ERR_ARG);
    CHECK(BNR_Xcast(group, 0, "", BNR_MAX_XCAST + 1, NULL) == BNR_ERR_ARG);
    for (int i = 0; i < count; i++) {
        BNR_Xcast_attr attr = {.size = sizeof(attr), .mode = i % (BNR_XCAST_BINARY + 1)};
        send_xcast(i, i % XCAST_TAGS, lens[(i + rank) % 5], &attr);
        if (i == count / 2) /* those that have come by now wait */
            for (int tag = 0; tag < XCAST_TAGS; tag++)
                CHECK(BNR_Xcast_register(group, tag, take_xcast, &taken) == 0);
    }
    CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == BNR_ERR_EXISTS);
    take_until(count * size);
    snprintf(order, sizeof(order), "%u", taken.order);
    CHECK(BNR_Put(group, "order", order, sizeof(order), 0) == 0);
    for (int i = 0; i < size; i++) {
        CHECK(BNR_Get(group, i, "order", order, &len, 0) == 0);
        CHECK(strtoul(order, NULL, 10) == taken.order);
    }
    for (int tag = 0; tag < XCAST_TAGS; tag++)
        CHECK(BNR_Xcast_register(group, tag, NULL, NULL) == 0);
    CHECK(BNR_Fence(group) == 0);
    taken.count = 0;
}

/* The last rank writes to some, in each shape. */
static void xcast_some(int arg)
{
    const int lists[][2] = {{0, 0}, {size / 2, size - 1}};
    const BNR_Xcast_attr bad = {.size = sizeof(bad), .ranges = &(int[]){0, size}, .range_count = 1};
    memset(taken.last, -1, sizeof(taken.last));
    CHECK(BNR_Xcast(group, 0, "", 0, &bad) == BNR_ERR_ARG);
    CHECK(BNR_Xcast_register(group, 1, take_xcast, &taken) == 0);
    for (int mode = 0; rank == size - 1 && mode <= BNR_XCAST_BINARY; mode++) {
        BNR_Xcast_attr attr = {sizeof(attr), mode, lists, 1 + (size_t)(size > 1)};
        send_xcast(2 * mode, 0, 50000, &attr);
        attr.ranges = NULL;
        attr.range_count = 0;
        send_xcast(2 * mode + 1, 0, 60, &attr);
    }
    int is_listed = rank == 0 || rank >= size / 2;
    for (int i = 0; i < 20; i++, usleep(1000))
        CHECK(BNR_Progress(NULL) == 0); /* letters that come have no handler yet */
    CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == 0);
    take_until((BNR_XCAST_BINARY + 1) * (1 + is_listed));
    CHECK(BNR_Fence(group) == 0);
    CHECK(taken.count == (BNR_XCAST_BINARY + 1) * (1 + is_listed));
    CHECK(BNR_Xcast_register(group, 0, NULL, NULL) == 0);
    CHECK(BNR_Xcast_register(group, 1, NULL, NULL) == 0);
    taken.count = 0;
}

/* The last rank takes nothing while the first one sends more than waits for it. */
static void xcast_missing(int arg)
{
    enum { COUNT = 40, LEN = 1 << 20 };
    memset(taken.last, -1, sizeof(taken.last));
    if (rank < size - 1)
        CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == 0);
    for (int i = 0; rank == 0 && i < COUNT; i++) {
        send_xcast(i, 0, LEN, NULL);
        take_until(i + 1);
    }
    if (rank < size - 1)
        take_until(COUNT);
    CHECK(BNR_Fence(group) == 0);
    if (rank == size - 1) {
        CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == 0);
        for (int seen = -1; taken.count - 1 + taken.missing < COUNT; seen = taken.count)
            if (taken.count == seen)
                CHECK(BNR_Progress(NULL) == 0);
        CHECK(taken.missing > 0 && !taken.wrong && taken.count > 20);
    }
    CHECK(BNR_Fence(group) == 0);
}

/* Letters of a tag come in order to a handler that the handler of another tag has registered among
 * them. */
static struct {
    int count, wrong;
} order;

static void take_in_order(BNR_Group g, int from, int tag, const void *data, size_t len, void *arg)
{
    int number;
    CHECK(len == sizeof(number) && g == group && tag == 101 && !arg);
    if (from != 0)
        return;
    memcpy(&number, data, sizeof(number));
    order.wrong += number != order.count++;
}

static void register_other(BNR_Group g, int from, int tag, const void *data, size_t len, void *arg)
{
    CHECK(BNR_Xcast_register(g, 101, take_in_order, NULL) == 0);
    CHECK(BNR_Xcast_register(g, tag, NULL, NULL) == 0 && !len && !arg && from >= 0 && data != arg);
}

static void xcast_order(int count)
{
    for (int i = 0; rank == 0 && i < count; i++) {
        CHECK(BNR_Xcast(group, 101, &i, sizeof(i), NULL) == 0);
        if (i == count / 2)
            CHECK(BNR_Xcast(group, 100, "", 0, NULL) == 0);
    }
    CHECK(BNR_Fence(group) == 0);
    usleep(50000); /* most letters have come; the order is right in any case */
    CHECK(BNR_Xcast_register(group, 100, register_other, NULL) == 0);
    while (order.count < count)
        CHECK(BNR_Progress(NULL) == 0);
    CHECK(!order.wrong);
    CHECK(BNR_Fence(group) == 0);
}

/* A get that does not wait for another host runs no handlers, though messages have come. */
static void calm_gets(int count)
{
    const unsigned how[] = {BNR_GET_LATER, BNR_GET_NOWAIT};
    char value[8];
    memset(taken.last, -1, sizeof(taken.last));
    CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == 0);
    CHECK(BNR_Fence(group) == 0);
    if (rank == 0)
        send_xcast(0, 0, 100, NULL);
    usleep(100000);
    int seen = taken.count; /* the fence may have run the handler */
    for (int i = 0; i < count; i++) {
        size_t len = sizeof(value);
        hooks = 0;
        CHECK(is_not_here(BNR_Get(group, i % size, "absent", value, &len, how[i % 2])));
        CHECK(taken.count == seen && hooks == 0);
    }
    take_until(1);
    CHECK(BNR_Fence(group) == 0);
    CHECK(BNR_Xcast_register(group, 0, NULL, NULL) == 0);
    taken.count = 0;
}

/* The longest message. */
static void xcast_long(int arg)
{
    memset(taken.last, -1, sizeof(taken.last));
    CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == 0);
    if (rank == 0)
        send_xcast(0, 0, BNR_MAX_XCAST, NULL);
    take_until(1);
    CHECK(BNR_Fence(group) == 0);
}

/* Messages of a MiB, until a signal ends it. */
static void xcast_on(int arg)
{
    memset(taken.last, -1, sizeof(taken.last));
    CHECK(BNR_Xcast_register(group, 0, take_xcast, &taken) == 0);
    for (int number = 0;; number++) {
        send_xcast(number, 0, 1 << 20, NULL);
        CHECK(BNR_Progress(NULL) == 0);
    }
}

struct heard {
    int count, rank, type, status, joined;
};

static void on_event(const BNR_Event *event, void *arg)
{
    struct heard *heard = arg;
    heard->count++;
    heard->rank = event->rank;
    heard->type = event->type;
    heard->status = event->status;
    heard->joined = event->joined;
}

/* The last rank exits well; who registers later hears of it too. */
static void events(int arg)
{
    struct heard first = {0, -1, 0, 0, 0}, second = {0, -1, 0, 0, 0};
    unsigned char alive[128];
    int id, other;
    if (rank == size - 1) {
        CHECK(BNR_Finalize() == 0);
        _exit(0);
    }
    CHECK(BNR_Event_register(7, group, on_event, &first, &id) == 0);
    for (int i = 0; !first.count && i < 5000; i++) {
        CHECK(BNR_Progress(NULL) == 0);
        usleep(1000);
    }
    CHECK(first.rank == size - 1 && first.type == BNR_EV_PROC_EXIT && first.status == 0 &&
          first.joined);
    CHECK(BNR_Event_register(7, group, on_event, &second, &other) == 0);
    CHECK(BNR_Progress(NULL) == 0 && BNR_Progress(NULL) == 0);
    CHECK(second.count >= 1);
    CHECK(BNR_Get_alive(group, alive, sizeof(alive)) == 0);
    CHECK(!(alive[(size - 1) / 8] >> ((size - 1) % 8) & 1) && (alive[rank / 8] >> (rank % 8) & 1));
    CHECK(BNR_Event_unregister(id) == 0 && BNR_Event_unregister(id) == BNR_ERR_NOT_FOUND);
}

/* Each writes into its neighbour's channel memory. */
static void memory(int arg)
{
    int fd, next = (rank + 1) % size, before = (rank + size - 1) % size;
    unsigned long long offset, bytes;
    CHECK(BNR_Get_host_memory(group, next, &fd, &offset, &bytes) == 0);
    CHECK(offset % (2 << 20) == 0 && bytes >= 32 << 20);
    int *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    CHECK(there != MAP_FAILED);
    CHECK(there[0] == 0 && there[bytes / sizeof(int) - 1] == 0);
    there[bytes / sizeof(int) - 1] = rank + 1;
    CHECK(BNR_Fence(group) == 0);
    CHECK(BNR_Get_host_memory(group, rank, &fd, &offset, &bytes) == 0);
    int *here = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    CHECK(here != MAP_FAILED && here[bytes / sizeof(int) - 1] == before + 1);
    munmap(here, bytes);
    munmap(there, bytes);
    /* The table is nobody's to write. */
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd - 1, 0) == MAP_FAILED);
}

static void facts(int arg)
{
    BNR_Host host;
    BNR_Gid gid;
    char text[BNR_GID_STRLEN];
    int node, local, count, universe, appnum = -1;
    const char *name;
    CHECK(BNR_Get_host(group, rank, &host) == 0 && host.cpus >= 1);
    CHECK(host.id[0] && !strchr(host.id, ' '));
    CHECK(BNR_Get_locality(group, rank, &node, &local, &count) == 0);
    CHECK(node == 0 && local == rank && count == size && host.ranks == size);
    CHECK(BNR_Get_gid(group, &gid) == 0 && BNR_Gid_string(&gid, text) == 0);
    CHECK(BNR_Get_universe_size(&universe) == 0 && universe == size);
    CHECK(BNR_Backend_name(&name) == 0);
    BNR_Get_appnum(&appnum);
    printf("%d/%d %s app %d %s\n", rank, size, name, appnum, text);
    fflush(stdout);
}

/* Blocks of ranks are on different hosts, which share no memory. */
static void hosts(int count)
{
    BNR_Host mine, its;
    BNR_Gid gid;
    BNR_Group found;
    int own, fd;
    unsigned long long offset, bytes;
    CHECK(BNR_Get_gid(group, &gid) == 0 && BNR_Find_group(&gid, &found) == 0 && found == group);
    gid.b[15] ^= 1;
    CHECK(BNR_Find_group(&gid, &found) == BNR_ERR_NOT_FOUND);
    CHECK(BNR_Get_host(group, rank, &mine) == 0 && BNR_Get_host(group, size, &its) == BNR_ERR_ARG);
    CHECK(BNR_Get_locality(group, rank, &own, NULL, NULL) == 0);
    for (int r = 0, last = -1; r < size; r++) {
        int node, local, ranks, back = -1;
        CHECK(BNR_Get_locality(group, r, &node, &local, &ranks) == 0 && node < count);
        CHECK(node == last ? local > 0 : node == last + 1 && local == 0);
        CHECK(BNR_Get_member(group, node, local, &back) == 0 && back == r);
        CHECK(BNR_Get_member(group, node, ranks, &back) == BNR_ERR_ARG);
        CHECK(BNR_Get_host(group, r, &its) == 0 && its.ranks == ranks && its.cpus >= 1);
        CHECK(!strcmp(its.id, mine.id) == (node == own) && !strchr(its.id, ' '));
        CHECK(!strcmp(its.name, mine.name) == (node == own));
        CHECK(BNR_Get_host_memory(group, r, &fd, &offset, &bytes) ==
              (node == own ? BNR_SUCCESS : BNR_ERR_UNSUPPORTED));
        last = node;
    }
    CHECK(BNR_Get_locality(group, size - 1, &own, NULL, NULL) == 0 && own == count - 1);
    const char *text = getenv("MPI_LOCALRANKID");
    CHECK(BNR_Get_locality(group, rank, NULL, &own, NULL) == 0 && text && atoi(text) == own);
}

static void universe(int expected)
{
    int count = 0;
    CHECK(BNR_Get_universe_size(&count) == 0 && count == expected);
}

/* A second program cannot be the same rank. */
static void twice(int arg)
{
    pid_t pid = fork();
    if (!pid) {
        CHECK(BNR_Init(NULL) == BNR_ERR_PERM);
        _exit(7);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
    CHECK(BNR_Init(NULL) == 0 && BNR_Finalize() == 0);
    CHECK(BNR_Finalize() == 0 && BNR_Get_rank(group, &status) == BNR_ERR_NOT_INIT);
    CHECK(BNR_Init(NULL) == 0 && BNR_Get_rank(group, &status) == 0 && status == rank);
}

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static void ignore_term(int arg)
{
    signal(SIGTERM, SIG_IGN);
}

static const struct {
    const char *word;
    void (*act)(int arg);
} acts[] = {
    {"init", start},    {"finalize", finalize}, {"cards", cards},          {"xcasts", xcasts},
    {"xcast_long", xcast_long}, {"xcast_on", xcast_on},
    {"calm_gets", calm_gets},
    {"xcast_some", xcast_some},
    {"xcast_missing", xcast_missing},
    {"late", late},
    {"fences", fences}, {"die", die},           {"exit", leave},           {"abort", end_all},
    {"broken", broken}, {"events", events},     {"memory", memory},        {"facts", facts},
    {"twice", twice},   {"sleep", pause_ms},    {"stubborn", ignore_term}, {"universe", universe},
    {"hosts", hosts},   {"later", later},     {"news", news},
    {"replaced", replaced}, {"xcast_order", xcast_order},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t len = strcspn(argv[i], "=");
        int known = 0;
        for (size_t a = 0; a < sizeof(acts) / sizeof(acts[0]); a++) {
            if (strlen(acts[a].word) != len || strncmp(acts[a].word, argv[i], len))
                continue;
            acts[a].act(argv[i][len] ? atoi(argv[i] + len + 1) : 0);
            known = 1;
        }
        CHECK(known);
    }
    return 0;
}
