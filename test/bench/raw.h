/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The raw limits: what two processes of one host can do without MPI.
 *
 * Ranks 0 and 1 share a mapping and a TCP connection over 127.0.0.1. Each
 * raw_ function below plays both sides, by rank, and does its work `count`
 * times; ranks above 1 return at once. So each fits struct bench_way's run
 * through a small wrapper, and is timed like an MPI call.
 *
 * MPI carries the pid and port numbers once, in raw_open(); nothing after
 * that uses MPI.
 */

#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>

struct raw;

/* Collective over MPI_COMM_WORLD of at least two ranks. Ends the job when
 * the host refuses shared memory or sockets. */
struct raw *raw_open(bool sockets);
void raw_close(struct raw *raw);

/* Bounce one word on a cache line and back: two one-way trips a round. Each
 * call takes another line, as the time depends on where its home is. */
void raw_line(struct raw *raw, int count);

/* Bounce a message through a ring of 64-byte slots (one line each, 56 bytes
 * of payload at most) and back. */
void raw_ring(struct raw *raw, int count);

/* Send window messages of one slot each, then a word back. window <= 64. */
void raw_ring_window(struct raw *raw, int window, int count);

/* Move bytes from out at one side to in at the other and back, copied twice
 * through a small pool that both keep in cache. */
void raw_copy(struct raw *raw, const void *out, void *in, size_t bytes, int count);

/* The same by process_vm_readv(). out and in must be the buffers that were
 * given to raw_pull_setup(), which is collective and says whether it works. */
bool raw_pull_setup(struct raw *raw, void *out, void *in, size_t bytes);
void raw_pull(struct raw *raw, size_t bytes, int count);

/* memcpy() at rank 0, there and back. */
void raw_memcpy(struct raw *raw, void *out, void *in, size_t bytes, int count);

/* Bounce bytes over the socket, spinning on a non-blocking recv(). */
void raw_socket(struct raw *raw, void *out, void *in, size_t bytes, int count);

/* Send window messages, one send() each, then one byte back. Each lands in
 * its own place: in has room for window times bytes. */
void raw_socket_window(struct raw *raw, void *out, void *in, size_t bytes, int window,
                       int count);

/* Publish a word to the other rank; wait for one that it published. */
void raw_signal(struct raw *raw);
void raw_await(struct raw *raw);

#endif
