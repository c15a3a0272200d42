/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sends and receives as C and as Fortran call them, between markers, for stepper to count their
 * instructions: mpiexec -n 1 stepper icount_fortran
 *
 * The procedures of Fortran are called from C, so that no compiler for Fortran is needed: what is
 * counted is the library. A process sends to itself; nothing waits. Early rounds only warm up.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "fortran/fortran.h"
#include "marker.h"

enum { WARM = 20, COUNTED = 16, TAG = 7 };

void mpi_send_(const void *buf, const int *count, const int *datatype, const int *dest, const int *tag,
               const int *comm, int *ierror);
void mpi_recv_(void *buf, const int *count, const int *datatype, const int *source, const int *tag,
               const int *comm, MPI_Status *status, int *ierror);
void mpi_send_f08ts_(const struct fortran_descriptor *buf, const int *count, const int *datatype,
                     const int *dest, const int *tag, const int *comm, int *ierror);
void mpi_recv_f08ts_(const struct fortran_descriptor *buf, const int *count, const int *datatype,
                     const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror);

static bool counting;

static void begin(const char *name)
{
    if (counting)
        marker(MARKER_BEGIN, name);
}

static void end(const char *name)
{
    if (counting)
        marker(MARKER_END, name);
}

static void count_c(void)
{
    char out[8] = "0123456", in[8];
    begin("Send C");
    MPI_Send(out, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF);
    end("Send C");
    begin("Recv C");
    MPI_Recv(in, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    end("Recv C");
}

/* The address that Fortran passes for MPI_STATUS_IGNORE. */
static MPI_Status *ignored(void)
{
    return (MPI_Status *)(uintptr_t)(mpi_fortran_sentinels_ + (ptrdiff_t)6 * FORTRAN_SENTINEL);
}

static void count_mpi(void)
{
    char out[8] = "0123456", in[8];
    int count = 8, byte = PMPI_Type_toint(MPI_BYTE), self = 0, tag = TAG, ierror;
    int comm = PMPI_Comm_toint(MPI_COMM_SELF);
    begin("Send mpi");
    mpi_send_(out, &count, &byte, &self, &tag, &comm, &ierror);
    end("Send mpi");
    begin("Recv mpi");
    mpi_recv_(in, &count, &byte, &self, &tag, &comm, ignored(), &ierror);
    end("Recv mpi");
}

static void count_f08(void)
{
    char out[8] = "0123456", in[8];
    int count = 8, byte = PMPI_Type_toint(MPI_BYTE), self = 0, tag = TAG, ierror;
    int comm = PMPI_Comm_toint(MPI_COMM_SELF);
    const struct fortran_descriptor from = {.base = out, .elem_len = 8}, to = {.base = in, .elem_len = 8};
    begin("Send mpi_f08");
    mpi_send_f08ts_(&from, &count, &byte, &self, &tag, &comm, &ierror);
    end("Send mpi_f08");
    begin("Recv mpi_f08");
    mpi_recv_f08ts_(&to, &count, &byte, &self, &tag, &comm, ignored(), &ierror);
    end("Recv mpi_f08");
}

int main(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 0; i < WARM + COUNTED; i++) {
        counting = i >= WARM;
        begin("nothing");
        end("nothing");
        count_c();
        count_mpi();
        count_f08();
    }
    MPI_Finalize();
    return 0;
}
