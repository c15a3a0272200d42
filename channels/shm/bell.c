/* SPDX-License-Identifier: BSD-3-Clause */

/* Waking a process that sleeps; see shm.h. */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/shm/shm.h"
#include "os/cpu/apart.h"
#include "os/futex.h"
#include "os/log.h"

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static __attribute__((cold)) void say_deaf(struct shm *shm, const char *what, int error)
{
    if (shm->said_deaf)
        return;
    shm->said_deaf = 1;
    os_log(OS_LOG_WARN, "shm: %s: %s; who waits for it looks every millisecond instead", what,
           strerror(error));
}

/* The peer is not woken, now and maybe ever: it is to look by itself. A socket that is gone is no
 * news where the peer has ended. */
static __attribute__((cold)) void leave_unheard(struct shm_link *link, int error)
{
    atomic_store_explicit(&link->theirs->unheard, 1, memory_order_relaxed);
    if (error != ECONNREFUSED)
        say_deaf(link->shm, "no datagram can be sent to wake a process", error);
}

/* Send a datagram to the peer's socket. A full queue wakes it as well. */
static void send_datagram(struct shm_link *link)
{
    struct shm *shm = link->shm;
    struct sockaddr_un to;
    uint32_t len = atomic_load_explicit(&link->theirs->bell_len, memory_order_acquire);

    if (len <= sizeof(to.sun_family) || len > sizeof(to))
        return;
    if (shm->bell < 0)
        shm->bell = open_socket();
    to = link->theirs->bell;
    to.sun_family = AF_UNIX;
    if (to.sun_path[0])
        return; /* only the names that autobind gives; no file */
    int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    if (shm->bell < 0 || (sendto(shm->bell, "", 1, flags, (struct sockaddr *)&to, len) < 0 &&
                          errno != EAGAIN))
        leave_unheard(link, errno);
}

void shm_bell_ring(struct shm_link *link, uint32_t sleeping)
{
    if (sleeping == link->rung)
        return;
    atomic_thread_fence(memory_order_acquire); /* earlier stores count: bell_len */
    link->rung = sleeping;
    if (atomic_load_explicit(&link->theirs->cpu, memory_order_relaxed) == (uint32_t)sched_getcpu())
        os_apart_shared();
    link->shm->base.rings++;
    atomic_fetch_add_explicit(&link->theirs->doorbell, 1, memory_order_seq_cst);
    if (sleeping & SHM_SLEEP_FD)
        send_datagram(link);
    else
        os_futex_wake(&link->theirs->doorbell, INT_MAX);
}

int shm_bell_open(struct shm *shm)
{
    struct shm_header *mine = shm->mine;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(name.sun_family); /* no name: the kernel binds an abstract one */
    int rc, fd = open_socket();

    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&name, len))
        goto error;
    len = sizeof(name);
    if (getsockname(fd, (struct sockaddr *)&name, &len))
        goto error;
    mine->bell = name;
    atomic_store_explicit(&mine->bell_len, (uint32_t)len, memory_order_release);
    shm->base.fd = fd;
    return 0;
error:
    rc = -errno;
    close(fd);
    return rc;
}

int shm_bell_is_heard(struct shm *shm)
{
    int rc = shm->base.fd < 0 ? shm_bell_open(shm) : 0;
    if (rc)
        say_deaf(shm, "there is no socket to be woken by", -rc);
    return !rc && !atomic_load_explicit(&shm->mine->unheard, memory_order_relaxed);
}

void shm_bell_drain(struct shm *shm)
{
    char byte;
    while (recv(shm->base.fd, &byte, 1, MSG_DONTWAIT) >= 0)
        continue;
}

void shm_bell_close(struct shm *shm)
{
    if (shm->bell >= 0)
        close(shm->bell);
    if (shm->base.fd >= 0)
        close(shm->base.fd);
    shm->bell = shm->base.fd = -1;
}
