/* SPDX-License-Identifier: BSD-3-Clause */

/* Reading a case, as include/diagnose.h has it. The bytes are checked: pure, no I/O. */
#ifndef DIAGNOSE_CASE_H
#define DIAGNOSE_CASE_H

#include "diagnose/hang.h"

struct hang_case {
    struct hang_question question; /* its strings point into the text */
    struct hang_rank *ranks;
};

/* Read len bytes of text, which must end in a NUL that len does not count, and stay: it is changed
 * and pointed into. Returns 0, -EPROTO or -ENOMEM; then *input is empty. */
int case_read(struct hang_case *input, char *text, size_t len);
void case_free(struct hang_case *input);

#endif
