#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --output json writes is JSON, and has every byte. usage: json_output.py MPIEXEC"""
import datetime
import json
import os
import re
import subprocess
import sys

MPIEXEC = sys.argv[1]
ORDER = ["rank", "host", "stream", "time", "text", "newline", "escaped"]


def run(*words, ranks=1, **more):
    return subprocess.run([MPIEXEC, "--output", "json", "-n", str(ranks), *words],
                          capture_output=True, timeout=60, check=False, **more)


def lines_of(data):
    """The objects, one a line; each with the members that are documented, in their order."""
    objects = []
    for line in data.decode().split("\n")[:-1]:
        one = json.loads(line)
        assert list(one) == [name for name in ORDER if name in one], line
        assert len(one) >= 5 and one.get("newline") is not True and one.get("escaped") is not False
        objects.append(one)
    return objects


def bytes_of(objects):
    """The bytes that a rank has written, as json_lines.h says."""
    data = b""
    for one in objects:
        text = one["text"].encode()
        if "escaped" in one:
            text = re.sub(rb"\\(?:x([0-9A-F]{2})|\\)",
                          lambda m: bytes([int(m[1], 16)]) if m[1] else b"\\", text)
        data += text + (b"" if "newline" in one else b"\n")
    return data


def same(claim, got, wanted):
    if got != wanted:
        sys.exit(f"not so: {claim}\ngot:    {got!r}\nwanted: {wanted!r}")
    print("ok:", claim, flush=True)


def main():
    begun = datetime.datetime.now(datetime.timezone.utc)
    done = run("sh", "-c", 'echo "rank $OMPI_COMM_WORLD_RANK"; echo oops >&2', ranks=3)
    out, err = lines_of(done.stdout), lines_of(done.stderr)
    same("a line is an object with its rank", sorted((o["rank"], o["text"]) for o in out),
         [(r, f"rank {r}") for r in range(3)])
    same("and its host", {o["host"] for o in out + err}, {os.uname().nodename})
    same("stderr has its own", [(o["stream"], o["text"]) for o in err], [("stderr", "oops")] * 3)
    same("stdout too", {o["stream"] for o in out}, {"stdout"})
    ended = datetime.datetime.now(datetime.timezone.utc)
    times = [datetime.datetime.strptime(o["time"], "%Y-%m-%dT%H:%M:%S.%f%z") for o in out]
    same("the time is when it was written", all(begun <= t <= ended for t in times), True)

    text = 'quotes " \\ and \x01 \t \0 controls, ü €  \U0001f600\n'
    done = run("cat", input=text.encode())
    same("text is as it was written", [o["text"] for o in lines_of(done.stdout)], [text[:-1]])
    same("and says no more of itself", set(lines_of(done.stdout)[0]), set(ORDER[:5]))

    # Not UTF-8: a lone byte, a cut character, an overlong one, half a pair, beyond the last.
    bad = b"caf\xe9 \\x41 \xe2\x82 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 ok\n"
    done = run("cat", input=bad)
    same("bytes that are not UTF-8 are escaped", [o["text"] for o in lines_of(done.stdout)],
         [r"caf\xE9 \\x41 \xE2\x82 \xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80 ok"])
    same("and come back", bytes_of(lines_of(done.stdout)), bad)

    data = os.urandom(1 << 20)
    done = run("cat", input=data)
    same("1 MiB of any bytes comes back", bytes_of(lines_of(done.stdout)) == data, True)
    data = b"x" * 200000 + b"\nend"
    done = run("cat", input=data)
    objects = lines_of(done.stdout)
    same("a line that is too long comes in parts", (len(objects) > 2, bytes_of(objects) == data),
         (True, True))
    same("an empty line is one", [o["text"] for o in lines_of(run("echo").stdout)], [""])

    done = run("sh", "-c", "seq 1 20000; seq 1 20000 >&2", ranks=4)
    numbers = b"".join(b"%d\n" % i for i in range(1, 20001))
    for stream, objects in ("stdout", lines_of(done.stdout)), ("stderr", lines_of(done.stderr)):
        for rank in range(4):
            same(f"all of rank {rank}'s {stream} in its order",
                 bytes_of([o for o in objects if o["rank"] == rank]) == numbers, True)

    done = run("sh", "-c", "printf part; exit 3")
    same("what mpiexec says is an object, too",
         [(o["rank"], o["stream"], "exited with code 3" in o["text"])
          for o in lines_of(done.stderr)], [(None, "mpiexec", True)])
    same("and the exit status is the rank's", done.returncode, 3)
    same("part of a line says so",
         [(o["text"], o.get("newline")) for o in lines_of(done.stdout)], [("part", False)])
    for more in ["--prepend-pattern", "a"], ["--outfile-pattern", "f"]:
        done = run(*more, "true")
        same(f"JSON with {more[0]} is refused", (done.returncode, b"JSON" in done.stderr),
             (2, True))


main()
