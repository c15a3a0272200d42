# SPDX-License-Identifier: BSD-3-Clause
"""Compile the suite's Fortran programs, of f77, f90 and f08, with a prefix's mpifort.

What the suite's configure and make would do: headers whose kinds are filled in, programs that
testmerge makes of a frame and a list of cases, and C files beside the Fortran.
"""
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ("f77", "f90", "f08")
FILLED = {"F77_MPI_ADDRESS": "integer*8", "F77_MPI_OFFSET": "integer*8"}
# mpif.h has no interfaces: one file may pass two types to one procedure.
FLAGS = {"f77": ["-fallow-argument-mismatch", "-w", "-fcray-pointer"],
         "f90": ["-w", "-fcray-pointer"], "f08": ["-w", "-fcray-pointer"]}
C_FLAGS = ["-DF77_NAME_LOWER_USCORE=1", "-DHAVE_FORTRAN_BINDING=1"]


def is_of(folder):
    return folder.split("/")[0] in FOLDERS


class Builder:
    """Beside build.Builder, whose archives and flags it uses."""

    def __init__(self, c_builder):
        self.c = c_builder
        self.suite, self.root = c_builder.suite, c_builder.root
        self.mpifort = os.path.join(os.path.dirname(c_builder.mpicc), "mpifort")
        self.made = os.path.join(self.root, "fortran")

    def prepare(self):
        """Fill in the headers, and make the programs that are made."""
        os.makedirs(self.made, exist_ok=True)
        for folder, _, names in os.walk(os.path.join(self.suite, "f77")):
            for name in (n for n in names if n.endswith(".h.in")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = re.sub(r"@(\w+)@", lambda m: FILLED[m.group(1)], file.read())
                with open(os.path.join(self.made, name[:-3]), "w", encoding="utf-8") as file:
                    file.write(text)
        # C files there include "../../include/mpitestconf.h".
        for folder in ("include", "f77/x"):
            os.makedirs(os.path.join(self.made, folder), exist_ok=True)
        shutil.copyfile(os.path.join(HERE, "include", "mpitestconf.h"),
                        os.path.join(self.made, "include", "mpitestconf.h"))
        with open(os.path.join(self.suite, "maint", "testmerge.in"), encoding="utf-8") as file:
            merge = file.read().replace("@PERL@", "/usr/bin/perl")
        script = os.path.join(self.made, "testmerge")
        with open(script, "w", encoding="utf-8") as file:
            file.write(merge)
        for language in ("f77", "f08"):
            here = os.path.join(self.suite, language, "io")
            work = os.path.join(self.made, language)
            os.makedirs(work, exist_ok=True)
            subprocess.run(["perl", script,
                            "-defn=" + os.path.join(self.suite, "maint", "common.defn"),
                            *(os.path.join(here, "ioharness." + end) for end in ("defn", "tlt"))],
                           cwd=work, check=False, stdout=subprocess.DEVNULL)
        # Those of f90 are made of f77's.
        os.makedirs(os.path.join(self.made, "f90"), exist_ok=True)
        subprocess.run(["perl", os.path.join(self.suite, "maint", "f77tof90"), "f77", "f90"],
                       cwd=self.made, check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def program(self, makefile, folder, program):
        """Compile and link one program: (binary, None), or (None, reason)."""
        language = folder.split("/")[0]
        binary = os.path.join(self.root, folder, program)
        mods = binary + ".mods"
        os.makedirs(mods, exist_ok=True)
        if os.path.isfile(binary):
            return binary, None
        words = makefile.all_sources(program) or [program + (".f" if language == "f77" else ".f90")]
        sources = [self._find(language, folder, w) for w in words if not w.endswith(".h")]
        if None in sources:
            return None, f"no source {words[sources.index(None)]}"
        flags = ["-J" + mods, "-I" + self.made, "-I" + os.path.join(self.suite, folder),
                 *FLAGS[language]]
        objects = []
        for source in [s for s in sources if s.endswith(".c")]:
            objects.append(os.path.join(mods, os.path.basename(source) + ".o"))
            reason = self.c._call([*self.c.common, *C_FLAGS, "-I" + os.path.join(self.made, "f77", "x"), "-c",
                                   source, "-o", objects[-1]])
            if reason:
                return None, reason
        rest = [s for s in sources if not s.endswith(".c")]
        archive = [os.path.join(self.root, "libmtest_single.a")]
        if not rest:                        # a C program among them
            reason = self.c._call([*objects, "-o", binary, *archive])
            return (None, reason) if reason else (binary, None)
        end = {"f77": ".f", "f90": ".f90", "f08": ".f90"}[language]
        utility = os.path.join(self.suite, "util", f"mtest_{language}{end}")
        reason = None
        for order in (rest, rest[::-1]):    # modules first, whichever they are
            reason = self.c._call([*flags, *order, utility, *objects, "-o", binary, *archive],
                                  self.mpifort)
            if not reason:
                break
        return (None, reason) if reason else (binary, None)

    def _find(self, language, folder, name):
        """A source of the folder, of its like in f90 or f77, or one that was made."""
        places = [os.path.join(self.suite, folder), os.path.join(self.made, language)]
        places += [os.path.join(self.suite, other, *folder.split("/")[1:]) for other in ("f90", "f77")]
        return next((os.path.join(p, name) for p in places
                     if os.path.isfile(os.path.join(p, name))), None)
