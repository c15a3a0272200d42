#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write chan_table.c and slots.h: which channels this build has.

usage: gen_table.py OUTDIR NAME...
"""
import pathlib
import sys

out, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
table = ["/* Written by channels/gen_table.py. */", '#include "include/channel.h"', ""]
table += [f"extern const struct chan_ops chan_{n};" for n in names]
table += ["", "const struct chan_ops *const chan_table[] = {"]
table += [f"    &chan_{n}," for n in names] + ["    NULL", "};", ""]
(out / "chan_table.c").write_text("\n".join(table))

slots = ["/* Written by channels/gen_table.py: the endpoint slot of each channel. */",
         "#ifndef SLOTS_H", "#define SLOTS_H", '#include "include/channel.h"', "", "enum {"]
slots += [f"    ENDPOINT_SLOT_{n.upper()} = {i}," for i, n in enumerate(names)]
slots += [f"    ENDPOINT_SLOTS = {len(names)}", "};",
          "_Static_assert((int)ENDPOINT_SLOTS <= (int)CHAN_SLOTS, \"raise CHAN_SLOTS in channel.h\");",
          "", "#endif", ""]
(out / "slots.h").write_text("\n".join(slots))
