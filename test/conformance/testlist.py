# SPDX-License-Identifier: BSD-3-Clause
"""Read the suite's testlists: which programs run, on how many ranks, with what.

A testlist line is  PROGRAM [RANKS [key=value ...]], or the name of a subfolder. A
testlist.in has @markers@ that the suite's configure would fill; MARKERS says what we fill
in. Tests of random datatypes are listed by one table of the suite, maint/dtp-test-config.txt.
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))

# What each @marker@ at the start of a line means: a folder's name, "" to keep the
# rest of the line, None to drop the line. A marker not named here drops its line.
MARKERS = {
    "errordir": "errors", "iodir": "io", "partdir": "part", "perfdir": "perf", "rmadir": "rma",
    "spawndir": "spawn", "threadsdir": "threads",
    "comm_overlap": "", "namepub_tests": "", "mpix": "",
    "largetest": "LARGE ", "ALLOCMEMF": "allocmemf 1", "ALLOCMEMFC": "allocmemf90 1",
    "F77SPAWNARGTEST": "", "F03SPAWNARGTEST": "",
}
LEFT_OUT = {
    "cxx": "C++ bindings, gone since MPI-3.0",
    "impls": "MPICH's own launcher and variables", "ckpoint": "MPICH's checkpointing",
}
# Folders run when none is named; the others (ft, perf) are run on request.
DEFAULT = ["attr", "coll", "comm", "datatype", "errhan", "errors", "group", "info", "init", "io",
           "mpi_t", "part", "pt2pt", "rma", "romio", "spawn", "threads", "topo"]
DTP_TYPES = ["MPI_INT", "MPI_INT:4+MPI_DOUBLE:8"]
SUITE_TIME_LIMIT = 180  # seconds the suite's own runner gives a test without timeLimit


class Test:
    """One line of a testlist."""

    def __init__(self, folder, program, ranks):
        self.folder = folder
        self.program = program
        self.ranks = ranks
        self.args = []
        self.env = {}
        self.mpiexec_args = []
        self.time_limit = None   # seconds, as the testlist says
        self.result_test = None  # how the outcome is judged, None for the usual way
        self.memory = 0.0        # GB
        self.large = False       # in need of more than 2 GB a rank

    @property
    def name(self):
        return f"{self.folder}/{self.program}"

    @property
    def line(self):
        return " ".join([self.name, f"np={self.ranks}", *self.args])

    def limit(self, seconds):
        """Scale the testlist's time limit to a default of seconds; never below the smaller."""
        if self.time_limit is None:
            return seconds
        scaled = self.time_limit * seconds / SUITE_TIME_LIMIT
        return max(scaled, min(self.time_limit, seconds))

    def same_run(self):
        """What tells runs apart for us: settings of MPICH mean nothing here."""
        env = tuple(sorted((k, v) for k, v in self.env.items() if not k.startswith("MPIR_CVAR")))
        return (self.name, self.ranks, tuple(self.args), env, tuple(self.mpiexec_args),
                self.result_test)


def folders(suite):
    """Return every folder of the suite that has a testlist and is not left out."""
    return [f for f in sorted(os.listdir(suite))
            if f not in LEFT_OUT and _testlist(os.path.join(suite, f))]


def read(suite, folder):
    """Return the tests of a folder and, where its testlist names them, of its subfolders."""
    tests = []
    path = _testlist(os.path.join(suite, folder))
    if not path:
        raise ValueError(f"no testlist in {folder}")
    with open(path, encoding="utf-8") as file:
        lines = [_fill_markers(line) for line in file]
    for line in lines + _dtp_lines(suite, folder):
        words = line.split("#")[0].split()
        if not words or words[0] in LEFT_OUT:
            continue
        sub = f"{folder}/{words[0]}"
        if os.path.isdir(os.path.join(suite, sub)):
            tests += read(suite, sub)
        else:
            tests.append(_parse(folder, words))
    return _without_repeats(tests)


def read_deviations(name="deviations.txt"):
    """Return {program: the rest of its line} of a file beside this one."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        lines = [line.split("#")[0].split(None, 1) for line in file]
    return {words[0]: words[1].strip() for words in lines if len(words) == 2}


def deviation(deviations, test, marks=()):
    """Return why a test is not to run, at all or in the ways that marks name; or None. A mark is a
    value of VIREO_CHANNELS, "hosts", or a name in hints.txt."""
    names = [test.name, *(f"{test.name}@{mark}" for mark in marks)]
    return next((deviations[name] for name in names if name in deviations), None)


def _testlist(folder):
    for name in ("testlist", "testlist.in"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def _fill_markers(line):
    match = re.match(r"\s*@(\w+)@(.*)", line)
    if not match:
        return line
    value = MARKERS.get(match.group(1))
    return "" if value is None else value + match.group(2)


def _parse(folder, words):
    large = words[0] == "LARGE"
    if large:
        words = words[1:]
    ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 2
    test = Test(folder, words[0], ranks)
    test.large = large
    for word in words[2:]:
        key, equals, value = word.partition("=")
        if not equals:
            continue  # stray words are what the suite's own runner skips too
        if key == "arg":
            test.args.append(value)
        elif key == "env":
            name, _, setting = value.partition("=")
            test.env[name] = setting
        elif key == "mpiexecarg":
            test.mpiexec_args.append(value)
        elif key == "timeLimit":
            test.time_limit = float(value)
        elif key == "resultTest":
            test.result_test = value
        elif key == "mem":
            test.memory = float(value)
        elif key not in ("xfail", "strict", "mpix", "init", "lock", "mpiversion"):
            raise ValueError(f"{test.name}: unknown key {key} in the testlist")
    return test


def _without_repeats(tests):
    seen, kept = set(), []
    for test in tests:
        run = test.same_run()
        if run in seen and any(k.startswith("MPIR_CVAR") for k in test.env):
            continue
        seen.add(run)
        kept.append(test)
    return kept


def _dtp_lines(suite, folder):
    """Return testlist lines for the random datatype tests of folder.

    The table's fields are path:arguments:counts:keys:ranks:least size:most size. A larger
    count gets a proportionally smaller number of random types. Seeds count up over the
    whole table so that each line has its own.
    """
    lines, seed = [], 0
    with open(os.path.join(suite, "maint", "dtp-test-config.txt"), encoding="utf-8") as file:
        rows = [row.strip().split(":") for row in file if row.strip() and row[0] != "#"]
    for path, args, counts, keys, ranks, least, most, *_ in rows:
        where, program = os.path.split(path)
        most = int(most or least)
        fixed = " ".join([f"arg={a}" for a in args.split()] + [keys])
        for kind in DTP_TYPES:
            size, before = most, None
            for count in map(int, counts.split()):
                if before:
                    size = min(max(size * before // count, int(least)), most)
                before = count
                for sizes in _dtp_counts(where, count):
                    seed += 1
                    if where == folder:
                        lines.append(f"{program} {ranks} arg=-type={kind} {sizes} arg=-seed={seed} "
                                     f"arg=-testsize={size} {fixed}")
    return lines


def _dtp_counts(where, count):
    if where in ("pt2pt", "part"):
        return [f"arg=-sendcnt={count} arg=-recvcnt={count * n}" for n in (1, 2)]
    return [f"arg=-count={count}"]
