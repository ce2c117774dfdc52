#!/usr/bin/env python3
"""Makes the root file system of the container image, on the Debian 12 on which opserve was built.

Usage: make_root.py INSTALLED FOLDER

INSTALLED  what `cmake --install build/release --prefix INSTALLED --component runtime --strip` made
FOLDER     becomes the root: the two programs, the shared libraries that they load, certificates of public authorities,
           an unprivileged user, the licences of all parts, and a list of them (SBOM). No shell, no other program.

The list is /usr/share/opserve/sbom.spdx.json (SPDX 2.3); scanners find the same packages in /var/lib/dpkg/status.d.
"""

import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from debian_libraries import (  # noqa: E402
    COMPILED_IN, all_libraries, copy_licence, fail, output_of, owners_of, package_named)

PROGRAMS = ["opserve-server", "opserve"]
OPENED_BY_LIBRARIES = ["libtbbmalloc.so.2", "libtbbbind_2_5.so.3"]  # by libtbb, beside which they lie
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SYSTEM = {CERTIFICATES: "ca-certificates", "/usr/lib/os-release": "base-files"}  # file → package
SBOM = "usr/share/opserve/sbom.spdx.json"
FOLDERS = ["dev", "etc", "proc", "run", "sys", "tmp", "usr/lib64", "usr/lib/ssl", "usr/share/opserve", "var/lib/dpkg/status.d"]
LINKS = {
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "etc/os-release": "../usr/lib/os-release",
    "usr/lib/ssl/certs": "/etc/ssl/certs",
}
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/nonexistent:/nonexistent\nopserve:x:10001:10001:opserve:/nonexistent:/nonexistent\n",
    "etc/group": "root:x:0:\nopserve:x:10001:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}

# ---- what is put there


def copy_library(place, root):
    """The file as what it really is called, and by the name that the loader asks for. Gives the real path."""
    real = os.path.realpath(place)
    target = root / real[1:]
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(real, target)
    name = target.parent / os.path.basename(place)
    if name != target:
        name.unlink(missing_ok=True)
        name.symlink_to(target.name)
    return real


def link_loader(root):
    """Programs name the loader by a path of its own: /lib64/ld-linux-x86-64.so.2."""
    for place in pathlib.Path("/lib64").glob("ld-linux*"):
        link = root / "usr/lib64" / place.name
        if not link.exists():
            link.symlink_to(os.path.realpath(place))


def write_status(package, root):
    text = output_of("dpkg-query", "--status", f"{package.name}:{package.architecture}".removesuffix(":all"))
    (root / "var/lib/dpkg/status.d" / package.name).write_text(text, encoding="utf-8")


def lay_ground(installed, root):
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    for file, text in TEXTS.items():
        (root / file).write_text(text, encoding="utf-8")
    shutil.copytree(installed, root / "usr/local", symlinks=True)
    for file in SYSTEM:
        if not os.path.isfile(file):
            fail(f"{file}: want it from the package {SYSTEM[file]}, got no such file")
        (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / file[1:])


# ---- the list


def reference(package):
    name = re.sub(r"[^A-Za-z0-9.-]", "-", package.name)
    return f"SPDXRef-Package-{name}"


def described(package, files):
    purl = f"pkg:deb/debian/{package.name}@{package.version}?arch={package.architecture}&distro=debian-12"
    entry = {
        "SPDXID": reference(package),
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "licenseComments": f"/usr/share/doc/{package.name}/copyright",
        "copyrightText": "NOASSERTION",
        "sourceInfo": f"built from {package.source} {package.source_version}",
        "comment": " ".join(sorted(files)) or "headers that were compiled into the programs",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl.replace("+", "%2B")}
        ],
    }
    return entry


def sbom(version, packages):
    """`packages`: each with its files."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp())
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    opserve = {
        "SPDXID": "SPDXRef-Package-opserve",
        "name": "opserve",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "comment": " ".join(f"/usr/local/bin/{program}" for program in PROGRAMS),
    }
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", opserve["SPDXID"])]
    relations += [(opserve["SPDXID"], "DEPENDS_ON" if files else "CONTAINS", reference(each)) for each, files in packages]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"opserve-{version}",
        "documentNamespace": f"https://opserve.dev/spdx/opserve-{version}-{seconds}",
        "creationInfo": {"created": created, "creators": ["Tool: opserve-make_root.py"]},
        "packages": [opserve, *(described(*each) for each in packages)],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations
        ],
    }


def make_root(installed, root):
    version = output_of(installed / "bin" / PROGRAMS[0], "--version").split()[-1]
    lay_ground(installed, root)
    places = all_libraries([installed / "bin" / program for program in PROGRAMS], OPENED_BY_LIBRARIES)
    owners = owners_of({copy_library(place, root) for place in places})
    link_loader(root)
    files = collections.defaultdict(set)
    for file, name in [*owners.items(), *SYSTEM.items()]:
        files[package_named(name)].add(file)
    for name in COMPILED_IN:
        files[package_named(name)] = set()
    packages = sorted(files.items())
    for package, _ in packages:
        copy_licence(package, root)
        write_status(package, root)
    (root / SBOM).write_text(json.dumps(sbom(version, packages), indent=1) + "\n", encoding="utf-8")


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    installed, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for program in PROGRAMS:
        if not os.access(installed / "bin" / program, os.X_OK):
            fail(f"INSTALLED: want a folder with bin/{program}, got {installed}")
    if root.exists() and any(root.iterdir()):
        fail(f"FOLDER: want a new or empty one, got {root}")
    os.umask(0o022)
    make_root(installed, root)


if __name__ == "__main__":
    main()
