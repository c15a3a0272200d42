# SPDX-License-Identifier: BSD-3-Clause
"""Obtain the test suite: Debian's source package of mpich, its test/mpi alone.

ROMIO's own tests, where tools/get_romio.py has unpacked ROMIO, are added as a folder romio.
"""
import glob
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tools"))

import debian_source                            # noqa: E402
from debian_source import Unobtainable          # noqa: E402

PACKAGE = "mpich"


def work_dir():
    """The folder that caches source and builds: VIREO_CONFORMANCE_DIR or the user's cache."""
    own = os.environ.get("VIREO_CONFORMANCE_DIR")
    return os.path.abspath(own or os.path.join(debian_source.cache_dir(), "conformance"))


def suite(work):
    """Return the folder of the suite under work, fetching it the first time."""
    found = _present(work)
    if found:
        _add_romio(found)
        return found
    os.makedirs(work, exist_ok=True)
    if not shutil.which("dpkg-source"):
        raise Unobtainable("dpkg-source is not installed (Debian package dpkg-dev)")
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=work) as scratch:
        print(f"fetching the source package {PACKAGE} ...", flush=True)
        _fetch(scratch, work)
    return suite(work)


def _add_romio(found):
    """Have ROMIO's tests and our list of them beside the suite's folders."""
    tests = glob.glob(os.path.join(TOP, "subprojects", "mpich-*", "src", "mpi", "romio", "test"))
    target = os.path.join(found, "romio")
    if tests and not os.path.isdir(target):
        with tempfile.TemporaryDirectory(prefix="romio-", dir=found) as scratch:
            made = shutil.copytree(tests[0], os.path.join(scratch, "romio"))
            with open(os.path.join(made, "misc.c.in"), encoding="utf-8") as file:
                text = file.read().replace("@LL@", "lld")
            with open(os.path.join(made, "misc.c"), "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(made, target)
    if os.path.isdir(target):
        shutil.copyfile(os.path.join(HERE, "romio.testlist"), os.path.join(target, "testlist"))


def _present(work):
    for name in sorted(os.listdir(work)) if os.path.isdir(work) else ():
        if re.fullmatch(PACKAGE + r"-\d[\w.+~-]*", name):
            return os.path.join(work, name)
    return None


def _fetch(scratch, work):
    """Download and unpack in scratch; leave work/mpich-VERSION, which is test/mpi alone."""
    description = debian_source.fetch(PACKAGE, scratch)
    tree = os.path.join(scratch, "tree")
    got = debian_source.quiet(["dpkg-source", "--no-check", "-x", description, tree], scratch)
    tests = os.path.join(tree, "test", "mpi")
    if got.returncode != 0 or not os.path.isfile(os.path.join(tests, "runtests.in")):
        raise Unobtainable(f"the source package has no test/mpi:\n{got.stdout.strip()}")
    version = re.match(r"[^_]+_([^-]+)", description).group(1)
    os.rename(tests, os.path.join(work, f"{PACKAGE}-{version}"))
