#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make a folder to link with, so that binaries run with an older glibc than this machine's.

    old_glibc.py VERSION FOLDER [COMPILER...]       then: cc -LFOLDER ...
    old_glibc.py needs VERSION TREE                 what the binaries below TREE need; fails past VERSION

FOLDER gets stand-ins for the shared libraries of glibc, empty but for names: each name has the newest version that
VERSION had (GLIBC_2.28 and older, for 2.28), and lies in the library in which that one had it (pthread_create in
libpthread.so.0). A name that VERSION did not have is an error of the linker. Functions that a newer glibc's headers
and start files want besides (stat, __libc_start_main) come as a small archive. Programs run with glibc's own
libraries, never with these.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Libraries that glibc 2.34 has taken into libc, by the names that came from them.
FORMER = {
    "libpthread.so.0": r"_?_?pthread_|sem_|thrd_|mtx_|cnd_|tss_|call_once$",
    "libdl.so.2": r"dl[a-z]+",
    "librt.so.1": r"(shm|mq|timer|aio|lio)_|__mq_",
    "libresolv.so.2": r"(__)?(res|ns|dn|b64)_",
    "libutil.so.1": r"(open|fork)pty$|log(in|out|wtmp)|login_tty$",
}
SYMBOL = re.compile(r"\s*\d+: ([0-9a-f]+) +(\w+) (\w+) +(GLOBAL|WEAK|UNIQUE) +\w+ +(\w+) ([^@\s]+)(@@?)GLIBC_([\d.]+)(?: |$)", re.M)

# What a program of newer headers wants, by functions that are as old as the machine's glibc. The start is told of the
# constructors: a newer one finds them itself.
EXTRA = {
    "stat": """typedef unsigned long dev;
#if defined __aarch64__ || defined __riscv
enum { FORM = 0 };
#else
enum { FORM = 1 };
#endif
#define HIDDEN __attribute__((visibility("hidden")))
int __xstat(int, const char *, void *), __fxstat(int, int, void *), __lxstat(int, const char *, void *);
int __fxstatat(int, int, const char *, void *, int), __xmknod(int, const char *, unsigned, dev *);
int __xmknodat(int, int, const char *, unsigned, dev *);
#define ALL(end) \\
    HIDDEN int stat##end(const char *path, void *to) { return __xstat(FORM, path, to); } \\
    HIDDEN int lstat##end(const char *path, void *to) { return __lxstat(FORM, path, to); } \\
    HIDDEN int fstat##end(int fd, void *to) { return __fxstat(FORM, fd, to); } \\
    HIDDEN int fstatat##end(int fd, const char *path, void *to, int flags) \\
    { \\
        return __fxstatat(FORM, fd, path, to, flags); \\
    }
ALL()
ALL(64)
HIDDEN int mknod(const char *path, unsigned mode, dev device) { return __xmknod(0, path, mode, &device); }
HIDDEN int mknodat(int fd, const char *path, unsigned mode, dev device)
{
    return __xmknodat(0, fd, path, mode, &device);
}
""",
    "start": """typedef void call(int, char **, char **);
extern call *__preinit_array_start[], *__preinit_array_end[], *__init_array_start[], *__init_array_end[];
__asm__(".symver old_start, __libc_start_main@GLIBC_BASE");
int old_start(int (*)(int, char **, char **), int, char **, call *, void (*)(void), void (*)(void), void *);
static void construct(int argc, char **argv, char **env)
{
    for (call **at = __preinit_array_start; at < __preinit_array_end; at++)
        (*at)(argc, argv, env);
    for (call **at = __init_array_start; at < __init_array_end; at++)
        (*at)(argc, argv, env);
}
__attribute__((visibility("hidden"))) int __libc_start_main(int (*program)(int, char **, char **), int argc,
    char **argv, call *begin, void (*end)(void), void (*unload)(void), void *stack)
{
    return old_start(program, argc, argv, begin ? begin : construct, end, unload, stack);
}
""",
}


def number(version):
    return tuple(int(part) for part in version.split("."))


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library):
    """Returns {name: [(version, is default, kind, is weak, address, size)]}."""
    found = {}
    for address, size, kind, binding, section, name, at, version in SYMBOL.findall(run("readelf", "-W", "--dyn-syms", library)):
        if section not in ("UND", "ABS"):
            found.setdefault(name, []).append((number(version), at == "@@", kind, binding == "WEAK", int(address, 16), int(size, 0)))
    return found


def home(library, name, newest, chosen):
    """The library that had a name: this one, unless 2.32 or 2.34 has taken it in."""
    if library != "libc.so.6" or newest == chosen:
        return library
    return next((old for old, names in FORMER.items() if re.match(names, name)), library)


def choose(library, limit):
    """Returns {library: {version: [(name, kind, is weak, address, size)]}}, and the version that is this machine's first."""
    chosen, first = {}, (9999,)
    for name, all_ in symbols(library).items():
        first = min(first, *(version for version, *_ in all_))
        old = [entry for entry in all_ if entry[0] <= limit]
        if not old or not any(is_default for _, is_default, *_ in all_):
            continue
        version, _, *what = max(old)
        place = home(library.name, name, max(all_)[0], version)
        chosen.setdefault(place, {}).setdefault(version, []).append((name, *what))
    return chosen, first


def text_of(version):
    return "GLIBC_" + ".".join(map(str, version))


def assembly(versions, base):
    """Names and nothing else. The linker copies a program's data with all names that it has at its address: environ,
    which is weak, and __environ."""
    lines, places, start = [".text"], {}, None
    for version, entries in versions.items():
        for name, kind, is_weak, address, size in entries:
            if name == "__libc_start_main":
                start = f".globl old_start\n.type old_start, %function\nold_start: .skip 16\n.symver old_start, {name}@{text_of(base)}"
            elif kind in ("OBJECT", "TLS"):
                places.setdefault((kind, address), []).append((name, is_weak, size))
            else:
                lines.append(f".globl {name}\n.type {name}, %function\n{name}: .skip 16")
    for (kind, _), names in sorted(places.items()):
        lines.append('.section .tbss,"awT",%nobits' if kind == "TLS" else '.section .bss,"aw",%nobits')
        lines.append(".balign 32")
        for name, is_weak, size in names:
            lines.append(f".{'weak' if is_weak else 'globl'} {name}\n.type {name}, {'%tls_object' if kind == 'TLS' else '%object'}\n.size {name}, {size}\n{name}:")
        lines.append(f".skip {max(size for *_, size in names) or 1}")
    return "\n".join(lines + [".text", start or "", '.section .note.GNU-stack,"",%progbits', ""])


def version_script(versions, base):
    text, before = "", ""
    for version in sorted({*versions, base}):
        names = [name for name, *_ in versions.get(version, ())]
        text += f"{text_of(version)} {{ {'global: ' + '; '.join(names) + ';' if names else ''} "
        text += f"{'' if before else 'local: *;'} }}{before};\n"
        before = " " + text_of(version)
    return text


def make(version, folder, *compiler):
    compiler = compiler or ("cc",)
    limit, folder = number(version), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    script = pathlib.Path(run(*compiler, "-print-file-name=libc.so").strip()).read_text(encoding="utf-8")
    libraries, first = {}, None
    for path in [*re.findall(r"\S+\.so\.\d+", script), run(*compiler, "-print-file-name=libm.so.6").strip()]:
        found, begins = choose(pathlib.Path(path), limit)
        first = first or begins
        for library, versions in found.items():
            libraries[library] = versions
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for library, versions in libraries.items():
            (scratch / "names.s").write_text(assembly(versions, first), encoding="utf-8")
            (scratch / "names.map").write_text(version_script(versions, first), encoding="utf-8")
            run(*compiler, "-shared", "-nostdlib", "-fno-lto", f"-Wl,-soname,{library}", f"-Wl,--version-script={scratch / 'names.map'}",
                str(scratch / "names.s"), "-o", str(folder / library))
        for part, source in EXTRA.items():
            (scratch / f"{part}.c").write_text(source.replace("GLIBC_BASE", text_of(first)), encoding="utf-8")
            run(*compiler, "-O2", "-fPIC", "-fno-lto", "-fno-builtin", "-c", str(scratch / f"{part}.c"), "-o", str(scratch / f"{part}.o"))
        (folder / "libextra.a").unlink(missing_ok=True)
        run("ar", "rcs", str(folder / "libextra.a"), *(str(scratch / f"{part}.o") for part in EXTRA))
    rest = re.search(r"\S+libc_nonshared\.a", script)[0]
    needed = " ".join(str(folder / library) for library in libraries if not re.match(r"lib[cm]\.so", library))
    (folder / "libc.so").write_text(f"GROUP ( {folder / 'libc.so.6'} {folder / 'libextra.a'} {rest} AS_NEEDED ( {needed} ) )\n",
                                    encoding="utf-8")
    (folder / "libm.so").write_text(f"INPUT ( {folder / 'libm.so.6'} )\n", encoding="utf-8")
    return 0


def needs(version, tree):
    """Print what each binary needs of glibc, newest first; returns 1 if one needs a newer glibc than that."""
    bad = count = 0
    for path in sorted(pathlib.Path(tree).rglob("*")):
        if path.is_symlink() or not path.is_file() or path.open("rb").read(4) != b"\x7fELF":
            continue
        wanted = re.findall(r"\bGLIBC_([\d.]+)\)? +(\S+)$", run("objdump", "-T", str(path)), re.M)
        undefined = {(number(v), name) for v, name in wanted}
        newest = max((v for v, _ in undefined), default=None)
        late = sorted(name for v, name in undefined if v > number(version))
        libraries = re.findall(r"NEEDED +(\S+)", run("objdump", "-p", str(path)))
        print(f"{'not so: ' if late else ''}{path.relative_to(tree)}: {text_of(newest) if newest else 'no glibc'}"
              f"{' (' + ', '.join(late) + ')' if late else ''}, {' '.join(libraries) or 'no library'}")
        count += 1
        bad += bool(late)
    print(f"{count} binaries, {bad} need a newer glibc than {version}")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(needs(*sys.argv[2:]) if sys.argv[1] == "needs" else make(*sys.argv[1:]))
