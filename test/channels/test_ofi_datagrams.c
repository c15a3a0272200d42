/* SPDX-License-Identifier: BSD-3-Clause */

/* Which of a process's sockets is taken for the provider's. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/ofi/ofi.h"

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

int main(void)
{
    int other = open_socket(SOCK_DGRAM, 0), fd = open_socket(SOCK_DGRAM, 0);
    struct ofi *ofi = ofi_of(fd), *gone = ofi_of(fd), *stream = NULL;
    int door = open_socket(SOCK_STREAM, 0);
    find(fd, other, ofi);
    close(fd);
    ofi_datagrams_find(gone);
    claim(gone->socket == -1, "where there is none, none is taken");
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
