/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The output of ranks as XML, an element for each line, as Open MPI 4 has it:
 *
 *     <stdout rank="3">a line&#010;</stdout>
 *
 * "&#010;" is the line's newline; without it the next element of this rank and stream goes on with
 * the line. Bytes beyond ASCII and control characters are written by their number, as "&#233;", so the
 * bytes come back. Around all is an element <mpirun>, which mpiexec writes.
 */
#ifndef BNR_XML_LINES_H
#define BNR_XML_LINES_H

#include "bnr/core/stream/lines.h"

/* Append a line as an element, and a newline. prefix: see prefix.h; its pattern is not used. */
int xml_lines_record(const void *prefix, const struct lines_line *line, struct lines_buffer *out);

#endif
