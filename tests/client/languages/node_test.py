"""Builds client/node in a copy of its folder, as npm's lock file says, and runs its tests against the server under test."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains
import training_losses

PACKAGE = "client/node"
# What the tests read besides the package.
READ = ["proto", "docs/typescript.md", "docs/programs.md"]
TOOLS = ("node", "npm", "protoc", "openssl")
BUILT = ("node_modules", "dist", "build", "*.tgz")


def folder_of(package_name):
    """Where the package, and what its tests read, is copied to."""
    return running_server.build_folder() / "languages" / pathlib.Path(package_name).name


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
    package = copy(folder_of(package_name), package_name, read)
    install(package)
    environment = {**os.environ, "OPSERVE_BIN_DIR": str(running_server.bin_folder().resolve())}
    for script in ("build", "check", "test"):
        ended = subprocess.run(["npm", "run", "--silent", script], cwd=package, env=environment, check=False)
        if ended.returncode != 0:
            return ended.returncode
    return 0


def check_training():
    package = folder_of(PACKAGE) / PACKAGE
    with tempfile.TemporaryDirectory() as folder, running_server.running_server(pathlib.Path(folder)) as address:
        command = ["node", "examples/training.mjs", address]
        told = subprocess.run(command, cwd=package, check=True, stdout=subprocess.PIPE, text=True).stdout
    training_losses.check("client/node/examples/training.mjs", told)


if __name__ == "__main__":
    if status := check(PACKAGE, READ, TOOLS):
        sys.exit(status)
    check_training()
