/* SPDX-License-Identifier: BSD-3-Clause */

/* vireo: what one asks of jobs that run. `vireo report` asks an mpiexec why its job does not go
 * on, and prints what that says. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bnr/ask_address.h"
#include "include/version.h"

enum {
    EXIT_USAGE = 2,
    ANSWER_S = 60,
    JOBS_MAX = 256
};

static const char help[] =
    "usage: vireo report [JOB]\n"
    "\n"
    "Print what each rank of a running job waits for, which ranks are to blame where it does not go\n"
    "on, and why. The job goes on.\n"
    "\n"
    "JOB is the process number of its mpiexec; with one job of yours on this host it can be left\n"
    "out. The same report comes on mpiexec's standard error at SIGQUIT (Ctrl-\\), and when\n"
    "--timeout ends the job.\n";

/* The mpiexecs that listen in this space of process numbers. Returns how many. */
static int find_jobs(int jobs[JOBS_MAX])
{
    char line[512], name[64];
    int count = 0, len = ask_name(name, 0);
    FILE *file = fopen("/proc/net/unix", "re");
    while (file && count < JOBS_MAX && fgets(line, sizeof(line), file)) {
        const char *at = strrchr(line, '@');
        int pid = at && !strncmp(at + 1, name, (size_t)len) ? atoi(at + 1 + len) : 0;
        bool known = pid <= 0;
        for (int i = 0; i < count; i++)
            known |= jobs[i] == pid;
        if (!known)
            jobs[count++] = pid;
    }
    if (file)
        fclose(file);
    return count;
}

/* Whether the other side is of our user, or of root. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
           (peer.uid == geteuid() || peer.uid == 0 || geteuid() == 0);
}

/* A socket to the mpiexec of a job, or -errno. */
static int connect_to(int job)
{
    struct sockaddr_un address;
    socklen_t len = ask_address(&address, job);
    struct timeval limit = {.tv_sec = ANSWER_S};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    int rc = connect(fd, (struct sockaddr *)&address, len) ? -errno : is_ours(fd) ? 0 : -EPERM;
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

static int report(int job)
{
    char text[4096];
    ssize_t len, any = 0;
    int fd = connect_to(job);
    if (fd < 0) {
        fprintf(stderr, "vireo: cannot ask %d: %s\n", job,
                fd == -ECONNREFUSED ? "it is no mpiexec of this library" : strerror(-fd));
        return EXIT_FAILURE;
    }
    while ((len = read(fd, text, sizeof(text))) > 0) {
        any = 1;
        if (fwrite(text, 1, (size_t)len, stdout) != (size_t)len)
            break;
    }
    close(fd);
    if (len || !any || fflush(stdout)) {
        fprintf(stderr, "vireo: %s\n",
                len > 0   ? "the report could not be written"
                : any     ? "the report broke off"
                : len < 0 ? "mpiexec does not answer"
                          : "mpiexec has ended, or refuses to answer this user");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* Whether a file of /proc belongs to our user; root sees all. */
static bool is_our_process(int pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d", pid);
    return !stat(path, &st) && (st.st_uid == geteuid() || geteuid() == 0);
}

/* The only job of ours, or 0, after saying which there are. */
static int only_job(void)
{
    int jobs[JOBS_MAX], count = find_jobs(jobs), ours = 0;
    for (int i = 0; i < count; i++)
        if (is_our_process(jobs[i]))
            jobs[ours++] = jobs[i];
    if (ours == 1)
        return jobs[0];
    fputs(ours ? "vireo: several jobs run here; name one:" : "vireo: no job of yours runs here",
          stderr);
    for (int i = 0; i < ours; i++)
        fprintf(stderr, " %d", jobs[i]);
    fputc('\n', stderr);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        printf("vireo (Vireo MPI) %s\n", VIREO_VERSION);
        return EXIT_SUCCESS;
    }
    if (argc < 2 || argc > 3 || strcmp(argv[1], "report")) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    char *end = NULL;
    long job = argc == 3 ? strtol(argv[2], &end, 10) : only_job();
    if (argc == 3 && (*end || end == argv[2] || job <= 0 || job > INT32_MAX)) {
        fprintf(stderr, "vireo: '%s' is no process number\n", argv[2]);
        return EXIT_USAGE;
    }
    return job ? report((int)job) : EXIT_FAILURE;
}
