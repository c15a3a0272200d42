/* SPDX-License-Identifier: BSD-3-Clause */

/* The source line of a place in a program, by addr2line, if installed, and the program's debug
 * information. */
#ifndef OS_SOURCE_LINE_H
#define OS_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write the line of a place, offset bytes from the start of the file module, into text:
 * "solver.c:12", printable. Returns whether it is known; text stays as it is if not. It starts a
 * process, and waits for it at most until until_ns (os_now_ns()). */
bool os_source_line(const char *module, uint64_t offset, uint64_t until_ns, char *text,
                    size_t size);

#endif
