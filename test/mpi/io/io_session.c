/* SPDX-License-Identifier: BSD-3-Clause */

/* Files in sessions, one after the other: there is no MPI_COMM_WORLD, and MPI ends and begins
 * between them; then files between MPI_Init and MPI_Finalize. No thread of the library goes on after
 * an end. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

static void need(int good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "io_session.c:%d: not so: %s\n", line, what);
    exit(1);
}
#define NEED(what) need(!!(what), #what, __LINE__)

/* Whether a thread is past the point from which it runs no code of the program: Linux' PF_EXITING. */
static int is_exiting(const char *thread)
{
    char path[300];
    unsigned flags = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", thread);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return 1;
    int got = fscanf(stat, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags);
    fclose(stat);
    return got != 1 || (flags & 4);
}

static void *nothing(void *arg)
{
    return arg;
}

static int thread_count(void)
{
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    NEED(threads);
    while ((entry = readdir(threads)))
        count += entry->d_name[0] != '.' && !is_exiting(entry->d_name);
    closedir(threads);
    return count;
}

static void access_file(MPI_Comm comm, const char *name, int epoch)
{
    MPI_File file;
    MPI_Request request, more[3];
    int rank, size, got = -1, mine;
    NEED(!MPI_Comm_rank(comm, &rank));
    NEED(!MPI_Comm_size(comm, &size));
    mine = epoch * 100 + rank;
    NEED(!MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file));
    NEED(!MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    NEED(!MPI_File_iwrite_at_all(file, rank, &mine, 1, MPI_INT, &request));
    NEED(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        NEED(!MPI_File_iwrite_at(file, (i + 1) * size + rank, &mine, 1, MPI_INT, &more[i]));
    NEED(!MPI_Waitall(3, more, MPI_STATUSES_IGNORE));
    NEED(!MPI_File_write_ordered(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
    NEED(!MPI_File_read_at_all(file, (rank + 1) % size, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    NEED(got == epoch * 100 + (rank + 1) % size);
    NEED(!MPI_File_close(&file));
}

static void in_session(const char *name, int epoch)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    NEED(!MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    NEED(!MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    NEED(!MPI_Comm_create_from_group(group, "io", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    access_file(comm, name, epoch);
    NEED(!MPI_Group_free(&group));
    NEED(!MPI_Comm_free(&comm));
    NEED(!MPI_Session_finalize(&session));
}

int main(void)
{
    char name[64];
    pthread_t first; /* a sanitizer starts one of its own with it */
    NEED(!pthread_create(&first, NULL, nothing, NULL) && !pthread_join(first, NULL));
    int threads = thread_count();
    snprintf(name, sizeof(name), "/tmp/vireo-io-session-%d", (int)getppid());
    for (int epoch = 0; epoch < 3; epoch++) {
        in_session(name, epoch);
        NEED(thread_count() == threads);
    }
    NEED(!MPI_Init(NULL, NULL));
    access_file(MPI_COMM_WORLD, name, 3);
    NEED(!MPI_Finalize());
    NEED(thread_count() == threads);
    return 0;
}
