# SPDX-License-Identifier: BSD-3-Clause
"""Obtain Debian source packages.

The deb-src lines are made from the machine's own apt sources and live, with the
indexes, in a private folder that is removed afterwards: the system's apt
configuration stays as it is, and no host is named here.
"""
import os
import re
import shutil
import subprocess


class Unobtainable(Exception):
    """The source package cannot be had; the text says why."""


def cache_dir():
    """The user's cache of this project."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.abspath(os.path.join(cache, "vireo"))


def fetch(package, scratch):
    """Download the files of a source package into scratch; return the name of its .dsc there."""
    if not shutil.which("apt-get"):
        raise Unobtainable("apt-get is not installed")
    options = _apt_options(scratch)
    # A source that has no deb-src index makes update complain; what matters is the next step.
    quiet(["apt-get", *options, "update"], scratch)
    got = quiet(["apt-get", *options, "source", "--download-only", package], scratch)
    descriptions = [f for f in os.listdir(scratch) if f.endswith(".dsc")]
    if got.returncode != 0 or len(descriptions) != 1:
        raise Unobtainable(f"apt-get source {package} failed:\n{got.stdout.strip()}")
    return descriptions[0]


def quiet(command, where):
    return subprocess.run(command, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def _apt_options(scratch):
    parts = os.path.join(scratch, "sources.list.d")
    lists = os.path.join(scratch, "lists")
    cache = os.path.join(scratch, "cache")
    downloads = os.path.join(cache, "archives", "partial")
    for folder in (parts, os.path.join(lists, "partial"), downloads):
        os.makedirs(folder)
    _write_sources(parts)
    settings = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": parts,
                "Dir::State::lists": lists, "Dir::Cache": cache}
    if os.geteuid() == 0:
        settings["APT::Sandbox::User"] = "root"  # scratch may lie where _apt cannot look
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _write_sources(parts):
    """Write deb-src twins of the system's sources of its own release into parts."""
    lines, stanzas = [], []
    for path in _system_source_files():
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if path.endswith(".sources"):
            stanzas += _stanzas(text)
        else:
            lines += _one_line_sources(text)
    release = _codename()
    own_lines = [line for line, suites in lines if _of_release(suites, release)]
    own_stanzas = [stanza for stanza, suites in stanzas if _of_release(suites, release)]
    if not own_lines and not own_stanzas:
        own_lines, own_stanzas = [x for x, _ in lines], [x for x, _ in stanzas]
    if not own_lines and not own_stanzas:
        raise Unobtainable("this machine has no apt sources to derive deb-src lines from")
    with open(os.path.join(parts, "suite.list"), "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in own_lines))
    with open(os.path.join(parts, "suite.sources"), "w", encoding="utf-8") as file:
        file.write("\n".join(own_stanzas))


def _system_source_files():
    got = subprocess.run(["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f",
                          "PARTS", "Dir::Etc::sourceparts/d"],
                         stdout=subprocess.PIPE, text=True, check=False).stdout
    place = dict(re.findall(r"(\w+)='([^']*)'", got))
    files = [place.get("LIST", "/etc/apt/sources.list")]
    parts = place.get("PARTS", "/etc/apt/sources.list.d/")
    if os.path.isdir(parts):
        files += [os.path.join(parts, f) for f in sorted(os.listdir(parts))
                  if f.endswith((".list", ".sources"))]
    return [f for f in files if os.path.isfile(f)]


def _one_line_sources(text):
    """Return (deb-src line, [suite]) for every deb line of a sources.list."""
    found = re.findall(r"^\s*deb\s+((?:\[[^\]]*\]\s+)?\S+\s+(\S+)[^#\n]*)", text, re.M)
    return [("deb-src " + rest.strip(), [suite]) for rest, suite in found]


def _stanzas(text):
    """Return (deb-src stanza, suites) for every enabled binary stanza of a .sources file."""
    result = []
    text = re.sub(r"^#.*\n", "", text, flags=re.M)
    for stanza in re.split(r"\n\s*\n", text):
        types = re.search(r"^Types:(.*)$", stanza, re.M | re.I)
        suites = re.search(r"^Suites:(.*)$", stanza, re.M | re.I)
        disabled = re.search(r"^Enabled:\s*(no|false|0)\s*$", stanza, re.M | re.I)
        if types and suites and not disabled and "deb" in types.group(1).split():
            twin = stanza[:types.start()] + "Types: deb-src" + stanza[types.end():]
            result.append((twin.strip() + "\n", suites.group(1).split()))
    return result


def _codename():
    with open("/etc/os-release", encoding="utf-8") as file:
        match = re.search(r'^VERSION_CODENAME="?(\w+)', file.read(), re.M)
    return match.group(1) if match else ""


def _of_release(suites, release):
    return bool(release) and any(re.split(r"[-/]", suite)[0] == release for suite in suites)
