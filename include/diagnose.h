/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The contract of the hang report: vireo-diagnose reads a case and writes a report.
 *
 * mpiexec asks the ranks, collects their answers and carries them to the program; it does not read
 * them. The program is a process of its own: it may look up processes and symbols for a second or
 * two while mpiexec goes on. It reads the case from its standard input up to the end, and writes
 * the report, lines of printable text, to its standard output. It ends with status 0, or with 1 and
 * a sentence on its standard error where the input is no case.
 *
 * A case, numbers in decimal:
 *
 *     vireo-case 1
 *     TOOK RANKS                 ms from the question to the last answer; how many ranks
 *     JOB                        what the job is called: "1234 (a.out)"
 *     HOST
 *     STATE STATUS PID LENGTH    a rank, in order: enum diagnose_state; its status as wait() gives
 *                                it; its process, or 0; then LENGTH bytes of its answer
 *     ...
 *
 * An answer is what the rank's MPI library wrote; diagnose/hang_text.h has its form.
 */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H

#define DIAGNOSE_PROGRAM "vireo-diagnose"
#define DIAGNOSE_HEAD    "vireo-case 1\n"

enum diagnose_state {
    DIAGNOSE_ANSWERED = 'A',
    DIAGNOSE_SILENT = 'S',    /* it makes MPI calls, but did not answer */
    DIAGNOSE_LATE = 'L',      /* the same, but that it has had no processor since it was asked */
    DIAGNOSE_NOT_INIT = 'N',  /* it has not called MPI_Init */
    DIAGNOSE_FINALIZED = 'F', /* it has called MPI_Finalize, and still runs */
    DIAGNOSE_ENDED = 'E',
};

#endif
