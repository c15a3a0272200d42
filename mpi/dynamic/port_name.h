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
#ifndef MPI_PORT_NAME_H
#define MPI_PORT_NAME_H

#include <mpi.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { PORT_ADDRESSES = 12, PORT_NONCE = 16, PORT_WORD = 32 };

union port_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct port_name {
    uint8_t secret[PORT_NONCE];
    uint16_t port;
    int count;
    union port_address address[PORT_ADDRESSES]; /* with the port */
};

/* Write a name; addresses without room are left out. */
void port_name_print(const struct port_name *name, char text[MPI_MAX_PORT_NAME]);
/* Read one, from any source. Returns 0 or -EINVAL. */
int port_name_read(struct port_name *name, const char *text);

/* What the two know of each other. */
struct port_talk {
    uint8_t caller[PORT_NONCE], owner[PORT_NONCE];
};

void port_hello_put(uint8_t out[PORT_WORD], const struct port_talk *talk);
bool port_hello_get(const uint8_t in[PORT_WORD], struct port_talk *talk);
void port_answer_put(uint8_t out[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE]);
bool port_answer_get(const uint8_t in[PORT_WORD], struct port_talk *talk, const uint8_t secret[PORT_NONCE]);
void port_proof_put(uint8_t out[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE]);
bool port_proof_get(const uint8_t in[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE]);
void port_welcome_put(uint8_t out[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE]);
bool port_welcome_get(const uint8_t in[PORT_WORD], const struct port_talk *talk, const uint8_t secret[PORT_NONCE]);

#endif
