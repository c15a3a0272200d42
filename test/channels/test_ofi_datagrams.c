/* SPDX-License-Identifier: BSD-3-Clause */

/* Which of a process's sockets is taken for the provider's, and when it tells that datagrams come. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/ofi/ofi.h"

enum { TURNS = 64 };

static int number, failures;

static void claim(bool truth, const char *what)
{
    printf("%s %d - %s\n", truth ? "ok" : "not ok", ++number, what);
    failures += !truth;
}

/* A socket of 127.0.0.1; port 0: of any. */
static int open_socket(int type, in_port_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = port};
    int fd = socket(AF_INET, type, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
        abort();
    return fd;
}

static struct ofi *ofi_of(int fd)
{
    struct ofi *ofi = calloc(1, sizeof(*ofi));
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    if (!ofi || getsockname(fd, (struct sockaddr *)&at, &len))
        abort();
    memcpy(ofi->address, &at, len);
    ofi->address_len = len;
    ofi->socket = -1;
    return ofi;
}

static void say(int from, const struct ofi *to)
{
    if (sendto(from, "x", 1, 0, (const struct sockaddr *)to->address, (socklen_t)to->address_len) != 1)
        abort();
}

static int count_stirs(struct ofi *ofi)
{
    int count = 0;
    for (int i = 0; i < TURNS; i++)
        count += ofi_datagrams_come(ofi);
    return count;
}

static int buffer_of(int fd)
{
    int size = 0;
    socklen_t len = sizeof(size);
    (void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len);
    return size;
}

static void find(int fd, int other, struct ofi *ofi)
{
    int before = buffer_of(other);
    ofi_datagrams_find(ofi);
    claim(ofi->socket == fd, "the socket with the endpoint's address is found");
    claim(buffer_of(fd) >= before && buffer_of(other) == before, "it alone gets a larger buffer");
}

static void stir(int fd, int other, struct ofi *ofi)
{
    char byte;
    ofi->bulk = 1;
    claim(count_stirs(ofi) == 0, "nothing stirs where nothing comes");
    say(other, ofi);
    int count = count_stirs(ofi);
    claim(count > 0 && count < TURNS / 2, "a datagram is seen, by few looks");
    ofi->bulk = 0;
    claim(count_stirs(ofi) == 0, "nobody looks while nothing long is under way");
    ofi->bulk = 1;
    claim(recv(fd, &byte, 1, MSG_DONTWAIT) == 1, "the datagram is still there");
    claim(count_stirs(ofi) == 0, "nothing stirs once it is read");
}

int main(void)
{
    int other = open_socket(SOCK_DGRAM, 0), fd = open_socket(SOCK_DGRAM, 0);
    struct ofi *ofi = ofi_of(fd), *gone = ofi_of(fd), *stream = NULL;
    int door = open_socket(SOCK_STREAM, 0);
    find(fd, other, ofi);
    stir(fd, other, ofi);
    close(fd);
    ofi_datagrams_find(gone);
    gone->bulk = 1;
    claim(gone->socket == -1 && !count_stirs(gone), "where there is none, none is taken, and nothing stirs");
    stream = ofi_of(door);
    ofi_datagrams_find(stream);
    claim(stream->socket == -1, "nor is a socket of streams");
    printf("1..%d\n", number);
    close(door);
    close(other);
    free(ofi);
    free(gone);
    free(stream);
    return failures != 0;
}
