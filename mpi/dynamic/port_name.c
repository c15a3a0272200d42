/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of ports, and the words that are said there; see port_name.h. */
#include "mpi/dynamic/port_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/be.h"
#include "os/keyed_hash.h"

static const char prefix[] = "vireo1.";
static const uint8_t magic[8] = "VireoPt1";

/* ---- names ---- */

static void print_address(const union port_address *address, char text[INET6_ADDRSTRLEN])
{
    const void *bytes = address->any.sa_family == AF_INET ? (const void *)&address->v4.sin_addr
                                                          : (const void *)&address->v6.sin6_addr;
    *text = 0;
    (void)inet_ntop(address->any.sa_family, bytes, text, INET6_ADDRSTRLEN);
}

void port_name_print(const struct port_name *name, char text[MPI_MAX_PORT_NAME])
{
    char address[INET6_ADDRSTRLEN];
    size_t len = (size_t)sprintf(text, "%s", prefix);
    for (int i = 0; i < PORT_NONCE; i++)
        len += (size_t)sprintf(text + len, "%02x", name->secret[i]);
    len += (size_t)sprintf(text + len, ".%u@", name->port);
    for (int i = 0; i < name->count; i++) {
        print_address(&name->address[i], address);
        if (len + strlen(address) + 2 > MPI_MAX_PORT_NAME)
            return;
        len += (size_t)sprintf(text + len, "%s%s", i ? "," : "", address);
    }
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read the secret. Returns what is behind it, or NULL. */
static const char *read_secret(uint8_t secret[PORT_NONCE], const char *text)
{
    for (int i = 0; i < PORT_NONCE; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0)
            return NULL;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return text + (ptrdiff_t)2 * PORT_NONCE;
}

static int read_address(union port_address *address, const char *text, size_t len, uint16_t port)
{
    char one[INET6_ADDRSTRLEN];
    if (!len || len >= sizeof(one))
        return -EINVAL;
    memcpy(one, text, len);
    one[len] = 0;
    memset(address, 0, sizeof(*address));
    if (inet_pton(AF_INET, one, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        return 0;
    }
    address->v6.sin6_family = AF_INET6;
    address->v6.sin6_port = htons(port);
    return inet_pton(AF_INET6, one, &address->v6.sin6_addr) == 1 ? 0 : -EINVAL;
}

int port_name_read(struct port_name *name, const char *text)
{
    char *end;
    memset(name, 0, sizeof(*name));
    if (strnlen(text, MPI_MAX_PORT_NAME) >= MPI_MAX_PORT_NAME ||
        strncmp(text, prefix, sizeof(prefix) - 1) != 0)
        return -EINVAL;
    const char *at = read_secret(name->secret, text + sizeof(prefix) - 1);
    if (!at || at[0] != '.' || digit(at[1]) < 0 || digit(at[1]) > 9)
        return -EINVAL;
    unsigned long port = strtoul(at + 1, &end, 10);
    if (*end != '@' || !port || port > UINT16_MAX)
        return -EINVAL;
    name->port = (uint16_t)port;
    for (at = end + 1;; at++) {
        size_t len = strcspn(at, ",");
        if (name->count == PORT_ADDRESSES ||
            read_address(&name->address[name->count], at, len, name->port))
            return -EINVAL;
        name->count++;
        at += len;
        if (!*at)
            return 0;
    }
}

/* ---- words ---- */

enum { PROOF_LEN = 8 };

static void prove(uint8_t out[PROOF_LEN], char role, const struct port_talk *talk,
                  const uint8_t secret[PORT_NONCE])
{
    uint8_t text[1 + 2 * PORT_NONCE];
    text[0] = (uint8_t)role;
    memcpy(text + 1, talk->caller, PORT_NONCE);
    memcpy(text + 1 + PORT_NONCE, talk->owner, PORT_NONCE);
    os_be64_put(out, os_keyed_hash(secret, text, sizeof(text)));
}

/* Compare in a time that does not tell how much is right. */
static bool is_proof(const uint8_t *proof, char role, const struct port_talk *talk,
                     const uint8_t secret[PORT_NONCE])
{
    uint8_t right[PROOF_LEN], wrong = 0;
    prove(right, role, talk, secret);
    for (int i = 0; i < PROOF_LEN; i++)
        wrong |= (uint8_t)(right[i] ^ proof[i]);
    return !wrong;
}

void port_hello_put(uint8_t out[PORT_WORD], const struct port_talk *talk)
{
    memset(out, 0, PORT_WORD);
    memcpy(out, magic, sizeof(magic));
    memcpy(out + sizeof(magic), talk->caller, PORT_NONCE);
}

bool port_hello_get(const uint8_t in[PORT_WORD], struct port_talk *talk)
{
    memcpy(talk->caller, in + sizeof(magic), PORT_NONCE);
    return !memcmp(in, magic, sizeof(magic));
}

void port_answer_put(uint8_t out[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE])
{
    memset(out, 0, PORT_WORD);
    memcpy(out, talk->owner, PORT_NONCE);
    prove(out + PORT_NONCE, 'o', talk, secret);
}

bool port_answer_get(const uint8_t in[PORT_WORD], struct port_talk *talk, const uint8_t secret[PORT_NONCE])
{
    memcpy(talk->owner, in, PORT_NONCE);
    return is_proof(in + PORT_NONCE, 'o', talk, secret);
}

void port_proof_put(uint8_t out[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE])
{
    memset(out, 0, PORT_WORD);
    prove(out, 'c', talk, secret);
}

bool port_proof_get(const uint8_t in[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE])
{
    return is_proof(in, 'c', talk, secret);
}

void port_welcome_put(uint8_t out[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE])
{
    memset(out, 0, PORT_WORD);
    prove(out, 'w', talk, secret);
}

bool port_welcome_get(const uint8_t in[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE])
{
    return is_proof(in, 'w', talk, secret);
}
