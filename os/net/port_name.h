/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The name of a port, and the words by which two processes meet there. Without I/O.
 *
 * A name is all that a caller needs: "vireo1.NONCE.PORT@ADDRESS,ADDRESS,...". NONCE is 16 random
 * bytes in hexadecimal, the secret of the port: both prove that they know it, and never say it. PORT is that of
 * a TCP socket; the addresses are those of the host, the likeliest first.
 *
 * The words, of 32 bytes each:
 *
 *   caller -> owner   HELLO   magic 8, nonce 16, zero 8
 *   owner -> caller   ANSWER  nonce 16, proof 8, zero 8
 *   caller -> owner   PROOF   proof 8, zero 24
 *   owner -> caller   WELCOME proof 8, zero 24
 *
 * An owner talks to several callers at a time, welcomes one, and hangs up on the others, which call again.
 *
 * A proof is the keyed hash, with the port's secret, of a letter for the role and both nonces. So a
 * conversation that was overheard is of no use in another one.
 */
#ifndef OS_PORT_NAME_H
#define OS_PORT_NAME_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { OS_PORT_ADDRESSES = 12, OS_PORT_NONCE = 16, OS_PORT_WORD = 32, OS_PORT_TEXT = 1024 }; /* TEXT: of a name, with its NUL */

union os_port_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct os_port_name {
    uint8_t secret[OS_PORT_NONCE];
    uint16_t port;
    int count;
    union os_port_address address[OS_PORT_ADDRESSES]; /* with the port */
};

/* Write a name; addresses without room are left out. */
void os_port_name_print(const struct os_port_name *name, char text[OS_PORT_TEXT]);
/* Read one, from any source. Returns 0 or -EINVAL. */
int os_port_name_read(struct os_port_name *name, const char *text);

/* What the two know of each other. */
struct os_port_talk {
    uint8_t caller[OS_PORT_NONCE], owner[OS_PORT_NONCE];
};

void os_port_hello_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk);
bool os_port_hello_get(const uint8_t in[OS_PORT_WORD], struct os_port_talk *talk);
void os_port_answer_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE]);
bool os_port_answer_get(const uint8_t in[OS_PORT_WORD], struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE]);
void os_port_proof_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE]);
bool os_port_proof_get(const uint8_t in[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE]);
void os_port_welcome_put(uint8_t out[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE]);
bool os_port_welcome_get(const uint8_t in[OS_PORT_WORD], const struct os_port_talk *talk, const uint8_t secret[OS_PORT_NONCE]);

#endif
