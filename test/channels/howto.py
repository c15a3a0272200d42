#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print the channel that doc/channel-howto.md makes: its blocks of C.

usage: howto.py FILE.md OUTPUT.c
"""
import pathlib
import re
import sys

blocks = re.findall(r"^```c\n(.*?)^```$", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S)
if not blocks:
    sys.exit(f"{sys.argv[1]}: there is no block of C")
pathlib.Path(sys.argv[2]).write_text("\n".join(blocks))
