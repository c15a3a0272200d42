/* SPDX-License-Identifier: BSD-3-Clause */

/* A forked child uses MPI_T, whatever another thread of its parent was doing there: no lock that
 * this thread holds hangs the child. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum {
    FORKS = 300,
    CHILD_S = 10
};

static int variable, event;
static atomic_bool is_over;

/* One of each thing that is locked. */
static void use_all(void)
{
    MPI_T_cvar_handle handle;
    MPI_T_event_registration registration;
    int count;
    long long value = 3;
    OK(MPI_T_cvar_handle_alloc(variable, NULL, &handle, &count));
    OK(MPI_T_cvar_write(handle, &value));
    OK(MPI_T_cvar_handle_free(&handle));
    OK(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &registration));
    OK(MPI_T_event_handle_free(registration, NULL, NULL));
}

static void *use_often(void *arg)
{
    while (!is_over)
        use_all();
    return arg;
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
    puts("left out: the address sanitizer's malloc keeps locks that other threads held at fork()");
    return 77;
#endif
    pthread_t user;
    int level;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_T_cvar_get_index("VIREO_SPIN_US", &variable));
    OK(MPI_T_event_get_index("message_arrived", &event));
    CHECK(!pthread_create(&user, NULL, use_often, NULL));
    for (int i = 0; i < FORKS; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            alarm(CHILD_S); /* should it wait for ever */
            use_all();
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
    }
    is_over = true;
    CHECK(!pthread_join(user, NULL));
    OK(MPI_T_finalize());
    return 0;
}
