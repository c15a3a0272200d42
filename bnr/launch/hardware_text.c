/* SPDX-License-Identifier: BSD-3-Clause */

/* Hardware as text: a line for the host, then one for each processor; see hardware_text.h. */
#include "bnr/launch/hardware_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    CPUS_MAX = 1 << 20
};

void hardware_put(const struct hardware *h, int rc, const char *why, FILE *to)
{
    if (rc) {
        fprintf(to, "fails %d %s\n", -rc, why);
        return;
    }
    fprintf(to, "has %u %u %d\n", h->machine.count, h->machine.lacks, h->is_own);
    for (uint32_t i = 0; i < h->machine.count; i++) {
        fprintf(to, "%u %d", h->cpus[i].os_index, h->cpus[i].is_near);
        for (int level = 0; level < PLACEMENT_NODE; level++)
            fprintf(to, " %u", h->cpus[i].object[level]);
        fputc('\n', to);
    }
}

static int get_cpu(struct placement_cpu *cpu, FILE *from)
{
    int is_near;
    int found = fscanf(from, " %u %d", &cpu->os_index, &is_near);
    for (int level = 0; found > 0 && level < PLACEMENT_NODE; level++)
        found += fscanf(from, " %u", &cpu->object[level]);
    cpu->is_near = found > 1 && is_near;
    return found == 2 + PLACEMENT_NODE ? 0 : -EPROTO;
}

static int get_cpus(struct hardware *h, FILE *from)
{
    uint32_t count;
    int is_own, rc = 0;
    if (fscanf(from, " %u %u %d", &count, &h->machine.lacks, &is_own) != 3 || count > CPUS_MAX)
        return -EPROTO;
    h->is_own = is_own;
    h->machine.cpus = h->cpus = calloc(count + 1, sizeof(*h->cpus));
    if (!h->cpus)
        return -ENOMEM;
    for (; !rc && h->machine.count < count; h->machine.count += !rc)
        rc = get_cpu(&h->cpus[h->machine.count], from);
    return rc;
}

int hardware_get(struct hardware *h, FILE *from, char why[512])
{
    char word[8] = "";
    int number;
    *h = (struct hardware){0};
    if (fscanf(from, "%7s", word) == 1 && !strcmp(word, "fails") && fscanf(from, "%d ", &number) == 1 &&
        number > 0 && fgets(why, 512, from)) {
        why[strcspn(why, "\n")] = 0;
        return -number;
    }
    int rc = strcmp(word, "has") ? -EPROTO : get_cpus(h, from);
    if (rc) {
        hardware_fini(h);
        snprintf(why, 512, "%s", rc == -ENOMEM ? "out of memory" : HARDWARE_PROGRAM " ended early");
    }
    return rc;
}

void hardware_fini(struct hardware *h)
{
    free(h->cpus);
    *h = (struct hardware){0};
}
