/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * To be preloaded: a host that can be connected to, and cannot connect. In the rank that
 * VIREO_TEST_ONE_WAY names no TCP connection can be made. Behind the rank stands how it fails:
 * "1 refused" at once, "1 silent" never, as the port that is tried instead takes nobody.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int (*connect_fn)(int fd, const struct sockaddr *to, socklen_t len);

/* The address of a port whose queue is full. */
static struct sockaddr_in full_port(connect_fn real)
{
    static struct sockaddr_in at;
    socklen_t len = sizeof(at);
    if (at.sin_port)
        return at;
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 0) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        _exit(99);
    for (int i = 0; i < 4; i++) {
        int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)real(filler, (struct sockaddr *)&at, sizeof(at));
    }
    return at;
}

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    connect_fn real = (connect_fn)dlsym(RTLD_NEXT, "connect");
    const char *where = getenv("VIREO_TEST_ONE_WAY"), *rank = getenv("BNR_RANK");
    if (!where || !rank || atoi(where) != atoi(rank) ||
        (to->sa_family != AF_INET && to->sa_family != AF_INET6))
        return real(fd, to, len);
    if (strstr(where, "refused")) {
        errno = EHOSTUNREACH;
        return -1;
    }
    struct sockaddr_in at = full_port(real);
    return real(fd, (struct sockaddr *)&at, sizeof(at));
}
