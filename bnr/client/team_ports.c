/* SPDX-License-Identifier: BSD-3-Clause */

/* The ports of BNR_Open_port(); see team_ports.h. */
#include "bnr/client/team_ports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct team_port {
    struct team_port *next;
    struct os_port *port;
    struct os_reception *reception; /* NULL: nobody has accepted yet */
};

static struct team_port *ports;

int team_port_open(const char **name)
{
    const char *step;
    struct team_port *p = calloc(1, sizeof(*p));
    int rc = p ? os_port_open(&p->port, &step) : -ENOMEM;
    if (rc) {
        free(p);
        return rc == -ENOMEM ? BNR_ERR_NOMEM : BNR_FAIL;
    }
    p->next = ports;
    ports = p;
    *name = os_port_text(p->port);
    return BNR_SUCCESS;
}

static struct team_port **find(const char *name)
{
    struct team_port **at = &ports;
    while (*at && strcmp(os_port_text((*at)->port), name) != 0)
        at = &(*at)->next;
    return at;
}

static void drop(struct team_port **at)
{
    struct team_port *p = *at;
    *at = p->next;
    os_reception_end(p->reception);
    os_port_close(p->port);
    free(p);
}

int team_port_close(const char *name)
{
    struct team_port **at = find(name);
    if (!*at)
        return BNR_ERR_NOT_FOUND;
    drop(at);
    return BNR_SUCCESS;
}

void team_ports_end(void)
{
    while (ports)
        drop(&ports);
}

int team_port_caller(const char *name)
{
    struct team_port *p = *find(name);
    if (!p)
        return -2;
    if (!p->reception)
        p->reception = os_reception_begin(p->port, &ties_watch);
    int fd = p->reception ? os_reception_step(p->reception) : -EAGAIN;
    return fd < 0 ? -1 : team_stranger(fd);
}
