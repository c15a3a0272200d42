/* SPDX-License-Identifier: BSD-3-Clause */

/* The processors of a host as bytes; see machine_message.h. */
#include "bnr/wire/machine_message.h"

#include <errno.h>
#include <stdlib.h>

#include "bnr/wire/field.h"

enum {
    LEVELS = (1 << PLACEMENT_NODE) - 1, /* a bit each */
    NEAR = 1 << PLACEMENT_NODE,
    CPU_LEN = 8
};

static const struct wire_field fields[] = {
    {FIELD_SOME, offsetof(struct machine_told, problem), 0, 0, MACHINE_TEXT_MAX},
    {FIELD_FLAG, offsetof(struct machine_told, is_own), 0, 0, 0},
    {FIELD_U32, offsetof(struct machine_told, machine.lacks), 0, 0, LEVELS},
    {FIELD_U32, offsetof(struct machine_told, machine.count), 0, 0, MACHINE_CPUS_MAX},
};

/* The levels that have an object beginning with a hardware thread. */
static uint32_t borders(const struct placement_machine *m, uint32_t cpu)
{
    uint32_t levels = 0;
    for (int level = 0; level < PLACEMENT_NODE; level++)
        if (!cpu || m->cpus[cpu].object[level] != m->cpus[cpu - 1].object[level])
            levels |= 1u << level;
    return levels;
}

void machine_pack(struct packing *p, const struct machine_told *told)
{
    const struct placement_machine *m = &told->machine;
    fields_pack(p, FIELDS(fields), told);
    for (uint32_t i = 0; i < m->count; i++) {
        pack_u32(p, m->cpus[i].os_index);
        pack_u32(p, borders(m, i) | (m->cpus[i].is_near ? NEAR : 0));
    }
}

int machine_unpack(struct unpacking u, struct machine_told *told)
{
    uint32_t object[PLACEMENT_NODE] = {0};
    *told = (struct machine_told){0};
    fields_unpack(&u, FIELDS(fields), told);
    uint32_t count = told->machine.count;
    told->machine.count = 0;
    if (u.failed || count > u.left / CPU_LEN)
        return -EPROTO;
    told->cpus = calloc(count ? count : 1, sizeof(*told->cpus));
    told->machine.cpus = told->cpus;
    if (!told->cpus)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct placement_cpu *cpu = &told->cpus[i];
        cpu->os_index = unpack_u32(&u);
        uint32_t levels = unpack_u32(&u);
        if (levels & ~(uint32_t)(LEVELS | NEAR) || cpu->os_index >= MACHINE_CPUS_MAX)
            return -EPROTO;
        for (int level = 0; level < PLACEMENT_NODE; level++)
            cpu->object[level] = object[level] += levels >> level & 1;
        cpu->is_near = levels & NEAR;
        told->machine.count = i + 1;
    }
    return u.left ? -EPROTO : 0;
}

void machine_fini(struct machine_told *told)
{
    fields_release(FIELDS(fields), told);
    free(told->cpus);
    *told = (struct machine_told){0};
}
