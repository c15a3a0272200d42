/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * vireod: the daemon that mpiexec starts on each other machine of a job. Its command line is always
 * the same; it says its version on stdout, and then reads from stdin what it is to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bnr/launch/start_signals.h"
#include "bnr/daemon/daemon.h"
#include "bnr/wide/survey.h"
#include "bnr/stdio/forward.h"
#include "bnr/wire/launch_message.h"
#include "include/version.h"
#include "os/log.h"

enum {
    EXIT_USAGE = 2,
    PATIENCE_MS = 30000 /* for the order */
};

static int complain(const char *what)
{
    fprintf(stderr,
            "vireod: %s on %s; mpiexec starts this program, and nobody else has a use for it\n",
            what, os_host_name());
    return EXIT_USAGE;
}

static int read_all(int fd, uint8_t *at, size_t len)
{
    while (len) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t n = poll(&p, 1, PATIENCE_MS) == 1 ? read(fd, at, len) : -1;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -EPROTO : -ENODATA;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Read the order; its body is kept for as long as the program runs. */
static int read_order(struct launch_order *order)
{
    static uint8_t body[ORDER_LEN_MAX];
    uint8_t prefix[ORDER_PREFIX_LEN];
    size_t len = 0;
    int rc = read_all(0, prefix, sizeof(prefix));
    if (!rc)
        rc = order_len(prefix, &len);
    if (!rc)
        rc = read_all(0, body, len);
    return rc ? rc : order_unpack(body, len, order);
}

/* The streams that this program got at its start serve for the order, and for a piped link. */
static void free_streams(int *in_fd, int *out_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    *in_fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    *out_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
    dup2(null, 0);
    dup2(null, 1);
    close(null);
}

int main(int argc, char **argv)
{
    static const char greeting[] = "vireod " VIREO_VERSION "\n";
    struct launch_order order;
    int in_fd, out_fd;
    start_signals_take();
    stdio_guard();
    signal(SIGPIPE, SIG_IGN);
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        printf("vireod (Vireo MPI) %s\n", VIREO_VERSION);
        return 0;
    }
    if (argc > 1)
        return complain("there are words on the command line");
    if (write(1, greeting, sizeof(greeting) - 1) != (ssize_t)sizeof(greeting) - 1)
        return complain("stdout is closed");
    int rc = read_order(&order);
    if (rc == -ENODATA)
        return complain("stdin has ended without an order, which the command that starts it must pass on, as docker "
                        "exec does with -i");
    if (rc)
        return complain("what comes by stdin is no order");
    if (order.tells_machine)
        return survey_tell(1);
    free_streams(&in_fd, &out_fd);
    return daemon_run(&order, in_fd, out_fd, argv[0], strlen(argv[0]) + 1);
}
