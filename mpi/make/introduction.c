/* SPDX-License-Identifier: BSD-3-Clause */

/* Introductions as bytes; see introduction.h. */
#include "mpi/make/introduction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/be.h"

enum { GID = 16, KEY = 16 };

size_t introduction_size(const struct mpid_introduction *who)
{
    return INTRODUCTION_MIN + strlen(who->card) + strlen(who->host);
}

void introduction_put(uint8_t *at, const struct mpid_introduction *who)
{
    size_t card = strlen(who->card), host = strlen(who->host);
    memcpy(at, &who->gid, GID);
    memcpy(at + GID, who->key, KEY);
    os_be32_put(at + GID + KEY, who->rank);
    os_be32_put(at + GID + KEY + 4, (uint32_t)card);
    os_be32_put(at + GID + KEY + 8, (uint32_t)host);
    memcpy(at + INTRODUCTION_MIN, who->card, card);
    memcpy(at + INTRODUCTION_MIN + card, who->host, host);
}

int introduction_get(const uint8_t *at, size_t size, struct mpid_introduction *who)
{
    size_t card = os_be32_get(at + GID + KEY + 4), host = os_be32_get(at + GID + KEY + 8);
    const uint8_t *texts = at + INTRODUCTION_MIN;
    size_t room = size - INTRODUCTION_MIN;
    *who = (struct mpid_introduction){.rank = os_be32_get(at + GID + KEY)};
    memcpy(&who->gid, at, GID);
    memcpy(who->key, at + GID, KEY);
    if (card > room || host > room - card || memchr(texts, 0, card + host))
        return -EPROTO;
    who->card = strndup((const char *)texts, card);
    who->host = strndup((const char *)texts + card, host);
    if (who->card && who->host)
        return 0;
    introduction_free(who);
    return -ENOMEM;
}

void introduction_free(struct mpid_introduction *who)
{
    free((void *)(uintptr_t)who->card);
    free((void *)(uintptr_t)who->host);
    who->card = who->host = NULL;
}
