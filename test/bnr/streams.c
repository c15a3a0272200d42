/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ranks that use streams, by BNR calls alone.
 *
 * usage: mpiexec -n RANKS bnr_streams CASE
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/bnr.h"
#include "include/bnr_iof.h"

static BNR_Group group;
static int rank, size;

static void check(int truth, const char *what, int line)
{
    if (truth)
        return;
    fprintf(stderr, "streams: rank %d: line %d: %s\n", rank, line, what);
    _exit(99);
}
#define CHECK(truth) check((truth) != 0, #truth, __LINE__)

/* What a subscription has got. */
struct got {
    char text[1 << 16];
    size_t len, sum, eofs, gaps, torn;
    unsigned long long end;
    int refuse; /* take nothing */
};

static int take(const BNR_Frag *frag, const void *data, size_t len, void *arg)
{
    struct got *g = arg;
    if (g->refuse)
        return BNR_ERR_AGAIN;
    for (size_t i = 0; i < len; i++)
        g->sum += ((const unsigned char *)data)[i];
    if (g->len + len < sizeof(g->text))
        memcpy(g->text + g->len, data, len);
    g->len += len;
    g->end = frag->off + len;
    g->eofs += (frag->flags & BNR_FRAG_EOF) != 0;
    g->gaps += (frag->flags & BNR_FRAG_GAP) != 0;
    g->torn += (frag->flags & BNR_FRAG_TORN) != 0;
    return 0;
}

static void turn(void)
{
    CHECK(BNR_Progress(NULL) == 0);
    usleep(1000);
}

/* Wait, but not for ever. */
#define UNTIL(truth)                             \
    do                                           \
        for (int turns = 0; !(truth); turns++) { \
            CHECK(turns < 40000);                \
            turn();                              \
        }                                        \
    while (0)

static void fence(void)
{
    CHECK(BNR_Fence(group) == 0);
}

/* A pipe whose read end is published. Returns the write end. */
static int publish(int of, int tag, BNR_Stream *s)
{
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    CHECK(BNR_Stream_publish(group, of, BNR_SOURCE, tag, ends[0], NULL, s) == 0);
    close(ends[0]);
    return ends[1];
}

static void put(int fd, const char *text)
{
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Write len bytes of zeros, ones, ... from a child, so that this process goes on. */
static pid_t put_many(int fd, size_t len)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    unsigned char block[5000];
    for (size_t at = 0; at < len;) {
        size_t n = len - at < sizeof(block) ? len - at : sizeof(block);
        for (size_t i = 0; i < n; i++)
            block[i] = (unsigned char)(at + i);
        if (write(fd, block, n) != (ssize_t)n)
            _exit(1);
        at += n;
    }
    _exit(0);
}

static size_t sum_of(size_t len)
{
    size_t sum = len / 256 * (255 * 128);
    for (size_t i = 0; i < len % 256; i++)
        sum += i;
    return sum;
}

static struct got got, more;

static void two_writers(void)
{
    BNR_Stream s;
    if (rank == 2)
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
    int fd = rank < 2 ? publish(0, 16, &s) : -1;
    fence();
    for (int i = 0; i < 100 && rank < 2; i++)
        put(fd, rank ? "b" : "a");
    if (rank < 2)
        CHECK(BNR_Stream_flush(s, -1) == 0);
    fence();
    if (rank == 0)
        CHECK(BNR_Stream_unpublish(&s) == 0 && !s);
    fence();
    if (rank == 1) {
        put(fd, "c");
        close(fd); /* the stream ends with the pipe, too */
    }
    if (rank < 2)
        return;
    UNTIL(got.eofs);
    CHECK(got.eofs == 1 && got.len == 201 && got.gaps == 0);
    CHECK(got.sum == 100 * 'a' + 100 * 'b' + 'c' && got.text[200] == 'c');
}

static void slow_reader(void)
{
    enum {
        ALL = 20 << 20
    };
    BNR_Stream s;
    BNR_Stream_state state;
    if (rank == 1)
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
    fence();
    if (rank == 0) {
        int fd = publish(0, 16, &s);
        pid_t child = put_many(fd, ALL);
        close(fd);
        while (!waitpid(child, NULL, WNOHANG)) {
            CHECK(BNR_Stream_stat(s, &state) == 0);
            CHECK(state.written - state.taken <= 1 << 16);
            turn();
        }
        CHECK(BNR_Stream_flush(s, -1) == 0);
    } else {
        for (int i = 0; !got.eofs; i++) {
            got.refuse = i % 8 < 4; /* half of the time it takes nothing */
            CHECK(BNR_Stream_resume(s) == 0);
            turn();
        }
        CHECK(got.len == ALL && got.end == ALL && got.sum == sum_of(ALL) && !got.gaps);
    }
}

static void stops_for_ever(void)
{
    enum {
        ALL = 4 << 20
    };
    BNR_Stream s, observer;
    BNR_Stream_attr look = {sizeof(look), 0, 1, BNR_FROM_OLDEST};
    unsigned long long next = 0;
    if (rank == 1) {
        got.refuse = 1;
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
    } else if (rank == 2) {
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
        more.refuse = 1; /* an observer that stops for ever holds nobody up */
        CHECK(BNR_Stream_subscribe(group, 0, 16, &look, take, &more, &observer) == 0);
    }
    fence();
    if (rank == 0) {
        int fd = publish(0, 16, &s);
        pid_t child = put_many(fd, ALL);
        close(fd);
        for (int i = 0; i < 200; i++)
            turn();
        CHECK(!waitpid(child, NULL, WNOHANG)); /* it waits */
        fence();
        UNTIL(waitpid(child, NULL, WNOHANG) == child);
    } else if (rank == 1) {
        fence();
        CHECK(BNR_Stream_unsubscribe(&s, &next) == 0 && next == 0);
    } else {
        fence();
        UNTIL(got.eofs);
        CHECK(got.len == ALL && got.sum == sum_of(ALL));
        more.refuse = 0;
        CHECK(BNR_Stream_resume(observer) == 0);
        UNTIL(more.eofs);
        CHECK(more.gaps == 1 && more.end == ALL && more.len < ALL);
    }
}

static void dies_mid_line(void)
{
    BNR_Stream s;
    if (rank == 1)
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
    fence();
    if (rank == 0) {
        int fd = publish(0, 16, &s);
        put(fd, "a line\nhalf a li");
        raise(SIGKILL);
    }
    UNTIL(got.eofs);
    CHECK(got.len == 16 && !memcmp(got.text, "a line\nhalf a li", 16));
}

static void at_an_offset(void)
{
    BNR_Stream s;
    BNR_Stream_attr attr = {sizeof(attr), 0, 0, 0};
    unsigned long long next = 0;
    int fd = rank == 0 ? publish(0, 16, &s) : -1;
    fence();
    if (rank == 1)
        CHECK(BNR_Stream_subscribe(group, 0, 16, &attr, take, &got, &s) == 0);
    fence();
    if (rank == 0)
        put(fd, "first ");
    if (rank == 1) {
        UNTIL(got.len == 6);
        CHECK(BNR_Stream_unsubscribe(&s, &next) == 0 && next == 6);
    }
    fence();
    if (rank == 0) {
        put(fd, "second ");
        CHECK(BNR_Stream_flush(s, -1) == 0);
    }
    fence();
    if (rank == 1) {
        attr.from = next;
        CHECK(BNR_Stream_subscribe(group, 0, 16, &attr, take, &more, &s) == 0);
        UNTIL(more.len == 7);
        CHECK(!memcmp(more.text, "second ", 7) && !more.gaps && more.end == 13);
    }
    fence();
    if (rank == 0)
        close(fd);
}

static void after_unpublish(void)
{
    BNR_Stream s;
    if (rank == 1)
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
    fence();
    if (rank == 0) {
        int fd = publish(0, 16, &s);
        signal(SIGPIPE, SIG_IGN);
        put(fd, "before");
        CHECK(BNR_Stream_unpublish(&s) == 0);
        ssize_t n = 0;
        for (int i = 0; n >= 0 && i < 10000; i++) /* the pipe is closed by and by */
            n = write(fd, "after", 5);
        CHECK(n < 0 && errno == EPIPE);
    } else {
        UNTIL(got.eofs);
        CHECK(got.len == 6 && !memcmp(got.text, "before", 6));
    }
    fence();
    if (rank == 0) {
        int fd = publish(0, 16, &s); /* the name is free for another stream */
        put(fd, "anew");
        close(fd);
    } else {
        UNTIL(got.eofs == 2);
        CHECK(got.len == 10 && !memcmp(got.text, "beforeanew", 10));
    }
}

static void flush_and_death(void)
{
    BNR_Stream s;
    got.refuse = 1;
    int fd = rank == 0 ? publish(0, 16, &s) : -1;
    fence();
    if (rank == 1)
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
    fence();
    if (rank == 0) {
        put(fd, "hello");
        CHECK(BNR_Stream_flush(s, 300) == BNR_ERR_TIMEOUT);
        CHECK(BNR_Put(group, "die", "", 0, 0) == 0);
        CHECK(BNR_Stream_flush(s, 30000) == 0); /* a dead subscriber is not waited for */
        close(fd);
    } else {
        size_t len = 0;
        char none[1];
        while (BNR_Get(group, 0, "die", none, &len, BNR_GET_NOWAIT))
            turn();
        raise(SIGKILL);
    }
}

/* The sink of a dead process is shut, which ends the writer that the process has beside it. */
static void own_sink(void)
{
    BNR_Stream sink, source;
    int in[2], out[2];
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    if (rank == 0) {
        CHECK(BNR_Stream_publish(group, 0, BNR_SINK, 20, in[1], NULL, &sink) == 0);
        CHECK(BNR_Stream_push(group, 0, 20, out[0], &source) == 0);
        put(out[1], "to myself");
        CHECK(BNR_Stream_flush(source, -1) == 0);
        raise(SIGKILL);
    }
}

static void sinks(void)
{
    BNR_Stream s = NULL, t = NULL;
    int ends[2];
    char text[32] = "";
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    if (rank == 0) { /* to whom it may concern, before there is one */
        CHECK(BNR_Stream_push(group, 1, 20, ends[0], &s) == 0);
        put(ends[1], "one two");
        CHECK(BNR_Stream_flush(s, 100) == BNR_ERR_TIMEOUT);
        fence();
        CHECK(BNR_Stream_flush(s, -1) == 0);
        fence();
        fence();
        put(ends[1], " three");
        BNR_Stream_state state = {0};
        UNTIL(!BNR_Stream_stat(s, &state) && state.is_shut); /* the reader has closed its pipe */
        CHECK(BNR_Stream_stop(&s) == 0);
        return;
    }
    fence();
    CHECK(BNR_Stream_publish(group, 1, BNR_SINK, 20, ends[1], NULL, &t) == 0);
    close(ends[1]);
    CHECK(read(ends[0], text, 7) == 7 && !strcmp(text, "one two"));
    fence();
    close(ends[0]);
    fence();
}

static void pulls(void)
{
    BNR_Stream s;
    int ends[2];
    char text[64] = "";
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    if (rank == 1) {
        CHECK(BNR_Stream_pull(group, 0, 16, ends[1], NULL, &s) == 0);
        close(ends[1]);
    }
    fence();
    if (rank == 0) {
        int fd = publish(0, 16, &s);
        put(fd, "from descriptor to descriptor");
        close(fd);
        return;
    }
    size_t len = 0;
    ssize_t n;
    while ((n = read(ends[0], text + len, sizeof(text) - len)) > 0)
        len += (size_t)n;
    CHECK(len == 29 && !strcmp(text, "from descriptor to descriptor"));
}

static void hear(const iof_name_t *origin, int tag, void *arg, const unsigned char *data,
                 size_t len)
{
    CHECK(origin->rank == 0 && tag == 17);
    (void)take(&(BNR_Frag){0}, data, len, arg);
}

static void iof_names(void)
{
    const iof_name_t zero = {group, 0}, one = {group, 1};
    int ends[2], back[2];
    char text[32] = "";
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0);
    if (rank == 1) {
        CHECK(iof_subscribe(&zero, IOF_CMP_ALL, 17, hear, &got) == 0);
        CHECK(iof_pull(&zero, IOF_CMP_JOB, 18, back[1]) == 0);
    } else {
        CHECK(iof_publish(&zero, IOF_SINK, 19, ends[1]) == 0);
    }
    fence();
    if (rank == 0) {
        CHECK(iof_publish(&zero, IOF_SOURCE, 17, back[0]) == 0);
        put(back[1], "hello");
        CHECK(read(ends[0], text, 4) == 4 && !strcmp(text, "push"));
        CHECK(iof_flush() == 0);
        CHECK(iof_unpublish(&zero, IOF_CMP_ALL, 17) == 0);
    } else {
        put(ends[1], "push");
        CHECK(iof_push(&zero, IOF_CMP_ALL, 19, ends[0]) == 0);
        UNTIL(got.len == 5);
        CHECK(!memcmp(got.text, "hello", 5));
        CHECK(iof_unsubscribe(&zero, IOF_CMP_ALL, 17) == 0);
    }
    (void)one;
    fence();
}

static void bad_arguments(void)
{
    BNR_Stream s = NULL;
    unsigned long long next;
    CHECK(BNR_Stream_publish(group, size, BNR_SOURCE, 16, 0, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_publish(group, -1, BNR_SOURCE, 16, 0, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_publish(group, 0, 2, 16, 0, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_publish(group, 0, BNR_SOURCE, -1, 0, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_publish(NULL, 0, BNR_SOURCE, 16, 0, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, NULL, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_pull(group, 0, 16, -1, NULL, &s) == BNR_ERR_ARG);
    CHECK(BNR_Stream_unsubscribe(&s, &next) == BNR_ERR_ARG);
    CHECK(BNR_Stream_flush((BNR_Stream)&next, 0) == BNR_ERR_ARG);
    CHECK(BNR_Stream_flush(NULL, 0) == 0);
    int folder = open("/", O_RDONLY | O_CLOEXEC);
    CHECK(BNR_Stream_publish(group, 0, BNR_SOURCE, 16, folder, NULL, &s) == BNR_ERR_UNSUPPORTED);
}

/* Rank 0 publishes files and ends; rank 1 reads them to their ends, and is told of one that has none:
 * the memory of rank 0, which has an end once rank 0 has ended. */
static void files(void)
{
    enum { FILE_LEN = 3000000 };
    BNR_Stream s, t;
    if (rank == 1) {
        CHECK(BNR_Stream_subscribe(group, 0, 16, NULL, take, &got, &s) == 0);
        CHECK(BNR_Stream_subscribe(group, 0, 17, NULL, take, &more, &t) == 0);
        fence();
        UNTIL(more.eofs);
        CHECK(!more.len && more.torn == 1);
        fence();
        UNTIL(got.eofs);
        CHECK(got.len == FILE_LEN && got.sum == sum_of(FILE_LEN) && !got.torn);
        return;
    }
    fence();
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC); /* nothing can be read at its beginning */
    CHECK(BNR_Stream_publish(group, 0, BNR_SOURCE, 17, memory, NULL, &t) == 0);
    fence();
    FILE *file = tmpfile();
    CHECK(file);
    for (size_t i = 0; i < FILE_LEN; i++)
        CHECK(putc((unsigned char)i, file) != EOF);
    rewind(file);
    CHECK(BNR_Stream_publish(group, 0, BNR_SOURCE, 16, fileno(file), NULL, &s) == 0);
}

/* Who has a stream written to a full disk is told. */
static void full_disk(void)
{
    BNR_Stream s, t;
    BNR_Stream_state state = {0};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0)
        return;
    CHECK(BNR_Stream_pull(group, 0, 16, full, NULL, &s) == 0);
    int fd = publish(0, 16, &t);
    put(fd, "no room");
    UNTIL(!BNR_Stream_stat(s, &state) && state.is_shut);
    CHECK(BNR_Stream_stop(&s) == 0);
}

/* A rank's descriptors keep their mode, and a terminal that nobody reads holds up its own stream alone. */
static void modes(void)
{
    BNR_Stream s, t;
    int ends[2], control = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && control >= 0 && !grantpt(control) && !unlockpt(control));
    int terminal = open(ptsname(control), O_RDWR | O_NOCTTY | O_CLOEXEC);
    int pair[2];
    CHECK(terminal >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    if (rank == 0) {
        const int all[] = {ends[1], terminal, pair[0]};
        for (int i = 0; i < 3; i++) {
            CHECK(BNR_Stream_publish(group, 0, BNR_SINK, 20 + i, all[i], NULL, &s) == 0);
            CHECK(BNR_Stream_pull(group, 1, 16, all[i], NULL, &t) == 0);
            CHECK(!(fcntl(all[i], F_GETFL) & O_NONBLOCK));
        }
        CHECK(BNR_Stream_pull(group, 1, 16, 2, NULL, &t) == 0);
        CHECK(!(fcntl(2, F_GETFL) & O_NONBLOCK));
    }
    fence();
    if (rank == 1) {
        int fd = publish(1, 16, &s);
        CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
        for (int i = 0; i < 200; i++) {
            char block[1000];
            memset(block, 'x', sizeof(block));
            (void)!write(fd, block, sizeof(block));
        }
        close(fd);
    }
    fence();
    usleep(300000); /* meanwhile it writes to the terminal */
    BNR_Stream_state state;
    CHECK(BNR_Stream_push(group, 1 - rank, 30, ends[0], &t) == 0);
    CHECK(BNR_Stream_stat(t, &state) == 0); /* it answers */
    fence();
}

/* The reader of this stream has left by now: the writer is not held up. */
static void write_on(void)
{
    BNR_Stream s;
    usleep(200000);
    int fd = publish(0, 17, &s);
    pid_t child = put_many(fd, 1000000);
    close(fd);
    for (int i = 0, status = 0; i < 500; i++, usleep(10000))
        if (waitpid(child, &status, WNOHANG) == child)
            return;
    CHECK(!"the writer goes on");
}

/* Rank 1 reads all streams reliably, its own included, and leaves; rank 0 is not held up. */
static void reader_leaves(void)
{
    BNR_Stream s, t;
    if (rank == 1) {
        CHECK(BNR_Stream_subscribe(group, BNR_RANK_ANY, BNR_TAG_ANY, NULL, take, &got, &s) == 0);
        int fd = publish(1, 16, &t);
        CHECK(put_many(fd, 200000) > 0);
        usleep(100000);
        fence();
        return;
    }
    fence();
    write_on();
}

/* Rank 1 reads reliably and leaves behind a child, which knows nothing of that: the rank is killed, or
 * ends in order. */
static void child_stays(int is_orderly)
{
    BNR_Stream s;
    if (rank == 1) {
        CHECK(BNR_Stream_subscribe(group, 0, 17, NULL, take, &got, &s) == 0);
        fence();
        if (!fork()) {
            setsid();
            for (int fd = 0; fd < 3; fd++)
                close(fd);
            sleep(20);
            _exit(0);
        }
        if (!is_orderly)
            raise(SIGKILL);
        return;
    }
    fence();
    write_on();
}

static void killed_with_child(void)
{
    child_stays(0);
}

static void leaves_with_child(void)
{
    child_stays(1);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"two-writers", two_writers},
    {"slow-reader", slow_reader},
    {"stops-for-ever", stops_for_ever},
    {"dies-mid-line", dies_mid_line},
    {"at-an-offset", at_an_offset},
    {"after-unpublish", after_unpublish},
    {"flush-and-death", flush_and_death},
    {"own-sink", own_sink},
    {"sinks", sinks},
    {"pulls", pulls},
    {"iof-names", iof_names},
    {"bad-arguments", bad_arguments},
    {"files", files},
    {"full-disk", full_disk},
    {"modes", modes},
    {"reader-leaves", reader_leaves},
    {"killed-with-child", killed_with_child},
    {"leaves-with-child", leaves_with_child},
};

int main(int argc, char **argv)
{
    alarm(100);
    CHECK(BNR_Init(NULL) == 0);
    CHECK(BNR_Get_group(&group) == 0);
    CHECK(BNR_Get_rank(group, &rank) == 0);
    CHECK(BNR_Get_size(group, &size) == 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc != 2 || strcmp(argv[1], cases[i].name))
            continue;
        cases[i].run();
        CHECK(BNR_Finalize() == 0);
        return 0;
    }
    CHECK(!"a case");
}
