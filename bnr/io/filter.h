/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Send a text through a program: it reads the text from its standard input, and its standard output
 * is collected. The loop goes on meanwhile. The program is a child of this process; the caller
 * reaps it with its other children.
 */
#ifndef BNR_FILTER_H
#define BNR_FILTER_H

#include <stddef.h>
#include <uv.h>

struct filter;

struct filter_text {
    char *bytes; /* malloc()ed */
    size_t len;
};

/* The program has closed its output (rc 0), or it took too long (-ETIMEDOUT), or another -errno.
 * text: a string, valid during the call. */
typedef void (*filter_fn)(void *arg, const char *text, int rc);

struct filter_job {
    char *const *argv; /* argv[0] is a path */
    struct filter_text input;
    unsigned limit_ms;
    filter_fn done; /* called once, unless the filter is cancelled */
    void *arg;
};

/* Start the program; takes the input over in any case. Returns 0 with *filter, or -errno with the
 * failed step in *step. */
int filter_start(struct filter **filter, uv_loop_t *loop, const struct filter_job *job,
                 const char **step);

/* Let go of it without a call of done. */
void filter_cancel(struct filter *filter);

#endif
