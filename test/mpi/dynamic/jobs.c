/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Jobs that spawn and connect: jobs.py starts them. The first argument says what this one does; exits with
 * 0 if all is as it should be, and says otherwise what is not.
 */
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/mpi/dynamic/growth.h"

static int rank, size;
static MPI_Comm parent;

static void claim(int holds, const char *what)
{
    if (holds)
        return;
    printf("rank %d of %d: not so: %s\n", rank, size, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

/* The processes that can share memory are of one job, and share it. */
static void share(MPI_Comm all, int me)
{
    MPI_Comm some;
    MPI_Group world, group;
    MPI_Win win;
    int count, *word, from[64], to[64];
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &some);
    MPI_Comm_size(some, &count);
    claim(count <= size && count <= 64, "processes of two jobs are apart");
    for (int i = 0; i < count; i++)
        from[i] = i;
    MPI_Comm_group(some, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, count, from, world, to);
    MPI_Win_allocate_shared(sizeof(*word), sizeof(*word), MPI_INFO_NULL, some, &word, &win);
    *word = rank;
    MPI_Win_fence(0, win);
    for (int i = 0, unit; i < count; i++) {
        MPI_Aint bytes;
        MPI_Win_shared_query(win, i, &bytes, &unit, &word);
        claim(to[i] != MPI_UNDEFINED && *word == to[i], "those that share memory are of this job");
    }
    MPI_Win_free(&win);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&some);
}

/* Both sides of an intercommunicator exchange with each other, and within a merged one. */
static void talk(MPI_Comm inter, int high)
{
    MPI_Comm all;
    int theirs, mine, total, me, sum = 0, got = -1;
    MPI_Comm_remote_size(inter, &theirs);
    MPI_Comm_rank(inter, &mine);
    int word = mine;
    if (mine < theirs)
        MPI_Sendrecv(&word, 1, MPI_INT, mine, 3, &got, 1, MPI_INT, mine, 3, inter, MPI_STATUS_IGNORE);
    claim(mine >= theirs || got == mine, "the peer of my rank sends its rank");
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_size(all, &total);
    MPI_Comm_rank(all, &me);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
    claim(sum == total * (total - 1) / 2, "a sum over the merged communicator");
    char *long_one = malloc(300000), *ring = calloc(1, 300000);
    memset(long_one, 'a' + me % 26, 300000);
    int to = (me + 1) % total, from = (me + total - 1) % total;
    MPI_Sendrecv(long_one, 300000, MPI_CHAR, to, 5, ring, 300000, MPI_CHAR, from, 5, all, MPI_STATUS_IGNORE);
    claim(ring[0] == 'a' + from % 26 && ring[299999] == ring[0], "a long message around the ring");
    free(long_one);
    free(ring);
    share(all, me);
    MPI_Comm_disconnect(&all);
}

/* ---- growth ---- */

enum { BUFFERS_KB = 4 * 64 }; /* that channel tcp keeps for the next links (channels/tcp/tcp.c), once there were so many */

static long begun[4];

static void note_growth(void)
{
    malloc_trim(0); /* memory that is freed and kept is no growth */
    begun[0] = status_of("RssAnon");
    begun[3] = status_of("RssShmem");
    begun[1] = status_of("Threads");
    begun[2] = count_files();
}

static void check_growth(int cycles)
{
    for (int i = 0, found; i < 2000 && count_files() > begun[2]; i++) { /* the last connection is being closed */
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    malloc_trim(0);
    long memory = status_of("RssAnon") - begun[0];
    claim(status_of("Threads") == begun[1], "as many threads as before");
    claim(count_files() <= begun[2], "no more descriptors than before");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    memory = 0; /* what was freed is kept for a while */
#endif
    int most = 256 + BUFFERS_KB + cycles / 8;
    if (memory > most)
        printf("memory grew by %ld KiB in %d cycles\n", memory, cycles);
    claim(memory <= most, "memory does not grow");
    claim(status_of("RssShmem") - begun[3] < 4096, "shared memory is that of a few links that are being closed");
    if (getenv("JOBS_TELL") && !rank)
        printf("%d cycles: %ld KiB more\n", cycles, memory);
}

/* ---- what jobs do ---- */

static void spawn(char *program, char **words, int count, int cycles)
{
    int codes[64];
    for (int i = 0; i < cycles; i++) {
        MPI_Comm inter;
        int remote = -1;
        if (i == cycles / 4)
            note_growth();
        MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter, codes);
        MPI_Comm_remote_size(inter, &remote);
        claim(remote == count, "as many processes as wanted");
        for (int k = 0; k < count; k++)
            claim(codes[k] == MPI_SUCCESS, "codes of success");
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
        claim(inter == MPI_COMM_NULL, "disconnect sets the handle");
    }
    if (cycles > 8)
        check_growth(cycles);
}

/* A secret is no word of a command line, which every user can read. */
static void check_command_line(void)
{
    char path[64], words[4096];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)getppid());
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(words, 1, sizeof(words), file) : 0;
    if (file)
        fclose(file);
    claim(!len || !memmem(words, len, "vireo1.", 7), "mpiexec's command line does not hold the port");
}

/* Of a spawned job: to spawn one more, so many levels below. */
static void be_child(char *program, int levels)
{
    char level[16];
    char *words[] = {"child", level, NULL};
    check_command_line();
    if (levels) {
        snprintf(level, sizeof(level), "%d", levels - 1);
        spawn(program, words, 2, 1);
    }
    talk(parent, 1);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    claim(parent == MPI_COMM_NULL, "no parent after MPI_Comm_disconnect");
}

static void look_up(const char *name, char *port)
{
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Lookup_name(name, MPI_INFO_NULL, port))
        usleep(2000);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void serve(const char *name, int cycles)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (!rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(name, MPI_INFO_NULL, port);
    }
    for (int i = 0; i < cycles; i++) {
        MPI_Comm inter;
        if (i == cycles / 4)
            note_growth();
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    }
    if (cycles > 8)
        check_growth(cycles);
    if (!rank) {
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

static void visit(const char *name, int cycles)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (!rank)
        look_up(name, port);
    for (int i = 0; i < cycles; i++) {
        MPI_Comm inter;
        if (i == cycles / 4)
            note_growth();
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 1);
        MPI_Comm_disconnect(&inter);
    }
    if (cycles > 8)
        check_growth(cycles);
}

/* A process accepts many, who call at the same time. */
static void receive(const char *name, int count)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(name, MPI_INFO_NULL, port);
    for (int i = 0; i < count; i++) {
        MPI_Comm inter;
        int word;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Recv(&word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 2, inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Unpublish_name(name, MPI_INFO_NULL, port);
}

static void call(const char *name, int cycles)
{
    char port[MPI_MAX_PORT_NAME];
    look_up(name, port);
    for (int i = 0; i < cycles; i++) {
        MPI_Comm inter;
        int word = 100 * rank + i, got = -1;
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
        claim(got == word, "my word comes back");
        MPI_Comm_disconnect(&inter);
    }
}

/* Job i of n connects to the next one, and accepts the one before. */
static void ring(const char *name, int i, int n)
{
    char own[64], other[64], port[MPI_MAX_PORT_NAME] = "", next[MPI_MAX_PORT_NAME] = "";
    MPI_Comm before, after;
    snprintf(own, sizeof(own), "%s.%d", name, i);
    snprintf(other, sizeof(other), "%s.%d", name, (i + 1) % n);
    if (!rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(own, MPI_INFO_NULL, port);
        look_up(other, next);
    }
    if (!i)
        MPI_Comm_connect(next, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &after);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &before);
    if (i)
        MPI_Comm_connect(next, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &after);
    if (!i)
        talk(after, 1);
    talk(before, 0);
    if (i)
        talk(after, 1);
    MPI_Comm_disconnect(i ? &before : &after);
    MPI_Comm_disconnect(i ? &after : &before);
    if (!rank)
        MPI_Unpublish_name(own, MPI_INFO_NULL, port);
}

/* Of two jobs of two ranks, rank 0 of each accepts rank 1 of the other at the same time. */
static void cross(const char *name, int i)
{
    char own[64], other[64], port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int got = -1, word = i;
    snprintf(own, sizeof(own), "%s.%d", name, i);
    snprintf(other, sizeof(other), "%s.%d", name, !i);
    if (!rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(own, MPI_INFO_NULL, port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    } else {
        look_up(other, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    claim(got == !i, "the other job's number");
    /* The two worlds meet over what rank 0 of the first job and rank 1 of the second share. */
    MPI_Comm both;
    MPI_Intercomm_create(MPI_COMM_WORLD, i, rank == i ? inter : MPI_COMM_NULL, 0, 7, &both);
    talk(both, i);
    MPI_Comm_disconnect(&both);
    MPI_Comm_disconnect(&inter);
}

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* Whether the sentence of an error has some words: each rank knows the root's reason. */
static int says(int error, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    return !MPI_Error_string(error, text, &(int){0}) && strstr(text, words);
}

static void err(char *program)
{
    MPI_Comm inter;
    MPI_Info info;
    int codes[3] = {-1, -1, -1};
    char port[MPI_MAX_PORT_NAME], *words[] = {"soft", NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    claim(class_of(rc) == MPI_ERR_SPAWN && class_of(codes[2]) == MPI_ERR_SPAWN, "no such program");
    rc = MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    claim(class_of(rc) == MPI_ERR_SPAWN, "a program without MPI_Init");
    rc = MPI_Comm_spawn(program, words, rank ? 1 : -7, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    claim(class_of(rc) == MPI_ERR_ARG && says(rc, "maxprocs -7"), "a negative number at the root alone");
    rc = MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    claim(class_of(rc) == MPI_ERR_ROOT, "no root");
    MPI_Info_create(&info);
    MPI_Info_set(info, "soft", "1,3:2:-1,7");
    rc = MPI_Comm_spawn(program, words, 5, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    claim(!rc, "soft");
    MPI_Comm_remote_size(inter, &rc);
    claim(rc == 3, "the largest number that soft allows");
    MPI_Comm_disconnect(&inter);
    MPI_Info_set(info, "soft", "many");
    rc = MPI_Comm_spawn(program, words, 5, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    claim(class_of(rc) == MPI_ERR_SPAWN, "soft that cannot be read");
    MPI_Info freed = info;
    MPI_Info_free(&info);
    rc = MPI_Comm_accept("port", rank ? MPI_INFO_NULL : freed, 0, MPI_COMM_WORLD, &inter);
    claim(class_of(rc) == MPI_ERR_INFO && says(rc, "is no info object"), "an info that the root has freed");
    rc = MPI_Lookup_name("no such name", MPI_INFO_NULL, port);
    claim(class_of(rc) == MPI_ERR_NAME, "no such name");
    rc = MPI_Unpublish_name("no such name", MPI_INFO_NULL, port);
    claim(class_of(rc) == MPI_ERR_SERVICE, "nothing to take back");
    rc = MPI_Comm_connect("port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    claim(class_of(rc) == MPI_ERR_PORT && says(rc, "no name that MPI_Open_port has given"), "no name of a port");
    rc = MPI_Comm_accept("port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    claim(class_of(rc) == MPI_ERR_PORT, "no port of this process");
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Close_port(port);
    MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
    rc = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    claim(class_of(rc) == MPI_ERR_PORT && says(rc, "nobody has this port open"), "a port that was closed");
}

/* Two programs in one world. */
static void several(char *program)
{
    char *commands[] = {program, program}, *first[] = {"number", "0", NULL}, *second[] = {"number", "1", NULL};
    char **words[] = {first, second};
    const int counts[] = {1, 2};
    int codes[3] = {-1, -1, -1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Info_set(infos[1], "env", "JOBS_WORD=a b\nJOBS_MORE=2");
    MPI_Comm_spawn_multiple(2, commands, words, counts, infos, 0, MPI_COMM_WORLD, &inter, codes);
    claim(!codes[0] && !codes[1] && !codes[2], "codes of all processes");
    talk(inter, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&infos[1]);
}

static void be_number(int number)
{
    int *app, found;
    char here[1024] = "";
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
    claim(found && *app == number && number == (rank > 0), "MPI_APPNUM");
    claim(size == 3, "one world");
    claim(getcwd(here, sizeof(here)) && (strcmp(here, "/") == 0) == (number == 1), "wdir");
    claim(!number || (getenv("JOBS_WORD") && !strcmp(getenv("JOBS_WORD"), "a b")), "env");
    talk(parent, 1);
    MPI_Comm_disconnect(&parent);
}

/* A child that fails before or after the two are parted. */
static void part(char *program, char *how)
{
    char *words[] = {"failing", how, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    talk(inter, 0);
    if (!strcmp(how, "parted"))
        MPI_Comm_disconnect(&inter);
    else
        sleep(30);
    usleep(300000);
}

/* The same, but word of the parting comes to mpiexec late: the daemon that brings it stands still for a second. */
static void part_late(char *program)
{
    char *words[] = {"failing", "parted", NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    talk(inter, 0);
    pid_t daemon = rank ? getppid() : 0;
    if (daemon && !fork()) {
        sleep(1);
        kill(daemon, SIGCONT);
        _exit(0);
    }
    if (daemon)
        kill(daemon, SIGSTOP);
    MPI_Comm_disconnect(&inter);
    sleep(1);
}

/* A new process gets room that this job leaves: other processors, or another host, whose daemon starts it. */
static void find_room(char *program, const char *how)
{
    char *words[] = {"roomer", NULL}, starter[2][32];
    MPI_Comm inter[2];
    cpu_set_t mine, its[2];
    sched_getaffinity(0, sizeof(mine), &mine);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter[i], MPI_ERRCODES_IGNORE);
        MPI_Recv(&its[i], sizeof(its[i]), MPI_BYTE, 0, 1, inter[i], MPI_STATUS_IGNORE);
        MPI_Recv(starter[i], sizeof(starter[i]), MPI_CHAR, 0, 2, inter[i], MPI_STATUS_IGNORE);
    }
    CPU_AND(&mine, &mine, &its[0]);
    if (!strcmp(how, "cpus"))
        claim(!CPU_COUNT(&mine), "the new process has processors of its own");
    else
        claim(!strcmp(starter[0], "vireod") && !strcmp(starter[1], "mpiexec"),
              "the first is on the other host, and the second on this one, as no room is left");
    for (int i = 0; i < 2; i++)
        MPI_Comm_disconnect(&inter[i]);
}

static void be_roomer(void)
{
    char path[64], starter[32] = "";
    cpu_set_t mine;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
    FILE *file = fopen(path, "r");
    claim(file && fgets(starter, sizeof(starter), file), "the name of the process that has started this one");
    fclose(file);
    starter[strcspn(starter, "\n")] = 0;
    sched_getaffinity(0, sizeof(mine), &mine);
    MPI_Send(&mine, sizeof(mine), MPI_BYTE, 0, 1, parent);
    MPI_Send(starter, sizeof(starter), MPI_CHAR, 0, 2, parent);
    MPI_Comm_disconnect(&parent);
}

static int count_children(void)
{
    char path[64], line[4096] = "";
    int count = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    claim(file != NULL, "a list of children");
    if (fgets(line, sizeof(line), file))
        for (char *at = line; (at = strchr(at, ' ')); at++)
            count++;
    fclose(file);
    return count;
}

/* A process without mpiexec that starts many jobs, and keeps none of the processes that have ended. */
static void reap(char *program)
{
    char *words[] = {"child", "0", NULL};
    spawn(program, words, 1, 8);
    sleep(1);
    spawn(program, words, 1, 1);
    claim(count_children() <= 2, "children that have ended are gone");
}

/* A process without mpiexec that is killed, or goes before what it has started. */
static void vanish(char *program, char *how)
{
    char *words[] = {"stay", how, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    talk(inter, 0);
    if (!strcmp(how, "killed"))
        kill(getpid(), SIGKILL);
    MPI_Comm_disconnect(&inter);
}

static void stay(const char *how)
{
    talk(parent, 1);
    if (!strcmp(how, "killed")) {
        sleep(20);
        printf("this process has outlived the one that has spawned it\n");
    } else {
        MPI_Comm_disconnect(&parent);
        sleep(2);
        printf("has stayed\n");
    }
}

static void fail(const char *how)
{
    talk(parent, 1);
    if (!strcmp(how, "parted"))
        MPI_Comm_disconnect(&parent);
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 17);
    kill(getpid(), SIGKILL);
}

/* A wait for a process of another job that goes is an error, not a wait for ever. */
static void lose(char *program)
{
    char *words[] = {"lost", NULL};
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    int word, rc = MPI_Recv(&word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    claim(class_of(rc) == MPI_ERR_PROC_ABORTED, "a receive from one that has gone");
    rc = MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE);
    claim(class_of(rc) == MPI_ERR_PROC_ABORTED, "a receive from any, when all have gone");
}

/* Spend a while in a call of MPI that waits. */
static void wait_long(void)
{
    int word = 0;
    if (size > 1 && rank == size - 1) {
        sleep(3);
        MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else if (!rank)
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One job frees its communicator and computes; the other one ends meanwhile without that. */
static void go_first(const char *name, int goes)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    double start;
    if (!rank && goes) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(name, MPI_INFO_NULL, port);
    } else if (!rank) {
        look_up(name, port);
    }
    if (goes)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, goes);
    if (!goes) {
        MPI_Comm_free(&inter);
        sleep(5);
        return;
    }
    sleep(1);
    start = MPI_Wtime();
    MPI_Finalize();
    if (MPI_Wtime() - start > 3)
        printf("not so: MPI_Finalize waits for no process that has freed its communicator\n");
    exit(0);
}

/* One job keeps a communicator that the other one has freed. They can meet again, and the first one hears of the
 * other's end. */
static void keep(const char *name, int keeps)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter, second;
    int word, rc;
    if (!rank && keeps) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(name, MPI_INFO_NULL, port);
    } else if (!rank) {
        look_up(name, port);
    }
    if (keeps)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, keeps);
    if (!keeps)
        MPI_Comm_free(&inter);
    wait_long();
    if (keeps)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
    talk(second, keeps);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!keeps)
        MPI_Comm_free(&second);
    wait_long();
    if (keeps)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
    if (!keeps) {
        sleep(1);
        kill(getpid(), SIGKILL);
    }
    MPI_Comm_set_errhandler(second, MPI_ERRORS_RETURN);
    rc = MPI_Recv(&word, 1, MPI_INT, rank, 1, second, MPI_STATUS_IGNORE);
    claim(class_of(rc) == MPI_ERR_PROC_ABORTED, "the end of a process of the other job");
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
}

static void join(int fd, int high)
{
    MPI_Comm inter;
    char byte = 0;
    claim(!MPI_Comm_join(fd, &inter), "join");
    talk(inter, high);
    MPI_Comm_disconnect(&inter);
    claim(send(fd, "x", 1, 0) == 1 && recv(fd, &byte, 1, 0) == 1 && byte == 'x', "the socket is the program's again");
}

/* Two processes of one job, by a socket of theirs. */
static void join_two(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr address = {.sa_family = AF_UNIX};
    snprintf(address.sa_data + 1, sizeof(address.sa_data) - 1, "vj%d", (int)getppid());
    if (!rank) {
        claim(!bind(fd, &address, sizeof(address)) && !listen(fd, 1), "a socket");
        MPI_Barrier(MPI_COMM_WORLD);
        int other = accept(fd, NULL, NULL);
        join(other, 0);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        claim(!connect(fd, &address, sizeof(address)), "a connection");
        join(fd, 1);
    }
}

/* Tell the port, and accept one job there. */
static void accept_one(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (!rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        printf("%s\n", port);
        fflush(stdout);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, 0);
    MPI_Comm_disconnect(&inter);
}

static void connect_to(const char *port, const char *how)
{
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    if (!strcmp(how, "fail")) {
        claim(rc && class_of(rc) == MPI_ERR_PORT, "a port with another secret");
        return;
    }
    claim(!rc, "a port with the right secret");
    talk(inter, 1);
    MPI_Comm_disconnect(&inter);
}

/* Neither frees nor disconnects: MPI_Finalize does. */
static void leave(char *program)
{
    char *words[] = {"left", NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    talk(inter, 0);
}

/* The spawner is done with the last collective, and in MPI_Finalize; processes that it has spawned are not. */
static void go_early(char *program)
{
    char *words[] = {"late", NULL};
    MPI_Comm inter;
    int word = 7;
    MPI_Comm_spawn(program, words, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Barrier(inter);
    MPI_Bcast(&word, 1, MPI_INT, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
}

static void be_late(void)
{
    int word = 0;
    MPI_Barrier(parent);
    if (!rank)
        usleep(1500000);
    MPI_Bcast(&word, 1, MPI_INT, 0, parent);
    claim(word == 7, "what the spawner has sent");
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    int rc = MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, parent, MPI_STATUS_IGNORE);
    claim(class_of(rc) == MPI_ERR_PROC_ABORTED, "nobody is left that could send");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    const char *act = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0, more = argc > 3 ? atoi(argv[3]) : 0;
    char *child[] = {"child", "0", NULL}, *below[] = {"child", "2", NULL};
    claim((parent != MPI_COMM_NULL) == (getenv("JOBS_PARENT") || !strcmp(act, "child") || !strcmp(act, "number") ||
                                        !strcmp(act, "soft") || !strcmp(act, "failing") || !strcmp(act, "lost") ||
                                        !strcmp(act, "left") || !strcmp(act, "stay") || !strcmp(act, "late") || !strcmp(act, "roomer")), "a parent exactly where this was spawned");
    if (!strcmp(act, "spawn"))
        spawn(argv[0], child, number, more);
    else if (!strcmp(act, "deep"))
        spawn(argv[0], below, 1, 1);
    else if (!strcmp(act, "child"))
        be_child(argv[0], number);
    else if (!strcmp(act, "serve"))
        serve(argv[2], more);
    else if (!strcmp(act, "visit"))
        visit(argv[2], more);
    else if (!strcmp(act, "first"))
        go_first(argv[2], more);
    else if (!strcmp(act, "receive"))
        receive(argv[2], more);
    else if (!strcmp(act, "call"))
        call(argv[2], more);
    else if (!strcmp(act, "reap"))
        reap(argv[0]);
    else if (!strcmp(act, "vanish"))
        vanish(argv[0], argv[2]);
    else if (!strcmp(act, "stay"))
        stay(argv[2]);
    else if (!strcmp(act, "keep"))
        keep(argv[2], more);
    else if (!strcmp(act, "ring"))
        ring(argv[2], more, atoi(argv[4]));
    else if (!strcmp(act, "cross"))
        cross(argv[2], more);
    else if (!strcmp(act, "errors"))
        err(argv[0]);
    else if (!strcmp(act, "several"))
        several(argv[0]);
    else if (!strcmp(act, "number"))
        be_number(number);
    else if (!strcmp(act, "part"))
        part(argv[0], argv[2]);
    else if (!strcmp(act, "failing"))
        fail(argv[2]);
    else if (!strcmp(act, "soft"))
        MPI_Comm_disconnect(&parent);
    else if (!strcmp(act, "lose"))
        lose(argv[0]);
    else if (!strcmp(act, "lost"))
        _exit(0);
    else if (!strcmp(act, "join"))
        join_two();
    else if (!strcmp(act, "accept"))
        accept_one();
    else if (!strcmp(act, "connect"))
        connect_to(argv[2], argv[3]);
    else if (!strcmp(act, "leave"))
        leave(argv[0]);
    else if (!strcmp(act, "left"))
        talk(parent, 1);
    else if (!strcmp(act, "part_late"))
        part_late(argv[0]);
    else if (!strcmp(act, "early"))
        go_early(argv[0]);
    else if (!strcmp(act, "room"))
        find_room(argv[0], argv[2]);
    else if (!strcmp(act, "late") || !strcmp(act, "roomer"))
        (!strcmp(act, "late") ? be_late : be_roomer)();
    else
        claim(0, "an act that there is");
    MPI_Finalize();
    return 0;
}
