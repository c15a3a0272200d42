#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write chan_table.c and slots.h: which channels this build has.

usage: gen_table.py OUTDIR NAME[+]... [NAME:PATTERN:PATTERN...]

With a plus: the channel has a slot in each peer. With patterns: a module of this build, and the files that say that this host has use for it.
"""
import pathlib
import sys

out, names = pathlib.Path(sys.argv[1]), [a for a in sys.argv[2:] if ":" not in a]
slotted = [n[:-1] for n in names if n.endswith("+")]
names = [n.rstrip("+") for n in names]
modules = [a.split(":") for a in sys.argv[2:] if ":" in a]
table = ["/* Written by channels/gen_table.py. */", '#include "include/channel.h"', ""]
table += [f"extern const struct chan_ops chan_{n};" for n in names]
table += ["", "const struct chan_ops *const chan_table[] = {"]
table += [f"    &chan_{n}," for n in names] + ["    NULL", "};", ""]
(out / "chan_table.c").write_text("\n".join(table))

slots = ["/* Written by channels/gen_table.py: the endpoint slot of each channel of this build. */",
         "#ifndef SLOTS_H", "#define SLOTS_H", "", "enum {"]
slots += [f"    ENDPOINT_SLOT_{n.upper()} = {i}," for i, n in enumerate(slotted)]
slots += [f"    ENDPOINT_SLOTS = {len(slotted)}", "};", "",
          "/* The names of their channels, in the order of the slots. */",
          "static const char *const slot_names[] __attribute__((unused)) = {",
          "    " + ", ".join(f'"{n}"' for n in slotted), "};", "",
          "/* The modules of this build, and when each is wanted: a pattern of glob() finds a file. */",
          "struct module_row {", "    const char *name; /* NULL ends them */",
          "    const char *when[8];", "};", "",
          "static const struct module_row module_rows[] __attribute__((unused)) = {"]
for name, *when in modules:
    slots += [f'    {{"{name}", {{' + ", ".join(f'"{w}"' for w in when) + ", NULL}},"]
slots += ["    {NULL, {NULL}}", "};", "", "#endif", ""]
(out / "slots.h").write_text("\n".join(slots))
