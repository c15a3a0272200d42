/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting with a thread level (the argument), state queries, clocks, memory. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void *other_thread(void *arg)
{
    int flag = 1;
    (void)arg;
    OK(MPI_Is_thread_main(&flag));
    CHECK(!flag);
    return NULL;
}

static void clocks(void)
{
    double start = MPI_Wtime(), now = start;
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    while (now - start < 0.01) {
        CHECK(MPI_Wtime() >= now);
        now = MPI_Wtime();
    }
}

static void memory(void)
{
    char *p = NULL;
    MPI_Info info;
    OK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &p));
    memset(p, 1, 100000);
    OK(MPI_Free_mem(p));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536"));
    OK(MPI_Alloc_mem(10, info, &p));
    CHECK(!((uintptr_t)p % 65536));
    OK(MPI_Free_mem(p));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "48"));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Alloc_mem(10, info, &p));
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "64k"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Alloc_mem(10, info, &p));
    FAILS(MPI_ERR_ARG, MPI_Alloc_mem(-1, MPI_INFO_NULL, &p));
    FAILS(MPI_ERR_NO_MEM, MPI_Alloc_mem(INTPTR_MAX, MPI_INFO_NULL, &p));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    int required = argc > 1 ? atoi(argv[1]) : MPI_THREAD_SINGLE, provided = -1, got = -1, flag = -1;
    pthread_t thread;
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    OK(MPI_Init_thread(&argc, &argv, required, &provided));
    CHECK(provided >= required && provided <= MPI_THREAD_MULTIPLE);
    OK(MPI_Query_thread(&got));
    CHECK(got == provided);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    if (provided > MPI_THREAD_SINGLE) {
        CHECK(!pthread_create(&thread, NULL, other_thread, NULL));
        pthread_join(thread, NULL);
    }
    OK(MPI_Initialized(&flag));
    CHECK(flag);
    clocks();
    memory();
    OK(MPI_Pcontrol(1, "anything"));
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    return !flag;
}
