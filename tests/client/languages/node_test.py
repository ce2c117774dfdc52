"""Builds client/node in a copy of its folder, as npm's lock file says, and runs its tests against the server under test."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

PACKAGE = "client/node"
# What the tests read besides the package.
READ = ["proto", "docs/typescript.md"]
TOOLS = ("node", "npm", "protoc", "openssl")
BUILT = ("node_modules", "dist", "build", "*.tgz")


def copy(folder, package_name, read):
    """The package, and what its tests read, in the same places of `folder`; node_modules stay from one time to the next."""
    for name in read:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*BUILT))
        else:
            shutil.copy(ROOT / name, target)
    package = folder / package_name
    for old in package.iterdir() if package.exists() else ():
        if old.name not in ("node_modules", "installed-lock.json"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(ROOT / package_name, package, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*BUILT))
    return package


def install(package):
    """The packages of the lock file, unless they lie there since the last time."""
    lock, installed = (package / "package-lock.json").read_bytes(), package / "installed-lock.json"
    if installed.exists() and installed.read_bytes() == lock:
        return
    if subprocess.run(["npm", "ci", "--prefer-offline"], cwd=package, check=False).returncode != 0:
        toolchains.lacking(f"the packages of client/{package.name}, or the network to get them (npm ci, above)")
    installed.write_bytes(lock)


def check(package_name, read, tools):
    for tool in tools:
        shutil.which(tool) or toolchains.lacking(tool)
    package = copy(running_server.build_folder() / "languages" / pathlib.Path(package_name).name, package_name, read)
    install(package)
    environment = {**os.environ, "OPSERVE_BIN_DIR": str(running_server.bin_folder().resolve())}
    for script in ("build", "check", "test"):
        ended = subprocess.run(["npm", "run", "--silent", script], cwd=package, env=environment, check=False)
        if ended.returncode != 0:
            return ended.returncode
    return 0


if __name__ == "__main__":
    sys.exit(check(PACKAGE, READ, TOOLS))
