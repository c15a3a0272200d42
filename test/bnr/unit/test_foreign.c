/* SPDX-License-Identifier: BSD-3-Clause */

/* Whose library a program needs, from made-up programs: whole, cut, and damaged in every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bnr/launch/foreign.h"

enum {
    BASE = 0x400000
};

/* A program with two segments, which needs two libraries. */
static struct file {
    ElfW(Ehdr) head;
    ElfW(Phdr) segment[2];
    ElfW(Dyn) entry[4];
    char names[48];
} file;

/* The file lies in memory, and has a name as long as its descriptor is open. */
static int held;
static char path[64];

static void compose(const char *needed)
{
    size_t at = sizeof("?libc.so.6");
    memset(&file, 0, sizeof(file));
    memcpy(file.head.e_ident, ELFMAG, SELFMAG);
    file.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    file.head.e_phoff = offsetof(struct file, segment);
    file.head.e_phentsize = sizeof(file.segment[0]);
    file.head.e_phnum = 2;
    file.segment[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(file)};
    file.segment[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC,
                                   .p_offset = offsetof(struct file, entry),
                                   .p_filesz = sizeof(file.entry)};
    file.entry[0].d_tag = file.entry[1].d_tag = DT_NEEDED;
    file.entry[0].d_un.d_val = 1;
    file.entry[1].d_un.d_val = at;
    file.entry[2].d_tag = DT_STRTAB;
    file.entry[2].d_un.d_ptr = BASE + offsetof(struct file, names);
    strcpy(file.names + 1, "libc.so.6");
    strcpy(file.names + at, needed);
}

static bool ask(size_t len, char *library, size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, &file, len), (ssize_t)len);
    close(fd);
    return foreign_library(path, library, size);
}

static void libraries_are_known_by_name(void **state)
{
    static const struct {
        const char *needed;
        bool is;
    } rows[] = {
        {"libmpi.so.40", true},       {"libmpi.so.12", false},    {"libmpich.so.12", false},
        {"libmpifort.so.12", false},  {"libmpi_abi.so.1", false}, {"libm.so.6", false},
        {"libmpi_mpifh.so.40", true}, {"libmpi", false},          {"", false},
        {"libmpi.so.12.2.1", false},  {"libmpi.so.120", true},    {"libmpifort.so.12.2.1", false},
    };
    char library[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        compose(rows[i].needed);
        bool is = ask(sizeof(file), library, sizeof(library));
        if (is != rows[i].is)
            fail_msg("%s", rows[i].needed);
        if (is)
            assert_string_equal(library, rows[i].needed);
    }
    compose("libmpi.so.40");
    assert_true(ask(sizeof(file), library, 4));
    assert_string_equal(library, "lib");
}

static void kin_are_known_by_name(void **state)
{
    static const struct {
        const char *needed;
        bool is;
    } rows[] = {
        {"libmpich.so.12", true}, {"libmpi.so.12", true},  {"libmpifort.so.12.2.1", true},
        {"libmpi.so.40", false},  {"libmpi.so.1", false},  {"libmpi_abi.so.1", false},
        {"libmpichx.so", false},  {"libm.so.6", false},
    };
    char library[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        compose(rows[i].needed);
        (void)ask(sizeof(file), library, sizeof(library)); /* it is written */
        if (foreign_kin(path, library, sizeof(library)) != rows[i].is)
            fail_msg("%s", rows[i].needed);
    }
}

static void damaged_files_are_none(void **state)
{
    char library[64];
    compose("libmpi.so.40");
    for (size_t len = 0; len < offsetof(struct file, names); len++)
        assert_false(ask(len, library, sizeof(library)));
    for (size_t at = 0; at < sizeof(file); at++)
        for (int bits = 0x01; bits < 0x100; bits += 0x7f) {
            compose("libmpi.so.40");
            ((unsigned char *)&file)[at] ^= (unsigned char)bits;
            (void)ask(sizeof(file), library, sizeof(library)); /* and nothing is hurt */
        }
    compose("libmpi.so.40");
    file.head.e_ident[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
    assert_false(ask(sizeof(file), library, sizeof(library)));
    assert_false(foreign_library("/no/such/file", library, sizeof(library)));
    assert_false(foreign_library("/", library, sizeof(library)));
}

static int prepare(void **state)
{
    held = memfd_create("foreign", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
    return held < 0;
}

static int clean(void **state)
{
    return close(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_are_known_by_name),
        cmocka_unit_test(kin_are_known_by_name),
        cmocka_unit_test(damaged_files_are_none),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
