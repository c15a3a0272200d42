/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ties: the links of groups, sockets between two processes. Frames (bnr/group/rallies.h) go over them in order, until a tie is
 * lost. A tie may be there before its socket is: frames wait. Ties are named by numbers, which are not used again.
 *
 * Nothing here waits, but ties_step() as long as it is told. Ties are counted: the last tie_unref() sends what is
 * queued, and closes.
 */
#ifndef BNR_TIE_H
#define BNR_TIE_H

#include <stdbool.h>

#include "bnr/group/rallies.h"
#include "os/net/port.h"

/* Kinds of frames beside those of enum rally_kind. */
enum tie_frame_kind {
    TIE_HELLO = 16, /* the first one of a member of the same job: code is its rank */
    TIE_MEET,       /* the first one between the roots of two groups: bytes as in bnr/group/meet.h */
    TIE_REFUSE,     /* in its place: the group gid does not want to meet any more */
    TIE_EXIT,       /* down a tree: process call of the group gid has ended with status code */
    TIE_KILL        /* up a tree: send signal code to process call (all: UINT32_MAX) of the group gid */
};

struct tie_hooks {
    /* A frame has come. Returns 0, or another value: the tie is to be lost. */
    int (*heard)(int tie, const BNR_Gid *gid, const struct rally_frame *frame);
    void (*lost)(int tie);
};

/* Begin; a second call does nothing. Returns 0 or a BNR code. */
int ties_begin(const struct tie_hooks *hooks);
/* End all, after a moment for what is queued. */
void ties_end(void);
/* A descriptor that is readable when ties_step() has something to do; -1: there is none. */
int ties_fd(void);
/* For os/net/port.h: ties_step() waits for a port's descriptors, too. */
extern const struct os_port_watch ties_watch;
/* Move what can be moved, after waiting for so many ms at most. Returns whether something happened. */
bool ties_step(int wait_ms);

/* A new one, with one reference; -1: no memory. */
int tie_new(void);
void tie_ref(int tie);
void tie_unref(int tie); /* takes -1 */
/* Its socket, which it closes. */
void tie_take(int tie, int fd);
/* The socket of another one, from which nothing but the last frame heard has been read; that is released. */
void tie_move(int tie, int from);
bool tie_has_socket(int tie);
bool tie_is_lost(int tie);
void tie_lose(int tie);
void tie_send(int tie, const BNR_Gid *gid, const struct rally_frame *frame);

#endif
