#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Put ROMIO's source where Meson finds it: subprojects/DIRECTORY, as subprojects/mpich.wrap says.

usage: get_romio.py [SOURCE]

The package is taken from subprojects/packagefiles/ or from the user's cache, or obtained by
apt-get and kept in the cache. Its hash is checked. ROMIO, its tests and the overlay of
subprojects/packagefiles/ are unpacked, and nothing else. What is there is left as it is, but for an
overlay that has changed. Exits with 1, and a line that says why, where the source cannot be had.
"""
import configparser
import hashlib
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

import debian_source

WANTED = ("src/mpi/romio/",)


def main(root):
    places = root / "subprojects"
    wrap = configparser.ConfigParser()
    wrap.read(places / "mpich.wrap")
    wrap = wrap["wrap-file"]
    target = places / wrap["directory"]
    if not (target / "complete").exists():
        unpack(package(places, wrap), wrap["directory"], target)
    for file in (places / "packagefiles" / wrap["patch_directory"]).iterdir():
        copy = target / file.name
        if not copy.exists() or copy.read_bytes() != file.read_bytes():
            shutil.copyfile(file, copy)


def package(places, wrap):
    """The path of the package, whose hash is right."""
    name = wrap["source_filename"]
    cached = pathlib.Path(debian_source.cache_dir(), name)
    for path in (places / "packagefiles" / name, cached):
        if path.exists() and is_right(path, wrap):
            return path
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=cached.parent) as scratch:
        debian_source.fetch("mpich", scratch)
        got = pathlib.Path(scratch, name)
        if not got.exists() or not is_right(got, wrap):
            raise debian_source.Unobtainable(
                f"this system's mpich is not the version {name} that this tree builds with")
        got.rename(cached)
    return cached


def is_right(path, wrap):
    return hashlib.sha256(path.read_bytes()).hexdigest() == wrap["source_hash"]


def unpack(path, directory, target):
    """Unpack what is wanted; complete, or not at all."""
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=target.parent) as scratch:
        with tarfile.open(path, "r|xz") as archive:
            for member in archive:
                wanted = tuple(f"{directory}/{w}" for w in WANTED)
                if member.isfile() and member.name.startswith(wanted) and ".." not in member.name:
                    archive.extract(member, scratch, set_attrs=False)
        made = pathlib.Path(scratch, directory)
        if not made.is_dir():
            raise debian_source.Unobtainable(f"{path.name} has no {directory}/{WANTED[0]}")
        (made / "complete").touch()
        shutil.rmtree(target, ignore_errors=True)
        os.rename(made, target)


if __name__ == "__main__":
    try:
        main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    except (debian_source.Unobtainable, OSError, tarfile.TarError) as error:
        sys.exit(f"get_romio: {error}")
