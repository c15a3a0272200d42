/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why a job does not go on, from what its ranks answered (hang_text.h) and what mpiexec knows of
 * those that did not. Pure: no I/O, no clock.
 *
 * A rank that waits can go on if the awaited message or call can come; it can come from ranks that
 * do not wait, and from ranks that can go on. The other ranks are stuck. The report says why: the
 * peer has ended, is in MPI_Finalize or in another collective, the message is there with another
 * tag or in another communicator, or ranks wait for each other in a cycle. Where no rank is stuck,
 * the report names the ranks that do not wait and for which others wait.
 *
 * The ranks answer one after the other. So a wait counts only if it began before the question: all
 * such waits existed at that moment. Otherwise the ranks of a job that goes on could seem to wait
 * for each other.
 *
 * Ranks are ranks of the world. Equal states share a line, so the report of 10,000 ranks is as
 * short as that of four; in a job of a few ranks, they share it only where their peers are the
 * same. The queues leave out messages of collectives, which belong to the library. Lines are
 * wrapped at 100 columns.
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
    /* Name a place in a program, file:line; *text stays as it is if unknown. NULL: show the place
     * as the answer has it. */
    void (*site)(void *arg, const char *module, uint64_t offset, char *text, size_t size);
    void *arg;
};

/* The report: a string to free(), ending in a newline, or NULL when memory is out. */
char *hang_format(const struct hang_question *question);

#endif
