"""The shared libraries that programs load on the Debian 12 on which they were built, the packages that these come from, and
their licences: for what is shipped with libraries of its own.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

COMPILED_IN = ["libcli11-dev", "nlohmann-json3-dev"]  # headers that became part of the programs

Package = collections.namedtuple("Package", "name version architecture source source_version")


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def output_of(*command, statuses=(0,)):
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in statuses:
        fail(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


# ---- what is loaded


def libraries_of(program):
    """The paths at which the loader looks for a program's libraries, and for itself."""
    places = set()
    for line in output_of("ldd", program).splitlines():
        match = re.fullmatch(r"\s*(?:\S+ => )?(\S+) \(0x[0-9a-f]+\)", line)
        if not match:
            fail(f"{program}: want the place of a library, got '{line.strip()}'")
        if match[1].startswith("/"):  # all but the kernel's
            places.add(match[1])
    return places


def all_libraries(programs, opened_by_libraries=()):
    """Those that the programs load, and those of the given names that their libraries open, which lie in the same folders."""
    places = set().union(*map(libraries_of, programs))
    folders = {os.path.dirname(place) for place in places}
    for name in opened_by_libraries:
        found = [f"{folder}/{name}" for folder in sorted(folders) if os.path.exists(f"{folder}/{name}")]
        if not found:
            fail(f"{name}: want it in one of {sorted(folders)}, where the libraries are that open it")
        places |= {found[0], *libraries_of(found[0])}
    return places


# ---- whose it is


def owners_of(files):
    """file → the names of Debian's packages that hold it. dpkg knows a file by /lib or by /usr/lib."""
    spelt = {file: file for file in files}
    spelt |= {file.removeprefix("/usr"): file for file in files if file.startswith("/usr/lib")}
    owners = {}
    for line in output_of("dpkg-query", "--search", *spelt, statuses=(0, 1)).splitlines():
        package, _, file = line.partition(": ")
        if file in spelt and not package.startswith("diversion by"):
            owners[spelt[file]] = package.split(",")[0]
    strangers = sorted(set(files) - set(owners))
    if strangers:
        fail(f"want libraries of Debian's packages, whose licence and version are known, got {', '.join(strangers)}")
    return owners


def package_named(name):
    fields = "${Package}\n${Version}\n${Architecture}\n${source:Package}\n${source:Version}\n"
    return Package(*output_of("dpkg-query", "--show", f"--showformat={fields}", name).split())


# ---- under what licence


def copy_licence(package, root):
    """Its copyright file, with the texts that this refers to."""
    source = pathlib.Path("/usr/share/doc", package.name, "copyright")
    if not source.is_file():
        fail(f"{package.name}: want its licence, {source}, got no such file")
    target = root / "usr/share/doc" / package.name / "copyright"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    text = source.read_text(encoding="utf-8", errors="replace")
    for name in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text):
        licence, common = pathlib.Path("/usr/share/common-licenses", name), root / "usr/share/common-licenses"
        if licence.is_file():
            common.mkdir(parents=True, exist_ok=True)
            shutil.copy(licence, common / name)
