#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of managers with PMI-1, as fuzz_pmi reads them. usage: pmi_corpus.py FOLDER"""
import pathlib
import sys

LINES = {
    "maxes": "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
    "space": "cmd=my_kvsname kvsname=kvs_30816_0_1261617482_vm",
    "value": "cmd=get_result rc=0 msg=success value=000020AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
    "missing": "cmd=get_result rc=-1 msg=key_k0_not_found value=unknown",
    "mapping": "(vector,(0,2,2),(2,1,3))",
    "odd": "cmd= rc=-99999999999  size=-1 info=fail value==",
}

for name, line in LINES.items():
    (pathlib.Path(sys.argv[1]) / f"pmi_{name}").write_text(line)
