/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The agreement between icount, which is counted, and stepper, which counts.
 *
 * A marker is the one-byte breakpoint instruction with a word in rax that
 * says begin or end, and the address of the name of what is counted in rdi.
 * What runs between the two markers is stepped instruction by instruction.
 * For x86-64 only.
 */

#ifndef BENCH_MARKER_H
#define BENCH_MARKER_H

enum {
    MARKER_BEGIN = 0x6d6b0001,
    MARKER_END = 0x6d6b0002,
    MARKER_NAME_MAX = 64, /* bytes, with the terminating NUL */
};

static inline void marker(int word, const char *name)
{
    __asm__ volatile("int3" : : "a"(word), "D"(name) : "memory");
}

#endif
