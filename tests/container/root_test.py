"""The image's root file system (deploy/container/make_root.py), of a build's programs and this machine's libraries: what is in
it, and that the server works there as the image starts it, without a container engine: chrooted, read-only, as the image's
user, without capabilities, in a network of its own. That takes root and Linux' namespaces; without them it is not started.

Usage: root_test.py [BUILD]      a build folder; without it that of $OPSERVE_BIN_DIR, and a skip where it was not started

The size is held to MOST_BYTES where the build has no sanitizers.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

MOST_BYTES = 60_000_000
START_SECONDS = 60
USER = "10001"
NAME = "a-name-of-its-own"
SAMPLE = ["run", "SmoothL1LossBackward", "-i", "grad_out=f32[4,2]=1", "-i", "self=f32[4,2]{0,1,2,3,4,5,6,7}", "-i",
          "target=f32[4,2]=1", "-a", "reduction=0", "-a", "beta=1"]
GRADIENT = "grad_input f32[4,2]\n[[-1  0]\n [ 1  1]\n [ 1  1]\n [ 1  1]]\n"
PROGRAMS = {"opserve-server", "opserve"}
# In mount and network namespaces of its own: the root read-only, with as much of /proc and /dev as engines give at least.
ENTER = """
set -e
ip link set lo up
mount --bind "$0" "$0"
mount -t proc -o ro proc "$0/proc"
mount -t tmpfs tmpfs "$0/dev"
for device in null zero urandom; do
  touch "$0/dev/$device"
  mount --bind "/dev/$device" "$0/dev/$device"
done
mount -o remount,bind,ro "$0"
exec "$@"
"""


def attempt(*command, timeout=120):
    """Exit status and output, both streams together."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout


def output_of(*command, timeout=120):
    status, output = attempt(*command, timeout=timeout)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {status}:\n{output}")
    return output


def expect(condition, message):
    if not condition:
        sys.exit(message)


def is_sanitized(build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return bool(re.search(r"^OPSERVE_SANITIZE:\w+=.", cache, re.MULTILINE))


def made_root(build, folder):
    installed, root = folder / "installed", folder / "root"
    output_of("cmake", "--install", build, "--prefix", installed, "--component", "runtime", "--strip")
    output_of(ROOT / "deploy/container/make_root.py", installed, root)
    status, told = attempt(ROOT / "deploy/container/make_root.py", installed, root)
    expect(status != 0 and "FOLDER: want a new or empty one" in told, f"a folder that is not empty was taken: {told}")
    return root


# ---- what is in it


def files_of(root):
    return [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]


def check_size(root, build):
    size = sum(path.stat().st_size for path in files_of(root))
    print(f"root file system: {size / 1e6:.1f} MB")
    if not is_sanitized(build):
        expect(size <= MOST_BYTES, f"want at most {MOST_BYTES / 1e6:.0f} MB, got {size / 1e6:.1f}")


def check_programs(root):
    """Two programs and libraries: whatever else can be executed is what an attacker would use."""
    executable = [path for path in files_of(root) if path.stat().st_mode & 0o111]
    strange = [str(path) for path in executable if path.name not in PROGRAMS and ".so" not in path.name]
    expect(not strange, f"want no program but {sorted(PROGRAMS)}, got {strange}")
    expect(PROGRAMS <= {path.name for path in executable}, f"want {sorted(PROGRAMS)}, got {sorted(map(str, executable))}")
    rights = [str(path) for path in files_of(root) if path.stat().st_mode & 0o6022]
    expect(not rights, f"want no file that others may write, or that gives its owner's rights, got {rights}")


def check_links(root):
    """Absolute ones are meant within the root."""
    for link in [path for path in root.rglob("*") if path.is_symlink()]:
        target = pathlib.Path(os.readlink(link))
        found = root / str(target)[1:] if target.is_absolute() else link.parent / target
        expect(found.exists(), f"{link} leads to {target}, which is not there")


def version_here(package):
    return output_of("dpkg-query", "--show", "--showformat=${Version}\n", package).splitlines()[0]


def check_list(root):
    """Each library has its package in the list, with the version that is installed here and its licence."""
    document = json.loads((root / "usr/share/opserve/sbom.spdx.json").read_text(encoding="utf-8"))
    expect(document["spdxVersion"] == "SPDX-2.3", f"want SPDX 2.3, got {document['spdxVersion']}")
    packages = {each["name"]: each for each in document["packages"]}
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    expect(packages.pop("opserve")["versionInfo"] == version, f"want opserve {version} in the list")
    listed = set(" ".join(each["comment"] for each in packages.values()).split())
    for library in [path for path in files_of(root) if ".so" in path.name]:
        expect(f"/{library.relative_to(root)}" in listed, f"{library.name} is of no package in the list")
    for name, package in packages.items():
        here = version_here(name)
        expect(package["versionInfo"] == here, f"{name}: want version {here}, got {package['versionInfo']}")
        expect((root / package["licenseComments"][1:]).stat().st_size > 0, f"{name}: no licence")
        status = (root / "var/lib/dpkg/status.d" / name).read_text(encoding="utf-8")
        expect(f"\nVersion: {here}\n" in status, f"{name}: status.d tells another version than {here}")
    for name in ("libc6", "libgrpc29", "libhwloc15", "libssl3", "libtbbbind-2-5", "nlohmann-json3-dev", "ca-certificates"):
        expect(name in packages, f"want {name} in the list, got {sorted(packages)}")
    ids = {each["SPDXID"] for each in document["packages"]}
    expect({each["relatedSpdxElement"] for each in document["relationships"]} == ids, "want each package related once")
    print(f"{len(packages)} packages of Debian in it")


# ---- that it serves


def words_of(instruction):
    """Of the Dockerfile: the list after ENTRYPOINT, or after HEALTHCHECK's CMD."""
    text = (ROOT / "deploy/container/Dockerfile").read_text(encoding="utf-8")
    return json.loads(re.search(rf"^{instruction} (?:[^\[]*CMD )?(\[.*\])$", text, re.MULTILINE).group(1))


class Running:
    """The image's ENTRYPOINT in its root."""

    def __init__(self, root, log):
        self._root = root
        (root / "etc/hosts").write_text(f"127.0.0.1 localhost {NAME}\n", encoding="ascii")
        self._log = log
        with open(log, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--net", "sh", "-c", ENTER, root, *self._inside(), *words_of("ENTRYPOINT")],
                env=self._environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def _inside(self):
        return ["setpriv", "--no-new-privs", "chroot", f"--userspec={USER}:{USER}", "--groups=", self._root]

    @staticmethod
    def _environment():
        return {"PATH": os.environ["PATH"], "ASAN_OPTIONS": "detect_leaks=0"}

    def run(self, *words):
        """Status and output of a program of the image, beside the server."""
        enter = ["nsenter", f"--target={self.process.pid}", "--mount", "--net"]
        return attempt("env", "ASAN_OPTIONS=detect_leaks=0", *enter, *self._inside(), *words)

    def run_connecting(self, *words):
        """As run(), and once more where gRPC 1.51 lost the connection to be: it looks at connect()'s errno after it took a lock,
        and the first wait for a lock reads files of /sys, which are not there."""
        status, told = self.run(*words)
        return self.run(*words) if "UNKNOWN: ipv4" in told and "No such file or directory" in told else (status, told)

    def log_text(self):
        return self._log.read_text(encoding="utf-8")

    def await_serving(self):
        deadline = time.monotonic() + START_SECONDS
        while "msg=serving" not in self.log_text():
            expect(self.process.poll() is None and time.monotonic() < deadline, f"it did not start:\n{self.log_text()}")
            time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(START_SECONDS) == 0, f"SIGTERM: status {self.process.returncode}:\n{self.log_text()}")


@contextlib.contextmanager
def running(root, folder):
    there = Running(root, folder / "log")
    try:
        yield there
    finally:
        if there.process.poll() is None:
            there.process.kill()
            there.process.wait()


def libraries_loaded(pid):
    """By name: what lies where differs."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    return {pathlib.PurePath(path).name for path in re.findall(r"/\S*\.so\S*", maps)}


def check_rights(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    expect(re.search(rf"^Uid:(\t{USER}){{4}}$", status, re.MULTILINE), f"want user {USER}, got:\n{status}")
    expect(re.search(r"^CapEff:\t0+$", status, re.MULTILINE), f"want no capabilities, got:\n{status}")


def check_serves(root, folder):
    opserve = "/usr/local/bin/opserve"
    with running(root, folder) as there:
        start = time.monotonic()
        there.await_serving()
        print(f"serving after {time.monotonic() - start:.2f} s")
        check_rights(there.process.pid)
        status, told = there.run_connecting(*words_of("HEALTHCHECK"))
        expect(status == 0, f"HEALTHCHECK: status {status}:\n{told}")
        for target in ("127.0.0.1:8500", f"{NAME}:8500"):  # a name: the resolver works
            status, told = there.run_connecting(opserve, *SAMPLE, "--target", target)
            expect(status == 0 and told == GRADIENT, f"{target}: want the sample's gradient, got status {status}:\n{told}")
        status, told = there.run(opserve, *SAMPLE, "-o", "grad_input=/tmp/gradient.npy")
        expect(status != 0 and "Read-only" in told, f"want a root that nobody can write to, got status {status}:\n{told}")
        status, told = there.run("/bin/sh", "-c", "true")
        expect(status == 127, f"want no shell, got status {status}:\n{told}")
        loaded = libraries_loaded(there.process.pid)
        there.stop()
    with running_server.running_process(folder) as (_, pid):
        elsewhere = libraries_loaded(pid)
    expect(loaded == elsewhere, f"loaded there and not here, or here and not there: {sorted(loaded ^ elsewhere)}")
    print(f"{len(loaded)} libraries are loaded")


def main():
    if len(sys.argv) > 1:
        os.environ["OPSERVE_BIN_DIR"] = str(pathlib.Path(sys.argv[1]).resolve() / "bin")
    build = running_server.build_folder()
    for tool in ("ip", "nsenter", "setpriv", "dpkg-query", "ldd"):
        if not shutil.which(tool):
            toolchains.lacking(tool)
    with tempfile.TemporaryDirectory(prefix="opserve-root-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        root = made_root(build, folder)
        check_size(root, build)
        check_programs(root)
        check_links(root)
        check_list(root)
        if os.geteuid() != 0 or attempt("unshare", "--mount", "--net", "true")[0] != 0:
            print("what is in it is right; it was not started, for want of root or of namespaces")
            sys.exit(0 if sys.argv[1:] else toolchains.SKIPPED)
        check_serves(root, folder)


if __name__ == "__main__":
    main()
