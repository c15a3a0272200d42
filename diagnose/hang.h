/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why a job does not go on, from what its ranks answered (hang_text.h) and what mpiexec knows of
 * those that did not. Pure: no I/O, no clock.
 *
 * A rank that waits can go on when what it waits for can come; what can come is found from
 * the ranks that are not waiting. The others are stuck. For those the report says why: the
 * peer has ended, is in MPI_Finalize or in another collective, the message is there with another
 * tag or in another communicator, or they wait for each other in a cycle. Where nobody is stuck, it
 * names those who do not wait, and for whom others wait.
 *
 * The ranks answer one after the other. So a wait counts only if it began before the question:
 * those that did were all there at that moment. Else ranks of a job that goes on would seem to wait
 * for each other.
 *
 * Ranks are ranks of the world. Equal states share a line, so the report of 10,000 ranks is as
 * short as that of four; in a job of a few ranks, they share it only where their peers are the
 * same. What belongs to collectives is in the library's hands, and is left out of the queues. Lines
 * are wrapped at 100 columns.
 */
#ifndef DIAGNOSE_HANG_H
#define DIAGNOSE_HANG_H

#include <stddef.h>
#include <stdint.h>

#include "include/diagnose.h"

struct hang_rank {
    enum diagnose_state state;
    const char *text; /* not NUL-terminated */
    size_t len;
    int status;     /* as wait() gives it; of DIAGNOSE_ENDED */
    char run_state; /* of one that runs: as in /proc/PID/stat, 0: unknown */
    int pid;        /* of one that runs; 0: unknown */
    double cpu_s;   /* processor time that it has used */
    char wchan[40]; /* what it sleeps for in the kernel; "": unknown */
};

struct hang_question {
    const struct hang_rank *ranks;
    int count;
    int64_t took_ms; /* from the question to the last answer */
    const char *job; /* what it is called: "1234 (a.out)"; may be NULL */
    const char *host;
    /* Name a place in a program, file:line; *text stays as it is where that is not known. NULL:
     * show the place as it came. */
    void (*site)(void *arg, const char *module, uint64_t offset, char *text, size_t size);
    void *arg;
};

/* The report: a string to free(), ending in a newline, or NULL when memory is out. */
char *hang_format(const struct hang_question *question);

#endif
