/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * BNR's groups, as a program: run by groups.py as ranks of each kind of manager.
 *
 *     groups spawn N [info KEY VALUE]   the sequence of 2001: this group spawns N processes of this program, merges, fences, parts
 *     groups several | kill | again | requests | names | bad | connect NAME N | accept NAME N | leave | dies
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/bnr_compat1.h"

static const char *program;
static int failed;

static void claim(int truth, const char *text, int code)
{
    if (truth)
        return;
    failed = 1;
    fprintf(stderr, "groups: not so: %s (%s)\n", text, BNR_Strerror(code));
}

#define MUST(call)                        \
    do {                                  \
        int rc_ = (call);                 \
        claim(!rc_, #call, rc_);          \
        if (rc_)                          \
            exit(1); /* others hear of it */ \
    } while (0)

static void put_number(BNR_Group g, const char *key, int number)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d", number);
    MUST(BNR_Put(g, key, text, (size_t)n, BNR_PUT_REPLACE));
}

static int get_number(BNR_Group g, int owner, const char *key)
{
    char text[16] = "";
    size_t len = sizeof(text) - 1;
    int rc = BNR_Get(g, owner, key, text, &len, 0);
    claim(!rc, "a key is there", rc);
    return rc ? -1 : atoi(text);
}

/* All members put their rank in the joint group, and find all others'. */
static void check_joint(BNR_Group joint, int round)
{
    int rank, size;
    char key[32];
    MUST(BNR_Get_rank(joint, &rank));
    MUST(BNR_Get_size(joint, &size));
    snprintf(key, sizeof(key), "rank %d", round);
    put_number(joint, key, 100 * round + rank);
    MUST(BNR_Fence(joint));
    for (int r = 0; r < size; r++)
        claim(get_number(joint, r, key) == 100 * round + r, "each has put its rank", 0);
    MUST(BNR_Barrier(joint));
}

/* ---- the sequence of 2001 ---- */

static int exits, exits_bad;

static int func(BNR_Group g, int rank, int status)
{
    int size = 0;
    claim(!BNR_Get_size(g, &size) && rank >= 0 && rank < size, "a rank of the group has ended", 0);
    exits++;
    exits_bad += status != 0;
    return 0;
}

static BNR_Group my_bnr_group, parent_bnr_group, inter_bnr_group, new_bnr_group;

/* As seed 003 has it. */
static void mpi_init(void)
{
    int size, rank;
    BNR_Init();
    BNR_Get_group(&my_bnr_group);
    BNR_Get_size(my_bnr_group, &size);
    BNR_Get_rank(my_bnr_group, &rank);
    BNR_Get_parent(&parent_bnr_group);
    int rc = BNR_Merge(my_bnr_group, parent_bnr_group, &inter_bnr_group);
    claim(!rc, "a merge with the parent", rc);
    if (rc)
        exit(1);
}

/* The same: MPI_Spawn(). */
static void mpi_spawn(int n, char **argv, BNR_Info info)
{
    MUST(BNR_Open_group(my_bnr_group, &new_bnr_group));
    BNR_Group remote_bnr_group = new_bnr_group;
    int rank;
    BNR_Get_rank(my_bnr_group, &rank);
    if (!rank)
        MUST(BNR_Spawn(remote_bnr_group, n, program, argv, NULL, info, func));
    MUST(BNR_Close(remote_bnr_group));
    MUST(BNR_Merge(my_bnr_group, remote_bnr_group, &inter_bnr_group));
}

static void wait_for_exits(int count)
{
    for (int i = 0; i < 20000 && exits < count; i++) {
        (void)BNR_Progress(NULL);
        usleep(1000);
    }
    claim(exits == count, "each end is told", exits);
}

static void wait_for_none(BNR_Group g)
{
    unsigned char alive = 1;
    for (int i = 0; i < 20000 && alive; i++) {
        (void)BNR_Progress(NULL);
        MUST(BNR_Get_alive(g, &alive, 1));
        usleep(1000);
    }
    claim(!alive, "none lives", alive);
}

static void check_sides(int is_parent)
{
    BNR_Group local, remote, found;
    BNR_Gid gid, origin;
    int rank, size, local_size, remote_size, at, order;
    MUST(BNR_Get_sides(inter_bnr_group, &local, &remote));
    claim(local == my_bnr_group && remote != BNR_GROUP_NULL, "the sides", 0);
    MUST(BNR_Get_size(local, &local_size));
    MUST(BNR_Get_size(remote, &remote_size));
    MUST(BNR_Get_size(inter_bnr_group, &size));
    MUST(BNR_Get_rank(inter_bnr_group, &rank));
    int own;
    MUST(BNR_Get_rank(local, &own));
    claim(size == local_size + remote_size, "the size is that of both", 0);
    claim(rank == own + (is_parent ? 0 : remote_size), "the parent's ranks come first", 0);
    MUST(BNR_Get_rank(remote, &at));
    claim(at == BNR_RANK_ANY, "nobody is of both", 0);
    MUST(BNR_Get_gid(remote, &gid));
    MUST(BNR_Find_group(&gid, &found));
    claim(found == remote, "a group is found by its id", 0);
    MUST(BNR_Get_origin(inter_bnr_group, is_parent ? local_size : 0, &origin, &at));
    claim(!memcmp(&origin, &gid, sizeof(gid)) && !at, "a member has its origin", 0);
    MUST(BNR_Group_compare(local, remote, &order));
    claim(order != 0, "they are two", 0);
}

/* What parent and child do then. */
static void talk(int is_parent)
{
    check_sides(is_parent);
    check_joint(inter_bnr_group, 1);
    check_joint(inter_bnr_group, 2);
    BNR_Group again;
    BNR_Group local, remote;
    MUST(BNR_Get_sides(inter_bnr_group, &local, &remote));
    MUST(BNR_Merge(local, remote, &again));
    claim(again == inter_bnr_group, "merged again it is the same", 0);
    MUST(BNR_Free_group(&again));
    MUST(BNR_Unmerge(&inter_bnr_group));
    MUST(BNR_Merge(local, remote, &inter_bnr_group));
    check_joint(inter_bnr_group, 3);
    MUST(BNR_Unmerge(&inter_bnr_group));
}

static void spawn_one_group(int n, char **argv, BNR_Info info)
{
    char *words[] = {"child", NULL};
    (void)argv;
    int rank;
    exits = exits_bad = 0;
    mpi_spawn(n, words, info);
    talk(1);
    BNR_Get_rank(my_bnr_group, &rank);
    if (!rank)
        wait_for_exits(n);
    claim(!exits_bad, "all have ended well", 0);
    MUST(BNR_Free_group(&new_bnr_group));
}

/* Two commands, of two members of the parent, in one group. */
static void spawn_several(void)
{
    int rank, size, child_size;
    char *first[] = {"child", "first", NULL}, *second[] = {"child", "second", NULL};
    char *variables[] = {"GROUPS_TEST=right", NULL};
    int codes[3] = {7, 7, 7};
    BNR_Group fresh, joint;
    MUST(BNR_Get_rank(my_bnr_group, &rank));
    MUST(BNR_Get_size(my_bnr_group, &size));
    MUST(BNR_Open_group(my_bnr_group, &fresh));
    int rc = BNR_Get_size(fresh, &child_size);
    claim(rc == BNR_ERR_STATE, "an open group has no size", rc);
    if (!rank)
        MUST(BNR_Spawn(fresh, 1, program, first, variables, BNR_INFO_NULL, NULL));
    if (rank == size - 1)
        MUST(BNR_Spawn(fresh, 2, program, second, variables, BNR_INFO_NULL, func));
    MUST(BNR_Close_group(fresh, codes, 3));
    claim(!codes[0] && !codes[1] && !codes[2], "no process has a code", codes[0]);
    MUST(BNR_Get_size(fresh, &child_size));
    claim(child_size == 3, "three processes", 0);
    rc = BNR_Spawn(fresh, 1, program, first, NULL, BNR_INFO_NULL, NULL);
    claim(rc == BNR_ERR_STATE, "nothing is spawned in a closed group", rc);
    MUST(BNR_Merge(my_bnr_group, fresh, &joint));
    check_joint(joint, 1);
    for (int r = 0; r < 3; r++)
        claim(get_number(joint, size + r, "appnum") == (r > 0), "programs have their numbers", 0);
    MUST(BNR_Unmerge(&joint));
    if (rank == size - 1)
        wait_for_exits(2);
    wait_for_none(fresh); /* rank 0 passes ends on, but not in every manager's barrier */
    MUST(BNR_Barrier(my_bnr_group));
}

static void child_of_several(void)
{
    int appnum = -1;
    const char *value = getenv("GROUPS_TEST");
    (void)BNR_Get_appnum(&appnum);
    claim(value && !strcmp(value, "right"), "a variable has come", 0);
    put_number(inter_bnr_group, "appnum", appnum);
    check_joint(inter_bnr_group, 1);
    MUST(BNR_Unmerge(&inter_bnr_group));
}

/* ---- failures ---- */

/* A program that is not there, and no program at all. */
static void spawn_bad(void)
{
    int rank, code = 7;
    char *colon[] = {":", NULL};
    BNR_Group fresh;
    MUST(BNR_Get_rank(my_bnr_group, &rank));
    MUST(BNR_Open_group(my_bnr_group, &fresh));
    int rc = BNR_Spawn(fresh, 0, program, NULL, NULL, BNR_INFO_NULL, NULL);
    claim(rc == BNR_ERR_ARG, "no process is asked for", rc);
    rc = BNR_Spawn(fresh, 1, program, colon, NULL, BNR_INFO_NULL, NULL);
    claim(rc == BNR_ERR_ARG, "a colon cannot be passed", rc);
    if (!rank)
        MUST(BNR_Spawn(fresh, 2, "/no/such/program", NULL, NULL, BNR_INFO_NULL, NULL));
    rc = BNR_Close_group(fresh, &code, 1);
    claim(rc == BNR_ERR_SPAWN && code == BNR_ERR_SPAWN, "what is not there cannot be spawned", rc);
    BNR_Group joint;
    MUST(BNR_Free_group(&fresh));
    MUST(BNR_Open_group(my_bnr_group, &fresh));
    rc = BNR_Close_group(fresh, NULL, 0);
    claim(rc == BNR_ERR_ARG, "nothing was asked for", rc);
    rc = BNR_Merge(my_bnr_group, my_bnr_group, &joint);
    claim(rc == BNR_ERR_ARG, "a group is not merged with itself", rc);
    rc = BNR_Unmerge(&my_bnr_group);
    claim(rc == BNR_ERR_ARG, "the job's group cannot be unmerged", rc);
    MUST(BNR_Get_group(&my_bnr_group));
}

/* Children that wait for ever are killed, and the merge with them fails, too. */
static void spawn_and_kill(void)
{
    int rank;
    char *words[] = {"waits", NULL};
    unsigned char alive = 0;
    BNR_Group fresh, joint;
    MUST(BNR_Get_rank(my_bnr_group, &rank));
    MUST(BNR_Open_group(my_bnr_group, &fresh));
    if (!rank)
        MUST(BNR_Spawn(fresh, 2, program, words, NULL, BNR_INFO_NULL, func));
    MUST(BNR_Close(fresh));
    if (!rank) {
        MUST(BNR_Kill(fresh, 1, 0));
        MUST(BNR_Get_alive(fresh, &alive, 1));
        claim(alive == 3, "both live", alive);
        MUST(BNR_Kill(fresh, BNR_RANK_ALL, SIGKILL));
        wait_for_exits(2);
        claim(exits_bad == 2, "both have failed", exits_bad);
        MUST(BNR_Get_alive(fresh, &alive, 1));
        claim(alive == 0, "none lives", alive);
        int rc = BNR_Kill(fresh, 0, SIGKILL);
        claim(rc == BNR_ERR_PROC_FAILED, "the dead are not killed", rc);
    }
    int rc = BNR_Merge(my_bnr_group, fresh, &joint);
    claim(rc == BNR_ERR_PROC_FAILED, "nobody is there to merge with", rc);
}

/* A root but rank 0 is refused, at all members, and the group is as before. */
static void use_another_root(const char *port)
{
    BNR_Group joint = BNR_GROUP_NULL;
    int rc = BNR_Accept(port, my_bnr_group, 1, BNR_INFO_NULL, &joint);
    claim(rc == BNR_ERR_UNSUPPORTED, "only rank 0 accepts", rc);
    rc = BNR_Connect(port, my_bnr_group, 1, BNR_INFO_NULL, &joint);
    claim(rc == BNR_ERR_UNSUPPORTED, "only rank 0 connects", rc);
    claim(joint == BNR_GROUP_NULL, "no group is made", 0);
    MUST(BNR_Barrier(my_bnr_group));
}

/* A buffer that is too short gets the length, and one that is not the value. */
static void ask_for_key(int rank, int size)
{
    char text[8] = "";
    size_t len = 1;
    BNR_Req req = BNR_REQ_NULL;
    int code, before = (rank + size - 1) % size;
    MUST(BNR_Iget(my_bnr_group, before, "asked", text, &len, &req)); /* before it is there */
    MUST(BNR_Put(my_bnr_group, "asked", "value", 5, 0));
    MUST(BNR_Wait(&req, &code));
    MUST(BNR_Fence(my_bnr_group)); /* of all: some have found the key in time, others not */
    if (size == 1 || code == BNR_ERR_NOT_FOUND) { /* one's own is not waited for, nor is any by some managers */
        len = 1;
        MUST(BNR_Iget(my_bnr_group, before, "asked", text, &len, &req));
        MUST(BNR_Wait(&req, &code));
    }
    claim(code == BNR_ERR_TRUNC && len == 5 && !text[0], "a value is longer than the buffer", code);
    MUST(BNR_Iget(my_bnr_group, before, "asked", text, &len, &req));
    MUST(BNR_Wait(&req, &code));
    claim(!code && len == 5 && !strcmp(text, "value"), "a value is there", code);
}

/* A call in vain is given up, and the group is as before. */
static void use_requests(void)
{
    int rank, size, done = 1, code = 7, fd = -1;
    char port[BNR_MAX_PORT + 1], *words[] = {"child", NULL};
    BNR_Group joint, fresh;
    BNR_Req req = BNR_REQ_NULL, other;
    BNR_Info info, copy;
    size_t len;
    MUST(BNR_Get_rank(my_bnr_group, &rank));
    MUST(BNR_Get_size(my_bnr_group, &size));
    MUST(BNR_Test(&req, &done, &code));
    claim(done && !code, "no request is done", code);
    MUST(BNR_Poll_fd(&fd));
    MUST(BNR_Open_port(BNR_INFO_NULL, port, sizeof(port)));
    MUST(BNR_Info_create(&info));
    MUST(BNR_Info_set(info, "timeout_ms", "200"));
    MUST(BNR_Info_dup(info, &copy));
    MUST(BNR_Info_get_valuelen(copy, "timeout_ms", &len));
    claim(len == 3, "a value has its length", (int)len);
    int rc = BNR_Accept(port, my_bnr_group, 0, copy, &joint);
    claim(rc == BNR_ERR_TIMEOUT, "nobody has come in time", rc);
    MUST(BNR_Barrier(my_bnr_group));
    use_another_root(port);
    ask_for_key(rank, size);
    MUST(BNR_Iaccept(port, my_bnr_group, 0, BNR_INFO_NULL, &joint, &req));
    MUST(BNR_Ifence(my_bnr_group, &other));
    if (rank == size - 1)
        MUST(BNR_Cancel(&req));
    MUST(BNR_Wait(&req, &code));
    claim(code == BNR_ERR_CANCELED, "a member has given it up", code);
    MUST(BNR_Wait(&other, &code));
    claim(!code, "the next call is not touched", code);
    MUST(BNR_Info_free(&copy));
    MUST(BNR_Info_free(&info));
    MUST(BNR_Close_port(port));
    /* The same steps as ever, by requests and the descriptor. */
    MUST(BNR_Iopen_group(my_bnr_group, BNR_INFO_NULL, &fresh, &req));
    MUST(BNR_Wait(&req, &code));
    claim(!code, "it is open", code);
    if (!rank)
        MUST(BNR_Spawn(fresh, 1, program, words, NULL, BNR_INFO_NULL, NULL));
    MUST(BNR_Iclose_group(fresh, NULL, 0, &req));
    for (done = 0; !done;) {
        struct pollfd p = {fd, POLLIN, 0};
        (void)poll(&p, 1, 2);
        MUST(BNR_Test(&req, &done, &code));
    }
    claim(!code, "it is closed", code);
    MUST(BNR_Imerge(my_bnr_group, fresh, BNR_INFO_NULL, &inter_bnr_group, &req));
    MUST(BNR_Wait(&req, &code));
    claim(!code, "it is merged", code);
    talk(1);
}

/* While mpiexec stands still, the first call of all, one of names, waits, and does not take the processor. */
static int publish_late(void)
{
    struct timespec from, to;
    pid_t launcher = getppid(), child;
    BNR_Init();
    kill(launcher, SIGSTOP);
    if (!(child = fork())) {
        usleep(400000);
        kill(launcher, SIGCONT);
        _exit(0);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    int rc = BNR_Unpublish("groups: never published");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    claim(rc == BNR_ERR_NOT_FOUND, "the name is not there", rc);
    long took = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
    claim(took < 150, "the call does not spin", (int)took);
    waitpid(child, NULL, 0);
    BNR_Finalize();
    return failed;
}

/* ---- groups that know nothing of each other ---- */

static void find_port(const char *name, char port[BNR_MAX_PORT + 1])
{
    for (int i = 0; i < 30000; i++) {
        size_t len = BNR_MAX_PORT + 1;
        int rc = BNR_Lookup(name, port, &len, BNR_INFO_NULL);
        if (!rc)
            return;
        claim(rc == BNR_ERR_NOT_FOUND, "a name is looked up", rc);
        usleep(1000);
    }
    claim(0, "the name is published", 0);
}

/* KiB of memory, and descriptors, of this process. */
static void measure(long *memory, int *descriptors)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    *memory = 0;
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", memory) == 1)
            break;
    if (f)
        fclose(f);
    *descriptors = 0;
    for (int fd = 0; fd < 1024; fd++)
        *descriptors += fcntl(fd, F_GETFD) >= 0;
}

static void meet(int accepts, const char *name, int rounds)
{
    long memory = 0, later;
    int descriptors = 0, more;
    char port[BNR_MAX_PORT + 1] = "";
    int rank;
    BNR_Group joint, second;
    MUST(BNR_Get_rank(my_bnr_group, &rank));
    if (accepts && !rank) {
        MUST(BNR_Open_port(BNR_INFO_NULL, port, sizeof(port)));
        MUST(BNR_Publish(name, port, BNR_INFO_NULL));
        int rc = BNR_Publish(name, port, BNR_INFO_NULL);
        claim(rc == BNR_ERR_EXISTS, "a name is published once", rc);
    }
    if (!accepts && !rank)
        find_port(name, port);
    for (int i = 0; i < rounds; i++) {
        MUST((accepts ? BNR_Accept : BNR_Connect)(port, my_bnr_group, 0, BNR_INFO_NULL, &joint));
        check_joint(joint, i % 10);
        if (i == 0) { /* the same groups, twice */
            BNR_Gid one, two;
            MUST((accepts ? BNR_Accept : BNR_Connect)(port, my_bnr_group, 0, BNR_INFO_NULL, &second));
            MUST(BNR_Get_gid(joint, &one));
            MUST(BNR_Get_gid(second, &two));
            claim(memcmp(&one, &two, sizeof(one)) != 0, "two groups of the same", 0);
            check_joint(second, 1);
            MUST(BNR_Unmerge(&second));
            check_joint(joint, 2);
        }
        MUST(BNR_Unmerge(&joint));
        if (i == rounds / 4)
            measure(&memory, &descriptors);
    }
    measure(&later, &more);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these keep what is freed */
    claim(later <= memory + 512, "memory does not grow", (int)(later - memory));
#endif
    claim(more <= descriptors + 16, "descriptors do not grow", more - descriptors); /* some are closing */
    if (accepts && !rank) {
        MUST(BNR_Unpublish(name));
        int rc = BNR_Unpublish(name);
        claim(rc == BNR_ERR_NOT_FOUND, "a name is taken back once", rc);
        MUST(BNR_Close_port(port));
        rc = BNR_Close_port(port);
        claim(rc == BNR_ERR_NOT_FOUND, "a port is closed once", rc);
    }
}

/* One that has accepted is left by a child's death. */
static void child_dies(void)
{
    char *words[] = {"dies", NULL};
    mpi_spawn(2, words, BNR_INFO_NULL);
    MUST(BNR_Fence(inter_bnr_group));
    int rc = BNR_Fence(inter_bnr_group);
    claim(rc == BNR_ERR_PROC_FAILED, "a member has died", rc);
    rc = BNR_Unmerge(&inter_bnr_group);
    claim(rc == BNR_ERR_PROC_FAILED, "and is missed as they part", rc);
    MUST(BNR_Fence(my_bnr_group));
}

static int as_child(int argc, char **argv)
{
    mpi_init();
    claim(parent_bnr_group != BNR_GROUP_NULL, "a child has a parent", 0);
    if (!strcmp(argv[1], "waits")) /* not reached by a merge: see main() */
        return 1;
    if (!strcmp(argv[1], "dies")) {
        int rank;
        MUST(BNR_Get_rank(my_bnr_group, &rank));
        MUST(BNR_Fence(inter_bnr_group));
        if (rank == 1)
            raise(SIGKILL);
        (void)BNR_Fence(inter_bnr_group);
        (void)BNR_Unmerge(&inter_bnr_group);
    } else if (argc > 2) {
        child_of_several();
    } else {
        talk(0);
    }
    BNR_Finalize();
    return failed;
}

int main(int argc, char **argv)
{
    program = argv[0];
    alarm(150);
    if (argc > 1 && !strcmp(argv[1], "waits"))
        for (;;)
            pause();
    if (argc > 1 && (!strcmp(argv[1], "child") || !strcmp(argv[1], "dies")) && (argc < 3 || strcmp(argv[2], "parent")))
        return as_child(argc, argv);
    if (argc < 2)
        return 2;
    if (!strcmp(argv[1], "names"))
        return publish_late();
    mpi_init();
    claim(parent_bnr_group == BNR_GROUP_NULL && inter_bnr_group == my_bnr_group, "nobody has spawned it", 0);
    BNR_Info info = BNR_INFO_NULL;
    if (argc > 4)
        MUST(BNR_Info_create(&info));
    if (argc > 4 && !strcmp(argv[2], "info"))
        MUST(BNR_Info_set(info, argv[3], argv[4]));
    if (!strcmp(argv[1], "spawn"))
        spawn_one_group(2, argv, info);
    else if (!strcmp(argv[1], "again"))
        for (int i = 0; i < 3; i++)
            spawn_one_group(1, argv, info);
    else if (!strcmp(argv[1], "several"))
        spawn_several();
    else if (!strcmp(argv[1], "bad"))
        spawn_bad();
    else if (!strcmp(argv[1], "kill"))
        spawn_and_kill();
    else if (!strcmp(argv[1], "requests"))
        use_requests();
    else if (!strcmp(argv[1], "child-dies"))
        child_dies();
    else if (argc > 3 && (!strcmp(argv[1], "accept") || !strcmp(argv[1], "connect")))
        meet(!strcmp(argv[1], "accept"), argv[2], atoi(argv[3]));
    else
        return 2;
    if (info)
        MUST(BNR_Info_free(&info));
    BNR_Finalize();
    return failed;
}
