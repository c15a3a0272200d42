/* SPDX-License-Identifier: BSD-3-Clause */

/* The runner of cases; see cases.h. */
#include "test/channels/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIMIT_S = 40
};

static void be_rank(struct fake_world *world, const struct chan_ops *ops,
                    const struct fake_case *the, int rank)
{
    static struct fake fake;
    alarm(LIMIT_S);
    if (the->setting)
        setenv(the->setting, the->value, 1);
    fake_start(&fake, world, ops, rank, 2, true);
    the->run(&fake);
    fake_finish(&fake);
    exit(0);
}

static int run(const struct chan_ops *ops, const struct fake_case *the)
{
    struct fake_world *world = fake_world_create();
    pid_t pid[2];
    int failed = 0;
    if (!world)
        return 1;
    fflush(NULL);
    for (int rank = 0; rank < 2; rank++)
        if (!(pid[rank] = fork()))
            be_rank(world, ops, the, rank);
    for (int rank = 0; rank < 2; rank++) {
        int status;
        waitpid(pid[rank], &status, 0);
        if (status)
            printf("# rank %d: status %x: %s\n", rank, status, world->why[rank]);
        failed |= status;
    }
    fake_world_destroy(world);
    return failed;
}

int cases_run(const struct chan_ops *ops, const struct fake_case *cases, int count)
{
    int failures = 0;
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        const char *missed = cases[i].misses ? cases[i].misses() : NULL;
        if (missed) {
            printf("ok %d - %s # SKIP %s\n", i + 1, cases[i].claim, missed);
            continue;
        }
        int failed = run(ops, &cases[i]);
        failures += failed != 0;
        printf("%s %d - %s\n", failed ? "not ok" : "ok", i + 1, cases[i].claim);
    }
    return failures;
}
