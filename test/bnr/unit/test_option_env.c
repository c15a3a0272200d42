/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpiexec takes from its environment beside options: the hosts that batch systems allocate, and the
 * variables of the ranks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bnr/options/options.h"
#include "test/bnr/command_line.h"

static void slots_come_from_slurm(void **state)
{
    static const struct {
        const char *nodes, *tasks, *line;
        int ranks; /* 0: refused */
    } rows[] = {
        {"localhost", "4", "prog", 4},
        {"localhost", "4", "-n 3 prog", 3},
        {"localhost", "4", "-ppn 2 prog", 2},
        {"localhost", "4", "-host localhost prog", 1},
        {"localhost", "4", "-host +n0:2 prog", 2},
        {"a,localhost", "4,3", "-host +n1,a:2 prog", 3},
        {"localhost", "4", "-host +n1 prog", 0},
        {"localhost", "4", "-rmk user prog", 1},
        {"localhost", "4", "--mca ras ^slurm prog", 1},
        {"localhost", "4", "-rmk pbs prog", 0},
        {"localhost", "0", "-host localhost prog", 1},
        {"localhost", "0", "prog", 0},
        {"localhost,n2", "4(x2)", "prog", 8},
        {"localhost,n2", "4(x2)", "-n 3 prog", 3},
        {"", "", "prog", 0},
    };
    (void)state;
    setenv("SLURM_JOB_ID", "7", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct options o;
        struct line l;
        char why[256];
        setenv("SLURM_JOB_NODELIST", rows[i].nodes, 1);
        setenv("SLURM_TASKS_PER_NODE", rows[i].tasks, 1);
        split(&l, rows[i].line);
        int rc = options_parse(&o, l.argc, l.argv, why, sizeof(why));
        if (rc != (rows[i].ranks ? 0 : -EINVAL) || (!rc && o.plan.nranks != rows[i].ranks))
            fail_msg("%s %s %s: %d, %d", rows[i].nodes, rows[i].tasks, rows[i].line, rc,
                     rc ? 0 : o.plan.nranks);
        options_free(&o);
    }
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_TASKS_PER_NODE");
}

/* mpiexec in a step of one task, in a job of two hosts. */
static void a_step_tells_no_slots(void **state)
{
    struct options o;
    struct line l;
    char why[256];
    (void)state;
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "2(x2)", 1);
    setenv("SLURM_TASKS_PER_NODE", "1", 1);
    setenv("SLURM_STEP_TASKS_PER_NODE", "1", 1);
    split(&l, "prog");
    assert_int_equal(options_parse(&o, l.argc, l.argv, why, sizeof(why)), 0);
    assert_int_equal(o.plan.nranks, 4);
    options_free(&o);
    unsetenv("SLURM_STEP_TASKS_PER_NODE");
    unsetenv("SLURM_TASKS_PER_NODE");
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_JOB_ID");
}

/* Each host of a job of Slurm is reached by srun, unless one is of elsewhere. */
static void allocated_hosts_are_reached_by_the_system(void **state)
{
    static const struct {
        const char *line, *expect; /* its hosts, and how they are reached */
    } rows[] = {
        {"prog", "n1 n2 n3.x.org srun"},
        {"-host n1,n3 prog", "n1 n3.x.org srun"},
        {"-host n2.x.org prog", "n2 srun"},
        {"-host n1,other prog", "n1 other"},
        {"-host me@n1 prog", "n1"},
        {"-host localhost prog", "localhost"},
        {"-launcher ssh prog", "n1 n2 n3.x.org"},
        {"--mca plm ^slurm prog", "n1 n2 n3.x.org"},
        {"-host +n2,+n0 prog", "n3.x.org n1 srun"},
    };
    (void)state;
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2],n3.x.org", 1);
    unsetenv("SLURM_TASKS_PER_NODE");
    setenv("SLURM_JOB_CPUS_PER_NODE", "4(x3)", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct options o;
        struct line l;
        char why[256], got[256] = "";
        split(&l, rows[i].line);
        if (options_parse(&o, l.argc, l.argv, why, sizeof(why)))
            fail_msg("%s: %s", rows[i].line, why);
        for (size_t h = 0; h < o.plan.hosts.count; h++)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", h ? " " : "",
                     o.plan.hosts.items[h].name);
        if (o.plan.remote.launcher == PLAN_LAUNCHER_SRUN)
            strcat(got, " srun");
        if (strcmp(got, rows[i].expect) || (i == 0 && o.plan.nranks != 12))
            fail_msg("%s: got \"%s\", %d ranks", rows[i].line, got, o.plan.nranks);
        options_free(&o);
    }
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_JOB_CPUS_PER_NODE");
}

/* Put text into a file, whose name a variable gets. */
static void tell_by_file(int fd, const char *variable, const char *text)
{
    char name[32];
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    setenv(variable, name, 1);
}

/* A job of a batch system has the hosts that its variables tell, and never one silently. */
static void slots_come_from_batch_systems(void **state)
{
    static const struct {
        const char *variable, *text; /* NULL: that is the variable's value */
        const char *line;
        int ranks; /* 0: refused */
        const char *says;
    } rows[] = {
        {"PBS_NODEFILE", "localhost\nlocalhost\nn2\n", "prog", 3, NULL},
        {"PBS_NODEFILE", "localhost\nlocalhost\nn2\n", "-rmk pbs -n 2 prog", 2, NULL},
        {"PBS_NODEFILE", "localhost\nlocalhost\nn2\n", "-host localhost prog", 1, NULL},
        {"PBS_NODEFILE", "localhost\n-oProxy=x\n", "prog", 0, "no name of a host"},
        {"PBS_NODEFILE", "", "prog", 0, "it names no host"},
        {"PBS_NODEFILE=/no/such/file", NULL, "prog", 0, "PBS_NODEFILE names '/no/such/file': No such"},
        {"PBS_NODEFILE=/no/such/file", NULL, "-host localhost:2 prog", 2, NULL},
        {"PBS_NODEFILE=/no/such/file", NULL, "-rmk user prog", 1, NULL},
        {"PBS_JOBID=7.x", NULL, "prog", 1, "PBS_JOBID is set, as in a job of PBS, and PBS_NODEFILE is not"},
        {"PBS_JOBID=7.x", NULL, "-host localhost:3 prog", 3, NULL},
        {"LSB_MCPU_HOSTS=localhost 4 n2 2", NULL, "prog", 6, NULL},
        {"LSB_MCPU_HOSTS=localhost four", NULL, "prog", 0, "'four' behind host localhost"},
        {"LSB_HOSTS=localhost n2 localhost", NULL, "prog", 3, NULL},
        {"LSB_DJOB_HOSTFILE", "localhost\nn2\n", "prog", 2, NULL},
        {"PE_HOSTFILE", "localhost 3 all.q@h UNDEFINED\nn2 2 all.q@n2 <NULL>\n", "prog", 5, NULL},
        {"PE_HOSTFILE", "localhost all.q\n", "prog", 0, "no number of slots"},
        {"LOADL_HOSTFILE", "localhost\nn2\n", "prog", 2, NULL},
        {"COBALT_NODEFILE", "localhost\nn2\n", "prog", 2, NULL},
        {"OAR_NODEFILE", "localhost\nlocalhost\n", "-rmk oar prog", 2, NULL},
        {"SLURM_JOB_ID=7", NULL, "prog", 1, "SLURM_JOB_NODELIST is not"},
    };
    int fd = memfd_create("hosts", MFD_CLOEXEC);
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct options o;
        struct line l;
        char why[512] = "", name[64];
        const char *equals = strchr(rows[i].variable, '=');
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(rows[i].variable, "="), rows[i].variable);
        if (equals)
            setenv(name, equals + 1, 1);
        else
            tell_by_file(fd, name, rows[i].text);
        split(&l, rows[i].line);
        int rc = options_parse(&o, l.argc, l.argv, why, sizeof(why));
        const char *said = rc ? why : o.doubt;
        if (rc != (rows[i].ranks ? 0 : -EINVAL) || (!rc && o.plan.nranks != rows[i].ranks) ||
            (rows[i].says ? !said || !strstr(said, rows[i].says) : said != NULL))
            fail_msg("%s %s: %d, %d, %s", rows[i].variable, rows[i].line, rc, rc ? 0 : o.plan.nranks,
                     said ? said : "");
        options_free(&o);
        unsetenv(name);
    }
    close(fd);
}

static const struct {
    const char *line;
    const char *expect;
} environments[] = {
    {"prog", "A=1 B=2 C=3 BNR_RANK=0"},
    {"-env A 9 prog", "A=9 B=2 C=3 BNR_RANK=0"},
    {"-genv A 8 -env A 9 prog", "A=9 B=2 C=3 BNR_RANK=0"},
    {"-genvnone -x B prog", "B=2 BNR_RANK=0"},
    {"-envlist C,A prog", "A=1 C=3 BNR_RANK=0"},
    {"-genvlist C -x A -x D=4 prog", "A=1 C=3 D=4 BNR_RANK=0"},
    {"-genvlist C -envlist A prog", "A=1 BNR_RANK=0"},
    {"-genvexcl A -envexcl C prog", "B=2 BNR_RANK=0"},
    {"-unset-env * prog", "BNR_RANK=0"},
    {"-genvexcl A -env A 2 prog", "B=2 C=3 A=2 BNR_RANK=0"},
    {"-genvnone -envall prog", "A=1 B=2 C=3 BNR_RANK=0"},
    {"-env BNR_RANK 7 prog", "A=1 B=2 C=3 BNR_RANK=0"},
    {"--report --set yields=4 prog", "A=1 B=2 C=3 VIREO_YIELDS=4 VIREO_REPORT=1 BNR_RANK=0"},
};

static void environments_compose(void **state)
{
    char *base[] = {"A=1", "B=2", "C=3", NULL};
    char *extra[] = {"BNR_RANK=0", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
        char why[256], got[256] = "";
        struct options o;
        struct line l;
        split(&l, environments[i].line);
        assert_int_equal(options_parse(&o, l.argc, l.argv, why, sizeof(why)), 0);
        char **env = plan_environ(&o.plan, &o.plan.apps[0], base, extra);
        for (char **e = env; *e; e++)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", e == env ? "" : " ", *e);
        if (strcmp(got, environments[i].expect))
            fail_msg("%s: got \"%s\"", environments[i].line, got);
        free(env);
        options_free(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_come_from_slurm),
        cmocka_unit_test(a_step_tells_no_slots),
        cmocka_unit_test(allocated_hosts_are_reached_by_the_system),
        cmocka_unit_test(slots_come_from_batch_systems),
        cmocka_unit_test(environments_compose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
