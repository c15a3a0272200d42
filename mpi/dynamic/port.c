/* SPDX-License-Identifier: BSD-3-Clause */

/* The ports of MPI_Open_port, and waits at them; see port.h. */
#include "mpi/dynamic/port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/pipe.h"
#include "os/lock.h"
#include "os/net/port.h"
#include "os/net/port_name.h"

_Static_assert(OS_PORT_TEXT <= MPI_MAX_PORT_NAME, "a name fits");

struct open_port {
    struct open_port *next;
    struct os_port *port;
    int users; /* threads that accept */
    bool closed;
};

static struct os_lock lock = OS_LOCK_INIT; /* guards the list, users and closed */
static struct open_port *ports;

static void watch(void *arg, int fd)
{
    (void)arg;
    mpid_watch_fd(fd);
}

static void unwatch(void *arg, int fd)
{
    (void)arg;
    mpid_unwatch_fd(fd);
}

static const struct os_port_watch watching = {watch, unwatch, NULL};

/* ---- ports ---- */

int port_open(char text[MPI_MAX_PORT_NAME], const char **step)
{
    struct open_port *port = calloc(1, sizeof(*port));
    *step = "calloc()";
    int rc = port ? os_port_open(&port->port, step) : -ENOMEM;
    if (rc) {
        free(port);
        return rc;
    }
    strcpy(text, os_port_text(port->port));
    os_lock_slow(&lock);
    port->next = ports;
    ports = port;
    os_unlock_slow(&lock);
    return 0;
}

/* Locked. The link that leads to the port of this name. */
static struct open_port **find(const char *name)
{
    struct open_port **at = &ports;
    while (*at && ((*at)->closed || strcmp(os_port_text((*at)->port), name) != 0))
        at = &(*at)->next;
    return at;
}

/* Locked: take it off the list, and free it once nobody accepts there. */
static void let_go(struct open_port *port)
{
    struct open_port **at = &ports;
    if (!port->closed || port->users)
        return;
    while (*at != port)
        at = &(*at)->next;
    *at = port->next;
    os_port_close(port->port);
    free(port);
}

int port_close(const char *name)
{
    os_lock_slow(&lock);
    struct open_port *port = *find(name);
    if (port) {
        port->closed = true;
        let_go(port);
    }
    os_unlock_slow(&lock);
    mpid_wake();
    return port ? 0 : -ENOENT;
}

/* ---- accepting ---- */

struct port_wait {
    struct open_port *port;
    struct os_reception *reception;
    bool (*is_over)(void *arg);
    void *arg;
    int rc; /* the socket, or the failure; -EAGAIN: not yet */
};

/* May be called again once it is true. */
static bool is_received(void *arg)
{
    struct port_wait *wait = arg;
    if (wait->rc == -EAGAIN)
        wait->rc = os_reception_step(wait->reception);
    if (wait->rc == -EAGAIN && __atomic_load_n(&wait->port->closed, __ATOMIC_ACQUIRE))
        wait->rc = -EBADF;
    if (wait->rc == -EAGAIN && wait->is_over && wait->is_over(wait->arg))
        wait->rc = -ECANCELED;
    return wait->rc != -EAGAIN;
}

int port_accept(const char *name, bool (*is_over)(void *arg), void *arg)
{
    os_lock_slow(&lock);
    struct open_port *port = *find(name);
    if (port)
        port->users++;
    os_unlock_slow(&lock);
    struct port_wait wait = {.port = port, .is_over = is_over, .arg = arg, .rc = port ? -ENOMEM : -ENOENT};
    if (port)
        wait.reception = os_reception_begin(port->port, &watching);
    if (wait.reception) {
        wait.rc = -EAGAIN;
        pipe_wait(is_received, &wait);
    }
    os_reception_end(wait.reception);
    os_lock_slow(&lock);
    if (port) {
        port->users--;
        let_go(port);
    }
    os_unlock_slow(&lock);
    return wait.rc;
}

/* ---- calling ---- */

struct port_calling {
    struct os_call *call;
    int rc;
};

static bool is_called(void *arg)
{
    struct port_calling *calling = arg;
    calling->rc = os_call_step(calling->call);
    return calling->rc != -EAGAIN;
}

int port_call(const char *text, double limit_s)
{
    struct port_calling calling;
    int rc = os_call_begin(&calling.call, text, limit_s, &watching);
    if (rc)
        return rc;
    pipe_wait(is_called, &calling);
    os_call_end(calling.call);
    return calling.rc;
}
