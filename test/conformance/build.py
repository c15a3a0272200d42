# SPDX-License-Identifier: BSD-3-Clause
"""Compile the suite's programs with a prefix's mpicc, by rules of our own.

The suite's Makefile.am files are read for differences between programs: sources,
macros, and whether a program is threaded. Each program is one compiler call; the
suite's utilities are built once into archives. Sections that a program does not reach
are dropped when linking, so a function that the library lacks fails those programs
alone that call it.
"""
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys

import fortran

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-std=gnu11", "-O1", "-g", "-Werror=implicit-function-declaration",
         "-Werror=int-conversion", "-Wno-incompatible-pointer-types",
         "-ffunction-sections", "-fdata-sections", "-pthread"]
UTILITIES = ["util/mtest.c", "util/mtest_common.c", "util/dtypes.c"]
COMPILE_LIMIT = 400  # seconds
# Utilities that exist only with a part of MPI: what a program that calls one really needs.
STANDS_FOR = {"MTestGetWin": "MPI_Win_create", "MTestGetWinName": "MPI_Win_create",
              "MTestFreeWin": "MPI_Win_create"}
# A type that was freed is named once more, whose number the next type has got.
FREED_TYPE = [(r"(more rigorous test of the hindexed type(?:.|\n)*?)(len\[0\] = 1;)",
               r"\1types[0] = type;\n    \2")]
MARKED = [(r"\bMPI_Type_create_struct\b", "MPI_Type_struct")]  # of types that mark bounds
# Lines that hold only where a handle is an int: (pattern, what stands there instead). The
# program is compiled from a copy with these lines put right.
CORRECTIONS = {
    **{f"romio/{name}.c": MARKED for name in ("i_noncontig", "noncontig", "noncontig_coll",
                                              "noncontig_coll2")},
    "coll/nonblocking2.c": [(r"\bint \*(send|recv)types\b", r"MPI_Datatype *\1types")],
    "coll/nonblocking3.c": [(r"\bint \*(send|recv)types\b", r"MPI_Datatype *\1types")],
    "datatype/indexed_misc.c": FREED_TYPE,
    "datatype/indexed_misc_oldapi.c": FREED_TYPE,
    "datatype/pack_external.c": [(r"switch \(dt\.mpi_type\)", r"switch ((MPI_Aint) dt.mpi_type)"),
                                 (r"\bcase (MPI_\w+):", r"case (MPI_Aint) \1:")],
    "threads/pt2pt/mt_probe_impl.c": [(r"\bmessage != MPI_REQUEST_NULL",
                                       "message != MPI_MESSAGE_NULL")],
}
# For a library without intercommunicators: one of a dozen kinds of intracommunicator that
# the utilities hand out is a merged one, and every program that asks for them would fail.
WITHOUT_MERGE = {"util/mtest.c": [(r"(world using MPI_Intercomm_merge(?:.|\n)*?)if \(size > 1\)",
                                   r"\1if (0)")]}
MERGE_PROBE = "MPI_Intercomm_create(0, 0, 0, 0, 0, 0); MPI_Intercomm_merge(0, 0, 0);"
PROBES = {
    "HAVE_MPI_WIN_CREATE": "MPI_Win_create(0, 0, 1, 0, 0, 0); MPI_Win_free_keyval(0); "
                           "MPI_Win_create_keyval(0, 0, 0, 0); MPI_Win_set_attr(0, 0, 0); "
                           "MPI_Win_get_attr(0, 0, 0, 0); MPI_Win_free(0);",
    "HAVE_MPI_SPAWN": "MPI_Comm_spawn(0, 0, 0, 0, 0, 0, 0, 0);",
}


def default_prefix():
    """Where this tree's build has bin/mpicc."""
    top = os.path.dirname(os.path.dirname(HERE))
    for place in (os.path.join(top, "build", "stage"), os.path.join(top, "build")):
        if os.path.isfile(os.path.join(place, "bin", "mpicc")):
            return place
    sys.exit("conformance: no bin/mpicc under build/stage or build; build first, or give --prefix")


class Unusable(Exception):
    """The prefix cannot build even the suite's utilities; the text says why."""


class Makefile:
    """The variables of one Makefile.am that matter here."""

    def __init__(self, folder):
        path = os.path.join(folder, "Makefile.am")
        text = ""
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"\\\n", " ", file.read())
        self.threaded = "Makefile_threads.mtest" in text
        self._values = {}
        for name, value in re.findall(r"^(\w+)\s*\+?=(.*)$", text, re.M):
            self._values[name] = self._values.get(name, "") + " " + value

    def sources(self, program):
        words = self._get(program, "SOURCES") or [program + ".c"]
        return [w for w in words if w.endswith(".c")]

    def all_sources(self, program):
        """Of every language."""
        return [w for w in self._get(program, "SOURCES") or self._get("nodist_" + program, "SOURCES")
                if not w.startswith("$")]

    def macros(self, program):
        return [w for w in self._get(program, "CPPFLAGS") if w.startswith("-D")]

    def _get(self, program, variable):
        name = re.sub(r"\W", "_", program)
        return self._values.get(f"{name}_{variable}", "").split()


class Builder:
    """Builds programs of the suite for one prefix, in a folder of its own."""

    def __init__(self, suite, prefix, work, compile_only=False, mpicc=None):
        self.suite = suite
        self.mpicc = mpicc or os.path.join(prefix, "bin", "mpicc")
        tag = hashlib.sha256((os.path.realpath(prefix) + (mpicc or "")).encode()).hexdigest()[:12]
        self.root = os.path.join(work, "build-" + tag)
        self.compile_only = compile_only
        self.common = []
        self.corrections = dict(CORRECTIONS)
        self.fortran = fortran.Builder(self)

    def prepare(self):
        """Probe the library and build the utilities; forget programs of another header."""
        os.makedirs(self.root, exist_ok=True)
        # The suite says "mpitestconf.h" and "../dtpoolsconf.h": one folder answers both.
        self.common = [*FLAGS, "-I" + os.path.join(HERE, "include"),
                       "-I" + os.path.join(self.suite, "include"),
                       "-I" + os.path.join(self.suite, "dtpools", "include"),
                       "-include", os.path.join(HERE, "compat.h")]
        for macro, call in PROBES.items():
            if self._probe(call):
                self.common.append(f"-D{macro}=1")
        if not self._probe(MERGE_PROBE):
            print("the library lacks MPI_Intercomm_merge: programs that try many kinds of "
                  "communicator leave merged ones out", flush=True)
            self.corrections.update(WITHOUT_MERGE)
        self._forget_stale()
        if not self.compile_only:
            self._archives()

    def build(self, tests, jobs):
        """Build each program of tests once; return {name: (binary, reason)}, one of them None."""
        if any(fortran.is_of(t.folder) for t in tests):
            self.fortran.prepare()
        makefiles = {f: Makefile(os.path.join(self.suite, f)) for f in {t.folder for t in tests}}
        names = sorted({(t.folder, t.program) for t in tests})
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            built = pool.map(lambda n: self._program(makefiles[n[0]], *n), names)
            return {f"{folder}/{program}": result
                    for (folder, program), result in zip(names, built)}

    def _program(self, makefile, folder, program):
        """Compile and link one program where it will run; keep the result of an earlier run."""
        if fortran.is_of(folder):
            return self.fortran.program(makefile, folder, program)
        home = os.path.join(self.suite, folder)
        binary = os.path.join(self.root, folder, program)
        os.makedirs(os.path.dirname(binary), exist_ok=True)
        if os.path.isfile(binary) and not self.compile_only:
            return binary, None
        sources = [os.path.join(home, s) for s in makefile.sources(program)]
        missing = [s for s in sources if not os.path.isfile(s)]
        if missing:
            return None, f"no source {os.path.basename(missing[0])}"
        sources = [self._corrected(s) for s in sources]
        flags = [*self.common, *makefile.macros(program), "-I" + home]
        if makefile.threaded:
            flags.append("-DMTEST_USE_THREAD")
        if any(_hides_body(s) for s in sources):
            flags.append("-DVIREO_WHOLE_BODY")
        if self.compile_only:
            reason = self._call([*flags, "-fsyntax-only", *sources])
        else:
            kind = "thread" if makefile.threaded else "single"
            archives = [os.path.join(self.root, f"lib{a}.a") for a in ("mtest_" + kind, "dtpools")]
            reason = self._call([*flags, *sources, "-o", binary, *archives, "-Wl,--gc-sections",
                                 "-lm"])
        return (None, reason) if reason else (binary, None)

    def _corrected(self, source):
        """Return source, or the copy of it that CORRECTIONS asks for."""
        name = os.path.relpath(source, self.suite)
        if name not in self.corrections:
            return source
        with open(source, encoding="utf-8") as file:
            text = file.read()
        for pattern, instead in self.corrections[name]:
            text, times = re.subn(pattern, instead, text)
            if not times:
                raise Unusable(f"{name} has changed: nothing to correct by {pattern}")
        copy = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as file:
            file.write(text)
        return copy

    def _archives(self):
        pools = os.path.join("dtpools", "src")
        pool_sources = [os.path.join(pools, f)
                        for f in sorted(os.listdir(os.path.join(self.suite, pools)))
                        if f.endswith(".c")]
        self._archive("dtpools", pool_sources)
        self._archive("mtest_single", [*UTILITIES, "util/mtest_single.c"])
        self._archive("mtest_thread", [*UTILITIES, "util/mtest_thread.c"])

    def _archive(self, name, sources):
        target = os.path.join(self.root, f"lib{name}.a")
        if os.path.isfile(target):
            return
        objects = []
        for source in sources:
            made = os.path.join(self.root, f"{name}-{os.path.basename(source)}.o")
            reason = self._call([*self.common, "-c",
                                 self._corrected(os.path.join(self.suite, source)), "-o", made])
            if reason:
                raise Unusable(f"the suite's {source} does not compile: {reason}")
            objects.append(made)
        subprocess.run(["ar", "rcs", target, *objects], check=True)

    def _probe(self, call):
        path = os.path.join(self.root, "probe.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <mpi.h>\nint main(void) { " + call + " return 0; }\n")
        mode = ["-fsyntax-only"] if self.compile_only else ["-o", os.path.join(self.root, "probe")]
        return self._call([*FLAGS, path, *mode]) is None

    def _forget_stale(self):
        """Empty the build folder when the compiler's view of mpi.h, or our rules, changed."""
        flat = subprocess.run([self.mpicc, *self.common, "-dD", "-E", "-x", "c", "/dev/null"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if flat.returncode != 0:
            raise Unusable(_reason(flat.stderr.decode(errors="replace")))
        stamp = hashlib.sha256(flat.stdout + repr([self.common, self.corrections]).encode())
        for name in ("build.py", "include/mpitestconf.h", "dtpoolsconf.h"):
            with open(os.path.join(HERE, name), "rb") as file:
                stamp.update(file.read())
        path = os.path.join(self.root, "stamp")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == stamp.hexdigest():
                    return
        for name in os.listdir(self.root):
            if name != "lock":
                old = os.path.join(self.root, name)
                shutil.rmtree(old) if os.path.isdir(old) else os.unlink(old)
        with open(path, "w", encoding="utf-8") as file:
            file.write(stamp.hexdigest())

    def _call(self, args, compiler=None):
        """Run mpicc, or another, with args; return None, or why it failed in one line."""
        try:
            done = subprocess.run([compiler or self.mpicc, *args], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=COMPILE_LIMIT, check=False,
                                  env={**os.environ, "LC_ALL": "C"})
        except subprocess.TimeoutExpired:
            return f"the compiler took more than {COMPILE_LIMIT} s"
        except OSError as error:
            return f"{self.mpicc}: {error.strerror}"
        return None if done.returncode == 0 else _reason(done.stdout)


def _hides_body(source):
    with open(source, encoding="utf-8", errors="replace") as file:
        return "!defined(USE_STRICT_MPI) && defined(MPICH)" in file.read()


def _reason(output):
    """Put a compiler's complaint in one line: the names it lacks, or the first error."""
    lacking = []
    for pattern in (r"undefined reference to [`']?(\w+)", r"undefined symbol: (\w+)",
                    r"implicit declaration of function '(\w+)'",
                    r"call to undeclared function '(\w+)'", r"'(\w+)' undeclared",
                    r"undeclared identifier '(\w+)'", r"unknown type name '(\w+)'"):
        lacking += [STANDS_FOR.get(n, n) for n in re.findall(pattern, output)]
    if any(re.match(r"P?MPIX?_|QMPI_|MTest|p?mpi_\w+_$", name) for name in lacking):
        return "needs " + " ".join(dict.fromkeys(lacking))
    errors = re.findall(r"(?:^|/)([\w.]+:\d+:[\d:]* (?:fatal )?error: .*)", output, re.M)
    errors = errors or re.findall(r"^(?:Error|Fatal Error): .*", output, re.M)
    lines = errors or [line for line in output.splitlines() if line.strip()]
    return lines[0].strip()[:200] if lines else "the compiler failed without a word"
