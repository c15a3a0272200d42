/* SPDX-License-Identifier: BSD-3-Clause */

/* The world: files that its hosts share, the hosts, the links between them. */
#include "test/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file))
        die("%s: %s", path, strerror(errno));
}

/* ---- files ---- */

static void write_ids(const char *name)
{
    uint8_t bytes[16];
    char path[128], id[64];
    for (int i = 0; i < 2; i++) {
        if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
            die("random bytes: %s", strerror(errno));
        for (int b = 0, at = 0; b < 16; b++) {
            bool has_dash = i == 1 && (b == 4 || b == 6 || b == 8 || b == 10);
            at += sprintf(id + at, has_dash ? "-%02x" : "%02x", bytes[b]);
        }
        strcat(id, "\n");
        snprintf(path, sizeof(path), WORLD_FOLDER "/%s.%s", name, i ? "boot-id" : "machine-id");
        write_file(path, id);
    }
}

/* This program, where every host sees it. */
static void copy_program(void)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(WORLD_FOLDER "/hosts", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ssize_t done;
    if (from < 0 || to < 0)
        die("a copy of this program: %s", strerror(errno));
    while ((done = sendfile(to, from, NULL, 1 << 24)) > 0)
        ;
    if (done < 0)
        die("a copy of this program: %s", strerror(errno));
    close(from);
    close(to);
}

static void write_names(const struct plan *plan)
{
    char list[HOSTS_MAX * 16] = "", name[16], four[64], six[64];
    FILE *names = fopen(WORLD_FOLDER "/etc-hosts", "we");
    FILE *lines = fopen(WORLD_FOLDER "/hostfile", "we");
    if (!names || !lines)
        die("files of the world: %s", strerror(errno));
    fputs("127.0.0.1 localhost\n::1 localhost\n", names);
    for (int i = 0; i < plan->hosts; i++) {
        host_name(name, i);
        host_address(four, i, 0, 4);
        host_address(six, i, 0, 6);
        if (!plan->without_names)
            fprintf(names, "%s %s\n%s %s\n", four, name, six, name);
        fprintf(lines, "%s\n", name);
        strcat(strcat(list, i ? "," : ""), name);
        write_ids(name);
    }
    fclose(names);
    fclose(lines);
    setenv("HOSTS_LIST", list, 1);
    setenv("HOSTS_FILE", WORLD_FOLDER "/hostfile", 1);
    copy_program();
    setenv("HOSTS_PROGRAM", WORLD_FOLDER "/hosts", 1);
}

static void write_keys(void)
{
    const char *make =
        "for key in host user; do"
        " ssh-keygen -q -t ed25519 -N '' -C '' -f " WORLD_FOLDER "/$key || exit;"
        " done; cp " WORLD_FOLDER "/user.pub " WORLD_FOLDER "/authorized;"
        " printf '* %s\\n' \"$(cat " WORLD_FOLDER "/host.pub)\" >" WORLD_FOLDER "/known";
    if (access("/usr/sbin/sshd", X_OK) || system(make) != 0)
        die("--sshd needs ssh-keygen and /usr/sbin/sshd (Debian's openssh-server)");
    write_file(WORLD_FOLDER "/sshd_config",
               "Port 22\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPidFile none\n"
               "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUseDNS no\n"
               "MaxStartups 1000\nMaxSessions 1000\n"
               "HostKey " WORLD_FOLDER "/host\nAuthorizedKeysFile " WORLD_FOLDER "/authorized\n");
    write_file(WORLD_FOLDER "/ssh_config",
               "Host *\n  IdentityFile " WORLD_FOLDER "/user\n  BatchMode yes\n"
               "  UserKnownHostsFile " WORLD_FOLDER "/known\n  LogLevel ERROR\n");
}

/* ---- links ---- */

static bool needs_switch(const struct plan *plan)
{
    return plan->delay_ns || plan->jitter_ns || plan->loss > 0 || plan->rate > 0 ||
           plan->rule_count;
}

/* A bridge for each network, and a pair of ends for each host. */
static void link_by_bridge(const struct plan *plan, const pid_t *pids)
{
    size_t size = 4096 + (size_t)plan->networks * (size_t)plan->hosts * 256, len = 0;
    char *lines = malloc(size);
    if (!lines)
        die("no memory");
    for (int network = 0; network < plan->networks; network++) {
        len += (size_t)snprintf(lines + len, size - len,
                                "link add br%d type bridge\nlink set br%d up\n", network, network);
        for (int i = 0; i < plan->hosts; i++)
            len += (size_t)snprintf(lines + len, size - len,
                                    "link add v%d_%d type veth peer name eth%d netns %d\n"
                                    "link set v%d_%d master br%d up\n",
                                    network, i, network, (int)pids[i], network, i, network);
    }
    if (!run_ip(lines))
        not_allowed("bridges and pairs of interfaces");
    free(lines);
}

static void link_by_switch(const struct plan *plan, const pid_t *pids)
{
    int ports[NETWORKS_MAX * HOSTS_MAX];
    for (int network = 0; network < plan->networks; network++)
        for (int i = 0; i < plan->hosts; i++)
            ports[network * plan->hosts + i] = switch_port(pids[i], network);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        switch_main(plan, ports);
    }
    for (int i = 0; i < plan->networks * plan->hosts; i++)
        close(ports[i]);
}

/* ---- life ---- */

static void start_hosts(const struct plan *plan, pid_t *pids, int go, int ready)
{
    unsigned long flags =
        SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC;
    for (int i = 0; i < plan->hosts; i++) {
        pids[i] = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
        if (pids[i] < 0)
            not_allowed("namespaces of a host");
        if (pids[i] == 0)
            host_main(plan, i, go, ready);
    }
}

/* Which host failed says so itself; its status is ours. */
static void await_hosts(const struct plan *plan, int ready)
{
    char bytes[HOSTS_MAX];
    int status;
    for (int count = 0; count < plan->hosts;) {
        ssize_t got = read(ready, bytes, sizeof(bytes));
        if (got > 0)
            count += (int)got;
        if (got == 0 || waitpid(-1, &status, WNOHANG) > 0)
            exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
    }
}

int world_main(const struct plan *plan)
{
    pid_t pids[HOSTS_MAX];
    int go[2], ready[2];
    char bytes[HOSTS_MAX] = {0};
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", "/run", "tmpfs", 0, "mode=0755") || mkdir(WORLD_FOLDER, 0755))
        not_allowed("mounts");
    if (mount("proc", "/proc", "proc", 0, NULL))
        not_allowed("a mount of /proc");
    write_names(plan);
    if (plan->with_sshd)
        write_keys();
    if (pipe2(go, O_CLOEXEC) || pipe2(ready, O_CLOEXEC | O_NONBLOCK))
        die("pipe: %s", strerror(errno));
    fcntl(ready[0], F_SETFL, 0);
    start_hosts(plan, pids, go[0], ready[1]);
    close(ready[1]);
    if (needs_switch(plan))
        link_by_switch(plan, pids);
    else
        link_by_bridge(plan, pids);
    if (write(go[1], bytes, (size_t)plan->hosts) != plan->hosts)
        die("the hosts do not listen");
    await_hosts(plan, ready[0]);
    return enter_host("h0", plan->program, true);
}
