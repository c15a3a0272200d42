/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ringing a sleeper's socket where loads may be done early, as C11 allows and some processors do: that
 * a sleeping word has been read without order says nothing about what was stored before it, until
 * an acquire fence. Includes the module, to give it such loads.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/shm/shm.h"

static bool is_fenced; /* since the sleeping word was read */
static struct shm_header header;

/* What a load in no order may find at worst: what stood there before the peer made its socket. */
static uint32_t load(_Atomic uint32_t *from)
{
    return from == &header.bell_len && !is_fenced ? 0 : *from;
}

#undef atomic_load_explicit
#define atomic_load_explicit(from, order) load(from)
#undef atomic_thread_fence
#define atomic_thread_fence(order) \
    (is_fenced = (order) != memory_order_relaxed && (order) != memory_order_release)

#include "channels/shm/bell.c"

static struct shm shm = {.base.fd = -1, .bell = -1, .mine = &header};

/* Returns whether a sleeper is woken that sleeps on its socket. */
static bool is_woken(uint32_t sleeping)
{
    struct shm_link link = {.shm = &shm, .theirs = &header};
    char byte;
    is_fenced = false;
    header.sleeping = sleeping;
    shm_bell_ring(&link, sleeping);
    return recv(shm.base.fd, &byte, 1, MSG_DONTWAIT) == 1;
}

int main(void)
{
    printf("1..2\n");
    if (shm_bell_open(&shm)) {
        printf("Bail out! no socket\n");
        return 1;
    }
    printf("%s 1 - a datagram is sent to who sleeps on a socket\n",
           is_woken(SHM_SLEEP_COUNT | SHM_SLEEP_FD) ? "ok" : "not ok");
    printf("%s 2 - none to who sleeps on the word\n",
           is_woken(2 * SHM_SLEEP_COUNT) ? "not ok" : "ok");
    shm_bell_close(&shm);
    return 0;
}
