/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether this program goes on after failures; see asked.h. A program has a function if it, or a library
 * of it, leaves the symbol to the dynamic linker to find.
 */
#include "mpi/ft/asked.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/comm/errh.h"
#include "mpi/errh_text.h"

static _Atomic bool has_called;

static bool is_ours(const char *name)
{
    static const char *const names[] = {
        "MPIX_Comm_revoke", "MPIX_Comm_shrink",      "MPIX_Comm_ishrink",    "MPIX_Comm_agree",
        "MPIX_Comm_iagree", "MPIX_Comm_failure_ack", "MPIX_Comm_get_failed", "MPIX_Comm_ack_failed",
        "MPIX_Win_revoke", "MPIX_Win_get_failed", "MPIX_File_revoke"};
    name += *name == 'P';
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* What the dynamic section of an object says; addresses, or 0. */
struct dynamic {
    ElfW(Addr) symbols, names, hash, gnu_hash;
};

static struct dynamic read_dynamic(const ElfW(Dyn) *entry, ElfW(Addr) base)
{
    struct dynamic dynamic = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        ElfW(Addr) at = entry->d_un.d_ptr; /* some systems leave it relative */
        at = at < base ? at + base : at;
        switch (entry->d_tag) {
        case DT_SYMTAB: dynamic.symbols = at; break;
        case DT_STRTAB: dynamic.names = at; break;
        case DT_HASH: dynamic.hash = at; break;
        case DT_GNU_HASH: dynamic.gnu_hash = at; break;
        default: break;
        }
    }
    return dynamic;
}

/* Symbols that are to be found elsewhere stand before all those that the newer table has. */
static uint32_t count_symbols(const struct dynamic *dynamic)
{
    if (dynamic->gnu_hash)
        return ((const uint32_t *)dynamic->gnu_hash)[1];
    return dynamic->hash ? ((const uint32_t *)dynamic->hash)[1] : 0;
}

static int look(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC || !object->dlpi_name)
            continue;
        ElfW(Addr) base = object->dlpi_addr;
        struct dynamic dynamic =
            read_dynamic((const ElfW(Dyn) *)(base + object->dlpi_phdr[i].p_vaddr), base);
        const ElfW(Sym) *symbol = (const ElfW(Sym) *)dynamic.symbols;
        for (uint32_t n = dynamic.names && symbol ? count_symbols(&dynamic) : 0; n; n--, symbol++)
            if (symbol->st_shndx == SHN_UNDEF && is_ours((const char *)dynamic.names + symbol->st_name))
                *(bool *)found = true;
    }
    return *(bool *)found;
}

static bool has_functions(void)
{
    bool found = false;
    (void)dl_iterate_phdr(look, &found);
    return found;
}

static void tolerate(bool on)
{
    atomic_store_explicit(&errh_failures_are_plain, on, memory_order_relaxed);
    mpid_tolerate(on);
}

void asked_call(void)
{
    if (!atomic_exchange_explicit(&has_called, true, memory_order_relaxed))
        tolerate(true);
}

void asked_handler(bool returns)
{
    if (!atomic_load_explicit(&has_called, memory_order_relaxed))
        tolerate(returns && has_functions());
}
