"""A fresh Debian 12 in a folder, for tests that install packages: as root, with debootstrap and Debian's archive.

The mirror and the proxies are those of this machine's apt. What debootstrap makes is kept for a week in the build folder, and so
are packages that apt has fetched.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import toolchains
from packages_test import run

SUITE = "bookworm"
KEEP_SECONDS = 7 * 24 * 3600
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
APT_HELPER = pathlib.Path("/usr/lib/apt/apt-helper")
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"  # as Debian's installer writes it
# A namespace of mounts for /proc, and one of the network where a test needs no other machine: nothing of it remains.
ENTER = 'mount -t proc proc "$1/proc" && if [ "$2" = alone ]; then ip link set lo up; fi && root=$1 && shift 2 && exec chroot "$root" "$@"'


def archives():
    """Debian's own archives as this machine's apt knows them: address, suite and component."""
    form = "$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)"
    lines = run("apt-get", "indextargets", "--format", form, "Created-By: Packages").splitlines()
    found = [line.split()[1:] for line in lines if line.startswith("Debian ")]
    return list(dict.fromkeys(map(tuple, (each for each in found if each[1].startswith(SUITE)))))


def mirror(known):
    """The address of the suite itself."""
    found = [address for address, suite, component in known if (suite, component) == (SUITE, "main")]
    if not found:
        toolchains.skip(f"no package lists of Debian's suite {SUITE} (apt-get update)")
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        tried = subprocess.run([APT_HELPER, "download-file", f"{found[0]}dists/{SUITE}/InRelease", f"{folder}/InRelease"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    if tried.returncode != 0:
        toolchains.skip(f"no connection to its Debian mirror:\n{tried.stdout}")
    return found[0]


def require():
    """Ends the test on a machine that cannot make a Debian."""
    if os.geteuid() != 0:
        toolchains.lacking("root's rights, which debootstrap and chroot need")
    for tool in ("debootstrap", "apt-get", "apt-config", "unshare", "ip", "tar"):
        if not shutil.which(tool):
            toolchains.lacking(tool)
    for file in (pathlib.Path(KEYRING), APT_HELPER):
        if not file.exists():
            toolchains.lacking(file.name)
    if subprocess.run(["unshare", "--mount", "--net", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        toolchains.skip("this machine makes no namespaces of mounts and of the network")


def apt_proxies():
    return run("apt-config", "dump", "Acquire::http", "Acquire::https")


def environment():
    """With the proxies that this process, or else apt, has."""
    named = {name: os.environ[name] for name in PROXIES if name in os.environ}
    of_apt = re.search(r'^Acquire::http::Proxy "(.+)";$', apt_proxies(), re.MULTILINE)
    return {**({"http_proxy": of_apt[1]} if of_apt else {}), **named}


def base(folder, address):
    """A tar file of what debootstrap makes; not older than a week."""
    tarball = folder / f"{SUITE}-minbase.tar"
    if tarball.exists() and time.time() - tarball.stat().st_mtime < KEEP_SECONDS:
        return tarball
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "archives").mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=folder) as root:
        run("debootstrap", "--variant=minbase", f"--keyring={KEYRING}", f"--cache-dir={folder}/archives", SUITE, root, address,
            env=environment(), timeout=900)
        partial = folder / "partial.tar"
        run("tar", "--one-file-system", "--numeric-owner", "--directory", root, "--create", "--file", partial, ".")
    partial.rename(tarball)
    return tarball


class Debian:
    """One that is made and running no process."""

    def __init__(self, root, kept):
        self.root = root
        self._kept = kept  # packages that apt fetched

    def run(self, *command, alone=False, timeout=600):
        """The output of a command as root in /root; `alone` without a network but localhost."""
        variables = {**ENVIRONMENT, **environment()}
        inside = ["/usr/bin/env", "-i", "--chdir=/root", *(f"{name}={value}" for name, value in variables.items()), *command]
        return run("unshare", "--mount", *(["--net"] if alone else []), "sh", "-c", ENTER, "sh", self.root,
                   "alone" if alone else "connected", *inside, timeout=timeout)

    def shell(self, script, **options):
        return self.run("bash", "-euo", "pipefail", "-c", script, **options)

    def prepare(self, known):
        etc = self.root / "etc"
        (etc / "hosts").write_text(HOSTS, encoding="utf-8")
        (etc / "apt/sources.list").write_text("".join(f"deb {' '.join(each)}\n" for each in known), encoding="utf-8")
        settings = apt_proxies() + 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\n'
        (etc / "apt/apt.conf.d/90test").write_text(settings, encoding="utf-8")
        (etc / "dpkg/dpkg.cfg.d/90test").write_text("force-unsafe-io\n", encoding="utf-8")  # nothing of it outlives the test
        shutil.copytree(self._kept, self.root / "var/cache/apt/archives", dirs_exist_ok=True)

    def keep_packages(self):
        for package in (self.root / "var/cache/apt/archives").glob("*.deb"):
            if not (self._kept / package.name).exists():
                shutil.copy(package, self._kept)


@contextlib.contextmanager
def debian(build):
    """A fresh one; the test is skipped, or fails in CI, where none can be made."""
    require()
    known = archives()
    folder = build / "debian"
    tarball = base(folder, mirror(known))
    with tempfile.TemporaryDirectory(dir=folder, prefix="root-") as root:
        run("tar", "--numeric-owner", "--directory", root, "--extract", "--file", tarball)
        os.chmod(root, 0o755)  # others than root run programs in it
        made = Debian(pathlib.Path(root), folder / "archives")
        made.prepare(known)
        try:
            yield made
        finally:
            made.keep_packages()
