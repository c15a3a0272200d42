/* SPDX-License-Identifier: BSD-3-Clause */

/* Finding programs, starting them, knowing a job's processes and doubtful launchers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bnr/client/backend.h"
#include "bnr/launch/launch.h"
#include "bnr/launch/limit.h"
#include "bnr/launch/remote.h"
#include "bnr/launch/start_signals.h"
#include "bnr/launch/remote.h"
#include "bnr/launch/warden.h"

static char folder[] = "launch.XXXXXX"; /* in the working folder */

static void put_file(const char *name, const char *text, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static int prepare(void **state)
{
    start_signals_take();
    limit_remember();
    if (!mkdtemp(folder) || chdir(folder) || mkdir("bin", 0700) || mkdir("bin/dir", 0700))
        return -1;
    put_file("bin/tool", "#!/bin/sh\nexit 4\n", 0700);
    put_file("bin/text", "exit $1\n", 0700);
    put_file("bin/plain", "x", 0600);
    put_file("bin/broken", "#!/no/such/interpreter\n", 0700);
    put_file("bin/windows", "#!/bin/sh\r\n", 0700);
    put_file("bin/folder", "#! \t/tmp -x\n", 0700);
    put_file("bin/mode", "#!bin/plain\n", 0700);
    put_file("bin/nested", "#!bin/broken", 0700);
    put_file("bin/empty", "", 0700);
    put_file("bin/garbage", "\177ELF", 0700);
    put_file("bin/heat.c", "int main(void)", 0600);
    put_file("bin/heat.py", "print(1)", 0600);
    put_file("bin/null", "x", 0700);
    return truncate("bin/null", 3) || symlink("nowhere", "bin/dangling");
}

static int clean(void **state)
{
    static const char *const names[] = {"bin/tool",   "bin/text",    "bin/plain",    "bin/broken",
                                        "bin/folder", "bin/windows", "bin/mode",     "bin/nested",
                                        "bin/empty",  "bin/garbage", "bin/dangling", "bin/null",
                                        "bin/heat.c", "bin/heat.py"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(names[i]);
    rmdir("bin/dir");
    rmdir("bin");
    return chdir("..") || rmdir(folder);
}

static void programs_are_found_as_a_shell_would(void **state)
{
    static const struct {
        const char *name, *wdir, *search, *path;
        int rc;
    } rows[] = {
        {"tool", NULL, "/none:bin", "bin/tool", 0},
        {"tool", "bin", "/none:", "bin/./tool", 0},
        {"./tool", "bin", "/none", "bin/./tool", 0},
        {"bin/tool", NULL, "/none", "bin/tool", 0},
        {"tool", NULL, "/none", NULL, 127},
        {"plain", NULL, "bin", NULL, 127}, /* 126 where the user is not root, see below */
        {"bin/dir", NULL, "bin", NULL, 126},
        {".", NULL, "bin", NULL, 126},
        {"..", "bin", "bin", NULL, 126},
        {"bin/dangling", NULL, "bin", NULL, 127},
        {"bin/none", NULL, "bin", NULL, 127},
        {"", NULL, "bin", NULL, 127},
    };
    char path[PATH_MAX], why[512];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        why[0] = 0;
        int rc =
            launch_resolve(rows[i].name, rows[i].wdir, rows[i].search, path, sizeof(path), why);
        if (!strcmp(rows[i].name, "plain")) {
            assert_int_equal(rc, 126);
            continue;
        }
        assert_int_equal(rc, rows[i].rc);
        if (rc)
            assert_true(why[0]);
        else
            assert_string_equal(path, rows[i].path);
    }
}

/* What is said where a program is not found, or cannot be executed. */
static void a_way_out_is_named(void **state)
{
    static const struct {
        const char *name, *words;
    } rows[] = {
        {"4", "to start so many processes, say -n 4"},
        {"solver", "give its path"},
        {"./heat.c", "a source file; compile it first: mpicc ./heat.c"},
        {"heat.c", "a source file; compile it first: mpicc heat.c"},
        {"./heat.py", "say python3 ./heat.py, or chmod +x it"},
        {"./plain", "chmod +x may help"},
        {"plain", "is in no folder of PATH"},
        {"garbled", "give its path"},
        {"tool", "say ./tool"},
    };
    char path[PATH_MAX], why[512];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_not_equal(launch_resolve(rows[i].name, "bin", "/none", path, sizeof(path), why),
                             0);
        if (!strstr(why, rows[i].words))
            fail_msg("%s: \"%s\" has no \"%s\"", rows[i].name, why, rows[i].words);
    }
}

static int run(const char *path, char *const *argv, int *rc)
{
    static char *const none[] = {NULL};
    const char *step = "";
    pid_t pid = 0;
    int status = -1, pidfd = -1;
    struct launch l = {path, argv, none, NULL, {0, 1, 2}, {-1, -1, -1}, false, false, {0}};
    *rc = launch_start(&l, &pid, &pidfd, &step);
    if (!*rc) {
        assert_int_equal(getpgid(pid), pid);
        assert_true(pidfd < 0 || !close(pidfd));
        assert_int_equal(waitpid(pid, &status, 0), pid);
    } else {
        assert_string_equal(step, "execute");
    }
    return status;
}

static void programs_and_plain_scripts_run(void **state)
{
    char *tool[] = {"tool", NULL}, *text[] = {"text", "6", NULL};
    int rc;
    assert_int_equal(WEXITSTATUS(run("bin/tool", tool, &rc)), 4);
    assert_int_equal(WEXITSTATUS(run("bin/text", text, &rc)), 6);
    run("bin/broken", tool, &rc);
    assert_int_equal(rc, -ENOENT);
    run("bin/dir", tool, &rc);
    assert_int_equal(rc, -EACCES);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* failed starts leave no zombie */
}

static void a_failed_start_is_explained(void **state)
{
    static const struct {
        const char *path;
        int outcome;
        const char *words;
    } rows[] = {
        {"bin/broken", 127, "its interpreter '/no/such/interpreter' is not there"},
        {"bin/windows", 127, "as on Windows"},
        {"bin/folder", 126, "its interpreter '/tmp' is a folder"},
        {"bin/mode", 126, "its interpreter 'bin/plain' is not executable"},
        {"bin/nested", 127, "its interpreter 'bin/broken' lacks its own"},
        {"bin/empty", 126, "the file is empty"},
        {"bin/null", 126, "no program for this machine"},
        {"bin/garbage", 126, "no program for this machine"},
        {"bin/gone", 127, "No such file"},
    };
    static char *const none[] = {NULL};
    char *argv[] = {"it", NULL}, why[300];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct launch l = {rows[i].path, argv, none, NULL, {0, 1, 2}, {-1, -1, -1}, false, false, {0}};
        const char *step = "";
        pid_t pid = 0;
        int pidfd = -1;
        int rc = launch_start(&l, &pid, &pidfd, &step);
        assert_int_not_equal(rc, 0);
        assert_int_equal(launch_explain(rows[i].path, rc, step, why, sizeof(why)), rows[i].outcome);
        if (!strstr(why, rows[i].words))
            fail_msg("%s: \"%s\" has no \"%s\"", rows[i].path, why, rows[i].words);
    }
    assert_int_equal(launch_explain("bin/tool", -EACCES, "execute", why, sizeof(why)), 126);
    assert_int_equal(launch_explain("bin/tool", -ENOENT, "enter the folder", why, sizeof(why)),
                     126);
    assert_string_equal(why, "cannot enter the folder: No such file or directory");
    assert_int_equal(launch_explain("bin/garbage", -ENOENT, "execute", why, sizeof(why)), 127);
    assert_non_null(strstr(why, "loader"));
    assert_int_equal(launch_explain("bin/garbage", -EACCES, "execute", why, sizeof(why)), 126);
    assert_non_null(strstr(why, "noexec"));
    assert_int_equal(launch_explain("bin/garbage", -E2BIG, "execute", why, sizeof(why)), 126);
    assert_non_null(strstr(why, "too long"));
}

static void a_jobs_processes_are_known_by_their_environment(void **state)
{
    static const char a[] = "0123456789abcdef0123456789abcdef";
    static const struct {
        const char *block;
        size_t len;
        int is;
    } rows[] = {
#define ROW(text, is) {text, sizeof(text) - 1, is}
        ROW("A=1\0BNR_JOB=0123456789abcdef0123456789abcdef\0B=2", 1),
        ROW("BNR_JOB=ffffffffffffffffffffffffffffffff,0123456789abcdef0123456789abcdef", 1),
        ROW("XBNR_JOB=0123456789abcdef0123456789abcdef", 0),
        ROW("BNR_JOB=0123456789abcdef0123456789abcde", 0),
        ROW("BNR_JOB=f0123456789abcdef0123456789abcdef", 0),
        ROW("BNR_JOB=", 0),
        ROW("", 0),
#undef ROW
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(warden_names_job(rows[i].block, rows[i].len, a), rows[i].is);
}

/* What runs on a host, in one line; quotes show where a word has a blank. */
static void hosts_are_reached_by_what_the_user_says(void **state)
{
    static const struct {
        struct remote remote;
        const char *user, *expect;
    } rows[] = {
        {{.kind = REMOTE_SSH}, NULL, "ssh -x -T -o ConnectTimeout=15 -o BatchMode=yes -- h |exec '/d x'|"},
        {{.kind = REMOTE_SSH, .may_ask = true}, NULL, "ssh -x -T -o ConnectTimeout=15 -- h |exec '/d x'|"},
        {{.kind = REMOTE_SSH, .program = "/my ssh", .more = "-p 7"},
         "me",
         "|/my ssh| -x -T -o ConnectTimeout=15 -o BatchMode=yes -p 7 -l me -- h |exec '/d x'|"},
        {{.kind = REMOTE_SSH, .agent = "/usr/bin/ssh -q"},
         NULL,
         "/usr/bin/ssh -q -x -T -o ConnectTimeout=15 -o BatchMode=yes -- h |exec '/d x'|"},
        {{.kind = REMOTE_SSH, .agent = "rsh -n", .more = "'a b' c"},
         "me",
         "rsh -n |a b| c -l me h |exec '/d x'|"},
        {{.kind = REMOTE_SRUN, .agent = "rsh", .more = "-p debug"},
         NULL,
         "srun --overlap -N1 -n1 --mpi=none --quiet -w h -p debug |/d x|"},
        {{.kind = REMOTE_COMMAND, .command = "run '%u at' %h", .more = "-p"},
         "me",
         "run |me at| h |/d x|"},
        {{.kind = REMOTE_COMMAND, .command = "kubectl exec -i %h -- %c"}, NULL, "kubectl exec -i h -- |/d x|"},
        {{.kind = REMOTE_COMMAND, .command = "run %c on '%c %h'"}, NULL, "run |/d x| on |%c h|"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct remote remote = rows[i].remote;
        char got[512] = "";
        remote.daemon = "/d x";
        char **words = remote_words(&remote, "h", rows[i].user);
        for (char **w = words; *w; w++) {
            const char *mark = strchr(*w, ' ') ? "|" : "";
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s%s%s", w == words ? "" : " ",
                     mark, *w, mark);
        }
        assert_string_equal(got, rows[i].expect);
        free(words);
    }
}

/* An environment of any length is read in parts. */
static void a_job_is_known_by_a_long_environment(void **state)
{
    static const char a[] = "0123456789abcdef0123456789abcdef";
    static const char mark[] = "BNR_JOB=0123456789abcdef0123456789abcdef";
    static const size_t lens[] = {0, 1, 1000, (64 << 10) - 20, (64 << 10) - 1, 64 << 10, 200000};
    char *filler = malloc(200001);
    (void)state;
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
        for (int kind = 0; kind < 4; kind++) {
            FILE *file = tmpfile();
            assert_non_null(file);
            memset(filler, 'x', lens[i]);
            filler[lens[i]] = 0;
            if (kind != 1)
                fwrite(filler, 1, lens[i] + (kind != 3), file); /* 3: the mark is inside it */
            if (kind != 2)
                fwrite(mark, 1, sizeof(mark), file);
            fwrite(filler, 1, lens[i] + 1, file);
            fflush(file);
            lseek(fileno(file), 0, SEEK_SET);
            assert_int_equal(warden_reads_job(fileno(file), a), kind < 2 || (kind == 3 && !lens[i]));
            fclose(file);
        }
    free(filler);
}

static const char *const *variables;

static const char *value(const char *name)
{
    for (const char *const *v = variables; *v; v += 2)
        if (!strcmp(v[0], name))
            return v[1];
    return NULL;
}

static void a_launcher_that_meant_many_is_recognised(void **state)
{
    static const struct {
        const char *variables[8];
        int is_doubtful;
        int is_to_manager; /* to one that says that there is one process */
    } rows[] = {
        {{NULL}, 0, 0},
        {{"PMI_RANK", "0", "PMI_SIZE", "1", NULL}, 0, 0},
        {{"PMI_RANK", "0", "PMI_SIZE", "2", NULL}, 1, 0},
        {{"SLURM_PROCID", "0", "SLURM_NTASKS", "8", NULL}, 0, 0}, /* the batch script itself */
        {{"SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "8", NULL}, 1, 1},
        {{"SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1", "SLURM_STEP_NUM_NODES", "1", NULL}, 0, 0},
        {{"OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2", NULL}, 1, 0},
        {{"PMIX_RANK", "3", NULL}, 1, 0},
        {{"PALS_RANKID", "2", NULL}, 1, 0},
        {{"PMI_SIZE", "4", NULL}, 1, 0}, /* the rank was taken away */
        {{"PMI_SIZE", "1", NULL}, 0, 0},
        {{"PMI_SIZE", "", NULL}, 0, 0},
        {{"OMPI_COMM_WORLD_SIZE", "4", NULL}, 1, 0},
        {{"SLURM_STEP_NUM_TASKS", "8", NULL}, 0, 0}, /* a script that was started beside a step */
        {{"FLUX_JOB_SIZE", "8", NULL}, 0, 0},
        {{"FLUX_JOB_SIZE", "8", "FLUX_TASK_RANK", "0", NULL}, 1, 0},
        {{"PMI_ID", "1", "PMI_PORT", "host:1", NULL}, 1, 0},
        {{"PMI_ID", "0", "PMI_PORT", "host:1", NULL}, 0, 0},
        {{"SLURM_PROCID", "7", "SLURM_STEP_NUM_TASKS", "8", "SLURM_STEP_NUM_NODES", "2", NULL}, 1, 1},
        {{"SLURM_PROCID", "7", "SLURM_STEP_NUM_TASKS", "8", "SLURM_STEP_NUM_NODES", "8", NULL}, 1, 0}, /* daemons */
    };
    char why[512];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        variables = rows[i].variables;
        assert_int_equal(single_is_doubtful(value, why, sizeof(why)), rows[i].is_doubtful);
        assert_int_equal(single_is_doubtful_to_manager(value, why, sizeof(why)), rows[i].is_to_manager);
    }
}

/* ---- signals ---- */

static void take_signal(int number)
{
    (void)number;
}

/* Have the own process group stopped, and go on, all the time; after a while end it. */
static pid_t start_stopper(void)
{
    pid_t group = getpid(), pid = fork();
    if (pid)
        return pid;
    signal(SIGTSTP, SIG_IGN);
    for (int i = 0; i < 100000; i++) {
        kill(-group, SIGTSTP);
        usleep(100);
    }
    kill(-group, SIGKILL);
    _exit(1);
}

/* A stop of the group reaches a child before it has a group of its own. Nobody would have it go on,
 * and the parent waits for it in the kernel. */
static void a_stop_reaches_no_child_that_is_starting(void **state)
{
    char *words[] = {"true", NULL}, path[PATH_MAX], why[512];
    const char *step;
    (void)state;
    assert_int_equal(launch_resolve("true", NULL, getenv("PATH"), path, sizeof(path), why), 0);
    (void)setpgid(0, 0); /* or it leads a session */
    assert_int_equal(getpgrp(), getpid());
    signal(SIGTSTP, take_signal);
    pid_t stopper = start_stopper();
    for (int i = 0; i < 300; i++) {
        struct launch l = {.path = path, .argv = words, .envp = words + 1, .stream = {0, 1, 2},
                           .keep = {-1, -1, -1, -1}};
        pid_t pid;
        int pidfd = -1, status;
        assert_int_equal(launch_start(&l, &pid, &pidfd, &step), 0);
        while (waitpid(pid, &status, 0) < 0)
            assert_int_equal(errno, EINTR);
        assert_int_equal(status, 0);
        close(pidfd);
    }
    kill(stopper, SIGKILL);
    while (waitpid(stopper, NULL, 0) < 0)
        assert_int_equal(errno, EINTR);
    signal(SIGTSTP, SIG_DFL);
}

/* ---- other hosts ---- */

/* A host that is down is a final reason, and one that may pass is not. */
static void reasons_that_will_not_pass_are_final(void **state)
{
    static const struct {
        enum remote_kind kind;
        int code;
        const char *text;
        enum launching_stage stage;
        bool is_final;
    } rows[] = {
        {REMOTE_SSH, 255, "ssh: connect to host a port 22: No route to host", LAUNCHING_CONNECT, true},
        {REMOTE_SSH, 255, "ssh: connect to host a port 22: Connection timed out", LAUNCHING_CONNECT, true},
        {REMOTE_SSH, 255, "ssh: connect to host a port 22: Connection refused", LAUNCHING_CONNECT, true},
        {REMOTE_SSH, 255, "ssh: Could not resolve hostname a: Name or service", LAUNCHING_RESOLVE, true},
        {REMOTE_SSH, 255, "kex_exchange_identification: Connection closed", LAUNCHING_CONNECT, false},
        {REMOTE_SSH, 255, "", LAUNCHING_CONNECT, false},
        {REMOTE_SSH, 127, "", LAUNCHING_EXECUTE, true},
        {REMOTE_COMMAND, 255, "ssh: connect to host a port 22: No route to host", LAUNCHING_CONNECT, true},
        {REMOTE_COMMAND, 1, "Connection refused", LAUNCHING_EXECUTE, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct remote r = {.kind = rows[i].kind};
        struct remote_verdict v = remote_judge(&r, rows[i].code << 8, rows[i].text);
        if (v.stage != rows[i].stage || v.is_final != rows[i].is_final)
            fail_msg("%s: stage %d, final %d", rows[i].text, (int)v.stage, v.is_final);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_found_as_a_shell_would),
        cmocka_unit_test(a_way_out_is_named),
        cmocka_unit_test(programs_and_plain_scripts_run),
        cmocka_unit_test(a_failed_start_is_explained),
        cmocka_unit_test(a_jobs_processes_are_known_by_their_environment),
        cmocka_unit_test(hosts_are_reached_by_what_the_user_says),
        cmocka_unit_test(a_job_is_known_by_a_long_environment),
        cmocka_unit_test(a_launcher_that_meant_many_is_recognised),
        cmocka_unit_test(reasons_that_will_not_pass_are_final),
        cmocka_unit_test(a_stop_reaches_no_child_that_is_starting),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
