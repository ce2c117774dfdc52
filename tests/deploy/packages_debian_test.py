"""Follows docs/packages.md in a fresh Debian: the packages are installed, serve, are upgraded, removed and purged.

Usage: packages_debian_test.py BUILD      a build folder that has all that is installed (scripts/test --all: build/release)

Takes root, debootstrap and Debian's archive (fresh_debian.py). No systemd runs there: the server is started as the unit starts
it, by the user and with the flags that it has. The network is localhost alone then.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/readme")]

import fresh_debian
import readme_test
from packages_test import PACKAGES, SAMPLE, expect, made, run

PAGE = ROOT / "docs/packages.md"
FOLDER = "root/build/packages"  # where the page has the packages, for a shell in root's home
UNIT = "lib/systemd/system/opserve.service"
DEFAULT = "etc/default/opserve"
SERVE = """
. /etc/default/opserve
install -d -o opserve -g opserve /run/opserve
setpriv --reuid opserve --regid opserve --init-groups {started} & server=$!
for i in $(seq 200); do
  if opserve info --target unix:/run/opserve/grpc >info 2>&1; then break; fi
  if ! kill -0 $server; then exit 1; fi
  sleep 0.05
done
cat info
{calls}
kill $server
wait $server
"""
PLAIN_USER = "setpriv --reuid nobody --regid nogroup --clear-groups"
MEMBER = "setpriv --reuid nobody --regid nogroup --groups opserve"


def page():
    """Heading → its blocks of commands that need no systemd, as lists of commands."""
    found = {}
    for block in readme_test.blocks_of(PAGE):
        if block.language == "sh" and readme_test.tool_of(block) == "everyone":
            found.setdefault(block.heading, []).append(readme_test.commands_of(block))
    counts = {heading: len(blocks) for heading, blocks in found.items()}
    expect(counts == {"Build": 1, "Install": 2, "Upgrade": 1, "Remove": 2}, f"{PAGE.name}: got blocks {counts}")
    return found


def follow(debian, commands):
    for command in commands:
        print(f"{PAGE.name}: {command}", flush=True)
        debian.shell(command)


def newer(packages, folder):
    """The same packages as of the next version."""
    folder.mkdir()
    version = run("dpkg-deb", "--field", packages[0], "Version").strip()
    for package in packages:
        tree = folder / "tree"
        run("dpkg-deb", "--raw-extract", package, tree)
        control = tree / "DEBIAN/control"
        control.write_text(control.read_text(encoding="utf-8").replace(version, f"{version}+1"), encoding="utf-8")
        run("dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, folder / package.name.replace(version, f"{version}+1"))
        shutil.rmtree(tree)
    return sorted(folder.glob("*.deb")), f"{version}+1"


def bring(debian, packages):
    folder = debian.root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for package in packages:
        shutil.copy(package, folder)


def check_files(debian):
    for file in (UNIT, DEFAULT):
        expect((debian.root / file).is_file(), f"/{file} was not installed")
    entry = debian.run("getent", "passwd", "opserve").split(":")
    expect(0 < int(entry[2]) < 1000 and entry[6].strip().endswith("nologin"), f"want a system user without a shell, got {entry}")
    expect(DEFAULT in debian.run("dpkg-query", "--show", "--showformat", "${Conffiles}", "opserve-server"), "no conffile")
    enabled = debian.root / "etc/systemd/system/multi-user.target.wants/opserve.service"
    expect(enabled.is_symlink(), "the service is not enabled")


def check_serves(debian):
    """By TCP for everyone, by the unix socket for members of the group, and the server ends without an error."""
    unit = (debian.root / UNIT).read_text(encoding="utf-8")
    started = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]
    expect("\nUser=opserve\n" in unit and "\nRuntimeDirectory=opserve\n" in unit, f"want the user opserve and /run/opserve:\n{unit}")
    call = "opserve " + " ".join(f"'{word}'" for word in SAMPLE)
    calls = [f"{PLAIN_USER} {call}", f"{MEMBER} {call} --target unix:/run/opserve/grpc",
             f"if {PLAIN_USER} opserve info --timeout 1s --target unix:/run/opserve/grpc; then echo not refused; exit 1; fi"]
    printed = debian.shell(SERVE.format(started=started, calls="\n".join(calls)), alone=True)
    expect("version" in printed, f"want the server's version, got:\n{printed}")
    expect(printed.count("grad_input f32[4,2]\n[[-0.125      0]") == 2, f"want the sample's gradient twice, got:\n{printed}")
    expect("msg=stopped" in printed, f"want the server to say that it stopped, got:\n{printed}")


def check_libraries(debian):
    """Each program and library of the packages finds all that it loads, with the packages' own dependencies."""
    listed = debian.shell(f"dpkg-query --listfiles {' '.join(PACKAGES)} | grep -E '^/usr/(bin/.|lib/lib.*[.]so)'").split()
    expect(len(listed) >= 4, f"want two programs and two libraries at least, got {listed}")
    for file in listed:
        expect("not found" not in debian.run("ldd", file), f"{file}: {debian.run('ldd', file)}")


def check_upgraded(debian, version, mark):
    have = debian.run("dpkg-query", "--show", "--showformat", "${Package} ${Version} ${db:Status-Status}\n", *PACKAGES).splitlines()
    want = sorted(f"{name} {version} installed" for name in PACKAGES)
    expect(sorted(have) == want, f"after the upgrade: want {want}, got {have}")
    expect(mark in (debian.root / DEFAULT).read_text(encoding="utf-8"), f"the upgrade overwrote /{DEFAULT}")


def check_removed(debian):
    expect((debian.root / DEFAULT).exists(), f"remove: /{DEFAULT} is gone")
    for file in ("usr/bin/opserve-server", "usr/bin/opserve", UNIT):
        expect(not (debian.root / file).exists(), f"remove: /{file} is left")


def check_purged(debian):
    left = [str(path) for folder in ("etc", "var/lib/systemd", "run") for path in (debian.root / folder).rglob("*opserve*")]
    left = [path for path in left if not path.endswith("/run/opserve")]  # this test's own, in place of systemd
    expect(not left, f"purge left {left}")
    expect("opserve" in debian.run("getent", "passwd", "opserve"), "purge deleted the user")


def check(debian, packages, work):
    blocks = page()
    bring(debian, packages)
    for commands in blocks["Install"]:
        follow(debian, commands)
    check_files(debian)
    check_serves(debian)
    mark = "# a line of the administrator's"
    with open(debian.root / DEFAULT, "a", encoding="utf-8") as file:
        file.write(f"{mark}\n")
    upgrades, version = newer(packages, work / "newer")
    bring(debian, upgrades)
    follow(debian, blocks["Upgrade"][0])
    check_upgraded(debian, version, mark)
    check_libraries(debian)
    check_serves(debian)
    for commands, checked in zip(blocks["Remove"], (check_removed, check_purged)):
        follow(debian, commands)
        checked(debian)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with fresh_debian.debian(build) as debian, tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        work = pathlib.Path(folder)
        packages = sorted(made(build, work / "made").values())
        check(debian, packages, work)
    print("installed, upgraded, removed and purged in a fresh Debian")


if __name__ == "__main__":
    main()
