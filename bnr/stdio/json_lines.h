/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The output of ranks as JSON, an object for each line, by the library Jansson:
 *
 *     {"rank":3,"host":"node7","stream":"stdout","time":"2026-03-01T14:05:09.123456Z","text":"a line"}
 *
 * time is when the end of the line was read from the rank's pipe, by the clock of its host; of mpiexec's
 * own lines, when it said them. Two members are there only on lines that differ from most:
 *
 *     "newline":false   no newline ends the text: the next object of this rank and stream goes on
 *                       with the line, which was longer than 64 KiB, waited long, or was the last
 *     "escaped":true    the line has bytes that are not UTF-8: in text "\\xE9" stands for such a
 *                       byte, and two backslashes for one
 *
 * mpiexec's own lines have rank null, and the stream "mpiexec".
 */
#ifndef BNR_JSON_LINES_H
#define BNR_JSON_LINES_H

#include "bnr/core/stream/lines.h"

/* Append a line as an object, and a newline. prefix: see prefix.h; its pattern is not used. */
int json_lines_record(const void *prefix, const struct lines_line *line, struct lines_buffer *out);

#endif
