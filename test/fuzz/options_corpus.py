#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write seeds for fuzz_options: command lines, each word ended by a zero byte.

usage: options_corpus.py DIR
"""
import pathlib
import sys

seeds = {
    "program": "-n 4 -wdir /tmp -env A 1 -x B=2 -envlist C,D ./a.out -n 3 : -np 2 -envnone b",
    "job": "-genv A 1 -genvlist B,C -genvall --timeout 2.5 --set channels=tcp --set eager_credit=1k "
           "-usize 12 -disable-auto-cleanup --report -n 2 prog : prog",
    "streams": "-l --output tag,merge,dir=F:nocopy --output-filename=a%b -outfile-pattern o.%r.%R.%h "
               "-errfile-pattern %t%%%g%p --stdin 0 -s all prog",
    "foreign": "-host localhost,127.0.0.1:4,::1 --bind-to none --map-by core:oversubscribe "
               "--mca mpi_yield_when_idle 1 -ppn 2 -soft 1:4:2 --use-hwthread-cpus -launcher ssh prog",
    "standard": "-initial-errhandler mpi_errors_return -memory-alloc-kinds mpi:alloc_mem,system -soft 1 "
                "prog : --initial-errhandler=x --memory-alloc-kinds=a:,b prog",
    "refused": "--tagoutput -hostfile h -iface eth0 prog",
    "help": "-n 4 --help=settings",
    "odd": "-- -prog : - : -n=1 a : --np=1 b :",
    "settings": "--set spin_us=-1 --set chanels=shm --set kill_after_ms=99999999999999999999 prog",
}
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for name, seed in seeds.items():
    (out / f"options_{name}").write_bytes(seed.replace(" ", "\0").encode() + b"\0")
