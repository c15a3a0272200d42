/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports, and calls to them; see port.h. */
#include "os/net/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/net/accept.h"
#include "os/clock.h"
#include "os/net/port_name.h"
#include "os/random.h"

enum {
    GUESTS = 32,              /* callers that have not proven anything yet */
    BACKLOG = 128,
    ROUNDS = 64,              /* of GUESTS: more than the backlog */
    UNANSWERED = 100          /* so often a caller is hung up on until it gives up */
};
static const uint64_t patience_ns = 10000000000u; /* with each of them */

struct os_port {
    int fd;
    struct os_port_name name;
    char text[OS_PORT_TEXT];
};

/* ---- addresses ---- */

static bool is_usable(const struct ifaddrs *one, bool loopback)
{
    const union os_port_address *address = (const union os_port_address *)(const void *)one->ifa_addr;
    if (!address || !(one->ifa_flags & IFF_UP) || !(one->ifa_flags & IFF_LOOPBACK) == loopback)
        return false;
    if (address->any.sa_family == AF_INET6)
        return !IN6_IS_ADDR_LINKLOCAL(&address->v6.sin6_addr);
    return address->any.sa_family == AF_INET;
}

/* The addresses of this host: those of networks first. */
static void list_addresses(struct os_port_name *name)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all))
        all = NULL;
    for (int loopback = 0; loopback < 2; loopback++)
        for (struct ifaddrs *one = all; one && name->count < OS_PORT_ADDRESSES; one = one->ifa_next)
            if (is_usable(one, loopback))
                memcpy(&name->address[name->count++], one->ifa_addr,
                       one->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                                           : sizeof(struct sockaddr_in6));
    if (all)
        freeifaddrs(all);
    if (!name->count)
        name->address[name->count++].v4 =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

/* ---- opening ---- */

static int listen_at(int family, uint16_t *port)
{
    int no = 0, fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    union os_port_address any = {.any.sa_family = (sa_family_t)family};
    socklen_t len = family == AF_INET ? sizeof(any.v4) : sizeof(any.v6);
    if (fd < 0)
        return -errno;
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    if (bind(fd, &any.any, len) || listen(fd, BACKLOG) || getsockname(fd, &any.any, &len)) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    *port = ntohs(family == AF_INET ? any.v4.sin_port : any.v6.sin6_port);
    return fd;
}

int os_port_open(struct os_port **made, const char **step)
{
    struct os_port *port = calloc(1, sizeof(*port));
    *step = "calloc()";
    if (!port)
        return -ENOMEM;
    *step = "getrandom()";
    port->fd = os_random(port->name.secret, sizeof(port->name.secret));
    if (!port->fd) {
        *step = "socket(), bind() and listen()";
        port->fd = listen_at(AF_INET6, &port->name.port);
        if (port->fd < 0)
            port->fd = listen_at(AF_INET, &port->name.port);
    }
    if (port->fd < 0) {
        int rc = port->fd;
        free(port);
        return rc;
    }
    list_addresses(&port->name);
    os_port_name_print(&port->name, port->text);
    *made = port;
    return 0;
}

void os_port_close(struct os_port *port)
{
    if (port)
        close(port->fd);
    free(port);
}

const char *os_port_text(const struct os_port *port)
{
    return port->text;
}

/* ---- accepting ---- */

struct os_guest {
    int fd; /* -1: there is none here */
    uint64_t until_ns;
    struct os_port_talk talk;
    uint8_t in[OS_PORT_WORD];
    size_t got;
    bool greeted; /* ANSWER has been said */
    bool looked;  /* what it had said when it came has been read */
};

struct os_reception {
    struct os_port *port;
    struct os_port_watch watch;
    struct os_guest guests[GUESTS];
    bool is_full; /* more callers wait */
    int rc; /* the socket, or the failure; -EAGAIN: not yet */
};

static void dismiss(struct os_reception *r, struct os_guest *guest)
{
    if (guest->fd < 0)
        return;
    r->watch.unwatch(r->watch.arg, guest->fd);
    close(guest->fd);
    guest->fd = -1;
}

/* A place for a new one: a free one, or that of the one that has been here longest, and had its say; or NULL. */
static struct os_guest *find_place(struct os_reception *r)
{
    struct os_guest *oldest = NULL;
    for (int i = 0; i < GUESTS; i++) {
        struct os_guest *guest = &r->guests[i];
        if (guest->fd < 0)
            return guest;
        if (guest->looked && (!oldest || guest->until_ns < oldest->until_ns))
            oldest = guest;
    }
    return oldest;
}

static void admit(struct os_reception *r)
{
    struct os_guest *guest;
    int fd;
    while ((guest = find_place(r)) && (fd = os_accept(r->port->fd)) >= 0) {
        int yes = 1;
        dismiss(r, guest);
        *guest = (struct os_guest){.fd = fd, .until_ns = os_now_ns() + patience_ns};
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        r->watch.watch(r->watch.arg, fd);
    }
    r->is_full = !guest;
}

static bool say(int fd, const uint8_t word[OS_PORT_WORD])
{
    return send(fd, word, OS_PORT_WORD, MSG_DONTWAIT | MSG_NOSIGNAL) == OS_PORT_WORD;
}

/* Read up to a whole word. Returns whether it is there; *gone: it never will be. */
static bool read_word(int fd, uint8_t in[OS_PORT_WORD], size_t *got, bool *gone)
{
    ssize_t n = recv(fd, in + *got, OS_PORT_WORD - *got, MSG_DONTWAIT);
    *gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n > 0)
        *got += (size_t)n;
    return *got == OS_PORT_WORD;
}

/* A word of a guest is here. Returns whether it has proven what it must, and is welcome. */
static bool hear(struct os_reception *r, struct os_guest *guest)
{
    const uint8_t *secret = r->port->name.secret;
    uint8_t answer[OS_PORT_WORD], welcome[OS_PORT_WORD];
    guest->got = 0;
    if (guest->greeted) {
        os_port_welcome_put(welcome, &guest->talk, secret);
        if (os_port_proof_get(guest->in, &guest->talk, secret) && say(guest->fd, welcome))
            return true;
    } else if (os_port_hello_get(guest->in, &guest->talk) &&
               !os_random(guest->talk.owner, sizeof(guest->talk.owner))) {
        os_port_answer_put(answer, &guest->talk, secret);
        guest->greeted = true;
        if (say(guest->fd, answer))
            return false;
    }
    dismiss(r, guest);
    return false;
}

static void look_at(struct os_reception *r, struct os_guest *guest)
{
    bool gone = false;
    guest->looked = true;
    while (guest->fd >= 0 && r->rc == -EAGAIN && read_word(guest->fd, guest->in, &guest->got, &gone)) {
        if (!hear(r, guest))
            continue;
        r->watch.unwatch(r->watch.arg, guest->fd);
        r->rc = guest->fd;
        guest->fd = -1;
    }
    if (guest->fd >= 0 && (gone || os_now_ns() > guest->until_ns))
        dismiss(r, guest);
}

struct os_reception *os_reception_begin(struct os_port *port, const struct os_port_watch *watch)
{
    struct os_reception *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->port = port;
    r->watch = *watch;
    for (int i = 0; i < GUESTS; i++)
        r->guests[i].fd = -1;
    watch->watch(watch->arg, port->fd);
    return r;
}

int os_reception_step(struct os_reception *r)
{
    r->rc = -EAGAIN;
    r->is_full = true;
    for (int rounds = 0; r->rc == -EAGAIN && r->is_full && rounds < ROUNDS; rounds++) {
        admit(r);
        for (int i = 0; i < GUESTS && r->rc == -EAGAIN; i++)
            look_at(r, &r->guests[i]);
    }
    return r->rc;
}

void os_reception_end(struct os_reception *r)
{
    if (!r)
        return;
    r->watch.unwatch(r->watch.arg, r->port->fd);
    for (int i = 0; i < GUESTS; i++)
        dismiss(r, &r->guests[i]);
    free(r);
}

/* ---- calling ---- */

struct os_attempt {
    int fd;
    struct os_port_talk talk;
    uint8_t in[OS_PORT_WORD];
    size_t got;
    bool greeted; /* HELLO has been said */
    bool proved;  /* PROOF has been said, to the owner */
};

/* To all addresses at once: the first one that proves to be the owner is the one to wait for. It may hang up, as it
 * welcomes one caller at a time: then all begins anew. */
struct os_call {
    struct os_port_name name;
    struct os_port_watch watch;
    struct os_attempt attempts[OS_PORT_ADDRESSES];
    int going_on, error; /* error: of the last attempt that failed */
    int unanswered;      /* times in a row that all have hung up without ANSWER */
    bool is_hung_up;     /* one has, this time */
    uint64_t until_ns;   /* 0: never */
    int rc;              /* as of a reception */
};

static void end_attempt(struct os_call *call, struct os_attempt *attempt, int error)
{
    if (attempt->fd < 0)
        return;
    call->watch.unwatch(call->watch.arg, attempt->fd);
    close(attempt->fd);
    attempt->fd = -1;
    call->going_on--;
    if (error == ECONNREFUSED || !call->error)
        call->error = error;
}

static void begin_attempt(struct os_call *call, int i)
{
    const union os_port_address *to = &call->name.address[i];
    struct os_attempt *attempt = &call->attempts[i];
    socklen_t len = to->any.sa_family == AF_INET ? sizeof(to->v4) : sizeof(to->v6);
    int yes = 1, fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *attempt = (struct os_attempt){.fd = fd};
    if (fd < 0) {
        call->error = call->error ? call->error : errno;
        return;
    }
    call->going_on++;
    call->watch.watch(call->watch.arg, fd);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (os_random(attempt->talk.caller, sizeof(attempt->talk.caller)))
        end_attempt(call, attempt, EIO);
    else if (connect(fd, &to->any, len) && errno != EINPROGRESS)
        end_attempt(call, attempt, errno);
}

/* Say HELLO once the connection stands. */
static void greet(struct os_call *call, struct os_attempt *attempt)
{
    uint8_t hello[OS_PORT_WORD];
    int error = 0;
    socklen_t len = sizeof(error);
    if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &error, &len) || error) {
        end_attempt(call, attempt, error ? error : errno);
        return;
    }
    os_port_hello_put(hello, &attempt->talk);
    if (say(attempt->fd, hello))
        attempt->greeted = true;
    else if (errno != EAGAIN && errno != ENOTCONN)
        end_attempt(call, attempt, errno);
}

static void begin_all(struct os_call *call)
{
    for (int i = 0; i < call->name.count; i++)
        begin_attempt(call, i);
}

static void end_all(struct os_call *call, const struct os_attempt *but)
{
    for (int i = 0; i < call->name.count; i++)
        if (&call->attempts[i] != but)
            end_attempt(call, &call->attempts[i], ECANCELED);
}

/* The owner of the port is there, or somebody else. */
static void take_answer(struct os_call *call, struct os_attempt *attempt)
{
    uint8_t proof[OS_PORT_WORD];
    attempt->got = 0;
    attempt->proved = os_port_answer_get(attempt->in, &attempt->talk, call->name.secret);
    if (!attempt->proved) {
        end_attempt(call, attempt, ECONNREFUSED);
        return;
    }
    call->unanswered = 0;
    end_all(call, attempt);
    os_port_proof_put(proof, &attempt->talk, call->name.secret);
    (void)say(attempt->fd, proof); /* if that fails, the connection has ended */
}

static void take_welcome(struct os_call *call, struct os_attempt *attempt)
{
    if (!os_port_welcome_get(attempt->in, &attempt->talk, call->name.secret)) {
        end_attempt(call, attempt, ECONNREFUSED);
        return;
    }
    call->watch.unwatch(call->watch.arg, attempt->fd);
    call->rc = attempt->fd;
    attempt->fd = -1;
    call->going_on--;
}

/* The connection has ended after HELLO. */
static void take_end(struct os_call *call, struct os_attempt *attempt)
{
    end_attempt(call, attempt, ECONNREFUSED);
    call->is_hung_up = true;
}

/* No attempt is left. Returns whether to begin anew: somebody is there, and may be the owner. */
static bool calls_again(struct os_call *call)
{
    bool again = call->is_hung_up && call->unanswered++ < UNANSWERED;
    call->is_hung_up = false;
    if (!again)
        return false;
    call->error = 0;
    begin_all(call);
    return call->going_on > 0;
}

static void go_on(struct os_call *call, struct os_attempt *attempt)
{
    bool gone = false;
    if (attempt->fd >= 0 && !attempt->greeted)
        greet(call, attempt);
    if (attempt->fd < 0 || !attempt->greeted)
        return;
    bool is_whole = read_word(attempt->fd, attempt->in, &attempt->got, &gone);
    if (is_whole && !attempt->proved)
        take_answer(call, attempt);
    else if (is_whole)
        take_welcome(call, attempt);
    else if (gone)
        take_end(call, attempt);
}

int os_call_step(struct os_call *call)
{
    for (int i = 0; i < call->name.count && call->rc == -EAGAIN; i++)
        go_on(call, &call->attempts[i]);
    if (call->rc == -EAGAIN && !call->going_on && !calls_again(call))
        call->rc = call->error ? -call->error : -ECONNREFUSED;
    if (call->rc == -EAGAIN && call->until_ns && os_now_ns() > call->until_ns)
        call->rc = -ETIMEDOUT;
    return call->rc;
}

int os_call_begin(struct os_call **made, const char *text, double limit_s, const struct os_port_watch *watch)
{
    struct os_call *call = calloc(1, sizeof(*call));
    if (!call)
        return -ENOMEM;
    if (os_port_name_read(&call->name, text)) {
        free(call);
        return -EINVAL;
    }
    call->rc = -EAGAIN;
    call->watch = *watch;
    if (limit_s > 0)
        call->until_ns = os_now_ns() + (uint64_t)(limit_s * 1e9);
    begin_all(call);
    *made = call;
    return 0;
}

void os_call_end(struct os_call *call)
{
    if (call)
        end_all(call, NULL);
    free(call);
}
