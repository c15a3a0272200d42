/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The message queues of rank 0, as a debugger sees them: rank 1 stops it, loads the library that
 * debuggers load, and asks that for everything.
 *   queues LIBRARY
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "queues/mqs.h"

enum {
    LONG = 1 << 20
};

/* ---- the debugger ---- */

static int target_pid;
static uint64_t library_base;
static char library_path[512];
static mqs_image_info *image_info;
static mqs_process_info *process_info;

static void put_image(mqs_image *image, mqs_image_info *info)
{
    (void)image;
    image_info = info;
}

static mqs_image_info *get_image(mqs_image *image)
{
    (void)image;
    return image_info;
}

static void put_process(mqs_process *process, mqs_process_info *info)
{
    (void)process;
    process_info = info;
}

static mqs_process_info *get_process(mqs_process *process)
{
    (void)process;
    return process_info;
}

static mqs_image *image_of(mqs_process *process)
{
    return (mqs_image *)process;
}

static int global_rank(mqs_process *process)
{
    (void)process;
    return 0;
}

static int fetch(mqs_process *process, mqs_taddr_t address, int len, void *to)
{
    struct iovec here = {to, (size_t)len}, there = {(void *)address, (size_t)len};
    (void)process;
    return process_vm_readv(target_pid, &here, 1, &there, 1, 0) == len ? mqs_ok
                                                                       : mqs_first_user_code;
}

/* By nm: the dynamic symbols are all that a stripped library has. */
static int find_symbol(mqs_image *image, char *name, mqs_taddr_t *address)
{
    char command[1024], found[256] = "", kind;
    unsigned long offset;
    int rc = mqs_first_user_code;
    (void)image;
    snprintf(command, sizeof(command), "nm -D --defined-only '%s'", library_path);
    FILE *pipe = popen(command, "r");
    CHECK(pipe);
    while (fscanf(pipe, "%lx %c %255s", &offset, &kind, found) == 3)
        if (!strcmp(found, name)) {
            *address = library_base + offset;
            rc = mqs_ok;
        }
    CHECK(pclose(pipe) == 0);
    return rc;
}

static const mqs_basic_callbacks basic = {.mqs_malloc_fp = malloc,
                                          .mqs_free_fp = free,
                                          .mqs_put_image_info_fp = put_image,
                                          .mqs_get_image_info_fp = get_image,
                                          .mqs_put_process_info_fp = put_process,
                                          .mqs_get_process_info_fp = get_process};
static const mqs_image_callbacks image_calls = {.mqs_find_symbol_fp = find_symbol};
static const mqs_process_callbacks process_calls = {.mqs_get_global_rank_fp = global_rank,
                                                    .mqs_get_image_fp = image_of,
                                                    .mqs_fetch_data_fp = fetch};

static void find_library(void)
{
    char path[64], line[1024];
    snprintf(path, sizeof(path), "/proc/%d/maps", target_pid);
    FILE *maps = fopen(path, "r");
    CHECK(maps);
    library_base = 0;
    while (!library_base && fgets(line, sizeof(line), maps))
        if (strstr(line, "/libmpi_abi.so"))
            CHECK(sscanf(line, "%lx-%*s %*s %*s %*s %*s %500s", &library_base, library_path) == 2);
    fclose(maps);
    CHECK(library_base);
}

/* Wait until the process has stopped. */
static void stop(void)
{
    char path[64], state = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", target_pid);
    CHECK(kill(target_pid, SIGSTOP) == 0);
    while (state != 'T') {
        FILE *stat = fopen(path, "r");
        CHECK(stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1);
        fclose(stat);
        (void)usleep(1000);
    }
}

/* ---- the queue library ---- */

static void *library;
static mqs_process *const process = (mqs_process *)&target_pid;

#define CALL(name, ...) ((__typeof__(&name))symbol_of(#name))(__VA_ARGS__)
static void *symbol_of(const char *name)
{
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static void open_process(const char *path)
{
    char *message, name[512] = "";
    mqs_taddr_t address;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    find_library();
    CALL(mqs_setup_basic_callbacks, &basic);
    CHECK(CALL(mqs_version_compatibility) == MQS_INTERFACE_COMPATIBILITY);
    CHECK(CALL(mqs_dll_taddr_width) == (int)sizeof(void *) && *CALL(mqs_version_string));
    CHECK(CALL(mqs_setup_image, (mqs_image *)process, &image_calls) == mqs_ok);
    CHECK(CALL(mqs_image_has_queues, (mqs_image *)process, &message) == mqs_ok);
    CHECK(CALL(mqs_setup_process, process, &process_calls) == mqs_ok);
    CHECK(CALL(mqs_process_has_queues, process, &message) == mqs_ok && !message);
    /* The name by which a debugger finds the library. */
    char symbol[] = "MPIR_dll_name";
    CHECK(find_symbol(NULL, symbol, &address) == mqs_ok);
    for (size_t i = 0; i < sizeof(name) - 1 && (!i || name[i - 1]); i++)
        CHECK(fetch(NULL, address + i, 1, &name[i]) == mqs_ok);
    CHECK(strlen(name) >= 15 && !strcmp(name + strlen(name) - 15, "libvireo-mqs.so"));
}

/* Go to a communicator. */
static mqs_communicator find_comm(const char *name)
{
    mqs_communicator comm;
    CHECK(CALL(mqs_update_communicator_list, process) == mqs_ok);
    CHECK(CALL(mqs_setup_communicator_iterator, process) == mqs_ok);
    for (;;) {
        CHECK(CALL(mqs_get_communicator, process, &comm) == mqs_ok);
        if (!strcmp(comm.name, name))
            return comm;
        CHECK(CALL(mqs_next_communicator, process) == mqs_ok);
    }
}

/* The one operation of a class with this tag; -1: any. Returns how many there are in all. */
static int find_operation(mqs_op_class class, int tag, mqs_pending_operation *found)
{
    mqs_pending_operation operation;
    int count = 0, matches = 0;
    int rc = CALL(mqs_setup_operation_iterator, process, class);
    CHECK(rc == mqs_ok || rc == mqs_end_of_list);
    while (CALL(mqs_next_operation, process, &operation) == mqs_ok) {
        count++;
        if (tag < 0 ? operation.tag_wild : operation.desired_tag == tag) {
            *found = operation;
            matches++;
        }
    }
    CHECK(matches == (count > 0));
    return count;
}

/* ---- what there is to see ---- */

static int rank, size;
static MPI_Comm reversed; /* rank r of the world is size - 1 - r */
static char wanted[40], any[8], sent[24], *large;

/* A blocking receive is the one that is posted. */
static void look_at_one(void)
{
    mqs_pending_operation op;
    mqs_communicator comm = find_comm("MPI_COMM_WORLD");
    CHECK(comm.size == size && comm.local_rank == 0);
    CHECK(find_operation(mqs_pending_receives, 1, &op) == 1);
    CHECK(op.desired_local_rank == 1 && op.desired_global_rank == 1 && !op.tag_wild);
    CHECK(find_operation(mqs_unexpected_messages, 0, &op) == 0);
    CHECK(find_operation(mqs_pending_sends, 0, &op) == 0);
}

static void look_at_many(void)
{
    mqs_pending_operation op;
    int *ranks = calloc((size_t)size, sizeof(*ranks));
    mqs_communicator comm = find_comm("reversed");
    CHECK(comm.size == size && comm.local_rank == size - 1);
    CHECK(CALL(mqs_get_comm_group, process, ranks) == mqs_ok);
    for (int i = 0; i < size; i++)
        CHECK(ranks[i] == size - 1 - i);
    free(ranks);

    CHECK(find_operation(mqs_pending_receives, 7, &op) == 2);
    CHECK(op.status == mqs_st_pending && op.desired_local_rank == size - 2);
    CHECK(op.desired_global_rank == 1 && op.desired_length == 40);
    CHECK(find_operation(mqs_pending_receives, -1, &op) == 2);
    CHECK(op.tag_wild && op.desired_local_rank == size - 1 && op.desired_length == 8);

    CHECK(find_operation(mqs_unexpected_messages, 9, &op) == 2);
    CHECK(op.actual_local_rank == size - 2 && op.actual_global_rank == 1 && op.actual_length == 16);
    char text[16] = "";
    CHECK(op.system_buffer && fetch(NULL, op.buffer, 16, text) == mqs_ok &&
          !strcmp(text, "found it"));
    CHECK(find_operation(mqs_unexpected_messages, 10, &op) == 2);
    CHECK(op.actual_length == LONG && op.actual_tag == 10);

    CHECK(find_operation(mqs_pending_sends, 11, &op) == 1);
    CHECK(op.desired_local_rank == size - 2 && op.desired_global_rank == 1 &&
          op.desired_length == 24);
    find_comm("MPI_COMM_WORLD");
    CHECK(find_operation(mqs_unexpected_messages, 0, &op) == 0);
    CHECK(find_operation(mqs_pending_receives, 1, &op) == 1);
}

/* Stop the process, once it is in its receive. */
static void stop_in_receive(const char *path)
{
    mqs_pending_operation op;
    for (bool is_there = false; !is_there;) {
        (void)usleep(10000);
        stop();
        if (!library)
            open_process(path);
        find_comm("MPI_COMM_WORLD");
        is_there = CALL(mqs_setup_operation_iterator, process, mqs_pending_receives) == mqs_ok &&
                   CALL(mqs_next_operation, process, &op) == mqs_ok;
        if (!is_there)
            CHECK(kill(target_pid, SIGCONT) == 0);
    }
}

static void debug(const char *path)
{
    MPI_Request request;
    char text[16] = "found it";
    OK(MPI_Isend(large, LONG, MPI_BYTE, size - 1, 10, reversed, &request));
    OK(MPI_Send(text, 16, MPI_BYTE, size - 1, 9, reversed));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Recv(&target_pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        stop_in_receive(path);
        if (round)
            look_at_many();
        else
            look_at_one();
        CHECK(kill(target_pid, SIGCONT) == 0);
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
    }
    CALL(mqs_destroy_process_info, process_info);
    CALL(mqs_destroy_image_info, image_info);
    char end[40] = "";
    OK(MPI_Send(end, 40, MPI_BYTE, size - 1, 7, reversed));
    OK(MPI_Recv(end, 24, MPI_BYTE, size - 1, 11, reversed, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void tell_and_wait(void)
{
    int pid = getpid();
    OK(MPI_Send(&pid, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void be_debugged(void)
{
    MPI_Request requests[3];
    char text[16];
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    tell_and_wait();
    OK(MPI_Irecv(wanted, 40, MPI_BYTE, size - 2, 7, reversed, &requests[0]));
    OK(MPI_Irecv(any, 8, MPI_BYTE, size - 1, MPI_ANY_TAG, reversed, &requests[1]));
    OK(MPI_Issend(sent, 24, MPI_BYTE, size - 2, 11, reversed, &requests[2]));
    OK(MPI_Probe(size - 2, 9, reversed, MPI_STATUS_IGNORE));
    OK(MPI_Probe(size - 2, 10, reversed, MPI_STATUS_IGNORE));
    tell_and_wait();
    OK(MPI_Recv(text, 16, MPI_BYTE, size - 2, 9, reversed, MPI_STATUS_IGNORE));
    OK(MPI_Recv(large, LONG, MPI_BYTE, size - 2, 10, reversed, MPI_STATUS_IGNORE));
    OK(MPI_Send(any, 8, MPI_BYTE, size - 1, 3, reversed));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    CHECK(argc == 2 && size > 1);
    large = calloc(1, LONG);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed));
    OK(MPI_Comm_set_name(reversed, "reversed"));
    if (rank == 0)
        be_debugged();
    else if (rank == 1)
        debug(argv[1]);
    OK(MPI_Comm_free(&reversed));
    free(large);
    OK(MPI_Finalize());
    return 0;
}
