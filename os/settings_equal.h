/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Settings that all processes of a job must have alike. A process tells others of those that it does
 * not have at their initial values, as "name=value,name=value", in the table's order; the text of
 * most is empty. What a process tells is not trusted.
 */
#ifndef OS_SETTINGS_EQUAL_H
#define OS_SETTINGS_EQUAL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    OS_EQUAL_MAX = 900 /* bytes, NUL included */
};

/* Write the text of this process. */
void os_equal_write(char text[OS_EQUAL_MAX]);

/* Whether another process has them alike. If not, write a sentence into why that names the first that
 * differs. */
bool os_equal_check(const char *theirs, char *why, size_t size);

#endif
