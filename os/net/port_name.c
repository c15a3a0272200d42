/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of ports, and the words that are said there; see port_name.h. */
#include "os/net/port_name.h"

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

static void print_address(const union os_port_address *address, char text[INET6_ADDRSTRLEN])
{
    const void *bytes = address->any.sa_family == AF_INET ? (const void *)&address->v4.sin_addr
                                                          : (const void *)&address->v6.sin6_addr;
    *text = 0;
    (void)inet_ntop(address->any.sa_family, bytes, text, INET6_ADDRSTRLEN);
}

void os_port_name_print(const struct os_port_name *name, char text[OS_PORT_TEXT])
{
    char address[INET6_ADDRSTRLEN];
    size_t len = (size_t)sprintf(text, "%s", prefix);
    for (int i = 0; i < OS_PORT_NONCE; i++)
        len += (size_t)sprintf(text + len, "%02x", name->secret[i]);
    len += (size_t)sprintf(text + len, ".%u@", name->port);
    for (int i = 0; i < name->count; i++) {
        print_address(&name->address[i], address);
        if (len + strlen(address) + 2 > OS_PORT_TEXT)
            return;
        len += (size_t)sprintf(text + len, "%s%s", i ? "," : "", address);
    }
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read the secret. Returns what is behind it, or NULL. */
static const char *read_secret(uint8_t secret[OS_PORT_NONCE], const char *text)
{
    for (int i = 0; i < OS_PORT_NONCE; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0)
            return NULL;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return text + (ptrdiff_t)2 * OS_PORT_NONCE;
}

static int read_address(union os_port_address *address, const char *text, size_t len, uint16_t port)
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

int os_port_name_read(struct os_port_name *name, const char *text)
{
    char *end;
    memset(name, 0, sizeof(*name));
    if (strnlen(text, OS_PORT_TEXT) >= OS_PORT_TEXT ||
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
        if (name->count == OS_PORT_ADDRESSES ||
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

static void prove(uint8_t out[PROOF_LEN], char role, const struct os_port_talk *talk,
                  const uint8_t secret[OS_PORT_NONCE])
{
    uint8_t text[1 + 2 * OS_PORT_NONCE];
    text[0] = (uint8_t)role;
    memcpy(text + 1, talk->caller, OS_PORT_NONCE);
    memcpy(text + 1 + OS_PORT_NONCE, talk->owner, OS_PORT_NONCE);
    os_be64_put(out, os_keyed_hash(secret, text, sizeof(text)));
}

/* Compare in a time that does not tell how much is right. */
static bool is_proof(const uint8_t *proof, char role, const struct os_port_talk *talk,
                     const uint8_t secret[OS_PORT_NONCE])
{
    uint8_t right[PROOF_LEN], wrong = 0;
    prove(right, role, talk, secret);
    for (int i = 0; i < PROOF_LEN; i++)
        wrong |= (uint8_t)(right[i] ^ proof[i]);
    return !wrong;
}

void os_port_hello_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk)
{
    memset(out, 0, OS_PORT_WORD);
    memcpy(out, magic, sizeof(magic));
    memcpy(out + sizeof(magic), talk->caller, OS_PORT_NONCE);
}

bool os_port_hello_get(const uint8_t in[OS_PORT_WORD], struct os_port_talk *talk)
{
    memcpy(talk->caller, in + sizeof(magic), OS_PORT_NONCE);
    return !memcmp(in, magic, sizeof(magic));
}

void os_port_answer_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE])
{
    memset(out, 0, OS_PORT_WORD);
    memcpy(out, talk->owner, OS_PORT_NONCE);
    prove(out + OS_PORT_NONCE, 'o', talk, secret);
}

bool os_port_answer_get(const uint8_t in[OS_PORT_WORD], struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE])
{
    memcpy(talk->owner, in, OS_PORT_NONCE);
    return is_proof(in + OS_PORT_NONCE, 'o', talk, secret);
}

void os_port_proof_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE])
{
    memset(out, 0, OS_PORT_WORD);
    prove(out, 'c', talk, secret);
}

bool os_port_proof_get(const uint8_t in[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE])
{
    return is_proof(in, 'c', talk, secret);
}

void os_port_welcome_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE])
{
    memset(out, 0, OS_PORT_WORD);
    prove(out, 'w', talk, secret);
}

bool os_port_welcome_get(const uint8_t in[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE])
{
    return is_proof(in, 'w', talk, secret);
}
