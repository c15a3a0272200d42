# SPDX-License-Identifier: BSD-3-Clause
"""Each program of examples/functions does what it says, and many manual pages have one. With another
number of ranks it works, or it is refused in a sentence; a build with sanitizers finds what overruns.

usage: function_examples.py SOURCE BUILD PROGRAMS
"""
import pathlib
import subprocess
import sys
import tempfile

REFUSED = ("must be 0 to", "is no rank of the group", "is named twice", "This is for")
PAGES = 60  # of functions, at least, show an example


def run(build, program, ranks, folder):
    return subprocess.run([build / "bnr/mpiexec", "--timeout", "30", "-n", str(ranks), program],
                          cwd=folder, capture_output=True, text=True)


def main(source, build, programs):
    source, build = pathlib.Path(source), pathlib.Path(build)
    sys.path.insert(0, str(source / "tools"))
    import function_examples
    examples = [e for e in function_examples.read(source / "examples/functions")
                if all((build / f"doc/man3/{name}.3").exists() for name in e.functions)]
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for example in examples:
            program = pathlib.Path(programs) / f"function_{example.path.stem}"
            ran = run(build, program, example.ranks, folder)
            if ran.returncode or ran.stdout != example.prints:
                bad.append(f"{example.path.name}: ended with {ran.returncode}, and printed\n"
                           f"{ran.stdout}{ran.stderr}")
            for ranks in {1, example.ranks + 2} - {example.ranks}:
                ran = run(build, program, ranks, folder)
                if ran.returncode and not any(words in ran.stderr for words in REFUSED):
                    bad.append(f"{example.path.name} with {ranks} ranks: ended with {ran.returncode}\n"
                               f"{ran.stderr}")
    shown = {name for example in examples for name in example.functions}
    for example in examples:
        bad += [f"{example.path.name} does not call {name}" for name in example.functions
                if f"{name}(" not in example.code]
    for name in sorted(shown):
        if ".SH EXAMPLES" not in (build / f"doc/man3/{name}.3").read_text():
            bad.append(f"{name}(3) has no example")
    if len(shown) < PAGES:
        bad.append(f"only {len(shown)} functions have an example")
    print("\n".join(bad) or f"{len(examples)} programs, {len(shown)} functions")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
