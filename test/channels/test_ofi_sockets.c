/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A connection whose reader takes the head of a message only when all of it has come, as provider
 * sockets does, and whose writer is as far ahead as the kernel lets it, goes on where it has room.
 * And the set of connections tells of news.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/ofi/ofi.h"

enum { PART = 12, /* bytes of a head */ PIECE = 1 << 20, ROUNDS = 20, WAIT_MS = 200 };

static char bytes[PIECE];
static int number, failures;

static void claim(bool truth, const char *what)
{
    printf("%s %d - %s\n", truth ? "ok" : "not ok", ++number, what);
    failures += !truth;
}

struct pair {
    int door, reader, writer;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address; /* of the door, and so of the reader */
    socklen_t len;
};

static int family = AF_INET; /* of pairs that are made */

static int must(int rc)
{
    if (rc < 0) {
        perror("socket");
        exit(1);
    }
    return rc;
}

static void open_door(struct pair *pair)
{
    if (family == AF_INET)
        pair->address.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    else
        pair->address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    pair->len = family == AF_INET ? sizeof(pair->address.v4) : sizeof(pair->address.v6);
    pair->door = must(socket(family, SOCK_STREAM, 0));
    must(bind(pair->door, &pair->address.any, pair->len));
    must(getsockname(pair->door, &pair->address.any, &pair->len));
    must(listen(pair->door, 1));
}

/* The caller reads, or the one that was called. */
static void open_pair(struct pair *pair, bool caller_reads)
{
    int caller = must(socket(family, SOCK_STREAM, 0));
    must(connect(caller, &pair->address.any, pair->len));
    int called = must(accept(pair->door, NULL, NULL));
    pair->reader = caller_reads ? caller : called;
    pair->writer = caller_reads ? called : caller;
    must(fcntl(pair->reader, F_SETFL, O_NONBLOCK));
    must(fcntl(pair->writer, F_SETFL, O_NONBLOCK));
}

static void close_pair(struct pair *pair)
{
    close(pair->door);
    close(pair->reader);
    close(pair->writer);
}

static int unread(const struct pair *pair)
{
    int count = 0;
    must(ioctl(pair->reader, FIONREAD, &count));
    return count;
}

static void write_all(const struct pair *pair)
{
    while (write(pair->writer, bytes, PIECE) > 0)
        ;
}

/* Whether the rest of the head comes, after all before it was taken. */
static bool goes_on(const struct pair *pair)
{
    write_all(pair);
    for (int more = unread(pair) - PART; more > 0; more = unread(pair) - PART)
        (void)!read(pair->reader, bytes, (size_t)(more < PIECE ? more : PIECE));
    for (int ms = 0; ms < WAIT_MS && unread(pair) <= PART; ms++) {
        write_all(pair);
        usleep(1000);
    }
    return unread(pair) > PART;
}

static bool flows(const struct pair *pair)
{
    for (int i = 0; i < ROUNDS; i++)
        if (!goes_on(pair))
            return false;
    return true;
}

static void find(struct ofi *ofi, const struct pair *pair)
{
    ofi->address_len = pair->len;
    memcpy(ofi->address, &pair->address, ofi->address_len);
    ofi_sockets_find(ofi, &pair->address, pair->len);
}

/* The set tells of a byte until it is taken, at the caller as at the one that was called. */
static void check_news(struct ofi *ofi, bool caller_reads)
{
    struct pair pair;
    open_door(&pair);
    open_pair(&pair, caller_reads);
    find(ofi, &pair);
    (void)ofi_sockets_take(ofi); /* of its room */
    claim(!ofi_sockets_take(ofi), "the set tells of nothing where nothing comes");
    claim(write(pair.writer, bytes, 1) == 1 && ofi_sockets_take(ofi) && ofi_sockets_take(ofi),
          "it tells of what comes");
    claim(read(pair.reader, bytes, 1) == 1 && !ofi_sockets_take(ofi), "until it is taken");
    close_pair(&pair);
}

/* It tells once of new room. */
static void check_room(struct ofi *ofi)
{
    struct pair pair;
    open_door(&pair);
    open_pair(&pair, true);
    find(ofi, &pair);
    write_all(&pair);
    (void)ofi_sockets_take(ofi);
    while (read(pair.reader, bytes, PIECE) > 0)
        ;
    bool told = false;
    for (int ms = 0; ms < WAIT_MS && !told; ms++) {
        told = ofi_sockets_take(ofi) && !unread(&pair);
        while (read(pair.reader, bytes, PIECE) > 0)
            ;
        usleep(1000);
    }
    claim(told, "it tells of room");
    claim(!ofi_sockets_take(ofi), "and once");
    close_pair(&pair);
}

/* The one address of the vector. */
static int look_up(struct fid_av *av, fi_addr_t to, void *address, size_t *len)
{
    const struct ofi *ofi = av->fid.context;
    (void)to;
    memcpy(address, ofi->address, ofi->address_len);
    *len = ofi->address_len;
    return 0;
}

/* Connections that only the kernel of a peer has taken. */
static void check_leads(struct ofi *ofi)
{
    static struct fi_ops_av ops = {.size = sizeof(ops), .lookup = look_up};
    struct fid_av av = {.fid.context = ofi, .ops = &ops};
    struct pair pair = {.reader = -1, .writer = -1};
    open_door(&pair);
    find(ofi, &pair);
    ofi->av = &av;
    claim(!ofi_sockets_lead(ofi, 0), "nothing leads to a peer without a connection");
    pair.reader = must(socket(family, SOCK_STREAM, 0));
    must(connect(pair.reader, &pair.address.any, pair.len));
    claim(ofi_sockets_lead(ofi, 0), "a connection leads there that the peer has not accepted");
    close(pair.door);
    pair.door = -1;
    for (int ms = 0; ms < WAIT_MS && ofi_sockets_lead(ofi, 0); ms++)
        usleep(1000);
    claim(!ofi_sockets_lead(ofi, 0), "but not once the peer has ended");
    close_pair(&pair);
    ofi->av = NULL;
}

static void check_family(struct ofi *ofi)
{
    struct pair pair;
    open_door(&pair);
    open_pair(&pair, false);
    printf("# a connection as it is: %s\n", flows(&pair) ? "goes on" : "stands still");
    close_pair(&pair);

    open_door(&pair);
    find(ofi, &pair);
    open_pair(&pair, false);
    claim(flows(&pair), "a connection to a wide address goes on");
    close_pair(&pair);

    open_door(&pair);
    open_pair(&pair, true);
    find(ofi, &pair);
    claim(flows(&pair), "a connection to a peer that was widened goes on");
    close_pair(&pair);
    check_news(ofi, false);
    check_news(ofi, true);
    check_room(ofi);
    check_leads(ofi);
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool has = fd >= 0 && !bind(fd, (struct sockaddr *)&own, sizeof(own));
    if (fd >= 0)
        close(fd);
    return has;
}

int main(void)
{
    static struct ofi ofi;
    if (ofi_sockets_open(&ofi))
        return 1;
    check_family(&ofi);
    family = AF_INET6;
    if (has_ipv6())
        check_family(&ofi);
    else
        printf("# no IPv6 here\n");
    ofi_sockets_close(&ofi);
    printf("1..%d\n", number);
    return failures ? 1 : 0;
}
