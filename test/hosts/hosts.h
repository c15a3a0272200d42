/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many hosts on this machine, for tests.
 *
 * A world is a process in namespaces of its own; each of its hosts is a child with pid, network,
 * UTS, IPC and mount namespaces of its own. When the world's first process ends, however it
 * ends, the kernel ends all others, and takes networks and mounts away: nothing is left.
 *
 * A host's first process is its agent: it starts the programs that `enter` asks for, with the
 * descriptors that come along, and tells how they end.
 */
#ifndef TEST_HOSTS_HOSTS_H
#define TEST_HOSTS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define WORLD_FOLDER "/run/hosts" /* in every host the same folder */

enum {
    HOSTS_MAX = 256,
    NETWORKS_MAX = 4,
    RULES_MAX = 32,
    NOT_ALLOWED = 77, /* the exit status where the machine does not allow hosts */
};

/* Connections that the network does not let begin: packets with SYN, without ACK. -1: any. */
struct rule {
    int from, to, network;
};

/* What the command line asks for. */
struct plan {
    int hosts, networks;
    bool with_sshd, without_names;
    int64_t delay_ns, jitter_ns; /* one way */
    double loss;                 /* 0 to 1, of frames */
    double rate;                 /* bits a second into each host, and out of it; 0: no limit */
    unsigned seed;
    struct rule rules[RULES_MAX];
    int rule_count;
    const char *setup; /* a shell's command in each host, before the program starts */
    const char *tree;  /* a folder that stays visible in all hosts */
    char **program;
};

/* Print what is wrong and exit. */
noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print what the machine does not allow, with errno, and exit with NOT_ALLOWED. */
noreturn void not_allowed(const char *what);

/* Give lines to `ip -batch`; false where it fails. */
bool run_ip(const char *lines);
/* Write a new file below WORLD_FOLDER. */
void write_file(const char *path, const char *text);

/* Be the first process of the world; returns the program's exit status. */
int world_main(const struct plan *plan);

/* Be the first process of a host: set it up, write a byte to ready, serve. go gives a byte when
 * the network's ends are there. */
noreturn void host_main(const struct plan *plan, int number, int go, int ready);
/* The address of a host in a network, as text; family is 4 or 6. */
void host_address(char text[64], int number, int network, int family);
/* The name of a host. */
void host_name(char text[16], int number);

/* Serve a listening socket for ever. */
noreturn void agent_main(int listener);

/* Run a program in a host, with this process's streams; returns its exit status as a shell
 * counts it. as_here: with this process's environment, folder and session too. */
int enter_host(const char *host, char **program, bool as_here);

/* Carry frames between hosts for ever: ports[network * hosts + host] are their ends. */
noreturn void switch_main(const struct plan *plan, const int *ports);
/* The end of a new interface ethNETWORK in the network namespace of a process. */
int switch_port(int pid, int network);

#endif
