/* SPDX-License-Identifier: BSD-3-Clause */

/* The command line: `run` makes a world and runs a program in its first host, `enter` runs one
 * in any host of the world in which it is called. */
#include "test/hosts/hosts.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: test/hosts/run [OPTION...] N -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM in the first of N hosts, h0, h1, ..., which are there until it ends. Each has\n"
    "/tmp, /run and /dev/shm of its own; all other folders, home among them, are this machine's.\n"
    "\n"
    "  --delay MS[:JITTER]  each frame takes this long; jitter changes their order\n"
    "  --loss PERCENT       of frames\n"
    "  --rate MBIT          a second, into each host, and out of it\n"
    "  --firewall FROM:TO[@NETWORK]  no connection begins this way; * is any host\n"
    "  --networks K         interfaces eth0, eth1, ... in each host\n"
    "  --no-names           no host knows the names of the others\n"
    "  --setup COMMAND      a shell runs it in each host before PROGRAM starts\n"
    "  --sshd               a server for ssh in each host, and the keys for it\n"
    "  --seed N             of losses and jitter\n"
    "\n"
    "PROGRAM finds in its environment HOSTS_LIST (h0,h1,...), HOSTS_FILE (a line each), and\n"
    "HOSTS_PROGRAM; test/hosts/enter HOST PROGRAM runs one in any host.\n";

void die(const char *format, ...)
{
    va_list args;
    fputs("hosts: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

void not_allowed(const char *what)
{
    fprintf(stderr, "hosts: this machine does not allow it: %s: %s\n", what, strerror(errno));
    exit(NOT_ALLOWED);
}

static double number(const char *text, double least, double most, const char *option)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || (*end && *end != ':') || !(value >= least && value <= most))
        die("%s takes a number from %g to %g, not '%s'", option, least, most, text);
    return value;
}

static int rule_host(const char **at)
{
    char *end;
    if (**at == '*') {
        ++*at;
        return -1;
    }
    long host = **at == 'h' ? strtol(*at + 1, &end, 10) : -1;
    if (host < 0 || host >= HOSTS_MAX || end == *at + 1)
        die("--firewall takes FROM:TO, hosts by name or *, not '%s'", *at);
    *at = end;
    return (int)host;
}

static void add_rule(struct plan *plan, const char *text)
{
    if (plan->rule_count == RULES_MAX)
        die("--firewall: at most %d rules", RULES_MAX);
    struct rule *rule = &plan->rules[plan->rule_count++];
    const char *at = text;
    rule->from = rule_host(&at);
    if (*at++ != ':')
        die("--firewall takes FROM:TO, not '%s'", text);
    rule->to = rule_host(&at);
    rule->network = *at == '@' ? (int)number(at + 1, 0, NETWORKS_MAX - 1, "--firewall") : -1;
    if (*at && *at != '@')
        die("--firewall takes FROM:TO[@NETWORK], not '%s'", text);
}

static void take_option(struct plan *plan, int option)
{
    const char *colon;
    switch (option) {
    case 'd':
        plan->delay_ns = (int64_t)(number(optarg, 0, 60000, "--delay") * 1e6);
        if ((colon = strchr(optarg, ':')))
            plan->jitter_ns = (int64_t)(number(colon + 1, 0, 60000, "--delay") * 1e6);
        break;
    case 'l': plan->loss = number(optarg, 0, 100, "--loss") / 100; break;
    case 'r': plan->rate = number(optarg, 0.001, 1e6, "--rate") * 1e6; break;
    case 'f': add_rule(plan, optarg); break;
    case 'k': plan->networks = (int)number(optarg, 1, NETWORKS_MAX, "--networks"); break;
    case 'n': plan->without_names = true; break;
    case 's': plan->setup = optarg; break;
    case 'S': plan->with_sshd = true; break;
    case 'x': plan->seed = (unsigned)number(optarg, 0, 4e9, "--seed"); break;
    case 'h': fputs(usage, stdout); exit(0);
    default: fputs(usage, stderr); exit(2);
    }
}

static void read_plan(struct plan *plan, int argc, char **argv)
{
    static const struct option options[] = {
        {"delay", 1, NULL, 'd'},    {"loss", 1, NULL, 'l'},     {"rate", 1, NULL, 'r'},
        {"firewall", 1, NULL, 'f'}, {"networks", 1, NULL, 'k'}, {"no-names", 0, NULL, 'n'},
        {"setup", 1, NULL, 's'},    {"sshd", 0, NULL, 'S'},     {"seed", 1, NULL, 'x'},
        {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0}};
    int option;
    *plan = (struct plan){.networks = 1, .seed = 1, .tree = getenv("HOSTS_TREE")};
    while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1)
        take_option(plan, option);
    if (optind >= argc) {
        fputs(usage, stderr);
        exit(2);
    }
    plan->hosts = (int)number(argv[optind], 1, HOSTS_MAX, "the number of hosts");
    argv[optind] = argv[0];
    argc -= optind;
    argv += optind;
    optind = 1;
    while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1)
        take_option(plan, option);
    if (optind >= argc || strcmp(argv[optind - 1], "--") != 0)
        die("after the number of hosts there is --, and then a program");
    plan->program = argv + optind;
}

/* Who is no root is so in a user namespace of its own, where that is allowed. */
static void map_user(pid_t child, uid_t uid, gid_t gid)
{
    char path[64], text[64];
    static const char *const files[] = {"setgroups", "uid_map", "gid_map"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "/proc/%d/%s", (int)child, files[i]);
        snprintf(text, sizeof(text), i == 0 ? "deny" : "0 %u 1", i == 1 ? uid : gid);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
            not_allowed("a user namespace");
        close(fd);
    }
}

static int run(int argc, char **argv)
{
    struct plan plan;
    int go[2], status;
    char byte = 0;
    bool is_root = geteuid() == 0;
    read_plan(&plan, argc, argv);
    if (pipe2(go, O_CLOEXEC))
        die("pipe: %s", strerror(errno));
    unsigned long flags = SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC;
    if (!is_root)
        flags |= CLONE_NEWUSER;
    pid_t child = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (child < 0)
        not_allowed("namespaces (they need root, or user namespaces)");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(1); /* the parent has gone already */
        exit(world_main(&plan));
    }
    if (!is_root)
        map_user(child, getuid(), getgid());
    if (write(go[1], &byte, 1) != 1 || waitpid(child, &status, 0) < 0)
        die("the world: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return run(argc - 1, argv + 1);
    if (argc > 3 && strcmp(argv[1], "enter") == 0)
        return enter_host(argv[2], argv + 3, false);
    fputs("usage: test/hosts/run ..., or test/hosts/enter HOST PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
}
