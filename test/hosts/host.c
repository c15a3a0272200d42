/* SPDX-License-Identifier: BSD-3-Clause */

/* One host: its mounts, its identity, its addresses, its servers. */
#include "test/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

void host_name(char text[16], int number)
{
    snprintf(text, 16, "h%d", number);
}

void host_address(char text[64], int number, int network, int family)
{
    if (family == 4)
        snprintf(text, 64, "10.%d.%d.%d", 77 + network, (number + 1) / 250, (number + 1) % 250 + 1);
    else
        snprintf(text, 64, "fd77:%d::%x", network, number + 1);
}

bool run_ip(const char *lines)
{
    int in[2], status = 1;
    size_t len = strlen(lines);
    if (pipe2(in, O_CLOEXEC))
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(2, 1);
        execlp("ip", "ip", "-batch", "-", (char *)NULL);
        fprintf(stderr, "hosts: there is no program 'ip' (Debian's iproute2): %s\n",
                strerror(errno));
        _exit(127);
    }
    close(in[0]);
    signal(SIGPIPE, SIG_IGN);
    bool is_written = write(in[1], lines, len) == (ssize_t)len;
    close(in[1]);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && is_written;
}

static void make_folders(const char *path)
{
    char part[4096];
    for (const char *at = path + 1; *at; at++)
        if (*at == '/' && (size_t)(at - path) < sizeof(part)) {
            memcpy(part, path, (size_t)(at - path));
            part[at - path] = 0;
            mkdir(part, 0755);
        }
    mkdir(path, 0755);
}

static void bind_file(const char *from, const char *to)
{
    if (mount(from, to, NULL, MS_BIND, NULL))
        not_allowed(to);
}

/* Folders that the fresh ones would hide are held by a descriptor meanwhile. */
static void mount_folders(const char *tree)
{
    static const char *const fresh[] = {"/tmp", "/run", "/dev/shm"};
    const char *kept[] = {WORLD_FOLDER, tree};
    int fds[2];
    char path[64];
    for (int i = 0; i < 2; i++)
        fds[i] = kept[i] ? open(kept[i], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (mount("proc", "/proc", "proc", 0, NULL))
        not_allowed("a mount of /proc");
    for (int i = 0; i < 3; i++)
        if (mount("tmpfs", fresh[i], "tmpfs", MS_NOSUID | MS_NODEV,
                  i == 1 ? "mode=0755" : "mode=1777"))
            not_allowed(fresh[i]);
    for (int i = 0; i < 2; i++) {
        if (fds[i] < 0 || (i == 1 && access(tree, F_OK) == 0))
            continue;
        make_folders(kept[i]);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[i]);
        if (mount(path, kept[i], NULL, MS_BIND | MS_REC, NULL))
            not_allowed(kept[i]);
        close(fds[i]);
    }
}

static void take_identity(const struct plan *plan, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), WORLD_FOLDER "/%s.machine-id", name);
    bind_file(path, "/etc/machine-id");
    snprintf(path, sizeof(path), WORLD_FOLDER "/%s.boot-id", name);
    bind_file(path, "/proc/sys/kernel/random/boot_id");
    bind_file(WORLD_FOLDER "/etc-hosts", "/etc/hosts");
    if (plan->with_sshd)
        bind_file(WORLD_FOLDER "/ssh_config", "/etc/ssh/ssh_config");
    if (sethostname(name, strlen(name)))
        not_allowed("a host's name");
}

/* More hosts than these do not ask each other for their links: the kernel keeps what it hears, for all networks of
 * this machine together, in 1,024 places by its default. */
enum { HOSTS_THAT_ASK = 24 };

/* Know where all others are, where they are too many to be asked for. */
static void take_neighbours(const struct plan *plan, int number)
{
    size_t size = (size_t)plan->networks * (size_t)plan->hosts * 256 + 1, len = 0;
    char *lines = calloc(1, size), address[64];
    if (!lines)
        die("no memory");
    for (int i = 0; i < 2 * plan->networks * plan->hosts; i++) {
        int network = i / 2 % plan->networks, other = i / 2 / plan->networks;
        host_address(address, other, network, i % 2 ? 6 : 4);
        if (other != number)
            len += (size_t)snprintf(lines + len, size - len,
                                    "neigh add %s lladdr 02:00:00:%02x:%02x:%02x dev eth%d nud permanent\n", address,
                                    network, other >> 8, other & 0xff, network);
    }
    if (!run_ip(lines))
        not_allowed("neighbours of a host");
    free(lines);
}

static void take_addresses(const struct plan *plan, int number)
{
    char lines[2048] = "link set lo up\n", four[64], six[64];
    size_t len = strlen(lines);
    for (int network = 0; network < plan->networks; network++) {
        host_address(four, number, network, 4);
        host_address(six, number, network, 6);
        len += (size_t)snprintf(lines + len, sizeof(lines) - len,
                                "link set eth%d address 02:00:00:%02x:%02x:%02x\n"
                                "addr add %s/16 brd + dev eth%d\n"
                                "addr add %s/64 dev eth%d nodad\n"
                                "link set eth%d up\n",
                                network, network, number >> 8, number & 0xff, four, network, six,
                                network, network);
    }
    if (!run_ip(lines))
        not_allowed("addresses of a host");
}

/* Wait until something listens at a port of this host. */
static void await_port(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 5000; tries++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int rc = connect(fd, (void *)&address, sizeof(address));
        close(fd);
        if (!rc)
            return;
        usleep(2000);
    }
    die("nothing listens at port %d", port);
}

static void start_servers(const struct plan *plan)
{
    int status;
    if (plan->setup && ((status = system(plan->setup)) != 0))
        die("the command of --setup ended with status %d",
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    if (!plan->with_sshd)
        return;
    mkdir("/run/sshd", 0755);
    if (fork() == 0) {
        execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-q", "-f", WORLD_FOLDER "/sshd_config",
              (char *)NULL);
        die("there is no /usr/sbin/sshd (Debian's openssh-server): %s", strerror(errno));
    }
    await_port(22);
}

static int listen_for_agent(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), WORLD_FOLDER "/%s.agent", name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (void *)&address, sizeof(address)) || listen(fd, 1024))
        die("the agent's socket: %s", strerror(errno));
    return fd;
}

/* A program's variables that are no setting of the user's: what a login would have. */
static void keep_variables(void)
{
    static const char *const kept[] = {
        "PATH",         "HOME",         "USER",          "LOGNAME",        "SHELL",
        "LANG",         "HOSTS_LIST",   "HOSTS_FILE",    "HOSTS_PROGRAM",  "HOSTS_TREE",
        "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "VIREO_TEST_GATE"};
    char *values[sizeof(kept) / sizeof(kept[0])];
    size_t count = sizeof(kept) / sizeof(kept[0]);
    for (size_t i = 0; i < count; i++)
        values[i] = getenv(kept[i]) ? strdup(getenv(kept[i])) : NULL;
    clearenv();
    for (size_t i = 0; i < count; i++)
        if (values[i])
            setenv(kept[i], values[i], 1);
}

void host_main(const struct plan *plan, int number, int go, int ready)
{
    char name[16], byte = 0;
    host_name(name, number);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        not_allowed("mounts of a host's own");
    mount_folders(plan->tree);
    take_identity(plan, name);
    keep_variables();
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    if (read(go, &byte, 1) != 1)
        _exit(1);
    take_addresses(plan, number);
    if (plan->hosts > HOSTS_THAT_ASK)
        take_neighbours(plan, number);
    int listener = listen_for_agent(name);
    start_servers(plan);
    if (chdir("/") || write(ready, &byte, 1) != 1)
        _exit(1);
    dup2(null, 2);
    close(go);
    close(ready);
    agent_main(listener);
}
