/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The least launcher with a process on each host: on each other host it starts itself by a command, that
 * process connects back and runs the program, and ends when the program has ended. There is no
 * protocol, no stream, no guard: what a launcher takes beyond this is its own.
 *
 * usage: launch_least COMMAND EACH PROGRAM HOST...; the first host is this one
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void start(char **words)
{
    pid_t pid;
    if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ))
        fail(words[0]);
}

/* Run the program so often, and wait until all children have ended well. */
static void run(int each, char *program)
{
    int status;
    for (int i = 0; i < each; i++)
        start((char *[]){program, NULL});
    while (wait(&status) > 0)
        if (status)
            exit(1);
}

/* On another host. */
static int serve(char **words)
{
    struct sockaddr_in root = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, words[0], &root.sin_addr) != 1 ||
        connect(fd, (struct sockaddr *)&root, sizeof(root)))
        fail("connect back");
    run(atoi(words[2]), words[3]);
    return 0;
}

/* The first address that other hosts may reach. */
static void own_address(char text[INET_ADDRSTRLEN])
{
    struct ifaddrs *all, *a;
    if (getifaddrs(&all))
        fail("addresses");
    for (a = all; a; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && !(a->ifa_flags & IFF_LOOPBACK))
            break;
    if (!a)
        exit(1);
    inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr, text, INET_ADDRSTRLEN);
    freeifaddrs(all);
}

int main(int argc, char **argv)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t len = sizeof(name);
    char address[INET_ADDRSTRLEN], port[12], own[4096], byte;
    if (argc == 6 && !strcmp(argv[1], "-"))
        return serve(argv + 2);
    if (argc < 5)
        return 2;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), count = argc - 5;
    ssize_t own_len = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (own_len < 0 || bind(listener, (struct sockaddr *)&name, len) || listen(listener, 1024) ||
        getsockname(listener, (struct sockaddr *)&name, &len))
        fail("listen");
    own[own_len] = 0;
    own_address(address);
    snprintf(port, sizeof(port), "%d", ntohs(name.sin_port));
    for (int i = 0; i < count; i++)
        start((char *[]){argv[1], argv[5 + i], "exec", own, "-", address, port, argv[2], argv[3], NULL});
    for (int i = 0; i < atoi(argv[2]); i++)
        start((char *[]){argv[3], NULL});
    int *fds = calloc((size_t)count + 1, sizeof(*fds));
    for (int i = 0; fds && i < count; i++)
        if ((fds[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
            fail("accept");
    for (int i = 0; fds && i < count; i++)
        (void)!read(fds[i], &byte, 1); /* its end */
    run(0, argv[3]);
    return !fds;
}
