/* SPDX-License-Identifier: BSD-3-Clause */

/* Usable processors and the asymmetric fence; see cpus.h. */
#include "os/cpu/cpus.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Processors that cpu.max of this control group and those above it allows; 0: no limit. */
static int quota_v2(void)
{
    char line[512], path[640];
    FILE *f = fopen("/proc/self/cgroup", "re");
    int least = 0;
    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "0::", 3))
            continue;
        line[strcspn(line, "\n")] = 0;
        char *group = line + 3;
        for (;;) {
            long long quota, period;
            snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
            FILE *max = fopen(path, "re");
            if (max && fscanf(max, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0) {
                int cpus = (int)((quota + period - 1) / period);
                least = least && least < cpus ? least : cpus;
            }
            if (max)
                fclose(max);
            char *slash = strrchr(group, '/');
            if (!slash || !*group)
                break;
            *slash = 0;
        }
    }
    fclose(f);
    return least;
}

int os_cpus_usable(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) ? (int)sysconf(_SC_NPROCESSORS_ONLN)
                                                        : CPU_COUNT(&set);
    int quota = quota_v2();
    if (quota && quota < count)
        count = quota;
    return count > 0 ? count : 1;
}

int os_affinity_refused(void)
{
    cpu_set_t set[64]; /* 65,536 processors: a mask that is too small is refused, too */
    return sched_getaffinity(0, sizeof(set), set) ? -errno : 0;
}

int os_heavy_fence_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) ? -errno : 0;
}

void os_heavy_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}
