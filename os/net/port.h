/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ports: sockets at which processes meet that know nothing of each other but a name. A caller that proves that it has
 * the port's name (port_name.h) becomes a connected socket at both ends; all others are hung up on. Callers are looked
 * at in os_reception_step() alone: until then the kernel holds them.
 *
 * Nothing here waits. Each step does all that can be done now; the descriptors that are worth waiting for are told to
 * struct os_port_watch.
 */
#ifndef OS_PORT_H
#define OS_PORT_H

struct os_port;
struct os_reception;
struct os_call;

struct os_port_watch {
    void (*watch)(void *arg, int fd); /* its events are of interest */
    void (*unwatch)(void *arg, int fd);
    void *arg;
};

/* Open a port. Returns 0 or -errno, with the failed step in *step. */
int os_port_open(struct os_port **port, const char **step);
void os_port_close(struct os_port *port); /* takes NULL */
/* Its name, of OS_PORT_TEXT bytes at most. */
const char *os_port_text(const struct os_port *port);

/* Look at the callers of a port; one reception at a time. NULL: no memory. */
struct os_reception *os_reception_begin(struct os_port *port, const struct os_port_watch *watch);
/* Returns a socket that does not block, -EAGAIN: not yet. May be called again after both. */
int os_reception_step(struct os_reception *r);
void os_reception_end(struct os_reception *r); /* takes NULL */

/* Call a port, for so many seconds; 0: as long as it takes. Returns 0 or -EINVAL: text is no name, or -ENOMEM. */
int os_call_begin(struct os_call **call, const char *text, double limit_s, const struct os_port_watch *watch);
/* Returns a socket that does not block, once the owner has accepted; -EAGAIN: not yet; -ECONNREFUSED: no address has such a port; -ETIMEDOUT, or
 * another -errno. */
int os_call_step(struct os_call *call);
void os_call_end(struct os_call *call); /* takes NULL */

#endif
