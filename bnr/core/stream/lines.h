/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The line assembler: bytes from many sources become one output in which lines
 * stay whole. It does no I/O and reads no clock; the caller brings bytes and
 * the time, and takes the output from a buffer.
 *
 * Rules
 *   - Every byte of a source comes out once, in its order.
 *   - A line comes out whole, when its newline has come.
 *   - A line without a newline comes out as it is when it has waited LINES_WAIT_NS and
 *     no other source brought anything for as long (LINES_BUSY_NS, if they do), or
 *     holds LINES_HOLD bytes, or its source ends. It is then the open line: what the same
 *     source brings next follows it directly. So a prompt shows soon, and a rank that
 *     loses its processor within a line does not have it cut by the others' output.
 *   - Without labels nothing is ever added. Another source's line may then
 *     follow an open line on the same line of the output.
 *   - With labels each line begins with one, as "[source] ". If another source must write
 *     behind an open line, a newline is put first, and the rest of the open
 *     line begins with the like of "[source]+ " when it comes: joining it to the last line
 *     of that source, without the newline between, gives the source's bytes.
 *   - A last line without a newline gets none.
 *   - The launcher's own source (LINES_OWN) brings whole lines, without a label; they
 *     never stand within another's line: a newline comes first behind an open one.
 *   - While only one source is left, without labels, bytes pass straight through.
 */
#ifndef BNR_LINES_H
#define BNR_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_WAIT_NS 50000000u
#define LINES_BUSY_NS 1000000000u
#define LINES_HOLD    65536u

/* Values of a label that is no rank. */
enum {
    LINES_LABEL_LEN = 256, /* room for the label of a line */
    LINES_PLAIN = -1,
    LINES_OWN = -2,
    LINES_RAW = -3 /* a terminal's bytes: they pass straight through, whoever else writes */
};

struct lines;

/* Bytes that wait for a writer. Zero-initialised is empty. */
struct lines_buffer {
    char *data;
    size_t len;
    size_t size;
};

/* A line that is to become a record. */
struct lines_line {
    int label;
    const char *data; /* without its newline */
    size_t len;
    bool has_newline; /* or it is only a part: the source's next record goes on with it */
    uint64_t read_ns; /* as lines_stamp() had it; 0: it was not called */
};

/* How lines of sources with labels come out. */
struct lines_labels {
    /* Write the beginning of a line of the source with this label; is_rest: the rest of one. */
    void (*write)(const void *arg, int label, bool is_rest, char *text, size_t size);
    const void *arg;
    /* May be NULL. If set, each line becomes a record, which this appends to out, and no bytes come
     * out beside records. A line without a newline waits LINES_BUSY_NS. LINES_OWN is a label here.
     * Returns 0 or -ENOMEM. */
    int (*record)(const void *arg, const struct lines_line *line, struct lines_buffer *out);
};

/* Have lines come out otherwise than behind "[label] ". Labels must stay as long as l. */
void lines_set_labels(struct lines *l, const struct lines_labels *labels);

/* Whether the output is a terminal that does not return at a newline: then lines do, but for those
 * of LINES_RAW. */
void lines_set_returns(struct lines *l, bool is_on);

/* Make an assembler for sources 0..sources-1, with the label of each. A number
 * from 0 up labels its lines; all sources have one or all are LINES_PLAIN, but for
 * LINES_OWN and LINES_RAW. label_of is copied. Returns 0 or -ENOMEM. */
int lines_create(struct lines **l, int sources, const int *label_of);
void lines_destroy(struct lines *l);

/* Take len bytes of source; append to out the bytes that may come out. Returns 0 or -ENOMEM. */
int lines_put(struct lines *l, int source, const char *data, size_t len, uint64_t now_ns,
              struct lines_buffer *out);

/* When the bytes that source brings next were read, in ns since 1970: for records. */
void lines_stamp(struct lines *l, int source, uint64_t read_ns);

/* Say whether the rest of the unfinished line of source is on its way: then it does not count as
 * waiting. From when none is, it begins to wait. */
void lines_expect(struct lines *l, int source, bool is_coming, uint64_t now_ns);

/* Let out the unfinished lines that have waited long enough at now_ns. */
int lines_tick(struct lines *l, uint64_t now_ns, struct lines_buffer *out);

/* Begin the wait of every unfinished line anew: the sources could not be read for a time. */
void lines_restart(struct lines *l, uint64_t now_ns);

/* When to call lines_tick() next; UINT64_MAX: nothing waits. Bytes that can be put
 * should be put before it. */
uint64_t lines_deadline(const struct lines *l);

/* Let out what source still holds; it brings no more. */
int lines_end(struct lines *l, int source, struct lines_buffer *out);

/* Whether the output so far stops in the middle of a line. */
bool lines_is_open(const struct lines *l);

/* Append bytes to a buffer, growing it. Returns 0 or -ENOMEM. */
int lines_append(struct lines_buffer *out, const char *data, size_t len);

#endif
