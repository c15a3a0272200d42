/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Put one channel of this build through the conformance suite.
 *
 * usage: test_conform CHANNEL [CASE]
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/channel_help.h"
#include "os/random.h"
#include "test/channels/conform.h"

static int connect_to(const char *card)
{
    char port[16];
    if (chan_params_get(card, "p", 0, port, sizeof(port)))
        exit(1);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(port)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
        perror("connect");
        exit(1);
    }
    return fd;
}

/* A port scanner's worth of misbehaviour at the port that a card of tcp names. */
static void hostile_tcp(const char *card, unsigned round)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    uint8_t bytes[256];
    if (os_random(bytes, sizeof(bytes)))
        exit(1);
    int fd = connect_to(card);
    ssize_t rc = 0;
    switch (round % 6) {
    case 0: break; /* hang up at once */
    case 1: rc = send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL); break;
    case 2: rc = send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL); break;
    case 3: { /* reset */
        struct linger linger = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
        rc = send(fd, bytes, 10, MSG_NOSIGNAL);
        break;
    }
    case 4: return; /* stay silent until this process ends */
    case 5:         /* a byte at a time */
        for (int i = 0; i < 30 && rc >= 0; i++) {
            rc = send(fd, &bytes[i], 1, MSG_NOSIGNAL);
            usleep(1000);
        }
        break;
    }
    (void)rc; /* being cut off is what a stranger may expect */
    usleep(5000);
    close(fd);
}

/* The same at the socket that a card of pair names: words of wrong lengths and contents, and descriptors. */
static void hostile_pair(const char *card, unsigned round)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    uint8_t bytes[600];
    char name[64];
    if (os_random(bytes, 250) || chan_params_get(card, "at", 0, name, sizeof(name)))
        exit(1);
    int len = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "vireo-pair-%s", name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len))) {
        perror("connect");
        exit(1);
    }
    static const size_t lens[] = {0, 1, 64, 63, 65, 250};
    for (unsigned i = 0; i < round % 4; i++)
        (void)!send(fd, bytes, lens[(round + i) % 6], MSG_NOSIGNAL);
    if (round % 5 == 4)
        return; /* stay silent until this process ends */
    usleep(2000);
    close(fd);
}

static const struct {
    const char *name;
    struct conform_traits traits;
} known[] = {
    {"loopback", {.joins_processes = false}},
    {"shm", {.joins_processes = true}},
    {"pair", {.joins_processes = true, .notices_death = true, .checks_secret = true, .hostile = hostile_pair}},
    {"tcp",
     {.joins_processes = true,
      .notices_death = true,
      .checks_secret = true,
      .hostile = hostile_tcp}},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s CHANNEL [CASE]\n", argv[0]);
        return 2;
    }
    const char *patience = getenv("CONFORM_PATIENCE"); /* limits of time are so many times as long */
    for (int i = 0; chan_table[i]; i++)
        for (size_t j = 0; j < sizeof(known) / sizeof(known[0]); j++)
            if (!strcmp(chan_table[i]->name, argv[1]) && !strcmp(known[j].name, argv[1])) {
                struct conform_traits traits = known[j].traits;
                traits.patience = patience ? atoi(patience) : 1;
                return conform_run(chan_table[i], &traits, argv[2]) ? 1 : 0;
            }
    fprintf(stderr, "%s: this build has no channel '%s'\n", argv[0], argv[1]);
    return 2;
}
