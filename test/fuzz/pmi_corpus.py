#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of managers with PMI-1, as fuzz_pmi reads them, and of processes, as fuzz_pmi_server does. usage: pmi_corpus.py FOLDER"""
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

BEGIN = "cmd=init pmi_version=1 pmi_subversion=1\n"
REQUESTS = {
    "talk": "\xfe" + BEGIN + "cmd=get_maxes\ncmd=get_my_kvsname\ncmd=put kvsname=k key=a value=b\ncmd=barrier_in\n"
            "cmd=get kvsname=k key=a\ncmd=get kvsname=k key=PMI_process_mapping\ncmd=finalize\n",
    "frames": "\xfe" + BEGIN.replace("version=1", "version=2") + "    49cmd=fullinit;pmijobid=0;pmirank=1;threaded=FALSE;"
              "33    cmd=kvs-put;key=k;value=a;;b;x=1;14    cmd=kvs-fence;    21cmd=kvs-get;key=k;id;"
              "    38cmd=info-getnodeattr;key=n0;wait=TRUE;    71cmd=spawn;ncmds=1;preputcount=0;subcmd=a;maxprocs=1;argc=1;"
              "argv0=b;id=123;    13cmd=finalize;",
    "names": "\x07" + BEGIN + "cmd=publish_name service=s port=p\ncmd=lookup_name service=s\n"
             "cmd=unpublish_name service=s\ncmd=abort exitcode=3 message=a b\n",
    "order": "\xff" + BEGIN + "mcmd=spawn\nnprocs=2\nexecname=a\ntotspawns=1\nspawnssofar=1\narg1=x\nargcnt=1\n"
             "preput_num=1\npreput_key_0=p\npreput_val_0=v\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/\nendcmd\n",
}

for name, text in REQUESTS.items():
    (pathlib.Path(sys.argv[1]) / f"pmi_{name}").write_bytes(text.encode("latin-1"))
for name, line in LINES.items():
    (pathlib.Path(sys.argv[1]) / f"pmi_{name}").write_text(line)
